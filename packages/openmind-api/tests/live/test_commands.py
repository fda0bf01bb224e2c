"""`openmind serve` and `openmind api` as processes."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from openmind_api import listening
from openmind_api.listening import PortTaken, bind


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def openmind(home: Path, *arguments: str, answer: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OPENMIND_HOME": str(home)}
    command = [sys.executable, "-m", "openmind_cli", *arguments]
    return subprocess.run(
        command, env=environment, input=answer, capture_output=True, text=True, timeout=100, check=False
    )


def fetched(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, trust_env=False, timeout=100)


@contextmanager
def serving(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    environment = {**os.environ, "OPENMIND_HOME": str(home)}
    command = [sys.executable, "-m", "openmind_cli", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found is not None
            yield process, found[0]
        finally:
            process.kill()


def test_serve_answers_on_loopback_only_and_ends_well(home) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with serving(home) as (process, url):
            assert fetched(f"{url}/health").json()["status"] == "ok"
            listening = [one for one in psutil.Process(process.pid).net_connections() if one.status == "LISTEN"]
            assert {one.laddr.ip for one in listening} == {"127.0.0.1"}
            process.send_signal(number)
            assert process.wait(60) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""


def test_serve_has_no_host_option(home) -> None:
    for option in ("--host", "--bind", "--address"):
        refused = openmind(home, "serve", option, "0.0.0.0")
        assert refused.returncode == 2
    assert "host" not in openmind(home, "serve", "--help").stdout.lower().replace("localhost", "")


def test_a_port_that_another_program_has_is_told(home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = openmind(home, "serve", "--port", str(port))

    assert refused.returncode == 1
    assert f"Port {port} is taken by another program" in refused.stderr
    assert "--port" in refused.stderr


def test_a_second_server_is_told_where_the_first_one_is(home) -> None:
    with serving(home) as (_, url):
        port = url.rpartition(":")[2]
        refused = [openmind(home, "serve", "--port", each) for each in (port, "0")]

    for each in refused:
        assert each.returncode == 1
        assert f"This memory, {home}, is served at {url} already" in each.stderr


def test_a_port_that_another_openmind_has_is_told(api, monkeypatch) -> None:
    monkeypatch.setattr(listening, "ASK_S", 100.0)

    with pytest.raises(PortTaken, match=f"Port {api.port} is taken by another OpenMind"):
        bind(api.port)


def test_a_server_that_was_killed_is_in_nobody_s_way(home) -> None:
    with serving(home) as (process, former):
        process.kill()
        process.wait(60)
        assert (home / "serve.lock").read_text() == former
        with serving(home) as (_, url):
            assert (home / "serve.lock").read_text() == url


@pytest.mark.parametrize("port", ["70000", "-1", "x"])
def test_a_port_that_cannot_be_is_usage(home, port) -> None:
    assert openmind(home, "serve", "--port", port).returncode == 2


@pytest.mark.parametrize("origin", ["*", "http://a.example/path", "http://user@a.example", "null", "a.example"])
def test_an_origin_that_is_not_exact_is_refused(home, origin) -> None:
    refused = openmind(home, "serve", "--port", "0", "--allow-origin", origin)

    assert refused.returncode == 2
    assert "is no origin" in refused.stderr


def test_several_origins_may_be_allowed(home) -> None:
    with serving(home, "--allow-origin", "http://localhost:1", "--allow-origin", "http://localhost:2") as (_, url):
        for origin, allowed in (
            ("http://localhost:1", True),
            ("http://localhost:2", True),
            ("http://localhost:3", False),
        ):
            response = fetched(f"{url}/health", Origin=origin)
            assert (response.headers.get("access-control-allow-origin") == origin) == allowed


def test_the_token_is_shown_and_rotated(home) -> None:
    first, again = openmind(home, "api", "token"), openmind(home, "api", "token")
    rotated = openmind(home, "api", "token", "--rotate", "--yes")

    assert first.returncode == 0
    assert len(first.stdout.strip()) >= 32
    assert again.stdout == first.stdout
    assert rotated.returncode == 0
    assert rotated.stdout != first.stdout
    assert rotated.stdout.strip() == (home / "api_token").read_text().strip()


def test_rotating_without_a_terminal_needs_yes(home) -> None:
    first = openmind(home, "api", "token")
    refused = openmind(home, "api", "token", "--rotate", answer="y\n")

    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert openmind(home, "api", "token").stdout == first.stdout


def test_a_home_that_is_somebody_else_s_is_not_served(home) -> None:
    home.mkdir()
    (home / "letter.txt").write_text("mine")

    for arguments in (("serve", "--port", "0"), ("api", "token")):
        refused = openmind(home, *arguments)
        assert refused.returncode == 1
        assert "not OpenMind's" in refused.stderr


def test_rotation_needs_no_restart(home) -> None:
    with serving(home) as (_, url):
        former = (home / "api_token").read_text().strip()
        rotated = openmind(home, "api", "token", "--rotate", "--yes").stdout.strip()

        def status(token: str) -> int:
            return fetched(f"{url}/api/v1/status", Authorization=f"Bearer {token}").status_code

        assert (status(former), status(rotated)) == (401, 200)


def test_broken_routes_of_other_packages_are_told_at_the_start(home, tmp_path) -> None:
    package = tmp_path / "site"
    (package / "acme-1.dist-info").mkdir(parents=True)
    (package / "acme-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (package / "acme-1.dist-info" / "entry_points.txt").write_text("[openmind]\nacme = acme\n")
    (package / "acme.py").write_text(
        "from openmind.plugins.hookspecs import hookimpl\n"
        "@hookimpl\n"
        "def openmind_register_routes(registry):\n"
        "    registry.add('acme', 'acme_gone:router')\n"
    )
    environment = {**os.environ, "OPENMIND_HOME": str(home), "PYTHONPATH": str(package)}
    command = [sys.executable, "-m", "openmind_cli", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "served at" in process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 0
        assert "“acme”" in process.stderr.read()


@pytest.mark.parametrize("words", [["api", "token"], ["serve", "--port", "70000"], ["serve", "--allow-origin", "*"]])
def test_the_token_and_what_is_refused_at_once_import_no_server(home, words) -> None:
    code = f"import sys; from openmind_cli.main import main; main({words}); print(*sys.modules, file=sys.stderr)"
    environment = {**os.environ, "OPENMIND_HOME": str(home)}
    found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    assert not {"litestar", "uvicorn", "lance", "pyarrow", "numpy", "msgspec"} & set(found.stderr.split())
