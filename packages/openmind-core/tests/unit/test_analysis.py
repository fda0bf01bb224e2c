import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.analysis import MAX_TERMS, AnalysedQuery, analyse_query, passage_words, words_of
from openmind.domain.identifiers import identifiers_of, other_writings
from openmind.domain.matching import matching_spans
from openmind.domain.stems import forms
from openmind.domain.text import clean

ANY_TEXT = st.text(st.characters(), max_size=120)
PIECES = list('“-_.,/\\@#+"ßÉéüИةa猫ー😀 \n\u0301\u202e\x01\x03')
PIECES += ["C++", "E-1042", "数据库", "서울에서", "getUserName", "v1.0.21", "ﾊﾞ", "1,200", "ال", "ภาษา", "नमस्ते"]
TYPED = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def finds(query: str, text: str) -> bool:
    """Whether the index would find the text by every term and phrase of the query."""
    stream = [forms(word) for word in words_of(text).split(" ")]
    asked = analyse_query(query)
    if not asked.terms:
        return False
    everywhere = set[str]().union(*stream)
    return not any(forms(term).isdisjoint(everywhere) for term in asked.terms) and all(
        _has_phrase(stream, phrase) for phrase in asked.phrases
    )


def _has_phrase(stream: list[set[str]], phrase: tuple[str, ...]) -> bool:
    return any(
        all(not forms(term).isdisjoint(word) for term, word in zip(phrase, stream[at:], strict=False))
        for at in range(len(stream) - len(phrase) + 1)
    )


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C++", "Templates in C++ are old."),
        ("🎉", "party 🎉🎊 time"),
        ("🎊", "party 🎉🎊 time"),
        ("🎉🎊", "party🎉🎊time"),
        ("👍", "well done 👍🏽"),
        ("👍🏿", "well done 👍"),
        ("👩\u200d👩\u200d👧", "a 👩\u200d👩\u200d👧 family"),
        ("👧", "a 👩\u200d👩\u200d👧 family"),
        ("🇩🇪", "from 🇫🇷🇩🇪"),
        ("❤", "I ❤\ufe0f you"),
        ("information", "of infor-\nmation"),
        ("information", "of infor\u2010\n   mation"),
        ("information", "of infor\xad\nmation"),
        ("informations", "of infor- \nmation"),
        ("информация", "об инфор-\nмации"),
        ("well-known", "a well-\nknown"),
        ("well known", "a well-\nknown"),
        ("c++", "C++17, C/C++ and so on"),
        ("C#", "Written in C#."),
        ("F#", "F# (the language)"),
        ("E-1042", "It stopped with error E-1042."),
        ("1042", "It stopped with error E-1042."),
        ("E1042", "It stopped with error E-1042."),
        ("user@example.com", "Write to <user@example.com>, please."),
        ("example.com", "Write to user@example.com"),
        ("example.com", "see https://www.example.com/a/b.html?x=1#top"),
        ("v1.0.21", "Version 1.0.21 is out"),
        ("1.0.21", "Tagged v1.0.21."),
        ("v1.0.21", "Tagged v1.0.21."),
        ("1.0", "Tagged v1.0.21."),
        ("snake_case_name", "def snake_case_name(): ..."),
        ("case", "def snake_case_name(): ..."),
        ("username", "user_name = 1"),
        ("getUserName", "x.getUserName()"),
        ("username", "x.getUserName()"),
        ("user", "x.getUserName()"),
        ("server", "class HTTPServer:"),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
         "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 *file"),
        ("to be or not to be", "To be, or not to be: that is the question."),
        ('"to be or not to be"', "To be, or not to be: that is the question."),
        ("The Who", "a record of The Who"),
        ('"that is the question"', "To be, or not to be: that\nis the question."),
        ('"C++ code"', "some C++ code here"),
        ('"E-1042 failed"', "then E-1042 failed again"),
        (r"C:\Users\me\new", r"copied to C:\Users\me\new yesterday"),
        ("users", r"copied to C:\Users\me\new yesterday"),
        ("final", "see report_final-v2.pdf"),
        ("report_final-v2", "see report_final-v2.pdf"),
        ("[brackets] & (x) #2", "the [brackets] & (x) #2 of it"),
        ("a:b:c", "key a:b:c"),
        ("strasse", "in der Straße"),
        ("Straße", "in der STRASSE"),
        ("Zurich", "nach Zürich"),
        ("Zuerich", "nach Zürich"),
        ("Zürich", "nach Zu\u0308rich"),
        ("MÜNCHEN", "munchen"),
        ("cafe", "un café crème"),
        ("café", "un cafe creme"),
        ("naive", "naïve"),
        ("Lodz", "w Łodzi i Łódź"),
        ("Kobenhavn", "i København"),
        ("книга", "новые книги и книгу"),
        ("документов", "все документы"),
        ("новый", "новая"),
        ("елка", "Ёлка"),
        ("мой", "мой дом"),
        ("法令", "この法令は新しい"),
        ("标准", "本文件是标准化的"),
        ("付款", "付款期限为三十天"),
        ("猫", "我有一只猫在睡觉"),
        ("数据库", "一个数据\n库系统"),
        ('"数据库 系统"', "查找数据库系统"),
        ("系统", "数据库   系统\t标准"),
        ("東京", "東京タワーへ行く"),
        ("タワー", "東京タワーへ行く"),
        ("ﾊﾞﾅﾝｽ", "バナンスの話"),
        ("バナンス", "ﾊﾞﾅﾝｽの話"),
        ("Ｅ－１０４２", "error E-1042"),
        ("ABC123", "ＡＢＣ１２３"),
        ("서울", "서울에서 만나요"),
        ("검색", "한국어검색엔진"),
        ("집", "우리 집에서"),
        ("كتاب", "قرأت الكتاب"),
        ("سلام", "سَلَامٌ"),
        ("שלום", "שָׁלוֹם עולם"),
        ("ภาษา", "ภาษาไทยง่าย"),
        ("नमस्ते", "नमस्ते दुनिया"),
        ("数据 Python", "用Python处理数据。"),
        ("Tシャツ", "白いTシャツを買う"),
        ("email", "send an e-mail"),
        ("e-mail", "send an e-mail"),
        ("well known", "a well-known fact"),
        ("well-known", "a fact well known"),
        ("Donaudampfschiff", "das Donau-Dampfschiff"),
        ("USA", "in the U.S.A. today"),
        ("U.S.A.", "in the USA today"),
        ("1200", "about 1,200 people"),
        ("1,200", "about 1200 people"),
        ("2024-01-15", "on 2024-01-15"),
        ("20240115", "on 2024-01-15"),
        ("10 km", "a 10km run"),
        ("utf8", "in UTF-8"),
        ("AT&T", "shares of AT&T fell"),
        ("12:30", "at 12:30"),
        ("running", "he runs"),
        ("aircraft wing", "the wings of an aircraft"),
        ("information", "infor\u00admation"),
        ("Windows", "Windows™ only"),
    ],
)  # fmt: skip
def test_what_people_type_is_found(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ('"be or to"', "To be, or not to be."),
        ('"end start"', "the end"),
        ("C++", "plain C code"),
        ("数据", "据数"),
        ("1.0.2", "v1.0.21"),
        ("E-1042", "E-1043"),
    ],
)
def test_what_is_not_there_is_not_found(query: str, text: str) -> None:
    assert not finds(query, text)


def test_words_stand_in_reading_order_before_other_writings() -> None:
    assert words_of("Call getUserName, then E-1042!") == (
        "call getusername then e 1042 | get user name getuser username e-1042 e1042"
    )


def test_text_without_words_has_none() -> None:
    assert words_of(" … ¿ --- \n") == ""


def test_a_character_alone_is_a_word() -> None:
    assert words_of("猫") == "猫"


def test_a_passage_is_found_by_text_title_headings_name_and_path() -> None:
    words = passage_words(
        "The rent is due.",
        context="Flat › Costs",
        file_name="Praesentation_2024.pdf",
        path="/home/max/My Docs/Praesentation_2024.pdf",
    )

    assert words.startswith("the rent is due | flat costs | ")
    for term in ("praesentation", "prasentation", "2024", "pdf", "praesentation_2024.pdf", "docs", "max"):
        assert term in words.split()


def test_phrases_do_not_run_across_the_joints_of_a_passage() -> None:
    words = passage_words("it ends", context="Begins", file_name="name.txt", path="folder/name.txt")

    stream = [{word} for word in words.split()]
    assert not _has_phrase(stream, ("ends", "begins"))
    assert not _has_phrase(stream, ("begins", "name"))
    assert not _has_phrase(stream, ("txt", "folder"))


def test_a_passage_without_words_is_found_by_its_name() -> None:
    assert passage_words("…", context="", file_name="note.txt", path="note.txt") == "note txt | note.txt"


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ('"to be" or not', (("to", "be"),)),
        ("“to be” or „nicht“ and «это»", (("to", "be"), ("nicht",), ("это",))),
        ('"unbalanced words', ()),
        ('one" two', ()),
        ('5" disk and 3" disk', ()),
        ('a 5" disk "in the box"', (("in", "the", "box"),)),
        ('""', ()),
        ('" "', ()),
        ('查找"数据库"吧', (("数据", "据库"),)),
        ('"数据库 系统"', (("数据", "据库"), ("系统",))),
        ('"Python 第3章 end"', (("python",), ("3",), ("end",))),
        ('"使用 Python"', (("使用", "python"),)),
        ("'single quotes'", ()),
    ],
)
def test_only_balanced_double_quotes_make_a_phrase(query: str, phrases: tuple[tuple[str, ...], ...]) -> None:
    assert analyse_query(query).phrases == phrases


@pytest.mark.parametrize(
    "query", ["foo AND bar", "foo NOT bar", "foo OR bar*", "title:foo ~bar^2", "+foo -bar", "(foo) && %bar_"]
)
def test_operators_are_plain_text(query: str) -> None:
    asked = analyse_query(query)

    assert {"foo", "bar"} <= set(asked.terms)
    assert asked.phrases == ()


@pytest.mark.parametrize(
    ("query", "identifiers"),
    [
        ("errors like E-1042", ("e-1042",)),
        ("C++ or C#", ("c++", "c#")),
        ("user@example.com", ("user@example.com", "example.com")),
        ("v1.0.21", ("1.0.21",)),
        ("snake_case_name", ("snake_case_name",)),
        ("getUserName", ("getusername",)),
        ("a" * 40 + "1f" * 12, ("a" * 40 + "1f" * 12,)),
        ("order 4711815", ("4711815",)),
        ("in 2024 the well-known and/or e.g. 2nd U.S. 3-4 x-ray", ()),
        ("plain words", ()),
    ],
)
def test_identifiers_are_what_is_met_by_no_accident(query: str, identifiers: tuple[str, ...]) -> None:
    assert analyse_query(query).identifiers == identifiers


def test_terms_are_distinct_and_in_order() -> None:
    assert analyse_query("b a b C++ a").terms == ("b", "a", "c++")


def test_function_words_are_asked_for_only_where_there_is_nothing_else() -> None:
    assert analyse_query("what is the rent of the flat").asked == ("rent", "flat")
    assert analyse_query("to be or not to be").asked == ("to", "to", "be", "be", "or", "not")
    assert analyse_query("The Who").asked == ("who",)


def test_what_a_query_repeats_is_asked_for_twice_at_most() -> None:
    assert analyse_query("rent flat rent rent").asked == ("rent", "rent", "flat")


def test_a_pasted_text_asks_for_a_bounded_number_of_terms() -> None:
    asked = analyse_query(" ".join(f"w{number}" for number in range(4_000)) + '"' + " quoted" * 500 + '"')

    assert len(asked.terms) == MAX_TERMS
    assert all(len(phrase) <= MAX_TERMS for phrase in asked.phrases)


@settings(deadline=None, max_examples=300)
@given(ANY_TEXT | TYPED)
def test_a_text_is_found_by_itself(text: str) -> None:
    asked = analyse_query(text.replace('"', " "))
    words = set(words_of(clean(text)).split(" "))

    assert set(asked.terms) <= words
    assert set(asked.identifiers) <= set(asked.terms)
    assert set(asked.asked) <= set(asked.terms)


@settings(deadline=None, max_examples=200)
@given(ANY_TEXT | TYPED)
def test_words_are_clean_tokens(text: str) -> None:
    words = words_of(text)

    assert words == " ".join(words.split())
    assert not any(character in words for character in "\x01\x02\x03\n\t")
    assert "||" not in words


@settings(deadline=None, max_examples=300)
@given(ANY_TEXT | TYPED, ANY_TEXT | TYPED)
def test_spans_lie_in_the_text_in_order(text: str, query: str) -> None:
    spans = matching_spans(text, analyse_query(query))

    borders = [border for span in spans for border in span]
    assert all(start < end for start, end in spans)
    assert borders == sorted(set(borders))
    assert not borders or (borders[0] >= 0 and borders[-1] <= len(text))


@settings(deadline=None, max_examples=200)
@given(st.from_regex(r"[A-Za-z]{1,6}-[A-Za-z]{1,6}|[0-9]{1,4}\.[0-9]{1,4}", fullmatch=True))
def test_the_short_answer_for_usual_tokens_is_the_long_one(token: str) -> None:
    long = [writing for identifier in identifiers_of(token) for writing in identifier.indexed]

    assert other_writings(token) == long


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("run", "He runs; running is fun, ruin is not", ["runs", "running"]),
        ("flies", "a fly", ["fly"]),
        ("generalization", "generalizations", ["generalizations"]),
        ("strasse", "Die Straße hier", ["Straße"]),
        ("zurich", "in Zu\u0308rich", ["Zu\u0308rich"]),
        ("バナンス", "新しいﾊﾞﾅﾝｽです", ["ﾊﾞﾅﾝｽ"]),
        ("数据库", "用数据库系统", ["数据库"]),
        ("猫", "黑猫", ["猫"]),
        ("猫", "猫", ["猫"]),
        ("username", "x.getUserName()", ["getUserName"]),
        ("C++", "in C++ now", ["C++"]),
        ("e-1042", "error E-1042:", ["E-1042"]),
        ("v1.0.21", "as v1.0.21 is", ["v1.0.21"]),
        ("user@example.com", "to user@example.com now", ["user@example.com"]),
        ("книга", "три книги", ["книги"]),
        ("what is the rent", "the rent is due", ["rent"]),
        ("the", "the rent", ["the"]),
        ('"not to be"', "to be or not to be", ["not to be"]),
        ('"not found" here', "to be or not, here", ["here"]),
        ("ﬁne", "a fine ﬁne", ["fine", "ﬁne"]),
        ("nothing", "else", []),
        ("🎉", "party 🎉🎊", ["🎉"]),
        ("👍", "well 👍🏽 done", ["👍🏽"]),
        ("information", "of infor- mation", ["infor- mation"]),
        ("needle", "x" * 200 + "needle" + "y" * 200, ["needle"]),
    ],
)  # fmt: skip
def test_what_matches_is_marked_in_the_text_itself(query: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in matching_spans(text, analyse_query(query))] == marked


def test_an_empty_query_marks_nothing() -> None:
    assert matching_spans("text", AnalysedQuery()) == ()


HOSTILE = ["a-", "aB", "a1", "1.", "/a.b-c_d", "数", "a", "-", "x@", "1,000,", "C++", '"', "é", "я", "ü", "e\u0301"]
HOSTILE += ["ab-\n", "🎉", "ﾊﾞ", '"a ', "数 ", "数\n", "a, b-"]


@pytest.mark.parametrize("text", [piece * (20_000 // len(piece)) for piece in HOSTILE])
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    before = time.process_time()

    words = words_of(text)
    matching_spans(text[:1_200], analyse_query(text))

    assert len(words) < 10 * len(text)
    assert time.process_time() - before < 5
