import codecs
import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.adapters.spawning import environment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind_extractors.decoding import decode, system_code_page

GERMAN = "Müller wohnt in Köln, die Straße ist größer als früher. Schöne Grüße aus Österreich, übermäßig häufig müde."
POLISH = "Zażółć gęślą jaźń, pójdź w tę ulicę. Książka leży na półce, a dziewczyna śpi. Łódź jest piękna."
RUSSIAN = "Привет, как дела? Это тест. Сегодня хорошая погода.\n"
CHINESE = "中文测试文本，今天天气很好，我们去公园散步。"
JAPANESE = "これは日本語のテストです。明日は晴れるでしょう。"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_and_is_removed(encoding: str) -> None:
    decoded = decode(f"{GERMAN}\n{CHINESE}".encode(encoding))

    assert decoded.text == f"{GERMAN}\n{CHINESE}"
    assert decoded.source == "bom"


def test_a_utf_32_mark_is_not_taken_for_the_utf_16_mark_it_begins_with() -> None:
    assert decode(codecs.BOM_UTF32_LE + "Größe".encode("utf-32-le")).text == "Größe"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["A note\nof two lines.\n", GERMAN, f"{JAPANESE} \r\n{CHINESE} (1999)\r\n", RUSSIAN])
def test_wide_text_without_a_mark_is_told_by_its_zero_bytes(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded.text == text
    assert decoded.encoding == encoding


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", GERMAN * 2),
        ("cp1250", POLISH * 2),
        ("cp1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("cp1253", "Καλημέρα κόσμε, αυτό είναι ένα κείμενο."),
        ("gbk", CHINESE),
        ("big5", "這是一個繁體中文的測試文本，今天天氣很好。"),
        ("shift_jis", JAPANESE),
        ("euc_jp", JAPANESE),
        ("iso2022_jp", JAPANESE),
        ("euc_kr", "안녕하세요 이것은 한국어 시험입니다. 오늘은 날씨가 좋습니다."),
    ],
)
def test_the_code_pages_that_people_had_are_recognised(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Это русский текст в кодировке windows-1251. Яблоки и груши растут в саду у дома."),
        ("mac-cyrillic", "Для меня семья и друзья: Петя, Вася, Таня и я."),
    ],
)
def test_the_code_pages_of_windows_and_of_the_macintosh_are_told_apart(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("text", ["Café", "Müller;Köln;Straße", "naïve — “quoted”"])
def test_short_text_is_read_in_the_system_code_page_and_not_guessed(text: str) -> None:
    decoded = decode(text.encode("cp1252"), code_page="cp1252")

    assert decoded.text == text
    assert decoded.source == "code page"


@pytest.mark.parametrize(("language", "page"), [("pl_PL", "cp1250"), ("ru_RU", "cp1251"), ("de_AT", "cp1252")])
def test_the_code_page_follows_the_language_of_the_system(language: str, page: str) -> None:
    assert system_code_page(language) == page


@pytest.mark.parametrize(
    ("said", "page"),
    [
        ({"LANG": "pl_PL.UTF-8"}, "cp1250"),
        ({"LC_ALL": "ru_RU.UTF-8", "LANG": "de_DE.UTF-8"}, "cp1251"),
        ({"LC_CTYPE": "", "LANG": "cs_CZ"}, "cp1250"),
        ({"LANG": "C.UTF-8"}, "cp1252"),
    ],
)
def test_the_language_is_the_one_of_the_environment_which_workers_inherit(
    said: dict[str, str], page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)

    assert system_code_page() == page
    assert said.items() <= environment(tmp_path).items()


def test_one_broken_byte_does_not_turn_utf_8_into_something_else() -> None:
    data = f"{GERMAN}\n".encode() + b"\xff" + f"{GERMAN}\n".encode()

    decoded = decode(data)

    assert decoded.encoding == "utf-8"
    assert decoded.text == f"{GERMAN}\n\ufffd{GERMAN}\n"
    assert 0 < decoded.replaced_share < 0.02


def test_a_character_cut_in_half_at_the_end_is_left_out() -> None:
    data = "Größe: schön".encode()[:-2]

    assert decode(data, cut=True).text == "Größe: sch"


def test_a_page_says_its_own_encoding() -> None:
    page = "<html><head><meta charset='iso-8859-2'></head><p>zażółć".encode("iso-8859-2")

    assert decode(page, html=True).text.endswith("zażółć")
    assert decode(page, html=True).source == "declared"


def test_a_declaration_far_into_the_head_counts() -> None:
    page = ("<style>" + "x" * 47_000 + '</style><meta http-equiv=x content="text/html; charset=Shift_JIS">日本').encode(
        "shift_jis"
    )

    assert decode(page, html=True).text.endswith("日本")


def test_a_page_that_lies_about_its_encoding_is_not_believed() -> None:
    page = f"<meta charset=ascii><p>{GERMAN}".encode()

    assert GERMAN in decode(page, html=True).text


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 40,
        random.Random(7).randbytes(5_000),
        b"text\0" * 40,
        b"\0" * 400,
        b"text" * 20 + b"\0\xc3(" * 2,
        b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff" * 30,
    ],
)
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(ExtractionFailed, match="binary file") as caught:
        decode(data)

    assert caught.value.reason is FileReason.UNSUPPORTED


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [CHINESE, JAPANESE, "안녕하세요이것은한국어시험입니다오늘은날씨가좋습니다"])
def test_wide_text_without_any_zero_byte_is_told_by_its_characters(encoding: str, text: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded.text == text
    assert decoded.encoding == encoding


@pytest.mark.parametrize(
    "data", [b"A short note of a pelican, with one\0 zero byte.", b"begun\n" + b"\0" * 400 + b"ended\n"]
)
def test_a_few_zero_bytes_make_a_short_text_no_binary_file(data: bytes) -> None:
    assert decode(data).text == data.decode()


def test_a_stray_zero_byte_and_terminal_colours_are_still_text() -> None:
    decoded = decode(b"line\n" * 200 + b"\0" + b"\x1b[31mred\x1b[0m" * 50)

    assert decoded.encoding == "utf-8"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=300))
def test_utf_8_comes_back_as_it_went(text: str) -> None:
    assert decode(text.encode()).text == text.removeprefix("\ufeff")


@pytest.mark.parametrize("data", [b"a note with\x01a control\n", "Größe\x02 und\x03 mehr".encode()])
def test_a_few_control_characters_make_a_short_text_no_binary_file(data: bytes) -> None:
    assert decode(data).encoding == "utf-8"


@pytest.mark.parametrize(
    ("data", "what"),
    [(b"text\x01\x02\x03\x04\x05\x06" * 3, "18 control characters among 30 bytes"), (b"\0" * 40, "40 zero bytes")],
)
def test_what_looks_binary_is_told_by_what_no_text_has(data: bytes, what: str) -> None:
    with pytest.raises(ExtractionFailed, match=what) as caught:
        decode(data)
    assert "save it again" in caught.value.told


@given(st.binary(max_size=400), st.booleans(), st.booleans())
def test_any_bytes_are_decoded_or_refused(data: bytes, html: bool, cut: bool) -> None:
    with suppress(ExtractionFailed):
        decoded = decode(data, html=html, cut=cut)
        assert 0 <= decoded.replaced_share <= 1


def test_utf8_with_halves_of_characters_stays_utf8() -> None:
    lone = decode(b"plain text with \xed\xa0\x80 in it")
    pair = decode(b"a smile \xed\xa0\xbd\xed\xb8\x80 and caf\xc3\xa9")

    assert (lone.encoding, lone.text) == ("utf-8", "plain text with \ufffd in it")
    assert pair.text == "a smile \U0001f600 and caf\u00e9"
