"""Clients that mean harm, or know no better: the server stays well, and serves the others."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import httpx2
import manuals
import pytest
from http_server import HttpServer, probing

SEARCH = {"manual_name": "給付編", "query": "入院"}
JSON = {"content-type": "application/json"}
MIB = 1024 * 1024

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("hostile"))) as running:
        yield running
        assert running.is_well()
        assert "Traceback" not in running.log
        assert "Exception" not in running.log


@contextmanager
def well_throughout(server: HttpServer) -> Iterator[None]:
    """Ask for signs of life all the while; each has to come."""
    over = Event()
    signs: list[bool] = []

    def watch() -> None:
        while not over.is_set():
            signs.append(server.is_well())

    watching = Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
    assert signs
    assert all(signs)


def head(path: str, length: int, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/json", *more, "", ""]).encode()


def heard(connection: socket.socket) -> bytes:
    """Return all that still comes over a connection until the server closes it."""
    told = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65536):
            told += piece
    return told


def memory(server: HttpServer) -> int:
    """Return the most that the process ever held, in MiB."""
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8")
    (line,) = [one for one in status.splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def test_clients_that_say_nothing_keep_nobody_out(server: HttpServer) -> None:
    """More of them than there are connections: the oldest gives way."""
    with ExitStack() as stack, well_throughout(server):
        silent = [stack.enter_context(server.connected()) for _ in range(500)]
        assert server.post("/probe_search", SEARCH).status_code == 200
        silent[-1].sendall(head("/probe_search", len(json.dumps(SEARCH))))
        silent[-1].sendall(json.dumps(SEARCH).encode())
        assert silent[-1].recv(65536).startswith(b"HTTP/1.1 200")
        assert heard(silent[0]) == b""


@pytest.mark.slow
def test_clients_that_take_too_long_are_told_so(server: HttpServer) -> None:
    """Whether they say nothing, half a head, or half a body, a byte at a time."""
    with ExitStack() as stack, well_throughout(server):
        slow = [stack.enter_context(server.connected()) for _ in range(50)]
        for number, connection in enumerate(slow):
            beginnings = (b"", b"GET /healthz HT", head("/probe_search", 1000) + b'{"que')
            connection.sendall(beginnings[number % 3])
        dripping = stack.enter_context(server.connected())
        with suppress(ConnectionError):
            for byte in head("/tools/probe_search", 10_000) + b" " * 10_000:
                dripping.sendall(bytes([byte]))
                if _closed(dripping):
                    break
        for connection in slow:
            assert heard(connection).startswith(b"HTTP/1.1 408")


def _closed(connection: socket.socket) -> bool:
    """Wait a little, and tell whether the server has hung up or answered meanwhile."""
    connection.settimeout(0.05)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return False
    finally:
        connection.settimeout(30)
    return True


def test_clients_that_vanish_leave_nothing_behind(server: HttpServer) -> None:
    labels = server.workspace / "manuals"
    with well_throughout(server):
        for number in range(64):
            body = json.dumps({"mark": f"v{number}"}).encode()
            with server.connected() as connection:
                connection.sendall(head("/tools/probe_wait", len(body)) + body)
                if number < 16:
                    manuals.appears(labels / f"v{number}.began")
                reset = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        manuals.appears(labels / "v15.cancelled")
        assert server.post("/probe_search", SEARCH).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100_000,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X: x\r\n" * 20_000,
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
        b"POST /probe_search HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        head("/probe_search", 1, "Content-Length: 2") + b"xx",
        b"\0" * 100_000,
    ],
)
def test_what_is_no_request_is_refused(server: HttpServer, said: bytes) -> None:
    with server.connected() as connection:
        with suppress(ConnectionError):
            connection.sendall(said)
        connection.shutdown(socket.SHUT_WR)
        assert heard(connection).startswith(b"HTTP/1.1 400")
    assert server.is_well()


def test_an_upgrade_is_not_taken(server: HttpServer) -> None:
    headers = {"connection": "upgrade", "upgrade": "websocket"}
    assert server.client.get("/probe_names", headers=headers).status_code == 200


@pytest.mark.slow
def test_large_bodies_do_not_pile_up(server: HttpServer) -> None:
    """Fifty clients at once send 4 MB to every kind of path."""
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"x": "y" * 4_000_000}}
    mcp = {**JSON, "accept": "application/json, text/event-stream"}
    kinds = [
        ("/probe_search", json.dumps({**SEARCH, "query": "x" * 4_000_000}), JSON),
        ("/tools/probe_search", json.dumps({**SEARCH, "query": "x" * 4_000_000}), JSON),
        ("/tools/probe_search", "[" * MIB, JSON),
        ("/tools/probe_search", "[" + "[]," * (MIB // 3 - 2) + "[]]", JSON),
        ("/mcp", json.dumps(hello), mcp),
        ("/mcp", "[" + "{}," * (MIB // 3 - 2) + "{}]", mcp),
        ("/nowhere", "x" * 4 * MIB, JSON),
    ]

    def send(number: int) -> int:
        path, content, headers = kinds[number % len(kinds)]
        url = f"{server.url}{path}"
        with suppress(httpx2.WriteError, httpx2.ReadError):
            answer = httpx2.post(url, content=content, headers=headers, timeout=60, trust_env=False)
            return answer.status_code
        return 0  # the server has hung up on what it had refused

    with well_throughout(server), ThreadPoolExecutor(50) as clients:
        answered = Counter(clients.map(send, range(50)))
    assert answered.keys() <= {0, 200, 400, 404, 413}
    assert answered[413] + answered[0] >= 10
    if sys.platform == "linux":
        assert memory(server) < 400


@pytest.mark.parametrize("path", ["/tools/probe_search", "/mcp"])
def test_a_body_of_very_many_values_is_refused_unread(server: HttpServer, path: str) -> None:
    headers = {**JSON, "accept": "application/json, text/event-stream"}
    many = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": [[]] * 60_000}
    answer = server.client.post(path, content=json.dumps(many), headers=headers)
    assert answer.status_code == 413
    assert "50,000" in answer.json()["message"]
    said = {**SEARCH, "query": '[{,\\"' * 30_000}  # as many, but all in one string
    assert server.post("/tools/probe_search", said).status_code == 400


LARGE = {
    "lines": "\n" * 8_000_000,
    "hits": "\n".join(f"{n}は対象外とする。{'あ' * 25}" for n in range(70_000)),
    "marks": "対象外a" + "\u0301\u0323" * 50_000,
    "blanks": "対象外" + " " * 7_900_000,
}
GROWTH = 600
"""MiB that a server may take on for all of these together, and for what it does with them."""


@pytest.mark.slow
def test_chapters_of_megabytes_are_served_within_bounds(tmp_path: Path) -> None:
    toc = [{"id": name, "title": name, "file": f"{name}.txt"} for name in LARGE]
    # However often a table of contents names a file, it is read once.
    toc += [{"id": str(n), "title": "again", "file": "blanks.txt"} for n in range(500)]
    chapters = {f"給付編/{name}.txt": text for name, text in LARGE.items()}
    manuals.write(tmp_path, {"給付編/00_目次.json": json.dumps({"toc": toc}), **chapters})
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: chapters}]\n", encoding="utf-8")
    with HttpServer(tmp_path) as server:
        server.client.timeout = httpx2.Timeout(100)
        before = memory(server) if sys.platform == "linux" else 0
        for name, text in LARGE.items():
            answer = server.get("/get_section", manual_name="給付編", section_id=name)
            assert answer.json()["text"] == text
        asked = {"manual_name": "給付編", "query": "対象外", "mode": "loose", "limit": 3}
        answer = server.post("/search_text", asked).json()
        assert [hit["section_id"] for hit in answer["results"]] == ["hits", "marks", "blanks"]
        assert answer["total"] == 3 + 500
        found = server.post("/find_exceptions", {"manual_name": "給付編", "limit": 200}).json()
        assert found["total"] == 70_000 + 2 + 500
        if sys.platform == "linux":
            assert memory(server) - before < GROWTH
        assert server.is_well()


@pytest.mark.slow
def test_fifty_clients_at_once_are_all_served(server: HttpServer) -> None:
    def ask(number: int) -> list[int]:
        with httpx2.Client(base_url=server.url, timeout=60, trust_env=False) as client:
            answers = []
            for _ in range(10):
                answers.append(client.post("/probe_search", json=SEARCH).status_code)
                asked = {"query": "入院", "manual_id": "給付編", "required_terms": ["入院"]}
                answers.append(client.post("/tools/manual_find", json=asked).status_code)
            return answers

    with well_throughout(server), ThreadPoolExecutor(50) as clients:
        answered = Counter(status for one in clients.map(ask, range(50)) for status in one)
    assert answered == {200: 1000}


@pytest.mark.slow
def test_who_comes_when_all_hands_are_full_is_told_to_come_again(server: HttpServer) -> None:
    labels = server.workspace / "manuals"
    with ExitStack() as stack, well_throughout(server):
        for number in range(160):
            body = json.dumps({"mark": f"full{number}"}).encode()
            connection = stack.enter_context(server.connected())
            connection.sendall(head("/tools/probe_wait", len(body)) + body)
        manuals.appears(labels / "full15.began")
        answer = _when_full(server)
        assert answer.json()["error"] == "busy"
        assert answer.headers["retry-after"] == "1"
    manuals.appears(labels / "full0.cancelled")
    assert server.post("/probe_search", SEARCH).status_code == 200


def _when_full(server: HttpServer) -> httpx2.Response:
    """Ask until the requests under way have all arrived."""
    asked = json.dumps(SEARCH).encode()
    while True:
        try:
            answer = httpx2.post(
                f"{server.url}/probe_search", content=asked, headers=JSON, timeout=1
            )
        except httpx2.TimeoutException:
            continue
        if answer.status_code == 503:
            return answer


@pytest.mark.parametrize(
    "path",
    [
        "/docs-static/../../../../../../etc/passwd",
        "/docs-static/%2e%2e/%2e%2e/core.py",
        "/docs-static/..%2f..%2fcore.py",
        "//etc/passwd",
        "/tools/../healthz",
        "/tools/%00",
        "/tools/" + "x" * 10_000,
    ],
)
def test_a_path_leads_nowhere_else(server: HttpServer, path: str) -> None:
    with server.connected() as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
        told = heard(connection)
    assert told.startswith((b"HTTP/1.1 404", b"HTTP/1.1 400", b"HTTP/1.1 405"))
    assert b"root:" not in told
