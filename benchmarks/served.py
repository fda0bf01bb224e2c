"""What a model server costs beside the built-in embedder, and how soon its words are seen.

    python benchmarks/served.py index [--files 2000]     # first index: CPU and requests
    python benchmarks/served.py words [--questions 20]   # from the model's first word to the terminal

The server is a process of its own that answers at once; what it burns is not counted. CPU seconds are those of the
indexing process and its children. From what the built-in embedder takes its embedding is taken out: loading its model
once and embedding the same passages, measured by itself.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pexpect
from corpus import write_corpus
from lmstudio import KEY, reply_body
from openmind import open_memory

BATCH = 32
DIMENSION = 768
CHAT = "chat-bench"
FIRST_WORD = "Heliotrope"
BARS = {"cpu": 1.3, "requests": 0.1, "words_ms": 30.0}

INDEX = """
import json, sys
from openmind import open_memory
with open_memory(sys.argv[1]) as memory:
    tally = memory.index().run.tally
    print(json.dumps([tally.indexed, tally.chunks, tally.embedded, memory.status().missing_vectors]))
"""
EMBED = """
import json, sys, time
from openmind.plugins.manager import load_plugins
texts = json.loads(open(sys.argv[1]).read())
embedder = load_plugins().providers.find("builtin").factory(None).embedder("builtin")
began = time.process_time()
for at in range(0, len(texts), 64):
    embedder.embed(texts[at : at + 64], role="passage")
print(time.process_time() - began)
"""


def serve() -> None:
    """Answer until the process is killed; print the port first."""
    vectors = {count: reply_body(count, DIMENSION, unit=True) for count in range(1, BATCH + 1)}
    models = [
        {"type": "embedding", "key": KEY, "loaded_instances": [{"id": KEY, "config": {"context_length": 2048}}]},
        {"type": "llm", "key": CHAT, "loaded_instances": [{"id": CHAT, "config": {"context_length": 8192}}]},
    ]
    listing = json.dumps({"models": models}).encode()
    counted = {"requests": 0, "texts": 0, "spoke_at": 0.0}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_GET(self) -> None:
            self._send(json.dumps(counted).encode() if self.path == "/counted" else listing)

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/embeddings":
                counted["requests"] += 1
                counted["texts"] += len(sent["input"])
                self._send(vectors[len(sent["input"])])
            else:
                self._speak()

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _speak(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._event({"type": "chat.start", "model_instance_id": CHAT})
            time.sleep(0.3)  # the model reads
            counted["spoke_at"] = time.monotonic()
            for word in (FIRST_WORD, " blooms", " in", " May", " [1]."):
                self._event({"type": "message.delta", "content": word})
                time.sleep(0.05)
            said = {"type": "message", "content": f"{FIRST_WORD} blooms in May [1]."}
            self._event({"type": "chat.end", "result": {"model_instance_id": CHAT, "output": [said]}})
            self.wfile.write(b"0\r\n\r\n")

        def _event(self, document: dict[str, object]) -> None:
            data = f"event: {document['type']}\ndata: {json.dumps(document)}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


class Server:
    """The server in a process of its own."""

    def __enter__(self) -> "Server":
        self.process = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        if not port:
            sys.exit("the server did not start")
        self.base_url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def counted(self) -> dict[str, float]:
        with urlopen(f"{self.base_url}/counted") as reply:
            found: dict[str, float] = json.load(reply)
            return found


def cpu_of(code: str, *arguments: str) -> tuple[float, str]:
    """Run Python code; CPU seconds of the process and its children, and what it printed last."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, ran.stdout.strip().splitlines()[-1]


def configure(home: Path, base_url: str) -> None:
    (home / "config.toml").write_text(
        f'[provider]\nname = "lmstudio"\nbase_url = "{base_url}"\n'
        f'[models]\nembedding_model = "{KEY}"\nchat_model = "{CHAT}"\n'
    )


def passages(home: Path) -> list[str]:
    """What the embedder is given for each passage."""
    from openmind.domain.packing import stored_input

    with open_memory(home) as memory, memory.storage.catalog.reading() as snapshot:
        sources = snapshot.sources()
        generations = [
            record.live_generation
            for source in sources
            for record in snapshot.known_files(source.id)
            if record.live_generation is not None
        ]
        table = snapshot.live_table()
        assert table is not None
        return [stored_input(row) for row in memory.storage.chunks.read_generations(table.name, generations)]


def measure_index(files: int, rounds: int) -> bool:
    own, embedding, served, more = [], [], [], []
    with tempfile.TemporaryDirectory() as scratch, Server() as server:
        corpus, texts = Path(scratch) / "corpus", Path(scratch) / "texts.json"
        write_corpus(corpus, files=files, size=3_000)
        for number in range(rounds):  # in turn, so that a busy minute of the machine falls on all of them
            builtin, with_server = (Path(scratch) / f"{name}-{number}" for name in ("builtin", "served"))
            for home in (builtin, with_server):
                with open_memory(home) as memory:
                    memory.sources.add(corpus)
            configure(with_server, server.base_url)
            spent, told = cpu_of(INDEX, str(builtin))
            own.append(spent)
            texts.write_text(json.dumps(passages(builtin)))
            embedding.append(float(cpu_of(EMBED, str(texts))[1]))
            before = server.counted()["requests"]
            spent, told = cpu_of(INDEX, str(with_server))
            served.append(spent)
            _, chunks, embedded, missing = json.loads(told)
            assert (embedded, missing) == (chunks, 0), told
            more.append((server.counted()["requests"] - before) / -(-chunks // BATCH) - 1)
            print(
                f"round {number + 1}: built-in {own[-1]:.2f} s, embedding {embedding[-1]:.2f} s, served {spent:.2f} s"
            )
    ratio = statistics.median(served) / (statistics.median(own) - statistics.median(embedding))
    met, few = ratio <= BARS["cpu"], max(more) <= BARS["requests"]
    print(f"served / (built-in − embedding): {ratio:.2f}   bar {BARS['cpu']}: {'met' if met else 'missed'}")
    print(
        f"requests over passages ÷ {BATCH}: {max(more):+.1%}   bar {BARS['requests']:.0%}: {'met' if few else 'missed'}"
    )
    return met and few


def measure_words(questions: int) -> bool:
    with tempfile.TemporaryDirectory() as scratch, Server() as server:
        home, notes = Path(scratch) / "home", Path(scratch) / "notes"
        notes.mkdir()
        (notes / "garden.md").write_text("# Garden\n\nThe heliotrope in the garden blooms in May.\n")
        with open_memory(home) as memory:
            memory.sources.add(notes)
        configure(home, server.base_url)
        cpu_of(INDEX, str(home))
        environment = {"OPENMIND_HOME": str(home), "TERM": "xterm-256color", "PATH": "", "PROMPT_TOOLKIT_NO_CPR": "1"}
        child = pexpect.spawn(
            sys.executable, ["-m", "openmind_cli", "ask"], env=environment, dimensions=(40, 100), timeout=60
        )
        took = []
        for _ in range(questions):
            child.expect_exact("ask>")
            child.send("When does the heliotrope bloom?\r")
            child.expect_exact("?")  # what was typed
            child.expect_exact(FIRST_WORD)
            seen_at = time.monotonic()
            child.expect_exact("garden.md")
            took.append((seen_at - server.counted()["spoke_at"]) * 1_000)
        child.sendeof()
        child.close()
    middle, worst = statistics.median(took), max(took)
    met = middle <= BARS["words_ms"]
    print(
        f"first word to terminal: median {middle:.1f} ms, best {min(took):.1f} ms, worst {worst:.1f} ms of {questions}"
        f"   bar {BARS['words_ms']:.0f} ms: {'met' if met else 'missed'}"
    )
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["index", "words", "serve"])
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    if options.what == "serve":
        serve()
        return
    met = measure_index(options.files, options.rounds) if options.what == "index" else measure_words(options.questions)
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
