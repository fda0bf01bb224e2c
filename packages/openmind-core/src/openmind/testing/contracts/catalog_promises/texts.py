"""What the catalog promises about kept texts, journalled vectors and settings."""

from contextlib import suppress

from attrs import evolve

from openmind.ports.catalog import Catalog
from openmind.testing.contracts.catalog_promises.samples import AT, NOTES, record, with_table


class TextPromises:
    """Texts, vectors, settings."""

    def test_a_text_is_kept_by_content_and_extractor(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_text("a" * 64, "markdown/1", b"\x00one")
            session.keep_text("a" * 64, "markdown/2", b"two")

        with catalog.reading() as snapshot:
            assert snapshot.text("a" * 64, "markdown/1") == b"\x00one"
            assert snapshot.text("a" * 64, "markdown/2") == b"two"
            assert snapshot.text("b" * 64, "markdown/1") is None

    def test_a_text_is_kept_once(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_text("a" * 64, "markdown/1", b"text")
            session.keep_text("a" * 64, "markdown/1", b"text")

        with catalog.reading() as snapshot:
            assert snapshot.counts().text_bytes == 4

    def test_a_text_takes_the_place_of_a_damaged_one(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_text("a" * 64, "markdown/1", b"damaged")
            session.keep_text("a" * 64, "markdown/1", b"text")

        with catalog.reading() as snapshot:
            assert snapshot.text("a" * 64, "markdown/1") == b"text"
            assert snapshot.counts().text_bytes == 4

    def test_the_size_of_the_texts_follows_what_is_kept(self, catalog: Catalog) -> None:
        with_table(catalog)
        with suppress(ZeroDivisionError), catalog.writing() as session:
            session.keep_text("f" * 64, "markdown/1", b"given up")
            _ = 1 / 0
        with catalog.writing() as session:
            for number in range(9):
                session.keep_text(record(number).content_hash, record(number).extractor, b"x" * number)
                session.keep_text(record(number).content_hash, record(number).extractor, b"x" * number)
            session.record([record(number) for number in range(5)], at=AT)

            assert session.counts().text_bytes == 36
            assert session.drop_unused_texts() == 4
            assert session.counts().text_bytes == 10

            session.clear(sources=True)
            assert session.counts().text_bytes == 0

    def test_a_text_goes_with_the_last_file_that_names_it(self, catalog: Catalog) -> None:
        with_table(catalog)
        one = record(1)
        twin = evolve(record(2), content_hash=one.content_hash)
        with catalog.writing() as session:
            session.keep_text(one.content_hash, one.extractor, b"text")
            session.record([one, twin], at=AT)
            session.forget([one.id], at=AT)
            assert session.drop_unused_texts() == 0

        with catalog.writing() as session:
            session.forget([twin.id], at=AT)
            assert session.drop_unused_texts() == 1

        with catalog.reading() as snapshot:
            assert snapshot.text(one.content_hash, one.extractor) is None

    def test_the_text_of_another_extractor_version_is_not_used(self, catalog: Catalog) -> None:
        with_table(catalog)
        now = evolve(record(1), extractor="markdown/2")
        with catalog.writing() as session:
            session.keep_text(now.content_hash, "markdown/1", b"old")
            session.keep_text(now.content_hash, "markdown/2", b"new")
            session.record([now], at=AT)

            assert session.drop_unused_texts() == 1

        with catalog.reading() as snapshot:
            assert snapshot.text(now.content_hash, "markdown/1") is None
            assert snapshot.text(now.content_hash, "markdown/2") == b"new"

    def test_what_was_recognised_in_some_content_is_found_by_that_content(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_text("a" * 64, "ocr:eyes/1", b"one")
            session.keep_text("a" * 64, "ocr:eyes/2", b"two")
            session.keep_text("a" * 64, "pdf/1", b"text")
            session.keep_text("b" * 64, "ocr:eyes/1", b"other")

        with catalog.reading() as snapshot:
            assert snapshot.recognised("a" * 64) == {"ocr:eyes/1": b"one", "ocr:eyes/2": b"two"}
            assert snapshot.recognised("c" * 64) == {}

    def test_what_was_recognised_goes_with_the_last_file_of_that_content(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.keep_text(record(1).content_hash, "ocr:eyes/1", b"text")
            session.keep_text("c" * 64, "ocr:eyes/1", b"of no file")
            session.record([record(1)], at=AT)
            assert session.drop_unused_texts() == 1

        with catalog.writing() as session:
            assert list(session.recognised(record(1).content_hash)) == ["ocr:eyes/1"]
            session.forget([record(1).id], at=AT)
            assert session.drop_unused_texts() == 1

    def test_the_texts_of_a_removed_source_are_not_used(self, catalog: Catalog) -> None:
        with_table(catalog)
        with catalog.writing() as session:
            session.keep_text(record(1).content_hash, record(1).extractor, b"text")
            session.record([record(1)], at=AT)
            session.delete_source(NOTES)

            assert session.drop_unused_texts() == 1

    def test_vectors_are_looked_up_by_embedder_and_input(self, catalog: Catalog) -> None:
        one, two, three = bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)
        with catalog.writing() as session:
            session.keep_vectors("static", {one: b"\x00\x00\x80?", two: b"2222"})
            session.keep_vectors("other", {three: b"3333"})

        with catalog.reading() as snapshot:
            assert snapshot.vectors("static", [one, two, three]) == {one: b"\x00\x00\x80?", two: b"2222"}
            assert snapshot.vectors("static", []) == {}
            assert snapshot.counts().journal_rows == 3

    def test_a_vector_can_be_journalled_again(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_vectors("static", {b"1": b"old"})
            session.keep_vectors("static", {b"1": b"new"})

        with catalog.reading() as snapshot:
            assert snapshot.vectors("static", [b"1"]) == {b"1": b"new"}

    def test_what_is_journalled_is_seen_at_once_and_lets_others_write(self, catalog: Catalog) -> None:
        with catalog.journalling("static") as keep:
            keep({b"1": b"one"})
            with catalog.writing() as session:
                session.keep_vectors("static", {b"2": b"two"})
            keep({b"3": b"three"})
            with catalog.reading() as snapshot:
                assert snapshot.vectors("static", [b"1", b"2", b"3"]) == {b"1": b"one", b"2": b"two", b"3": b"three"}

        with catalog.reading() as snapshot:
            assert snapshot.counts().journal_rows == 3

    def test_some_vectors_of_an_embedder_can_be_forgotten(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_vectors("static", {b"1": b"v", b"2": b"v"})
            session.keep_vectors("other", {b"1": b"v"})
            session.drop_vectors("static", [b"1", b"nothing"])

        with catalog.reading() as snapshot:
            assert snapshot.vectors("static", [b"1", b"2"]) == {b"2": b"v"}
            assert snapshot.vectors("other", [b"1"]) == {b"1": b"v"}

    def test_all_vectors_of_an_embedder_can_be_forgotten(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_vectors("static", {b"1": b"v", b"2": b"v"})
            session.keep_vectors("other", {b"1": b"v"})
            session.drop_vectors("static")

        with catalog.reading() as snapshot:
            assert snapshot.vectors("static", [b"1", b"2"]) == {}
            assert snapshot.vectors("other", [b"1"]) == {b"1": b"v"}

    def test_every_journalled_vector_can_be_forgotten(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.keep_vectors("static", {b"1": b"v"})
            session.keep_vectors("other", {b"1": b"v"})
            session.drop_journal()

        with catalog.reading() as snapshot:
            assert snapshot.vectors("static", [b"1"]) == snapshot.vectors("other", [b"1"]) == {}
            assert snapshot.counts().journal_rows == 0

    def test_a_setting_is_remembered_until_it_is_forgotten(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.set_setting("waiting", "3")
            session.set_setting("waiting", "4")
            session.set_setting("other", "")

        with catalog.reading() as snapshot:
            assert snapshot.setting("waiting") == "4"
            assert snapshot.setting("other") == ""
            assert snapshot.setting("nothing") is None

        with catalog.writing() as session:
            session.set_setting("waiting", None)
            session.set_setting("nothing", None)

        with catalog.reading() as snapshot:
            assert snapshot.setting("waiting") is None
