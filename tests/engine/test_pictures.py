"""Pictures that a model describes: found by what they show, cheap to try again, and kept nowhere."""

import io
import sqlite3

import attrs
import pytest
from openmind.adapters.home import Home
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Picture, Segment
from openmind.domain.errors import ModelNotFound, ProviderError, ProviderUnreachable
from openmind.domain.files import FileReason
from openmind.domain.paths import name_of
from openmind.domain.sentences import as_sentence
from openmind.ports.isolated_reader import ReadOutcome
from openmind.testing.fakes.images import FakeDescriber
from PIL import Image

DOWN = ProviderUnreachable("the fake provider does not answer", hint="Start it.")
JPEG = b"\xff\xd8\xff"


@attrs.define
class Reader:
    """Reads instead of worker processes: the text of a picture is its name, its copy is its bytes."""

    requests: list[tuple[str, bool]] = attrs.field(factory=list)
    """Names, and whether OCR was allowed."""
    pictures: bool = True
    failing: bool = False
    recognised: bool = True

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            name = name_of(request.path_bytes)
            self.requests.append((name, request.ocr))
            if self.failing:
                yield ReadOutcome(ticket=request.ticket, reason=FileReason.TIMEOUT, message="it took too long")
                continue
            text = f"sign {name.partition('.')[0]}" if request.ocr else "nothing was recognised"
            facts = DocumentFacts(metadata={"file_type": "image", "extraction_method": "metadata+ocr"})
            if not self.recognised:
                facts = attrs.evolve(facts, reason=FileReason.NEEDS_OCR, note="text recognition is off")
            document = ExtractedDocument(segments=(Segment(text=text),), facts=facts)
            picture = Picture(data=JPEG + name.encode(), media_type="image/jpeg") if self.pictures else None
            yield ReadOutcome(ticket=request.ticket, document=document, picture=picture)

    def close(self) -> None:
        pass


@pytest.fixture
def eyes(world) -> FakeDescriber:
    world.provider.eyes = FakeDescriber()
    configure(world, "fake-eyes")
    return world.provider.eyes


@pytest.fixture
def reader() -> Reader:
    return Reader()


def configure(world, model: str | None) -> None:
    Home(world.home).create()
    chosen = f'model = "{model}"' if model else ""
    (world.home / "config.toml").write_text(
        f'[provider]\nname = "fake"\n[extraction.images]\nmax_new_tokens = 99\n{chosen}\n', encoding="utf-8"
    )


def index(world, reader):
    with world.memory() as memory:
        if not memory.sources.list():
            memory.sources.add(world.notes)
        means = attrs.evolve(memory.indexing.means, reader=lambda: reader)
        return attrs.evolve(memory.indexing, means=means).run()


def found(world, query: str) -> list[str]:
    with world.memory() as memory:
        return [hit.file_name for hit in memory.search(query).hits if query in hit.text]


def put(world, *names: str) -> None:
    for name in names:
        (world.notes / name).write_bytes(b"bytes of " + name.encode())


def test_a_real_picture_is_described_by_a_small_copy_and_its_bytes_are_kept_nowhere(world, eyes) -> None:
    picture = Image.effect_noise((1_600, 1_200), 80).convert("RGB")
    exif = Image.Exif()
    exif[0x010F] = "Canon"
    packed = io.BytesIO()
    picture.save(packed, "JPEG", exif=exif)
    (world.notes / "bike.jpg").write_bytes(packed.getvalue())
    with world.memory() as memory:
        memory.sources.add(world.notes, ocr=False)

        report = memory.index()

        assert report.notices == ()
        hits = memory.search("red bicycle").hits
        assert "red bicycle" in hits[0].text
        assert hits[0].metadata["image_description_model"] == "fake-eyes"
        assert hits[0].metadata["extraction_method"] == "description+metadata"
        assert hits[0].metadata["raw_image_stored"] is False
        assert hits[0].metadata["image_exif"] == {"Make": "Canon"}
        assert memory.search("canon").hits
    [shown] = eyes.images
    with Image.open(io.BytesIO(shown)) as small:
        assert (small.format, small.size) == ("JPEG", (1_024, 768))
        assert not small.getexif()
    assert eyes.max_new_tokens == [99]
    stored = b"".join(path.read_bytes() for path in world.home.rglob("*") if path.is_file())
    assert shown[600:700] not in stored
    assert packed.getvalue()[600:700] not in stored


def test_a_described_picture_is_described_once(world, eyes, reader) -> None:
    put(world, "a.png", "b.png")
    index(world, reader)

    report = index(world, reader)

    assert report.run.tally.already_indexed == 2
    assert len(eyes.images) == 2
    assert found(world, "bicycle") == ["a.png"]  # equal passages are one hit
    assert found(world, "sign") == ["a.png", "b.png"]


def test_without_a_model_nobody_is_asked(world, reader) -> None:
    put(world, "a.png")
    configure(world, None)

    report = index(world, reader)

    assert report.notices == ()
    assert report.failures == ()
    assert found(world, "sign") == ["a.png"]


def test_a_described_picture_whose_text_was_not_read_is_read_in_part(world, eyes, reader) -> None:
    put(world, "a.png")
    reader.recognised = False

    report = index(world, reader)

    assert [(failure.code, failure.message) for failure in report.failures] == [("partial", "Text recognition is off")]
    assert (report.run.tally.indexed, report.run.tally.skipped) == (1, 0)


def test_a_picture_that_cannot_be_described_stays_findable_and_says_why(world, eyes, reader) -> None:
    put(world, "a.png")
    eyes.error = ProviderError("the model said nothing")

    report = index(world, reader)

    assert found(world, "sign") == ["a.png"]
    [failure] = report.failures
    assert failure.code == "partial"
    assert "The model said nothing" in failure.message
    with world.memory() as memory:
        [record] = memory.documents.list(reasons=frozenset({FileReason.PARTIAL}))
        assert "not described" in record.error
        assert "image_description_model" not in record.metadata


def test_the_next_run_describes_it_and_reads_no_text_again(world, eyes, reader) -> None:
    put(world, "a.png")
    eyes.error = ProviderError("the model said nothing")
    index(world, reader)
    eyes.error = None

    report = index(world, reader)

    assert reader.requests == [("a.png", True), ("a.png", False)]
    assert report.run.tally.extracted == 0
    assert report.failures == ()
    assert found(world, "bicycle") == ["a.png"]
    assert found(world, "sign") == ["a.png"]
    assert found(world, "nothing was recognised") == []
    with world.memory() as memory:
        [record] = memory.documents.list(reasons=frozenset(FileReason))
    assert record.reason is FileReason.OK
    assert record.error == ""
    assert "error" not in record.metadata
    assert index(world, reader).run.tally.already_indexed == 1


def test_a_server_that_is_away_is_asked_once_a_run(world, eyes, reader) -> None:
    put(world, *(f"{number}.png" for number in range(9)))
    eyes.error = DOWN

    report = index(world, reader)

    assert len(eyes.images) == 1
    assert report.run.error == f"{as_sentence(DOWN.message)} {DOWN.hint}"
    assert len(report.notices) == 1
    assert "descriptions follow" in report.notices[0]
    assert report.run.tally.indexed == 9

    eyes.error = None
    index(world, reader)

    assert len(eyes.images) == 10
    assert sum(not ocr for _, ocr in reader.requests) == 9


def test_while_the_server_is_away_nothing_is_lost_and_hardly_anything_done(world, eyes, reader) -> None:
    put(world, "a.png")
    index(world, reader)
    put(world, "b.png")
    eyes.error = DOWN
    index(world, reader)

    report = index(world, reader)

    assert report.run.tally.already_indexed + report.run.tally.indexed == 2
    assert report.run.tally.extracted == 0
    assert found(world, "bicycle") == ["a.png"]
    assert found(world, "sign") == ["a.png", "b.png"]


def test_a_model_that_fails_at_every_picture_is_given_up(world, eyes, reader) -> None:
    put(world, *(f"{number}.png" for number in range(9)))
    eyes.error = ProviderError("the model takes no pictures")

    report = index(world, reader)

    assert len(eyes.images) == 3
    assert report.run.error == ""  # a job that waited for this would wait for ever
    assert "takes no pictures" in report.notices[0]


def test_a_model_that_is_not_there_is_told_and_does_not_end_the_run(world, reader) -> None:
    put(world, "a.png")
    world.write("a.txt", "heliotrope")
    configure(world, "fake-eyes")

    report = index(world, reader)

    assert report.run.tally.indexed == 2
    assert "no model that sees" in report.notices[0]
    assert found(world, "sign") == ["a.png"]


def test_another_model_describes_anew_and_no_text_is_read_again(world, eyes, reader) -> None:
    put(world, "a.png")
    index(world, reader)
    world.provider.eyes = FakeDescriber(model="other-eyes", description="A blue tandem.")
    configure(world, "other-eyes")

    index(world, reader)

    assert reader.requests[1:] == [("a.png", False)]
    assert found(world, "tandem") == ["a.png"]
    assert found(world, "bicycle") == []
    assert found(world, "sign") == ["a.png"]


def test_switching_the_model_off_keeps_the_descriptions_there_are(world, eyes, reader) -> None:
    put(world, "a.png")
    index(world, reader)
    configure(world, None)
    put(world, "b.png")

    report = index(world, reader)

    assert report.run.tally.already_indexed == 1
    assert found(world, "bicycle") == ["a.png"]
    assert index(world, reader).run.tally.already_indexed == 2


def test_switching_a_model_on_describes_what_was_read_before(world, reader) -> None:
    put(world, "a.png")
    configure(world, None)
    index(world, reader)
    world.provider.eyes = FakeDescriber()
    configure(world, "fake-eyes")

    index(world, reader)

    assert reader.requests == [("a.png", True), ("a.png", False)]
    assert found(world, "bicycle") == ["a.png"]


def test_twins_share_one_description_or_the_lack_of_it(world, eyes, reader) -> None:
    for name in ("a.png", "b.png"):
        (world.notes / name).write_bytes(b"the same bytes")
    eyes.error = ProviderError("the model said nothing")
    index(world, reader)
    assert len(eyes.images) == 1
    eyes.error = None

    index(world, reader)

    assert len(eyes.images) == 2
    with world.memory() as memory:
        records = memory.documents.list(reasons=frozenset(FileReason))
    assert [record.reason for record in records] == [FileReason.OK, FileReason.OK]
    assert len({record.extractor for record in records}) == 1


def test_a_picture_that_shows_nothing_is_done(world, eyes, reader) -> None:
    put(world, "a.png")
    reader.pictures = False
    index(world, reader)

    report = index(world, reader)

    assert eyes.images == []
    assert report.run.tally.already_indexed == 1
    assert len(reader.requests) == 1


def test_a_picture_that_can_not_be_read_a_second_time_keeps_its_text(world, eyes, reader) -> None:
    put(world, "a.png")
    eyes.error = ProviderError("the model said nothing")
    index(world, reader)
    reader.failing = True

    report = index(world, reader)

    assert found(world, "sign") == ["a.png"]
    assert "it took too long" in report.failures[0].message


def test_a_moved_picture_takes_its_description_along(world, eyes, reader) -> None:
    put(world, "a.png")
    index(world, reader)
    (world.notes / "a.png").rename(world.notes / "z.png")

    index(world, reader)

    assert found(world, "bicycle") == ["z.png"]
    assert len(eyes.images) == 1


def test_a_description_survives_a_run_that_dies_before_its_commit(world, eyes, reader) -> None:
    put(world, "a.png", "b.png")
    eyes_seen = eyes.images

    class Dies(Reader):
        def read(self, requests, *, while_waiting, recognised):
            for number, outcome in enumerate(
                super().read(requests, while_waiting=while_waiting, recognised=recognised)
            ):
                if number == 1:
                    raise MemoryError
                yield outcome

    with pytest.raises(MemoryError):
        index(world, Dies())
    assert len(eyes_seen) == 1

    index(world, reader)

    assert len(eyes_seen) == 2
    assert len(reader.requests) == 1
    assert found(world, "sign") == ["a.png", "b.png"]


def test_pictures_left_out_by_the_configuration_are_not_read(world, eyes, reader) -> None:
    put(world, "a.png", "b.avif", "c.heic")
    with (world.home / "config.toml").open("a", encoding="utf-8") as config:
        config.write("enabled = false\n")

    index(world, reader)

    assert reader.requests == []
    assert eyes.images == []


def test_only_text_of_a_picture_reaches_the_catalog(world, eyes, reader) -> None:
    put(world, "a.png")
    eyes.error = ModelNotFound("there is no such model")
    index(world, reader)

    with sqlite3.connect(world.home / "openmind.sqlite") as catalog:
        dump = "\n".join(catalog.iterdump())
    assert "There is no such model" in dump
    assert (JPEG + b"a.png").hex().upper() not in dump
