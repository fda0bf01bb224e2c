"""One memory, several threads."""

from pathlib import Path
from threading import Thread

from openmind import open_memory
from openmind.domain.errors import IndexingBusy
from openmind.domain.events import Progress


def test_of_two_threads_that_index_the_second_is_refused_and_searches_go_on(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "flat.md").write_text("The landlord wants more rent.")
    told: list[object] = []

    with open_memory(tmp_path / "home") as memory:
        memory.sources.add(str(notes))

        def index() -> None:
            try:
                told.append(memory.index())
            except IndexingBusy as busy:
                told.append(type(busy))

        def meanwhile(_: Progress) -> None:
            if not told:
                other = Thread(target=index)
                other.start()
                other.join()
                told.append(memory.search("rent").state)

        memory.index(progress=meanwhile)

        assert told[0] is IndexingBusy
        assert told[1] == "nothing_indexed"
        assert memory.search("rent").state == "ok"
