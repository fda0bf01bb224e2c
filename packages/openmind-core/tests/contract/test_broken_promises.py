from collections.abc import Callable, Iterator

import pytest
from openmind.domain.documents import DocumentFacts, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.ports.extractor import Blob
from openmind.ports.notebook import Forgetful
from openmind.testing.contracts.extractor import ExtractorContract, Sample
from openmind.testing.contracts.notebook import NotebookContract


class Scribbled(Forgetful):
    def look_up(self, name: str) -> str:
        return "scribble"


def test_a_promise_that_is_broken_is_shown_with_its_values() -> None:
    with pytest.raises(AssertionError, match="assert 'scribble' == ''"):
        NotebookContract().test_what_was_never_noted_is_nothing(Scribbled())


SONG = Sample(name="a.song", data=b"Row\nRow your boat\nEnd\n", must_include=("Row your boat",))


class KeepsTheFirstTitle:
    """Remembers the title of the file that it read first."""

    def __init__(self) -> None:
        self.title = ""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        text = blob.read().decode()
        self.title = self.title or text.splitlines()[-1]
        yield DocumentFacts(title=self.title)
        yield Segment(text=text)


class KeepsWhatBroke:
    """Empties its desk at the end of a file, which one that breaks never comes to."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        self.lines += blob.read().decode().splitlines()
        if self.lines[-1] != "End":
            raise ExtractionFailed("the song has no end")
        yield Segment(text="\n".join(self.lines))
        self.lines.clear()


class KeepsAGenerator(KeepsTheFirstTitle):
    """The same, and it cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.songs = iter(lambda: 1, 2)
        self.never = (song for song in self.songs)

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        self.title = ""
        return super().extract(blob)


@pytest.mark.parametrize("make", [KeepsTheFirstTitle, KeepsWhatBroke])
def test_an_extractor_that_keeps_something_of_a_file_breaks_a_promise(
    make: Callable[[], KeepsTheFirstTitle | KeepsWhatBroke],
) -> None:
    with pytest.raises(AssertionError, match="depends on the files that it read before"):
        ExtractorContract().test_nothing_of_a_file_gets_into_the_next_one(make(), SONG)


def test_an_extractor_that_cannot_be_copied_may_keep_its_promises() -> None:
    ExtractorContract().test_nothing_of_a_file_gets_into_the_next_one(KeepsAGenerator(), SONG)
