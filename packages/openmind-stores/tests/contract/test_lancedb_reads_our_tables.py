"""Our tables are LanceDB tables: whoever has `lancedb` can use them."""

from pathlib import Path

import pytest
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, counted, keys, row, unit
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.schema import COLUMNS


@pytest.mark.filterwarnings("ignore")  # those of lancedb's own imports
def test_lancedb_opens_searches_and_optimizes_our_table(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path)
    store.create(TABLE, dimension=3)
    for generation in range(1, 4):
        words = f"alpha c++ w{generation}"
        store.add(TABLE, [row(generation, i, words, vector=unit(1, generation, i)) for i in range(20)])
        store.fold(TABLE)
    store.delete(TABLE, [2])
    import lancedb
    from lancedb.query import MatchQuery, PhraseQuery

    table = lancedb.connect(tmp_path).open_table(TABLE)

    assert table.count_rows() == 40
    assert table.schema.names == list(COLUMNS)
    nearest = table.search([1.0, 3.0, 0.0]).distance_type("cosine").where("source_id = 'src_a'").limit(1).to_list()
    assert nearest[0]["generation"] == 3
    assert len(table.search(MatchQuery("c++", "words"), query_type="fts").limit(99).to_list()) == 40
    assert len(table.search(PhraseQuery("c++ w3", "words"), query_type="fts").limit(99).to_list()) == 20
    table.optimize()

    assert len(ask(store, "w3").words) == 20
    store.add(TABLE, [row(4, 0, "alpha c++ w4", vector=unit(1, 4, 0))])
    store.fold(TABLE)
    assert keys(ask(store, phrases=(("c++", "w4"),)).words) == [(4, 0)]
    assert counted(store) == {(1, "file_1"): 20, (3, "file_3"): 20, (4, "file_4"): 1}
