"""What two ascending streams of versions of files do not have in common."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from attrs import frozen

from openmind.domain.ids import FileId, Generation
from openmind.domain.index import Visibility

Counted = tuple[Generation, FileId, int]


@frozen
class Difference:
    """A version of a file of which the stores do not say the same."""

    generation: Generation
    file_id: FileId
    rows: int
    """How many there are."""
    expected: int
    """How many there should be; 0 when the catalog does not know that version."""


def differences(there: Iterable[Counted], expected: Iterable[Counted]) -> Iterator[Difference]:
    """Walk side by side through what is there and what should be, both ascending; give what is not the same."""
    rows, wanted = iter(there), iter(expected)
    row, want = next(rows, None), next(wanted, None)
    while row is not None or want is not None:
        if want is None or (row is not None and row[:2] < want[:2]):
            assert row is not None
            yield Difference(row[0], row[1], row[2], 0)
            row = next(rows, None)
        elif row is None or want[:2] < row[:2]:
            yield Difference(want[0], want[1], 0, want[2])
            want = next(wanted, None)
        else:
            if row[2] != want[2]:
                yield Difference(row[0], row[1], row[2], want[2])
            row, want = next(rows, None), next(wanted, None)


def is_dead(generation: Generation, visibility: Visibility) -> bool:
    """Whether the catalog knows that nobody may see a generation any more, or not yet."""
    at = bisect_right(visibility.dead, generation, key=lambda dead: dead[0]) - 1
    return at >= 0 and generation <= visibility.dead[at][1]
