import time
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.chunking import MAX_CONTEXT, ChunkingPolicy, split
from openmind.domain.chunks import Chunk, embedded_text
from openmind.domain.cutting import pieces
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Locator, Place, Segment

POLICY = ChunkingPolicy()
SENTENCES = " ".join(f"Sentence number {number} says a little about the flat." for number in range(200))


def lines(start: int, end: int | None = None) -> Place:
    return Place(kind="lines", start=start, end=end)


def heading(label: str) -> Place:
    return Place(kind="heading", label=label)


def segment(text: str, *outer: Place, start: int = 1, kind: str = "text") -> Segment:
    breaks = text.count("\n")
    return Segment(text=text, locator=(*outer, lines(start, start + breaks if breaks else None)), kind=kind)


def document(*segments: Segment, title: str = "") -> ExtractedDocument:
    return ExtractedDocument(segments=segments, facts=DocumentFacts(title=title))


def passages(*segments: Segment, title: str = "", max_input_chars: int | None = None) -> list[Chunk]:
    return list(split(document(*segments, title=title), max_input_chars=max_input_chars))


def line_range(chunk: Chunk) -> tuple[int, int]:
    place = chunk.locator[-1]
    assert place.kind == "lines"
    assert place.start is not None
    return place.start, place.end if place.end is not None else place.start


def lines_of(text: str, chunk: Chunk) -> str:
    first, last = line_range(chunk)
    return "\n".join(text.split("\n")[first - 1 : last])


def test_a_short_text_is_one_passage() -> None:
    [chunk] = passages(segment("\n\nThe rent is due.\n\n", start=3), title="Flat")

    assert chunk == Chunk(index=0, text="The rent is due.", locator=(lines(5),), context="Flat")


def test_a_text_of_blanks_is_none() -> None:
    assert passages(segment(" \n\t\n "), segment("")) == []


def test_passages_have_the_length_and_overlap_they_should() -> None:
    found = passages(segment(SENTENCES))

    assert [chunk.index for chunk in found] == list(range(len(found)))
    assert all(POLICY.min_chars <= len(chunk.text) <= POLICY.max_chars for chunk in found)
    starts = [SENTENCES.index(chunk.text) for chunk in found]
    ends = [start + len(chunk.text) for start, chunk in zip(starts, found, strict=True)]
    overlaps = [end - start for end, start in zip(ends, starts[1:], strict=False)]
    assert all(100 <= overlap <= 200 for overlap in overlaps)


def test_a_text_a_little_too_long_is_divided_evenly() -> None:
    first, second = passages(segment(SENTENCES[:1_250]))

    assert len(first.text) >= POLICY.min_chars
    assert len(second.text) >= 500


def test_passages_end_with_paragraphs_before_sentences_before_words() -> None:
    paragraphs = "\n\n".join("words without an end " * 20 for _ in range(9))

    assert all(chunk.text.endswith("an end") for chunk in passages(segment(paragraphs)))
    assert all(chunk.text.endswith(".") for chunk in passages(segment(SENTENCES)))
    assert {chunk.text[-5:] for chunk in passages(segment("words " * 900))} == {"words"}
    assert {chunk.text[-5:] for chunk in passages(segment("words\t" * 900))} == {"words"}


def test_the_sentences_of_unspaced_scripts_are_known() -> None:
    text = "数据库系统是一个复杂的系统需要维护。" * 300

    assert all(chunk.text.endswith("。") and chunk.text.startswith("数") for chunk in passages(segment(text)))


def test_each_passage_knows_its_lines() -> None:
    text = "\n".join(f"Line {number} of a file that is rather long." + "\n" * (number % 3) for number in range(400))

    for chunk in passages(segment(text)):
        inside = lines_of(text, chunk)
        assert chunk.text in inside
        assert inside.split("\n")[0][:1]
        assert inside.split("\n")[-1][:1]


def test_lines_hold_across_segments_of_one_section() -> None:
    body = [f"Paragraph {number}. " + "It goes on. " * 12 for number in range(1, 13)]
    file = "\n\n\n".join(body)
    segments = [segment(text, heading("A"), start=1 + 3 * at) for at, text in enumerate(body)]

    found = passages(*segments)

    assert len(found) > 1
    assert all(chunk.text in lines_of(file, chunk) and chunk.locator[0] == heading("A") for chunk in found)


def test_a_passage_does_not_reach_into_another_section_or_page() -> None:
    first, second = "Rent is due monthly. " * 10, "Water is paid by the year. " * 10

    found = passages(segment(first, heading("Rent")), segment(second, heading("Water"), start=2))
    pages = list(
        split(
            document(
                Segment(text=first, locator=(Place(kind="page", start=1, label="i"),)),
                Segment(text="tiny", locator=(Place(kind="page", start=2),)),
                Segment(text="page", locator=(Place(kind="page", start=3),)),
            )
        )
    )

    assert [chunk.locator for chunk in found] == [(heading("Rent"), lines(1)), (heading("Water"), lines(2))]
    assert [chunk.text for chunk in pages] == [first.strip(), "tiny", "page"]


def test_tiny_neighbouring_sections_are_one_passage() -> None:
    notes = [
        segment(f"## Day {day}\nWe walked.", heading("Trip"), heading(f"Day {day}"), start=2 * day)
        for day in range(1, 11)
    ]

    [chunk] = passages(*notes, title="Trip")

    assert chunk.context == "Trip › Day 1 · Day 2 · Day 3 · … · Day 10"
    assert chunk.locator == (heading("Trip"), heading("Day 1 · Day 2 · Day 3 · … · Day 10"), lines(2, 21))


def test_a_title_alone_goes_with_the_section_below() -> None:
    section = "## Rent\n" + "The rent is due on the first of each month. " * 6

    [chunk] = passages(
        segment("# Flat", heading("Flat")), segment(section, heading("Flat"), heading("Rent"), start=3), title="Flat"
    )

    assert chunk.text.startswith("# Flat\n\n## Rent")
    assert chunk.context == "Flat › Rent"
    assert chunk.locator == (heading("Flat"), heading("Rent"), lines(1, 4))


def test_text_below_a_heading_is_not_placed_below_one_that_follows() -> None:
    soup = (heading("Recipes"), heading("Soup"))
    intro = segment("# Recipes\nIntro pelican sentence.", heading("Recipes"))
    rest = [segment("## Soup\nBoil.", *soup, start=3), segment("### Hot\nAdd cream.", *soup, heading("Hot"), start=5)]

    [nested] = passages(intro, *rest)
    [titled] = passages(segment("# Recipes", heading("Recipes")), *rest)
    [headless] = passages(segment("A pelican says:"), *rest)

    assert nested.locator == (heading("Recipes · Soup · Hot"), lines(1, 6))
    assert titled.locator == (heading("Recipes"), heading("Soup · Hot"), lines(1, 6))
    assert headless.locator == (lines(1, 6),)


def test_only_the_passage_that_reaches_over_several_headings_names_them_all() -> None:
    long = segment("## Rent\n" + SENTENCES, heading("Flat"), heading("Rent"), start=3)

    first, *others = passages(segment("# Flat\nA pelican lives here.", heading("Flat")), long)

    assert first.locator[0] == heading("Flat · Rent")
    assert all(chunk.locator[:2] == (heading("Flat"), heading("Rent")) for chunk in others)


def test_segments_of_another_kind_stay_by_themselves() -> None:
    found = passages(segment("text"), segment("picture", start=2, kind="picture"), segment("more", start=3))

    assert [chunk.text for chunk in found] == ["text", "picture", "more"]


def test_code_is_kept_whole_where_it_fits() -> None:
    code = "```\n" + "    call(something, good)\n" * 42 + "```"
    before, after = SENTENCES[:700], SENTENCES[:700]

    found = passages(segment(before), segment(code, start=2, kind="code"), segment(after, start=50))

    assert any(code in chunk.text for chunk in found)


def test_code_that_ended_a_passage_is_not_begun_again() -> None:
    code = "\n".join(f"line_{number}()" for number in range(30))

    first, second, *_ = passages(
        segment(SENTENCES[:700], kind="text"), segment(code, start=2, kind="code"), segment(SENTENCES[:3_000], start=40)
    )

    assert first.text.endswith("line_29()")
    assert second.text.startswith("Sentence number 0")


def test_code_that_fits_is_not_divided_for_an_even_length() -> None:
    code = "\n".join(f"line_{number:04}()" for number in range(50))

    first, *_ = passages(
        segment(SENTENCES[:500]), segment(code, start=2, kind="code"), segment(SENTENCES[:450], start=52)
    )

    assert first.text.endswith("line_0049()")


def test_code_that_does_not_fit_any_more_begins_a_passage() -> None:
    code = "\n".join(f"a_longer_line_{number:04}()" for number in range(50))

    first, second = passages(segment(SENTENCES[:600]), segment(code, start=3, kind="code"))

    assert first.text == SENTENCES[:600].strip()
    assert second.text == code


def test_long_code_is_divided_between_lines_and_keeps_its_indentation() -> None:
    code = "\n".join(f"    value_{number} = compute({number})" for number in range(300))

    found = passages(segment(code, kind="code"))

    assert all(chunk.text.startswith("    value_") and chunk.text.endswith(")") for chunk in found)
    assert all(chunk.text == lines_of(code, chunk) for chunk in found)


def test_a_table_is_divided_between_rows_and_its_header_goes_along() -> None:
    table = "| Name | Amount |\n|---|--:|\n" + "\n".join(f"| item {number} | {number} |" for number in range(200))

    first, *others = passages(segment(table, heading("Costs"), kind="table"))

    assert first.context == "Costs"
    assert {chunk.context for chunk in others} == {"Costs › Name | Amount"}
    assert all(chunk.text == lines_of(table, chunk) for chunk in (first, *others))


def test_groups_of_rows_are_not_glued_together() -> None:
    groups = [
        Segment(text=f"Name\nrow {number}", locator=(Place(kind="rows", start=number),), kind="table")
        for number in (2, 3)
    ]

    assert [chunk.locator for chunk in passages(*groups)] == [group.locator for group in groups]


def test_other_counted_places_are_narrowed_where_each_line_is_one() -> None:
    text = "\n".join(f"Paragraph {number} " + "of words. " * 30 for number in range(1, 9))
    place = Place(kind="paragraphs", start=11, end=18)

    found = passages(Segment(text=text, locator=(place,)))

    assert found[0].locator[0].start == 11
    assert found[-1].locator[0].end == 18
    assert found[0].locator[0].end != 18
    for one, other in pairwise(found):
        assert (one.locator[0].end or 0) + 1 >= (other.locator[0].start or 0)


def test_counted_places_hold_across_segments() -> None:
    groups = [
        Segment(text=f"One {start}.\nTwo.", locator=(Place(kind="paragraphs", start=start, end=start + 1),))
        for start in (1, 3, 5)
    ]

    [chunk] = passages(*groups)

    assert chunk.text == "One 1.\nTwo.\nOne 3.\nTwo.\nOne 5.\nTwo."
    assert chunk.locator == (Place(kind="paragraphs", start=1, end=6),)


def test_context_is_one_bounded_line() -> None:
    path = [heading(f"A very long heading\nthat goes on {level} " + "and on " * 20) for level in range(6)]

    [chunk] = passages(segment("text", heading("Flat"), *path), title="Flat")

    assert len(chunk.context) <= MAX_CONTEXT
    assert "\n" not in chunk.context
    assert chunk.context.startswith("Flat › ")


def test_tags_and_aliases_follow_the_headings_while_there_is_room() -> None:
    metadata: dict[str, object] = {
        "tags": ["rent", "home", "x" * 79, "y" * 79],
        "aliases": "Where we\nlive",
        "rating": 4,
    }
    facts = DocumentFacts(title="Flat", metadata=metadata)
    document = ExtractedDocument(facts=facts, segments=(segment("The rent is due.", heading("Costs")),))

    [chunk] = split(document)

    assert chunk.context == f"Flat › Costs › rent › home › {'x' * 79} › {'y' * 79}"
    assert chunk.text == "The rent is due."


def test_other_topics_follow_as_far_as_there_is_room_without_half_words() -> None:
    facts = DocumentFacts(title="Flat", metadata={"tags": ["rent"], "topics": ["Ada", "words and " * 40]})
    document = ExtractedDocument(facts=facts, segments=(segment("The rent is due."),))

    [chunk] = split(document)

    assert chunk.context.startswith("Flat › rent › Ada › words and words")
    assert MAX_CONTEXT - 10 < len(chunk.context) <= MAX_CONTEXT
    assert chunk.context.endswith((" words", " and"))


def test_places_say_where_and_titles_say_what() -> None:
    place = (Place(kind="sheet", label="Budget"), Place(kind="page", start=3, label="iii"))

    [chunk] = passages(Segment(text="text", locator=place))

    assert chunk.context == "Budget"


@pytest.mark.parametrize("window", [1, 2, 7, 64, 256, 512, 5_000])
def test_text_and_context_fit_in_the_window(window: int) -> None:
    text = "A long sentence about many things. " * 40 + "x" * 300 + "数据库" * 100

    found = passages(segment(text, heading("A heading of some length")), title="And a title", max_input_chars=window)

    assert all(len(chunk.embedded_text) <= window for chunk in found)


HOSTILE = ["x" * 300_000, "数据" * 50_000, "👩‍👩‍👧‍👦" * 6_000, "🇩🇪" * 6_000, "e\u0301" * 50_000, "word " * 60_000]
HOSTILE += ["\n" * 200_000 + "end", "." * 200_000, "a.\n" * 80_000, "\u0301" * 100_000, "a\n\n" * 80_000]
HOSTILE += ["\u200d" * 100_000, "word" + " " * 300_000 + "word", (" " * 5_000 + "a\n") * 60]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_divided_in_time(text: str) -> None:
    before = time.process_time()

    found = passages(segment(text))

    assert time.process_time() - before < 2
    assert all(len(chunk.text) <= POLICY.max_chars for chunk in found)


@pytest.mark.parametrize("character", ["👩‍👩‍👧‍👦", "🇩🇪", "o\u0308", "👍🏽", "❤\ufe0f", "각"])
def test_what_people_see_as_one_character_is_not_torn_apart(character: str) -> None:
    for chunk in passages(segment(character * 3_000)):
        assert chunk.text == character * (len(chunk.text) // len(character))


def test_passages_come_one_at_a_time() -> None:
    found = split(document(segment(SENTENCES * 50)))

    assert isinstance(found, Iterator)
    assert next(found).index == 0


TEXT = st.text(st.sampled_from("ab. \n\n数。é👩\u200d\u0301|-"), max_size=400).map(lambda text: text * 7)
SEGMENTS = st.lists(
    st.builds(
        segment,
        TEXT,
        st.sampled_from([heading("A"), heading("B"), Place(kind="page", start=1)]),
        start=st.integers(1, 9),
        kind=st.sampled_from(["text", "code", "table", "form"]),
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=150)
@given(SEGMENTS, st.none() | st.integers(1, 2_000))
def test_nothing_is_lost_and_nothing_is_too_long(segments: list[Segment], window: int | None) -> None:
    found = passages(*segments, title="Title", max_input_chars=window)

    assert [chunk.index for chunk in found] == list(range(len(found)))
    assert all(chunk.text.strip() and len(chunk.text) <= POLICY.max_chars for chunk in found)
    assert window is None or all(len(chunk.embedded_text) <= window for chunk in found)
    assert found == passages(*segments, title="Title", max_input_chars=window)
    kept = "".join(chunk.text for chunk in found)
    for part in segments:
        assert set(part.text) - set(kept) <= set(" \n")


@settings(deadline=None, max_examples=150)
@given(st.text(st.sampled_from("ab. \n\t数。é👩\u200d\u0301"), max_size=1_500), st.integers(1, 1_500))
def test_every_character_is_in_a_passage_and_every_passage_in_its_lines(text: str, window: int) -> None:
    text *= 3
    covered = 0
    for at, piece in pieces(text, POLICY.limits(window)):
        assert text[at : at + len(piece)] == piece
        assert not text[covered:at].strip()
        covered = max(covered, at + len(piece))
    assert not text[covered:].strip()
    for chunk in passages(segment(text), max_input_chars=window):
        assert chunk.text in lines_of(text, chunk)


def test_no_passage_begins_with_a_mark() -> None:
    text = ("क्षि" + "ก็" + "e\u0301\u0302") * 2_000

    for chunk in passages(segment(text)):
        assert unicodedata.category(chunk.text[0])[0] != "M"


def test_a_locator_without_counted_places_is_kept() -> None:
    place: Locator = (Place(kind="page", start=12, label="xii"),)

    assert {chunk.locator for chunk in passages(Segment(text=SENTENCES, locator=place))} == {place}


@pytest.mark.parametrize(
    ("context", "text", "given"),
    [
        ("", "plain", "plain"),
        ("Lease", "rent", "Lease\nrent"),
        ("", "re\u200bnt\U000e0068", "rent"),
        ("", "\u200b\u200b", "\u200b\u200b"),
    ],
)
def test_the_embedder_is_given_what_people_see_and_never_nothing(context: str, text: str, given: str) -> None:
    assert embedded_text(context, text) == given
