"""Small parts: slots, cursors, events, error messages, the log."""

import errno
import inspect
import json
import os
import shutil
from datetime import UTC, datetime
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from litestar.exceptions import InternalServerException
from openmind.adapters.token_file import TokenFile
from openmind.domain import errors
from openmind.domain.errors import TooBusy
from openmind.domain.problems import status_of
from openmind_api import problems
from openmind_api.access_log import AccessLine, ServerLog
from openmind_api.bodies import located
from openmind_api.cursors import after_of, cursor_of
from openmind_api.described import MEANING
from openmind_api.errors import LEFT, on_http_exception
from openmind_api.gate import Admission, Arrival
from openmind_api.parameters import only_known_parameters
from openmind_api.refused import Refused
from openmind_api.server import Token
from openmind_api.slots import Slots
from openmind_api.sse import error_event, event


def test_a_slot_is_given_back_whatever_happens() -> None:
    slots = Slots(1, "full")

    with pytest.raises(ZeroDivisionError), slots.one():
        1 / 0  # noqa: B018
    with slots.one():
        assert slots.taken == 1
    assert slots.taken == 0


def test_nobody_is_let_in_when_all_slots_are_taken() -> None:
    slots = Slots(1, "full")

    with slots.one(), pytest.raises(TooBusy, match="Full"):
        slots.take()
    assert slots.taken == 0


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_a_cursor_leads_back_to_its_path(path) -> None:
    assert after_of(cursor_of([SimpleNamespace(path_bytes=path)])) == path


@given(st.text(max_size=50))
@settings(deadline=None)
def test_what_is_no_cursor_is_refused_and_never_a_bug(text) -> None:
    try:
        found: object = after_of(text)
    except Refused as error:
        found = error.refusal.status

    assert found == (422 if text else b"")


def test_no_cursor_is_the_beginning() -> None:
    assert after_of(None) == b""


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
@settings(deadline=None)
def test_an_event_is_a_name_and_one_line_of_json(data) -> None:
    lines = event("delta", data).decode().split("\n")

    assert lines[0] == "event: delta"
    assert msgspec.json.decode(lines[1].removeprefix("data: ")) == data
    assert lines[2:] == ["", ""]


def test_a_failing_stream_ends_with_the_sentence() -> None:
    _, data, *_ = error_event(problems.STOPPING.body()).decode().split("\n")

    told = json.loads(data.removeprefix("data: "))
    assert told["message"] == told["detail"]
    assert told.keys() >= {"message", "code", "hint"}


@pytest.mark.parametrize(
    ("message", "path", "sentence"),
    [
        ("Expected `int`, got `str` - at `$.limit`", "limit", "expected `int`, got `str`"),
        ("Expected `str`, got `int` - at `$.model_keys[1]`", "model_keys[1]", "expected `str`, got `int`"),
        ("Object contains unknown field `x`", "x", "object contains unknown field `x`"),
        ("Object missing required field `a` - at `$.b`", "b.a", "object missing required field `a`"),
        ("Expected `object`, got `array`", "body", "expected `object`, got `array`"),
        ("`query` must have 1 to 4,000 characters, not 0", "query", "`query` must have 1 to 4,000 characters, not 0"),
        ("Expected `str` matching regex 'x' - at `$.id`", "id", "it is none of the values that /docs lists"),
        ("Expected `str` matching regex '\\\\S' - at `$.query`", "query", "it must not be blank"),
        ("Expected `str` of length >= 1 - at `$.query`", "query", "it must not be empty"),
    ],
)
def test_what_the_decoder_says_becomes_path_and_sentence(message, path, sentence) -> None:
    assert located(message) == (path, sentence)


def test_every_refusal_is_a_problem_with_a_status_that_is_described_or_rare() -> None:
    refusals = [one for one in vars(problems).values() if isinstance(one, problems.Refusal)]

    assert len({one.code for one in refusals}) == len(refusals)
    for one in refusals:
        body = one.body()
        assert body["detail"].endswith(".")
        assert body["status"] in {*MEANING, 405, 414, 431, 499}
        assert json.loads(one.encoded()) == body


def test_every_error_has_a_status_that_the_contract_knows() -> None:
    def leaves(kind):
        yield kind
        for child in kind.__subclasses__():
            yield from leaves(child)

    kinds = [kind for kind in leaves(errors.OpenMindError) if kind.__module__ == errors.__name__]
    assert {status_of(kind) for kind in kinds} <= {400, 403, 404, 409, 422, 429, 500, 503, 507}


def line(number: int = 1) -> AccessLine:
    return AccessLine(
        request_id=f"{number:016x}", method="GET", path="/api/v1/status", status=200, bytes=7, seconds=0.0012345
    )


def test_a_line_of_the_log(tmp_path) -> None:
    log = ServerLog(tmp_path / "api.jsonl", now=lambda: datetime(2026, 1, 2, tzinfo=UTC))

    log.access(line())
    log.close()

    assert json.loads((tmp_path / "api.jsonl").read_text()) == {
        "time": "2026-01-02T00:00:00.000+00:00",
        "event": "request",
        "request_id": "0000000000000001",
        "method": "GET",
        "path": "/api/v1/status",
        "status": 200,
        "bytes": 7,
        "ms": 1.23,
    }


def test_the_log_is_bounded(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("openmind_api.access_log.MAX_BYTES", 10_000)
    log = ServerLog(tmp_path / "api.jsonl")

    for number in range(1_000):
        log.access(line(number))
    log.close()

    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == 2
    assert max(sizes) <= 10_000


def test_a_log_that_cannot_be_written_is_no_reason_to_fail(tmp_path, capfd) -> None:
    log = ServerLog(tmp_path / "gone" / "api.jsonl")

    log.access(line())
    log.close()

    assert capfd.readouterr() == ("", "")


def test_parameters_are_checked_without_a_thread() -> None:
    assert inspect.iscoroutinefunction(only_known_parameters)


def test_a_log_that_was_deleted_is_begun_anew(tmp_path) -> None:
    path = tmp_path / "logs" / "api.jsonl"
    path.parent.mkdir()
    log = ServerLog(path)
    log.warning("one")
    path.unlink()
    path.parent.rmdir()

    log.warning("two")
    log.warning("three")
    log.close()

    assert [json.loads(line)["message"] for line in path.read_text("utf-8").splitlines()] == ["two", "three"]


def test_a_log_in_whose_place_another_file_was_put_goes_on_there(tmp_path) -> None:
    path, other = tmp_path / "api.jsonl", tmp_path / "other"
    log = ServerLog(path)
    log.warning("one")
    other.write_text("")
    other.replace(path)

    log.warning("two")
    log.close()

    assert [json.loads(line)["message"] for line in path.read_text("utf-8").splitlines()] == ["two"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_pipe_in_place_of_the_log_is_neither_waited_for_nor_written(tmp_path) -> None:
    told: list[str] = []
    path = tmp_path / "api.jsonl"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        log = ServerLog(path, tell=told.append)
        log.warning("one")
        log.close()

        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)
    assert len(told) == 1


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="the system follows links")
def test_a_link_in_place_of_the_log_is_not_followed(tmp_path) -> None:
    told: list[str] = []
    (tmp_path / "other").write_text("mine")
    (tmp_path / "api.jsonl").symlink_to(tmp_path / "other")
    log = ServerLog(tmp_path / "api.jsonl", tell=told.append)

    log.warning("one")
    log.close()

    assert (tmp_path / "other").read_text() == "mine"
    assert len(told) == 1


def test_that_the_log_cannot_be_written_is_told_once_until_it_can_be_again(tmp_path) -> None:
    told: list[str] = []
    folder = tmp_path / "logs"
    log = ServerLog(folder / "api.jsonl", tell=told.append)
    log.access(line())
    shutil.rmtree(folder)
    folder.write_text("a file in place of the folder")

    log.access(line())
    log.access(line())
    assert told == [f"{folder / 'api.jsonl'} cannot be written. Requests are answered, and not noted meanwhile."]

    folder.unlink()
    log.access(line(7))
    assert len((folder / "api.jsonl").read_text("utf-8").splitlines()) == 1
    shutil.rmtree(folder)
    folder.write_text("again")
    log.access(line())
    log.close()
    assert len(told) == 2


def test_the_owner_of_a_token_that_cannot_be_used_learns_it_once(tmp_path) -> None:
    told: list[str] = []
    file = TokenFile(tmp_path / "api_token")
    token = Token(file, [told.append])

    assert (token(), token()) == (None, None)
    made = file.ensure()
    assert token() == made
    file.path.write_text("short")
    assert (token(), token()) == (None, None)

    gone, broken = told
    assert "is gone" in gone
    assert "holds no token, so that nobody is let in" in broken
    assert "openmind api token --rotate" in broken


def test_a_client_that_leaves_in_the_middle_of_a_body_is_no_failure_of_the_server() -> None:
    assert on_http_exception(None, InternalServerException(LEFT)).status_code == 499


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EIO])
def test_a_token_that_cannot_be_read_for_now_is_not_called_wrong(tmp_path, number) -> None:
    class Short(TokenFile):
        def read(self) -> str | None:
            error = errors.HomeUnusable("api_token cannot be used: too many open files")
            raise error from OSError(number, "too many open files")

    told: list[str] = []
    admission = Admission(token=Token(Short(tmp_path / "api_token"), [told.append]))
    headers = {b"host": [b"localhost:1"], b"authorization": [b"Bearer x"]}
    arrival = Arrival(method="GET", path="/api/v1/status", address_bytes=14, headers=headers, port=1)

    assert admission.refusal(arrival) == problems.TOKEN_UNREADABLE
    assert admission.refusal(arrival) == problems.TOKEN_UNREADABLE
    assert len(told) == 1
