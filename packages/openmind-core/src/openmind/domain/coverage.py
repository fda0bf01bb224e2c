"""Coverage: how much of what is on the disk can be found, and why the rest cannot."""

from attrs import field, frozen

from openmind.domain.ids import SourceId


@frozen(kw_only=True)
class Amount:
    """Files and what they hold."""

    files: int = 0
    size_bytes: int = 0

    def plus(self, size_bytes: int) -> "Amount":
        """The amount with one more file."""
        return Amount(files=self.files + 1, size_bytes=self.size_bytes + size_bytes)


@frozen(kw_only=True)
class SourceCoverage:
    """One source, as it is on the disk now; every file is in exactly one of the amounts."""

    source_id: SourceId
    path: str
    enabled: bool = True
    """Whether it is read and searched; otherwise nothing else is said of it."""
    present: bool = True
    """Whether the folder is there; otherwise everything known of it is `gone`."""
    searchable: Amount = Amount()
    """As they are now."""
    stale: Amount = Amount()
    """Changed since they were read; what can be found is the version before."""
    new: Amount = Amount()
    """Not read yet."""
    unreadable: dict[str, Amount] = field(factory=dict)
    """By reason, a `FileReason`; `unsupported` also holds files of kinds that nothing reads."""
    unread_kinds: dict[str, int] = field(factory=dict)
    """Those files of kinds that nothing reads, by kind, most files first."""
    gone: Amount = Amount()
    """Known, but not on the disk any more; what can be found is what they held."""
    in_part: int = 0
    """How many of the searchable ones were read in part only."""
    obstacles: tuple[str, ...] = ()
    """Folders and files that could not be looked at."""

    @property
    def total(self) -> Amount:
        """Everything on the disk."""
        amounts = (self.searchable, self.stale, self.new, *self.unreadable.values())
        return Amount(
            files=sum(amount.files for amount in amounts), size_bytes=sum(amount.size_bytes for amount in amounts)
        )
