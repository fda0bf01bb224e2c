"""A checkup: what was looked at, what is wrong, and what can be done about it."""

from attrs import frozen


@frozen(kw_only=True)
class Finding:
    """Something that is not as it should be."""

    code: str
    """Stable name for machines, such as `table.lost`."""
    message: str
    """A sentence for a person."""
    repair: str = ""
    """What a repair does about it; empty when only the person can do something."""
    hint: str = ""
    """What the person can do."""


@frozen(kw_only=True)
class Checkup:
    """What a checkup found."""

    facts: tuple[tuple[str, str], ...]
    """(name, value) of what somebody who helps would ask for."""
    findings: tuple[Finding, ...] = ()
    unexamined: str = ""
    """A sentence: what could not be looked at, and why. Empty when everything was."""
    rests: bool = False
    """Whether it could not be looked at only because a background job is paused, which is as a person wants it."""

    @property
    def is_sound(self) -> bool:
        """Whether everything was looked at and is as it should be."""
        return not self.findings and not self.unexamined

    @property
    def needs_attention(self) -> bool:
        """Whether something is wrong, or could not be looked at for another reason than a pause."""
        return bool(self.findings) or bool(self.unexamined and not self.rests)


@frozen(kw_only=True)
class Repair:
    """What a repair did."""

    done: tuple[str, ...] = ()
    """A sentence for each thing that was mended."""
    left: tuple[Finding, ...] = ()
    """What is still wrong."""
