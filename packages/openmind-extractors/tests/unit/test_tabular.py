import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.domain.files import FileReason
from openmind_extractors.delimited import Dialect, find_dialect, read_rows
from openmind_extractors.rows import find_head


def rows_of(text: str, delimiter: str = ",") -> list[list[str]]:
    def lines(skip: int):
        return iter(text.splitlines(keepends=True)[skip:])

    return [row for block in read_rows(lines, Dialect(delimiter)) for row in block]


def test_cells_are_kept_exactly_as_written(read) -> None:
    data = b"id,name,price,seen\n00123,NA,1.50,2024-01-02\n12345678901234567890,None,1e3,\n7,nan,TRUE,01/02/03\n"

    reading = read("stock.csv", data)

    assert reading.text == (
        "id | name | price | seen\n00123 | NA | 1.50 | 2024-01-02\n12345678901234567890 | None | 1e3 | \n"
        "7 | nan | TRUE | 01/02/03"
    )
    assert reading.where("00123") == "rows 2–4"
    assert reading.facts.metadata["row_count"] == 3
    assert reading.facts.metadata["delimiter"] == ","


def test_ragged_rows_lose_no_cell(read) -> None:
    reading = read("ragged.csv", b"a,b,c\n1,2,3,4,5\n6\n7,8,9\n")

    assert reading.text.split("\n") == ["a | b | c", "1 | 2 | 3 | 4 | 5", "6", "7 | 8 | 9"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(read, delimiter: str) -> None:
    rows = [["name", "size, in cm", "weight"], ["trout", "12,5", "1"], ["pike; big", "80,1", "9"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)

    assert read("a.csv", text.encode()).text.split("\n")[1:] == ["trout | 12,5 | 1", "pike; big | 80,1 | 9"]


def test_a_decimal_comma_is_no_delimiter(read) -> None:
    assert read("a.csv", b"Name;Wert\nA;1,5\nB;2,5\n").text == "Name | Wert\nA | 1,5\nB | 2,5"


def test_the_line_that_names_the_separator_is_obeyed_and_left_out(read) -> None:
    assert read("a.csv", b"sep=;\nname;x\nA;1\n").text == "name | x\nA | 1"


def test_title_rows_above_the_header_are_text_of_their_own(read) -> None:
    reading = read("a.csv", b"Sales report,,\nAll regions,,\n,,\nregion,year,sum\nNorth,2024,7\nSouth,2024,9\n")

    assert reading.segments[0].text == "Sales report\nAll regions"
    assert reading.segments[1].text == "region | year | sum\nNorth | 2024 | 7\nSouth | 2024 | 9"
    assert reading.where("South") == "rows 5–6"


def test_a_table_without_a_header_has_none(read) -> None:
    assert read("a.csv", b"1,2\n3,4\n").text == "1 | 2\n3 | 4"


def test_a_header_may_name_two_columns_alike() -> None:
    assert find_head([["id", "name", "name"], ["1", "a", "b"]]).header == ("id", "name", "name")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_divides_rows(read, newline: str) -> None:
    assert read("a.csv", newline.join(["a,b", "1,2", "3,4"]).encode()).text == "a | b\n1 | 2\n3 | 4"


def test_a_quoted_line_break_stays_in_its_cell(read) -> None:
    reading = read("a.csv", b'a,b\n"two\nlines",2\n3,4\n')

    assert reading.text == "a | b\ntwo lines | 2\n3 | 4"
    assert reading.where("3 | 4") == "rows 2–3"


@pytest.mark.parametrize("following", [3, 5_000])
def test_a_quote_that_is_never_closed_swallows_no_row(read, following: int) -> None:
    data = 'a,b\n1,"open\n' + "".join(f"{number},x{number}\n" for number in range(following)) + '9,"closed"\n'

    reading = read("a.csv", data.encode())

    assert reading.facts.metadata["row_count"] == following + 2
    assert f"{following - 1} | x{following - 1}" in reading.text
    assert reading.text.endswith("9 | closed") or "9 | closed\n" in reading.text


def test_many_broken_quotes_do_not_take_quadratic_time() -> None:
    text = '1,"open\n' * 30_000
    started = time.process_time()

    assert len(rows_of(text)) >= 15_000
    assert time.process_time() - started < 10


def test_a_field_of_50_megabytes_is_cut(read) -> None:
    reading = read("a.csv", b"a,b\n1," + b"x" * 50_000_000 + b"\n2,y\n")

    assert reading.reason is FileReason.PARTIAL
    assert "characters of a cell" in reading.note
    assert "2 | y" in reading.text


def test_a_wide_table_lists_the_names_with_the_values(read) -> None:
    header = ",".join(f"measurement_{number}" for number in range(20_000))
    values = ",".join(str(number) for number in range(20_000))

    reading = read("wide.csv", f"{header}\n{values}\n{values}\n".encode())

    assert "measurement_7: 7\nmeasurement_8: 8" in reading.text
    assert reading.reason is FileReason.PARTIAL
    assert "200 columns" in reading.note
    assert reading.where("measurement_7") == "rows 2–2"


def test_a_large_table_is_sampled_beyond_the_limit_and_says_so(read, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("id,name\n")
        file.writelines(f"{number},name of {number} in a rather long table\n" for number in range(600_000))

    reading = read("large.csv", path)

    assert path.stat().st_size > 20_000_000
    assert reading.reason is FileReason.PARTIAL
    assert "of 600,000" in reading.note
    assert "49999 | name of 49999" in reading.text
    assert reading.facts.metadata["row_count"] == 600_000
    assert 55_000 < len(reading.text.split("\n")) < 70_000


def test_rows_are_in_passages_that_each_repeat_the_header(read) -> None:
    data = "number,word\n" + "".join(f"{n},entry {n}\n" for n in range(1_000))

    reading = read("a.csv", data.encode())

    tables = [segment for segment in reading.segments if segment.kind == "table"]
    assert all(segment.text.startswith("number | word\n") and len(segment.text) < 1_200 for segment in tables)
    ranges = [(segment.locator[-1].start, segment.locator[-1].end) for segment in tables]
    assert ranges[0][0] == 2
    assert ranges[-1][1] == 1_001
    assert all(before[1] + 1 == after[0] for before, after in pairwise(ranges))


def test_a_profile_of_the_columns_is_a_passage_of_its_own(read) -> None:
    cities = ["Berlin", "Paris"]
    data = "zip,city,price,day,note\n" + "".join(
        f"{n:05d},{cities[n % 2]},{n}.5,2024-01-{n % 28 + 1:02d},{'x' if n % 4 else ''}\n" for n in range(100)
    )

    reading = read("a.csv", data.encode())

    [profile] = [segment.text for segment in reading.segments if segment.locator[-1].label == "columns"]
    assert profile.split("\n") == [
        "Columns of the table (5 columns, 100 rows):",
        "zip: text; 100 distinct values",
        "city: text; 2 distinct values; values Berlin, Paris",
        "price: number, 0.5 to 99.5, mean 50; 100 distinct values",
        "day: date, 2024-01-01 to 2024-01-28; 28 distinct values",
        "note: text; 1 distinct value; 25 empty; values x",
    ]


def test_a_table_in_another_code_page_is_decoded(read) -> None:
    data = "Ort;Größe\nKöln;groß\nMüllheim;klein\nÜberlingen;schön\n" * 5

    reading = read("orte.csv", data.encode("cp1252"))

    assert "Überlingen | schön" in reading.text


def test_a_page_that_was_saved_as_csv_is_read_as_a_page(read) -> None:
    reading = read("export.csv", b"<html><body><table><tr><td>a<td>b</table>")

    assert reading.text == "a | b"
    assert reading.facts.metadata["file_type"] == "html"


@pytest.mark.parametrize("data", [b"", b"\n\n\n", b",,,\n,,\n"])
def test_a_table_without_rows_is_empty(read, data: bytes) -> None:
    reading = read("a.csv", data)

    assert reading.text.strip(" |\n") == ""


def test_a_table_of_nothing_but_a_header_is_its_header(read) -> None:
    reading = read("a.csv", b"name,size\n")

    assert reading.text == "name | size"
    assert reading.where("name") == "rows 1–1"


def test_an_empty_table_is_no_success(read) -> None:
    assert read("a.csv", b"").reason is FileReason.EMPTY


@given(
    st.lists(st.lists(st.text('ab ,;"\n', max_size=6), min_size=1, max_size=4), max_size=30), st.sampled_from(",;\t")
)
def test_what_the_standard_writer_writes_is_read_back(rows: list[list[str]], delimiter: str) -> None:
    import csv
    import io

    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)

    assert rows_of(written.getvalue(), delimiter) == rows


def test_a_file_of_one_column_is_read_line_by_line() -> None:
    assert find_dialect(["one\n", "two\n"]).delimiter == ","
    assert rows_of("one\ntwo\n") == [["one"], ["two"]]
