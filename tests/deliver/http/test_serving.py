"""The service as an operator runs it: it starts, answers, says nothing of anybody in its logs, and stops gracefully."""

from __future__ import annotations

import json
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from hitherto import Turn
from hitherto.client import SyncClient
from hitherto.deliver.cli.commands import COMMANDS
from hitherto.deliver.http.server import admit, is_loopback
from hitherto.errors import InvalidInput
from hitherto.settings import Settings
from tests.architecture.source import ROOT
from tests.deliver.http.server import Server, command, serving

SECRET = "xyzzy-plugh"


def test_it_starts_answers_and_stops(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert httpx.get(f"{server.url}/healthz").json()["status"] == "ok"
        assert httpx.get(f"{server.url}/v1/users").status_code == 401
        with SyncClient(server.url, server.token()) as client:
            client.record(Turn(SECRET, "user", f"my word is {SECRET}", persona=SECRET))
            built = client.context(user=SECRET, persona=SECRET, message="what is my word?")
            assert SECRET in str(built.messages)
            assert client.search(user=SECRET, query=SECRET)
            assert client.users() == [SECRET]
        assert SECRET not in httpx.get(f"{server.url}/metrics", headers=_key(server)).text
        assert server.stop() == -signal.SIGTERM
        lines = server.log.read_text()
    assert SECRET not in lines
    logged = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    requests = [line for line in logged if line["event"] == "request"]
    assert {"/v1/turns", "/v1/context", "/v1/search", "/v1/users"} <= {line["route"] for line in requests}
    assert all(line["request_id"] for line in requests)
    with serving(tmp_path) as again, SyncClient(again.url, again.token()) as client:
        assert len(client.turns(user=SECRET)) == 1, "what was acknowledged is there"
        assert len(client.snapshots(user=SECRET)) == 1, "and stopping wrote the snapshot"


def _key(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.token()}"}


def test_running_requests_are_finished_when_it_stops(tmp_path: Path) -> None:
    """A request whose body is still arriving when the service is told to stop gets its answer."""
    with serving(tmp_path) as server:
        token = server.token()
        body = json.dumps({"user": "ana", "role": "user", "text": "to the end"}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            head = (
                f"POST /v1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            client.sendall(head.encode() + body[:10])
            time.sleep(0.3)
            stopping = threading.Thread(target=server.stop)
            stopping.start()
            time.sleep(0.3)
            client.sendall(body[10:])
            answer = "".join(iter(lambda: client.recv(65_536).decode(), ""))
            stopping.join()
        assert answer.startswith("HTTP/1.1 200"), answer
        assert '"ids"' in answer


def test_several_processes_are_one_service(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as server:
        with SyncClient(server.url, server.token()) as client:
            for number in range(20):
                client.record(Turn("ana", "user", f"turn {number}", id=f"t{number}"))
            assert len(client.turns(user="ana")) == 20
        page = httpx.get(f"{server.url}/metrics", headers=_key(server)).text
        (count,) = [line for line in page.splitlines() if line.startswith("hitherto_turns_recorded_total")]
        assert count.split()[-1] == "20.0", "each process answers for all"
        server.stop()


def test_nobody_is_left_behind_by_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as server:
        server.process.kill()
        server.process.wait(30)
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", server.port), timeout=1).close()
            except ConnectionRefusedError:
                break
            assert time.monotonic() < until, "the port is free again"
            time.sleep(0.1)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_it_leaves_nothing_among_the_temporary_files(tmp_path: Path, processes: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with serving(tmp_path, "--workers", processes, TMPDIR=str(temporary)) as server:
        server.stop()
    assert not list(temporary.iterdir())


def test_a_key_that_lasts(tmp_path: Path) -> None:
    made = command("keys", "create", "--json", folder=tmp_path)
    key = json.loads(made.communicate()[0])
    with serving(tmp_path) as server:
        assert "rck_" not in server.log.read_text(), "no key is printed where there is one"
        with SyncClient(server.url, key["token"]) as client:
            assert client.head(user="ana") == 0
        revoked = command("keys", "revoke", key["id"], folder=tmp_path)
        assert revoked.wait(60) == 0
        revoked.communicate()
        until = time.monotonic() + 30
        headers = {"Authorization": f"Bearer {key['token']}"}
        while httpx.get(f"{server.url}/v1/users/ana/head", headers=headers).status_code != 401:
            assert time.monotonic() < until, "a revoked key is refused soon"
            time.sleep(0.1)


def test_it_does_not_listen_elsewhere_without_keys(tmp_path: Path) -> None:
    refused = command("serve", "--host", "0.0.0.0", "--port", "0", folder=tmp_path)
    assert refused.wait(60) == 2
    refused.communicate()
    assert "keys create" in (tmp_path / "stderr").read_text()


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_loopback_is_told_from_elsewhere(host: str, local: bool) -> None:
    assert is_loopback(host) is local


async def test_a_run_key_is_made_only_where_there_is_none(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "m"))
    with_key, token = await admit(settings)
    assert token is not None
    assert with_key.run_key is not None
    with pytest.raises(InvalidInput, match="needs a key"):
        await admit(settings.model_copy(update={"host": "0.0.0.0"}))


def test_a_slow_client_is_let_go_and_holds_up_nobody(tmp_path: Path) -> None:
    variables = {"HITHERTO_BODY_SECONDS": "1", "HITHERTO_CONCURRENCY": "1", "HITHERTO_WAITING": "0"}
    with serving(tmp_path, **variables) as server:
        token = server.token()
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for client in slow:
            client.sendall(
                f"POST /v1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{".encode()
            )
        with SyncClient(server.url, token, retries=0) as quick:
            for number in range(10):
                quick.record(Turn("ana", "user", f"turn {number}"))
        for client in slow:
            answer = client.recv(65_536).decode()
            assert answer.startswith("HTTP/1.1 408"), answer
            client.close()


def test_who_never_finishes_a_request_is_let_go(tmp_path: Path) -> None:
    """Silent from the start, silent in the middle of a head, and silent in the second head of a connection."""
    whole = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    with serving(tmp_path) as server:
        for words in (b"", whole[:20], whole + whole[:20]):
            with socket.create_connection(("127.0.0.1", server.port)) as client:
                client.settimeout(120)
                client.sendall(words)
                answered = b"".join(iter(lambda client=client: client.recv(65_536), b""))
            assert answered.count(b"HTTP/1.1 200") == words.count(b"\r\n\r\n")


def test_a_body_of_100_mb_is_refused_and_not_kept(tmp_path: Path) -> None:
    size = 100 * 1024 * 1024
    with serving(tmp_path) as server:
        token = server.token()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(
                f"POST /v1/turns HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {size}\r\n\r\n{{".encode()
            )
            assert client.recv(65_536).startswith(b"HTTP/1.1 413"), "refused before it is sent"
        before = _resident(server.process.pid)

        def chunks() -> Iterator[bytes]:
            for _ in range(100):
                yield b" " * (1024 * 1024)

        try:
            streamed = httpx.post(f"{server.url}/v1/turns", content=chunks(), headers=headers)
        except httpx.TransportError:
            pass  # The service closed the connection in the middle of it, which is its right.
        else:
            assert streamed.status_code == 413
        assert _resident(server.process.pid) - before < size / 4
        assert httpx.get(f"{server.url}/healthz").status_code == 200


def _resident(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("a process has a size")


def test_it_serves_from_postgresql(tmp_path: Path, postgres_url: str) -> None:
    with serving(tmp_path, data=postgres_url) as server, SyncClient(server.url, server.token()) as client:
        client.record(Turn("ana", "user", "I start at Acme on Monday!"))
        assert client.search(user="ana", query="Acme")
        assert client.health().backend == "postgresql"
        assert server.stop() == -signal.SIGTERM


def commands_of_deployment() -> list[str]:
    """What the container image, the compose file and the units run, as one types it."""
    compose = (ROOT / "compose.yaml").read_text()
    image = (ROOT / "Dockerfile").read_text()
    units = [path.read_text() for path in sorted((ROOT / "deploy").glob("*.service"))]
    found = [" ".join(json.loads(words)) for words in re.findall(r"^    command: (\[.*\])$", compose, re.MULTILINE)]
    found += [" ".join(json.loads(words)) for words in re.findall(r"^CMD (\[.*\])$", image, re.MULTILINE)]
    return found + [
        words for unit in units for words in re.findall(r"^ExecStart=\S+/hitherto (.*)$", unit, re.MULTILINE)
    ]


def test_what_deployments_run_is_there(tmp_path: Path) -> None:
    found = commands_of_deployment()
    assert len(found) == 5
    for words in found:
        known = max((c.name for c in COMMANDS if words.startswith(c.name)), key=len, default=None)
        assert known, words
        options = [word for word in words.removeprefix(known).split() if word.startswith("--")]
        shown = command(*known.split(), "--help", folder=tmp_path)
        help_text = shown.communicate()[0]
        assert all(option in help_text for option in options), words


def test_the_image_is_built_from_what_is_there() -> None:
    image = (ROOT / "Dockerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", image, re.MULTILINE) for word in line.split()]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert [name for name in copied if f"!{name}" not in ignored] == []


def test_spans_go_where_opentelemetrys_own_variables_say(tmp_path: Path) -> None:
    with serving(tmp_path, OTEL_TRACES_EXPORTER="console") as server:
        httpx.get(f"{server.url}/v1/users/ana/turns", headers={"Authorization": f"Bearer {server.token()}"})
        server.process.send_signal(signal.SIGTERM)
        assert server.process.stdout is not None
        told = server.process.stdout.read()
    assert '"name": "search_memory"' in told
    assert '"service.name": "hitherto"' in told
