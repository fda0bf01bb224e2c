"""Streamed answers over real sockets: order of events, clients that leave, slots, failures, the end of the server."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from openmind.domain.answers import AnswerRestarted
from openmind.domain.errors import ProviderError, ProviderUnreachable
from openmind_api.asks import MOST
from openmind_api.sse import Pace

QUESTION = {"question": "What about the rent increase?"}


def names(events) -> list[str]:
    return [name for name, _ in events if name != ":"]


def begin(api, body=QUESTION, path="/ask/stream") -> socket.socket:
    """Ask over a bare socket and leave the answer unread."""
    content = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", api.port), timeout=100)
    connection.sendall(
        b"POST /api/v1%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
        % (path.encode(), api.port, api.world.token.encode(), len(content), content)
    )
    return connection


def running(api) -> int:
    return api.server.application.asks.slots.taken


def threads_of_asks() -> int:
    return sum(thread.name == "openmind-ask" for thread in threading.enumerate())


# What comes, and in which order


def test_an_answer_comes_as_meta_deltas_sources_and_done(shared) -> None:
    found = shared.stream("/ask/stream", QUESTION)

    assert names(found) == ["meta", "delta", "delta", "delta", "delta", "sources", "done"]
    events = dict(found)
    assert events["meta"].keys() == {"format", "session_id", "reasoning"}
    assert (events["meta"]["format"], events["meta"]["reasoning"]) == ("markdown", False)
    assert "".join(data["text"] for name, data in found if name == "delta") == "It is so [1]."
    assert events["sources"]["sources"][0]["file_name"] == "rent.md"
    assert events["done"]["session_id"] == events["meta"]["session_id"]
    assert (events["done"]["state"], events["done"]["answer"]) == ("answered", "It is so [1].")


def test_sources_are_left_out_on_request(shared) -> None:
    assert "sources" not in names(shared.stream("/ask/stream", {**QUESTION, "include_sources": False}))


def test_the_stream_is_declared_as_one(shared) -> None:
    with shared.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
        response.read()

    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["x-request-id"]
    assert "content-length" not in response.headers


def test_reasoning_is_an_event_of_its_own_and_only_on_request(world) -> None:
    world.provider.answers.thoughts = "Let me think."
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        plain = api.stream("/ask/stream", QUESTION)
        thought = api.stream("/ask/stream", {**QUESTION, "reasoning": True})

    assert "reasoning" not in names(plain)
    assert names(thought)[:3] == ["meta", "reasoning", "delta"]
    assert dict(thought)["meta"]["reasoning"] is True
    assert dict(thought)["reasoning"] == {"text": "Let me think."}
    assert all("think" not in data["text"] for name, data in thought if name == "delta")


def test_what_the_model_took_back_is_announced_before_its_answer(world) -> None:
    world.provider.answers.script = [["Let me see.", AnswerRestarted(), "It rises."]]
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        found = api.stream("/ask/stream", QUESTION)

    at = names(found).index("restart")
    assert "Let" in "".join(data["text"] for name, data in found[:at] if name == "delta")
    assert "".join(data["text"] for name, data in found[at:] if name == "delta") == "It rises."
    assert dict(found)["done"]["answer"] == "It rises."


def test_a_refusal_of_the_model_is_told_as_text(world) -> None:
    world.provider.answers.script = ["NOT_IN_FILES"]
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        found = api.stream("/ask/stream", QUESTION)

    assert names(found) == ["meta", "delta", "sources", "done"]
    assert "NOT_IN_FILES" not in str(found)
    assert dict(found)["done"]["state"] == "not_in_files"
    assert dict(found)["sources"] == {"sources": []}


@pytest.mark.parametrize("question", ["zymurgy quokka xylophone"])
def test_what_no_model_has_to_say_is_told_as_text_too(shared, question) -> None:
    found = shared.stream("/ask/stream", {"question": question})

    assert names(found) == ["meta", "delta", "sources", "done"]
    assert dict(found)["done"]["state"] == "not_in_files"


def test_a_session_goes_on_from_stream_to_stream(shared) -> None:
    session = dict(shared.stream("/ask/stream", QUESTION))["done"]["session_id"]

    again = shared.stream("/ask/stream", {**QUESTION, "session_id": session})

    assert dict(again)["meta"]["session_id"] == session


def test_words_come_while_the_model_still_speaks(world, slow, read_events) -> None:
    with world.served() as api, api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
        found = read_events(response)

        early = [event for _, event in zip(range(2), (one for one in found if one[0] != ":"), strict=False)]
        slow.go_on.set()
        late = list(found)

    assert [name for name, _ in early] == ["meta", "delta"]
    assert names(late) == ["delta", "sources", "done"]


def test_s11_silence_is_broken_by_comments(world, slow, read_events) -> None:
    slow.first_word = ""
    pace = Pace(heartbeat_s=0.1, first_word_s=0.1)

    with world.served(pace=pace) as api, api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
        found = read_events(response)
        before = [name for _, (name, _) in zip(range(4), found, strict=False)]
        slow.go_on.set()
        list(found)

    assert before == ["meta", ":", ":", ":"]


# Failures


def test_a_model_that_cannot_begin_is_503(world) -> None:
    world.provider.answers.window = ProviderUnreachable("Nobody is there", hint="Start it.")
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        for path in ("/ask", "/ask/stream"):
            response = api.post(path, QUESTION)
            assert response.status_code == 503
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["code"] == "provider.unreachable"
            assert response.json()["detail"] == "Nobody is there"
            assert response.json()["hint"] == "Start it."
        assert running(api) == 0


def test_a_model_that_fails_at_its_first_word_is_503_too(world) -> None:
    world.provider.answers.script = [ProviderError("It crashed")]
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        assert api.post("/ask", QUESTION).status_code == 503
        assert api.post("/ask/stream", QUESTION).status_code == 503


def test_a_model_that_breaks_off_ends_with_an_error_event(world) -> None:
    world.provider.answers.script = [["The rent [1] ", ProviderError("It crashed", hint="Ask again.")]]
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        found = api.stream("/ask/stream", QUESTION)
        whole = api.post("/ask", QUESTION)

    assert names(found) == ["meta", "delta", "delta", "delta", "sources", "error"]
    error = dict(found)["error"]
    assert (error["message"], error["code"], error["hint"]) == ("It crashed", "provider.failed", "Ask again.")
    assert error["state"] == "incomplete"
    assert whole.status_code == 200
    assert whole.json()["state"] == "incomplete"


def test_a_failure_after_a_slow_beginning_is_an_error_event(world, read_events) -> None:
    world.provider.answers.script = [ProviderError("It crashed")]
    world.provider.answers = Delayed(world.provider.answers)
    world.configure(chat="fake-chat")
    world.index()
    pace = Pace(heartbeat_s=0.1, first_word_s=0.05)

    with world.served(pace=pace) as api, api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
        found = []
        for one in read_events(response):
            world.provider.answers.go_on.set()  # something came before the failure
            found.append(one)

    assert names(found) == ["meta", "sources", "error"]


def test_a_provider_that_breaks_after_the_first_byte_is_named_in_the_error_event(world) -> None:
    world.provider.answers = Buggy(world.provider.answers)
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        found = api.stream("/ask/stream", QUESTION)

    assert names(found)[-1] == "error"
    error = dict(found)["error"]
    assert (error["code"], error["state"]) == ("provider.broken", "incomplete")
    assert "“fake” of the package openmind-acme" in error["message"]


def test_a_bug_after_the_first_byte_is_an_error_event_without_internals(world) -> None:
    world.package = "openmind-core"
    world.provider.answers = Buggy(world.provider.answers)
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        found = api.stream("/ask/stream", QUESTION)

    assert names(found) == ["meta", "delta", "error"]
    assert dict(found)["error"]["code"] == "internal"
    assert "secret" not in str(found)
    [bug] = [entry for entry in world.log if entry["event"] == "bug"]
    assert bug["errors"][0]["type"] == "builtins.RuntimeError"
    assert "secret" not in str(world.log)


class Delayed:
    """A chat model that does not begin before it is told to."""

    model = "fake-chat"

    def __init__(self, answers) -> None:
        self.answers = answers
        self.go_on = threading.Event()

    def context_chars(self) -> int:
        return 100_000

    def stream(self, prompt):
        self.go_on.wait(100)
        yield from self.answers.stream(prompt)


class Buggy(Delayed):
    """A chat model with a bug."""

    def stream(self, prompt):
        yield next(self.answers.stream(prompt))
        raise RuntimeError("secret")


# Clients that leave


NEVER = Pace(heartbeat_s=600, first_word_s=600, begin_s=600)
"""Nothing is written while the model is silent: that its client left shows in nothing but the connection."""


def test_s11_a_client_that_leaves_stops_the_model_at_once(world, slow, waited) -> None:
    with world.served(pace=NEVER) as api:
        with api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
            chunks = response.iter_bytes()  # a response whose iterator is thrown away closes itself
            next(chunks)
            [stream] = slow.streams
            assert running(api) == 1

        waited(lambda: running(api) == 0 and stream.closed.is_set() and threads_of_asks() == 0)


def test_s11_a_client_that_leaves_before_the_first_word_stops_the_model_too(world, slow, waited) -> None:
    slow.first_word = ""
    with world.served(pace=NEVER) as api:
        connection = begin(api)
        [stream] = waited(lambda: slow.streams)

        connection.close()

        assert stream.closed.wait(60)
        waited(lambda: running(api) == 0)


def test_s11_a_client_that_leaves_a_plain_ask_stops_the_model_too(world, slow, waited) -> None:
    with world.served() as api:
        connection = begin(api, path="/ask")
        [stream] = waited(lambda: slow.streams)
        connection.close()

        assert stream.closed.wait(60)
        waited(lambda: running(api) == 0)


def test_s11_a_hundred_clients_that_come_and_go_leave_nothing_behind(world, slow, waited) -> None:
    with world.served() as api:
        for _ in range(100):
            begin(api).close()

        waited(lambda: len(world.log) == 100)  # each of them was seen
        waited(lambda: running(api) == 0 and threads_of_asks() == 0)
        slow.go_on.set()
        assert names(api.stream("/ask/stream", QUESTION))[-1] == "done"
    assert all(stream.closed.is_set() or stream.at >= 3 for stream in slow.streams)


# Slots


def test_s13_eight_questions_at_once_and_the_ninth_is_429(world, slow, waited) -> None:
    with world.served() as api:
        connections = [begin(api) for _ in range(MOST)]
        waited(lambda: running(api) == MOST)

        refused = [api.post("/ask/stream", QUESTION), api.post("/ask", QUESTION)]
        searched = api.post("/search", {"query": "rent"})
        connections[0].close()
        waited(lambda: running(api) < MOST)
        slow.go_on.set()
        admitted = api.post("/ask", QUESTION)
        for connection in connections[1:]:
            connection.close()

    for response in refused:
        assert response.status_code == 429
        assert response.json()["code"] == "busy"
        assert int(response.headers["retry-after"]) >= 1
    assert searched.status_code == 200
    assert admitted.status_code == 200


def test_six_streams_and_a_polling_client_never_block_each_other(world, slow, waited) -> None:
    with world.served() as api, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(api.stream, "/ask/stream", QUESTION) for _ in range(6)]
        waited(lambda: len(slow.streams) == 6)
        polled = [api.get("/status").status_code for _ in range(50)]
        searched = [api.post("/search", {"query": "rent"}).status_code for _ in range(5)]
        slow.go_on.set()  # no answer ended before
        found = [future.result() for future in asked]

    assert (polled, searched) == ([200] * 50, [200] * 5)
    for events in found:
        assert names(events) == ["meta", "delta", "delta", "sources", "done"]
    sessions = {dict(events)["done"]["session_id"] for events in found}
    assert len(sessions) == 6


def test_one_session_may_be_asked_by_many_at_once(shared) -> None:
    session = shared.post("/ask", QUESTION).json()["session_id"]

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: shared.post("/ask", {**QUESTION, "session_id": session}), range(12)))

    assert {response.status_code for response in found} == {200}
    assert {response.json()["session_id"] for response in found} == {session}


def test_s11_a_reader_that_reads_nothing_keeps_the_model_waiting(world, waited) -> None:
    world.provider.answers.script = ["word " * 200_000]
    world.configure(chat="fake-chat")
    world.index()

    with world.served() as api:
        connection = begin(api)
        waited(lambda: world.provider.answers.prompts)
        time.sleep(1.0)  # a model that nobody keeps waiting would be through soon
        connection.close()
        waited(lambda: running(api) == 0 and threads_of_asks() == 0)

    assert world.provider.answers.closed_early == 1


# The end of the server


def test_the_end_of_the_server_is_told_in_every_stream(world, slow, read_events) -> None:
    found: list[list[tuple[str, Any]]] = []
    spoken = threading.Semaphore(0)

    def ask(api) -> None:
        with api.http.stream("POST", "/api/v1/ask/stream", json=QUESTION) as response:
            told = []
            for event in read_events(response):
                if event[0] == "delta":
                    spoken.release()
                if event[0] != ":":
                    told.append(event)
        found.append(told)

    with world.served() as api:
        threads = [threading.Thread(target=ask, args=(api,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        assert all(spoken.acquire(timeout=100) for _ in threads)
        api.server.should_exit = True
        for thread in threads:
            thread.join()

    assert [[name for name, _ in told] for told in found] == [["meta", "delta", "error"]] * 3
    assert {told[-1][1]["code"] for told in found} == {"server.stopping"}
    assert all(stream.closed.is_set() for stream in slow.streams)


def test_the_end_of_the_server_is_told_to_those_who_watch_the_index(world, read_events) -> None:
    world.index()
    with world.served() as api:
        with api.live.current() as memory, memory.storage.catalog.writing() as session:
            from openmind.adapters.processes import this_process
            from openmind.domain.ids import JobId
            from openmind.domain.jobs import IndexJob, JobState

            session.add_job(
                IndexJob(
                    id=JobId("job_000000000000"),
                    state=JobState.RUNNING,
                    process=this_process(),
                    started_at="2026-01-01T00:00:00+00:00",
                    updated_at="2026-01-01T00:00:00+00:00",
                )
            )
        with api.http.stream("GET", "/api/v1/index/events") as response:
            events = read_events(response)
            early = [next(events), next(events)]
            api.server.should_exit = True
            late = list(events)

    assert [name for name, _ in early] == ["job", ":"]
    assert late[-1][0] == "error"
    assert late[-1][1]["code"] == "server.stopping"
