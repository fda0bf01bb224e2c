"""What people type finds its file among the first five: through the real analyser, stores and embedder."""

import random
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openmind import OpenMind, open_memory
from openmind.domain.search import SearchState

HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
FILES = {
    "cpp.md": "We compare C++ with other languages that have templates.",
    "csharp.md": "We compare C# with other languages that have delegates.",
    "plain-c.md": "We compare C with other languages that have pointers, c and c and c.",
    "error.txt": "The printer stopped with error E-1042 on Monday.",
    "other-error.txt": "The printer stopped with error E-1043 on Tuesday, then E-1041.",
    "mail.txt": "Please write to user@example.com about the invoice.",
    "other-mail.txt": "Please write to admin@example.com about the user.",
    "release.md": "Version v1.0.21 mends the importer.",
    "other-release.md": "Version 1.0.2 mends the exporter, 1.21 the rest.",
    "snake.md": "Set snake_case_name before you call the parser.",
    "camel.md": "The method getUserName returns what was typed.",
    "hash.txt": f"sha256 {HASH} archive.tar",
    "hamlet.txt": "To be, or not to be, that is the question.",
    "band.txt": "The Who played in Leeds in 1970.",
    "questions.txt": "Who is the one who knows who wrote the letter?",
    "windows.txt": "The file lies in C:\\Users\\me\\new on the old machine.",
    "brackets.txt": "See [brackets] & (x) #2 for the details.",
    "quarterly-budget-2024.txt": "Numbers of the department.",
    "strasse.txt": "Die Hauptstraße ist wegen Bauarbeiten in München gesperrt.",
    "cafe.txt": "Le café est fermé à cause de l'été.",
    "russian.txt": "Новые книги о городах стоят на верхней полке.",
    "chinese.txt": "合同规定付款期限为三十天，逾期须支付利息。",
    "japanese.txt": "法令の標準化について会議でバナナを食べながら話した。",
    "korean.txt": "서울에서 검색 엔진을 만드는 회사가 있다.",
    "arabic.txt": "المكتبة مفتوحة كل يوم حتى المساء.",
    "hebrew.txt": "הספרייה פתוחה בכל יום עד הערב.",
    "mixed.txt": "The 会議 in Köln was about Ω-3 and ﬁsh oil.",
    "wide.txt": "Ｔｈｅ　ＰＡＲＴＩＡＬＬＹ wide ｗｏｍｂａｔ sleeps.",
    "party.txt": "What a party that was 🎉🎊 and nobody slept 👍🏽",
    "greek.txt": "Η βιβλιοθήκη είναι ανοιχτή κάθε μέρα.",
    "thai.txt": "ห้องสมุดเปิดทุกวันจนถึงเย็น",
    "hindi.txt": "पुस्तकालय हर दिन शाम तक खुला रहता है।",
    "turkish.txt": "İstanbul'da ılık bir ağustos akşamı.",
    "polish.txt": "Zażółć gęślą jaźń w Łodzi.",
    "divided.txt": "It spoke of the classi-\nfication of the lemurs.",
    "hidden.txt": "The am\u00adbas\u200bsa\u2060dor of \u202eSamoa\u202c slept.",
    "literal.txt": "Set a:b:c to 100% and match *.cfg or x_1 AND y_2 under \\\\server\\share.",
}
NOISE = """
    user name case new error version error note write question letter compare language old machine detail number file
    the who be to or not is that on with of and example book day month open closed payment meeting street coffee
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenMind]:
    notes = tmp_path_factory.mktemp("notes")
    for name, text in FILES.items():
        (notes / name).write_text(text, encoding="utf-8")
    for number in range(200):
        chosen = random.Random(number).choices(NOISE.split(), k=60)
        (notes / f"pile-{number}.txt").write_text(" ".join(chosen), encoding="utf-8")
    with open_memory(tmp_path_factory.mktemp("home")) as opened:
        opened.sources.add(notes)
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("C++", "cpp.md"),
        ("C#", "csharp.md"),
        ("E-1042", "error.txt"),
        ("e1042", "error.txt"),
        ("user@example.com", "mail.txt"),
        ("v1.0.21", "release.md"),
        ("1.0.21", "release.md"),
        ("snake_case_name", "snake.md"),
        ("snake case name", "snake.md"),
        ("getUserName", "camel.md"),
        ("username", "camel.md"),
        (HASH, "hash.txt"),
        ("to be or not to be", "hamlet.txt"),
        ('"to be or not to be"', "hamlet.txt"),
        ('"that is the question"', "hamlet.txt"),
        ("The Who", "band.txt"),
        ("C:\\Users\\me\\new", "windows.txt"),
        ("[brackets] & (x) #2", "brackets.txt"),
        ("quarterly budget", "quarterly-budget-2024.txt"),
        ("budget-2024", "quarterly-budget-2024.txt"),
        ("Hauptstrasse", "strasse.txt"),
        ("Munchen", "strasse.txt"),
        ("MÜNCHEN", "strasse.txt"),
        ("cafe ferme ete", "cafe.txt"),
        ("книга о городе", "russian.txt"),
        ("付款", "chinese.txt"),
        ("期限", "chinese.txt"),
        ("法令", "japanese.txt"),
        ("ﾊﾞﾅﾅ", "japanese.txt"),
        ("검색", "korean.txt"),
        ("서울", "korean.txt"),
        ("المكتبة", "arabic.txt"),
        ("הספרייה", "hebrew.txt"),
        ("会議 Köln", "mixed.txt"),
        ("fish oil", "mixed.txt"),
        ("snake", "snake.md"),
        ("case_name parser", "snake.md"),
        ('"E-1042"', "error.txt"),
        ("C++ templates", "cpp.md"),
        ("GETUSERNAME", "camel.md"),
        ("get_user_name", "camel.md"),
        (HASH.upper(), "hash.txt"),
        (HASH[:12] + " archive", "hash.txt"),
        ("the who", "band.txt"),
        ('"The Who" played', "band.txt"),
        ("„To be, or not“", "hamlet.txt"),
        ("Users\\me\\new", "windows.txt"),
        ("C:/Users/me/new", "windows.txt"),
        ("[brackets]", "brackets.txt"),
        ("quarterly", "quarterly-budget-2024.txt"),
        ("quarterly-budget-2024.txt", "quarterly-budget-2024.txt"),
        ("Muenchen", "strasse.txt"),
        ("Hauptstraße", "strasse.txt"),
        ("été fermé", "cafe.txt"),
        ("новая книга", "russian.txt"),
        ("полка", "russian.txt"),
        ("標準", "japanese.txt"),
        ("バナナ", "japanese.txt"),
        ("회사", "korean.txt"),
        ("مكتبة", "arabic.txt"),
        ("ספרייה", "hebrew.txt"),
        ("partially wombat", "wide.txt"),
        ("ＷＯＭＢＡＴ", "wide.txt"),
        ("🎉", "party.txt"),
        ("🎊", "party.txt"),
        ("👍", "party.txt"),
        ("βιβλιοθηκη", "greek.txt"),
        ("ΒΙΒΛΙΟΘΉΚΗ", "greek.txt"),
        ("ห้องสมุด", "thai.txt"),
        ("पुस्तकालय", "hindi.txt"),
        ("istanbul", "turkish.txt"),
        ("zazolc lodzi", "polish.txt"),
        ("classification of lemurs", "divided.txt"),
        ("ambassador", "hidden.txt"),
        ("Samoa", "hidden.txt"),
        ("a:b:c", "literal.txt"),
        ("100%", "literal.txt"),
        ("x_1", "literal.txt"),
        ("\\\\server\\share", "literal.txt"),
        ("*.cfg", "literal.txt"),
    ],
)
def test_what_is_typed_finds_its_file_among_the_first_five(memory: OpenMind, query: str, name: str) -> None:
    result = memory.search(query)

    assert name in [hit.file_name for hit in result.hits]
    assert result.state is SearchState.OK


@pytest.mark.parametrize(
    "typed",
    [
        "printer AND E-1042",
        "NOT printer E-1042",
        "printer OR (E-1042",
        "-printer +E-1042",
        "printer* E-1042",
        "text:printer E-1042",
        'printer "E-1042',
        "printer^3 E-1042~2",
        "printer% E-1042'",
        "printer; DROP TABLE files; E-1042",
        "printer' OR '1'='1 E-1042",
        "\u202eprinter\u202c E-1042",
        "pri\u200bnter E\u20111042",
        "\\printer\\ E-1042",
        "{printer} [E-1042]",
        "printer\x00\x1b[31m E-1042",
        "printer\ud800 E-1042",
        "😀 printer 😀 E-1042",
        "printer\n\t E-1042\r\n",
        "E-1042 " + "filler " * 560,
    ],
)
def test_nothing_that_is_typed_is_obeyed_as_an_operator(memory: OpenMind, typed: str) -> None:
    result = memory.search(typed)

    assert "error.txt" in [hit.file_name for hit in result.hits]
    assert not result.degraded


def test_a_phrase_that_nobody_wrote_finds_nothing(memory: OpenMind) -> None:
    result = memory.search('"question the is that"')

    assert result.hits == ()
    assert result.state is SearchState.NOTHING_FOUND


def test_nothing_unrelated_stands_beside_a_good_hit(memory: OpenMind) -> None:
    assert [hit.file_name for hit in memory.search("付款期限").hits] == ["chinese.txt"]
    assert [hit.file_name for hit in memory.search("Leeds", limit=50).hits] == ["band.txt"]


def test_a_stranger_s_question_finds_nothing_relevant(memory: OpenMind) -> None:
    result = memory.search("lattice gauge symmetry of quantum chromodynamics in hadron colliders")

    assert result.state is SearchState.NOTHING_FOUND


SIGNS = "\"'*:()[]{}%_\\/+-#&|~^?!$<>=,;.`@ \t\n„“”«»"
OPERATORS = ["AND", "OR", "NOT", "NEAR/3", "a:b:c", "text:", "*", "%", "_", "\\", '"', "''", "--", "C++", "🎉", "🇩🇪"]
OPERATORS += ["\u202e", "\u2066", "\ufeff", "\U000e0041", "e\u0301", "ß", "ﾊﾞ", "中", "서울", "ال", "ที่", "x" * 300]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.text(min_size=1, max_size=80),
        st.text(alphabet="\"'*:()[]{}%_\\/+-#&|~^ANDORNT ab中", min_size=1, max_size=60),
        st.text(alphabet="\u202e\u2066\ud800\x00😀é\u0301ß", min_size=1, max_size=20),
        st.lists(st.sampled_from(OPERATORS + list(SIGNS) + NOISE.split()), min_size=1, max_size=60).map("".join),
        st.lists(st.sampled_from(OPERATORS + NOISE.split()), min_size=1, max_size=60).map(" ".join),
    ).filter(str.strip)
)
def test_nothing_that_can_be_typed_raises(memory: OpenMind, query: str) -> None:
    result = memory.search(query)

    assert result.query == query.strip()
    assert not result.degraded
    assert all(0 <= hit.score <= 1 for hit in result.hits)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    assert all(0 <= start < end <= len(hit.snippet) for hit in result.hits for start, end in hit.marks)


def test_four_thousand_characters_are_a_query(memory: OpenMind) -> None:
    assert memory.search("printer " * 499).hits
    assert memory.search("x" * 4_000).state in SearchState
    assert memory.search(("🎉" * 40 + "中文" * 40 + " a-b_c.d/e:f@g ") * 25).state in SearchState
    assert memory.search('"' + "a b " * 900 + '"').state is SearchState.NOTHING_FOUND


def test_no_snippet_holds_the_title_or_the_headings_it_is_shown_under(world) -> None:
    drained = "Drain the pump by the last weekend of October, open the brass valve and leave the handle up."
    world.write("a.md", f"# The pump\n\nBefore the frost\n----------------\n\n{drained}\n")
    world.write(
        "b.html", f"<title>The pump</title><h1>The pump</h1><h2>Before<br>the <i>frost</i></h2><p>{drained}</p>"
    )
    world.write("c.rst", f"The pump\n========\n\nBefore the frost\n----------------\n\n{drained}\n")

    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        hits = memory.search("brass valve of the pump before frost", limit=9).hits

    assert {hit.extension for hit in hits} == {".md", ".html", ".rst"}
    for hit in hits:
        assert hit.snippet == drained
        assert [place.label for place in hit.locator if place.kind == "heading"] == ["The pump", "Before the frost"]
        assert hit.text.lstrip("# ").startswith("The pump")
