import attrs
from openmind.application.indexing import batch
from openmind.application.indexing.batch import OpenBatch
from openmind.testing.contracts.catalog_promises.samples import record, source
from openmind.testing.fakes.catalog import MemoryCatalog


def test_noting_a_record_commits_nothing_however_many_there_are() -> None:
    given = {field.name: None for field in attrs.fields(OpenBatch) if field.init}
    catalog = MemoryCatalog()
    with catalog.writing() as session:
        session.add_source(source("notes"))
    open_batch = OpenBatch(**given | {"catalog": catalog, "clock": lambda: 0.0})

    for number in range(batch.BATCH_ROWS):
        assert not open_batch.due
        open_batch.note(record(number))

    assert open_batch.due, "whoever commits is told"
    with catalog.reading() as snapshot:
        assert snapshot.file(record(0).id) is None
    open_batch.commit()
    with catalog.reading() as snapshot:
        assert snapshot.file(record(batch.BATCH_ROWS - 1).id) is not None
