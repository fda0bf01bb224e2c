"""The TypeScript client: its types hold, what is built is what is written, and it works against the live server."""

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from openmind.adapters.token_file import TokenFile

CLIENT = next(
    (folder / "clients" / "typescript" for folder in Path(__file__).parents if (folder / "clients").exists()), None
)
COMPILER = CLIENT / "node_modules" / "typescript" / "bin" / "tsc" if CLIENT else None
pytestmark = pytest.mark.skipif(CLIENT is None or shutil.which("node") is None, reason="node is not there")
compiled = pytest.mark.skipif(
    COMPILER is None or not COMPILER.exists(), reason="`npm ci` was not run in clients/typescript"
)


def node(code: str, port: int, *arguments: str) -> list[object]:
    """Run a module with a client; every line it prints is JSON."""
    script = (
        f"import {{ OpenMind, OpenMindError }} from {json.dumps(str(CLIENT / 'lib' / 'index.js'))};\n"
        f"const openmind = new OpenMind({{ baseUrl: 'http://127.0.0.1:{port}' }});\n"
        f"const print = (value) => console.log(JSON.stringify(value));\n{code}"
    )
    found = subprocess.run(
        ["node", "--input-type=module", "--eval", script, "--", *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return [json.loads(line) for line in found.stdout.splitlines()]


@pytest.fixture(autouse=True)
def home(request, monkeypatch) -> None:
    """The client reads the token of the server that the test uses."""
    shared = "shared" in request.fixturenames
    world = request.getfixturevalue("shared").world if shared else request.getfixturevalue("world")
    monkeypatch.setenv("OPENMIND_HOME", str(world.home))


@compiled
def test_the_types_hold_and_the_built_files_are_those_of_the_sources(shared, tmp_path) -> None:
    subprocess.run(["node", str(COMPILER), "--outDir", str(tmp_path)], cwd=CLIENT, check=True, timeout=100)

    built = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert built == {path.name: path.read_text() for path in (CLIENT / "lib").iterdir()}


@compiled
def test_wrong_types_are_refused(shared, tmp_path) -> None:
    wrong = tmp_path / "wrong.mts"
    wrong.write_text(
        f"import {{ OpenMind }} from {json.dumps(str(CLIENT / 'lib' / 'index.js'))};\n"
        "const found = await new OpenMind().search('x', { limt: 3 });\nfound.results[0]!.scor;\n"
    )
    options = ("--noEmit", "--strict", "--target", "ES2022", "--module", "NodeNext")

    told = subprocess.run(
        ["node", str(COMPILER), *options, str(wrong)], capture_output=True, text=True, check=False, timeout=100
    ).stdout

    assert "limt" in told
    assert "scor" in told
    assert told.count("error") == 2


def test_it_searches_and_asks(shared) -> None:
    code = """
        print((await openmind.health()).status);
        print((await openmind.status()).indexed_files);
        const found = await openmind.search("rent increase", { limit: 1, explain: true });
        print([found.state, found.results[0].file_name, found.results[0].explanation.words_rank]);
        const answer = await openmind.ask("What about the rent increase?");
        print([answer.state, answer.answer]);
        print((await openmind.ask("And when?", { session_id: answer.session_id })).session_id === answer.session_id);
        print(await openmind.endSession(answer.session_id));
    """

    *found, ended = node(code, shared.port)

    assert found == ["ok", 3, ["ok", "rent.md", 1], ["answered", "It is so [1]."], True]
    assert ended["ended"] is True


def test_it_reads_a_streamed_answer(shared) -> None:
    code = """
        let text = "";
        const names = [];
        for await (const { event, data } of openmind.askStream("What about the rent increase?")) {
          names.push(event);
          if (event === "delta") text += data.text;
        }
        print(names); print(text);
    """

    names, text = node(code, shared.port)

    assert (names[0], names[-2:]) == ("meta", ["sources", "done"])
    assert text == "It is so [1]."


def test_it_pages_through_files_and_passages(shared) -> None:
    code = """
        const files = []; for await (const file of openmind.files()) files.push(file);
        print(files.map((file) => file.file_name));
        const texts = []; for await (const chunk of openmind.chunks(files[0].id)) texts.push(chunk.text);
        print(texts.length);
        print((await openmind.document(files[0].id)).total_chunks);
        print((await openmind.models()).embedding_models.length);
        print((await openmind.providers()).length > 1);
        print((await openmind.providerStatus()).reachable);
        const skipped = []; for await (const file of openmind.files("skipped")) skipped.push(file);
        print(skipped);
    """

    files, texts, total, *others = node(code, shared.port)

    assert files == ["bread.md", "heliotrope.txt", "rent.md"]
    assert texts == total == 1
    assert others == [2, True, True, []]


def test_failures_are_errors_with_code_and_hint(shared) -> None:
    code = """
        const tries = [
          () => openmind.search("x", { limit: 500 }),
          () => openmind.document("file_0000000000000000"),
          () => new OpenMind({ baseUrl: process.argv.at(-1), token: () => "wrong" }).status(),
        ];
        for (const attempt of tries) {
          try { await attempt(); } catch (error) {
            const known = error instanceof OpenMindError && error.hint !== "" && error.requestId !== null;
            print([known, error.status, error.code]);
          }
        }
    """

    assert node(code, shared.port, shared.url) == [
        [True, 422, "request.invalid"],
        [True, 404, "document.not_found"],
        [True, 401, "auth.token"],
    ]


def test_where_no_server_answers_the_error_says_so_and_what_to_do(shared) -> None:
    code = """
        const nobody = new OpenMind({ baseUrl: "http://127.0.0.1:1", token: () => "any" });
        for (const attempt of [() => nobody.health(), () => nobody.search("x")]) {
          try { await attempt(); }
          catch (error) { print([error instanceof OpenMindError, error.code, error.hint !== ""]); }
        }
    """

    assert node(code, shared.port) == [[True, "server.unreachable", True]] * 2


def test_it_manages_sources_indexing_and_models(world, api) -> None:
    code = """
        const source = await openmind.addSource(process.argv.at(-1));
        await openmind.startIndex();
        let last; for await (const job of openmind.indexEvents()) last = job;
        print([last.state, last.indexed_files]);
        print((await openmind.indexStatus()).state);
        print((await openmind.selectModels({ embedding_model: "builtin" })).embedding_model);
        print((await openmind.loadModels()).length);
        print((await openmind.sources()).length);
        print((await openmind.changeSource(source.id, { enabled: false })).enabled);
        print((await openmind.removeSource(source.id)).files_removed);
        try { await openmind.stopIndex(); } catch (error) { print(error.code); }
    """

    found = node(code, api.port, str(world.notes))

    assert found == [["completed", 3], "completed", "builtin", 1, 1, False, 3, "job.not_found"]


def test_leaving_the_loop_stops_the_model(world, slow, waited, tmp_path) -> None:
    code = """
        import { existsSync } from "node:fs";
        for await (const { event } of openmind.askStream("What about the rent increase?")) if (event === "delta") break;
        while (!existsSync(process.argv.at(-1))) await new Promise((resolve) => setTimeout(resolve, 20));
        print("left");
    """
    with world.served() as api, ThreadPoolExecutor(1) as pool:
        ran = pool.submit(node, code, api.port, str(tmp_path / "seen"))
        try:
            waited(lambda: slow.streams and slow.streams[0].closed.is_set())
            assert not ran.done()  # it was not the end of the program
        finally:
            (tmp_path / "seen").touch()
        assert ran.result() == ["left"]
        waited(lambda: api.server.application.asks.slots.taken == 0)


def test_it_takes_a_rotated_token_up(world, api) -> None:
    code = """
        print((await openmind.status()).status);
    """

    assert node(code, api.port) == ["ready"]
    TokenFile(world.home / "api_token").rotate()
    assert node(code, api.port) == ["ready"]
