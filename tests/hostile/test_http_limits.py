"""Whatever some clients do, the server holds to its limits and goes on answering the others."""

from __future__ import annotations

import json
import re
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from certificates import certificate
from http_server import HttpServer, probing

CONNECTIONS = 448
SESSIONS = 256
HEAD, QUERY = 16 * 1024, 64 * 1024
JSON = "application/json"
SEARCH = json.dumps({"manual_name": "給付編", "query": "入院"}).encode()
LIVELY = 2.0
"""Seconds after which a sign of life is late."""

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("limits"))) as running:
        yield running
        assert running.is_well()
        assert "Traceback" not in running.log
        assert "Exception" not in running.log


def head(path: str, *more: str, method: str = "POST") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    return "\r\n".join([*lines, *more, "", ""]).encode()


def answered(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection; a reset is an error."""
    parts = []
    while piece := connection.recv(65536):
        parts.append(piece)
    return b"".join(parts)


def sockets_of(server: HttpServer) -> int:
    """Return how many sockets the process holds."""
    folder = Path(f"/proc/{server.pid}/fd")
    count = 0
    for name in folder.iterdir():
        with suppress(OSError):
            count += str(name.readlink()).startswith("socket:")
    return count


def alive_in(server: HttpServer) -> float:
    """Return how long a sign of life took."""
    start = time.monotonic()
    assert server.is_well()
    return time.monotonic() - start


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts the sockets of a process in /proc")
def test_a_flood_of_connections_leaves_no_more_than_the_bound(server: HttpServer) -> None:
    with ExitStack() as stack:
        waits = []
        most = 0
        for number in range(3000):
            connection = stack.enter_context(socket.socket())
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", server.port))
            if number % 300 == 299:
                most = max(most, sockets_of(server))
                waits.append(alive_in(server))
        waits.append(alive_in(server))
        assert max(waits) < LIVELY
        assert sockets_of(server) <= CONNECTIONS + 32
        # Between two looks of the loop at its sockets, a few more may have been taken.
        assert most <= 2 * CONNECTIONS


@pytest.mark.slow
@pytest.mark.parametrize("length", [None, 10_000, 500_000])
def test_slow_bodies_take_nobody_s_place(server: HttpServer, length: int | None) -> None:
    """However many they are, however much they send, and whether they say how long they are."""
    how = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    sent = b"3\r\n{  \r\n" if length is None else b" " * min(length - 1, 80_000)
    with ExitStack() as stack:
        for _ in range(CONNECTIONS + 50):
            connection = stack.enter_context(server.connected())
            connection.setblocking(False)
            with suppress(OSError):
                connection.send(head("/tools/probe_search", how) + sent)
        time.sleep(0.3)
        assert alive_in(server) < LIVELY
        for _ in range(10):
            start = time.monotonic()
            answer = httpx2.post(
                f"{server.url}/probe_search",
                content=SEARCH,
                headers={"content-type": "application/json"},
                trust_env=False,
            )
            assert answer.status_code == 200
            assert time.monotonic() - start < LIVELY


@pytest.mark.parametrize("path", ["/probe_search", "/tools/probe_search", "/mcp", "/nowhere"])
@pytest.mark.parametrize("declared", [True, False])
def test_what_is_refused_early_is_still_answered(
    server: HttpServer, path: str, declared: bool
) -> None:
    """A client that sends all before it reads gets its 413, not a reset."""
    size = 12 * 1024 * 1024
    how = f"Content-Length: {size}" if declared else "Transfer-Encoding: chunked"
    body = b" " * size
    whole = body if declared else b"%x\r\n%s\r\n0\r\n\r\n" % (size, body)
    accept = "Accept: application/json, text/event-stream"
    with server.connected() as connection:
        connection.sendall(head(path, how, accept) + whole)
        told = answered_once(connection)
    expected = b"HTTP/1.1 404" if path == "/nowhere" else b"HTTP/1.1 413"
    assert told.startswith(expected)


def test_what_is_refused_early_over_tls_is_answered_and_the_rest_drained(tmp_path: Path) -> None:
    pem, key = certificate(tmp_path)
    tls = {"FUMISHIRUBE_TLS_CERTIFICATE": str(pem), "FUMISHIRUBE_TLS_KEY": str(key)}
    context = ssl.create_default_context(cafile=str(pem))
    size = 12 * 1024 * 1024
    with HttpServer(probing(tmp_path / "served"), **tls) as server:
        with (
            server.connected() as plain,
            context.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            connection.sendall(head("/mcp", f"Content-Length: {size}") + b" " * size)
            told = answered_once(connection)
        assert told.startswith(b"HTTP/1.1 413")
        assert "error_id" not in server.log
        assert "Error" not in server.log


def answered_once(connection: socket.socket) -> bytes:
    """Return an answer and its body, whether or not the connection stays open."""
    told = b""
    while b"}" not in told:
        piece = connection.recv(65536)
        assert piece, told
        told += piece
    return told


@pytest.mark.parametrize("excess", [-100, 1, 100_000])
@pytest.mark.parametrize("padding", ["x", " "])
@pytest.mark.parametrize("before", [b"", head("/probe_search", "Content-Length: 2") + b"{}"])
def test_a_head_has_16_kib_at_most(
    server: HttpServer, excess: int, padding: str, before: bytes
) -> None:
    """However it arrives: at once, after another request, in its lines or in blanks."""
    last = ("Connection: close", "X: ")
    bare = len(head("/healthz", *last, method="GET"))
    padded = f"X: {padding * (HEAD + excess - bare)}"
    said = head("/healthz", *last[:-1], padded, method="GET")
    assert len(said) == HEAD + excess
    with server.connected() as connection:
        connection.sendall(before + said)
        told = answered(connection)
    statuses = re.findall(rb"HTTP/1\.1 ([0-9]{3})", told)
    assert statuses[-1] == (b"200" if excess < 0 else b"400")
    assert len(statuses) == (2 if before else 1)


@pytest.mark.parametrize("path", ["/healthz", "http://127.0.0.1/healthz"])
@pytest.mark.parametrize("pieces", [1, 7])
def test_a_query_has_64_kib_beside_the_head(server: HttpServer, path: str, pieces: int) -> None:
    """Whatever else is in the head."""
    for excess, status in ((0, b"200"), (1, b"400")):
        query = "x" * (QUERY + excess)
        more = ("Connection: close", "X: " + "x" * 15_000)
        said = head(f"{path}?{query}", *more, method="GET")
        size = -(-len(said) // pieces)
        with server.connected() as connection:
            for start in range(0, len(said), size):
                connection.sendall(said[start : start + size])
            assert answered(connection).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize(
    "lengths",
    [
        ["Content-Length: 4", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "content-length: 4"],
        ["TRANSFER-ENCODING: chunked", "Content-Length: 0"],
        ["Content-Length: 5", "content-length: 5"],
        ["Content-Length: 5, 5"],
        ["Content-Length: 5", "X: y", "Content-Length: 6"],
        ["Content-Length: 5,\r\n 5"],
        ["Content-Length: 5", "Content-Length : 5"],
    ],
)
def test_two_lengths_of_a_body_are_refused(server: HttpServer, lengths: list[str]) -> None:
    """And what follows is no request."""
    smuggled = head("/healthz", method="GET")
    with server.connected() as connection:
        connection.sendall(head("/probe_search", *lengths) + b"0\r\n\r\n" + smuggled)
        told = answered(connection)
    assert told.startswith(b"HTTP/1.1 400")
    assert told.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("request_head", "reason"),
    [
        (head("/", "X: " + "x" * HEAD), "the request line and the headers are over 16,384 bytes"),
        (head("/?" + "x" * (QUERY + 1)), "the query is over 65,536 bytes"),
        (head("/?a" + "&a" * 1000), "the query has over 1,000 parameters"),
        (head("/", "Content-Length: 1", "Content-Length: 1"), "a request has one Content-Length"),
        (
            head("/", "Content-Length: 1", "Transfer-Encoding: chunked"),
            "Content-Length and Transfer-Encoding may not be together",
        ),
        (head("/", "Content-Length: -1"), "bad Content-Length"),
        (head("/", "Host: localhost"), "Found multiple Host: headers"),
        (b"GET / HTTP/1.1\r\n\r\n", "Missing mandatory Host: header"),
        (b"nonsense\r\n\r\n", "illegal request line"),
        (head("/", "secret"), "illegal header line"),
    ],
)
def test_what_is_no_request_is_refused_with_the_reason(
    server: HttpServer, request_head: bytes, reason: str
) -> None:
    with server.connected() as connection:
        connection.sendall(request_head)
        status, _, rest = answered(connection).partition(b"\r\n")
    assert status == b"HTTP/1.1 400 Bad Request"
    body = json.loads(rest.partition(b"\r\n\r\n")[2])
    assert body == {"error": "invalid_request", "message": reason}


def opened_session(client: httpx2.Client, url: str) -> httpx2.Response:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"accept": "application/json, text/event-stream"}
    return client.post(f"{url}/mcp", json=message, headers=headers)


def listed(client: httpx2.Client, url: str, session: str) -> int:
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    headers = {"accept": "application/json, text/event-stream", "mcp-session-id": session}
    return client.post(f"{url}/mcp", json=message, headers=headers).status_code


@pytest.mark.slow
def test_idle_sessions_shut_nobody_out(server: HttpServer) -> None:
    """The one of which nothing was heard for longest ends; one that is used stays."""
    sessions = []
    with httpx2.Client(timeout=30, trust_env=False) as client:
        for number in range(SESSIONS + 20):
            answer = opened_session(client, server.url)
            assert answer.status_code == 200, number
            sessions.append(answer.headers["mcp-session-id"])
            assert listed(client, server.url, sessions[0]) == 200
        assert listed(client, server.url, sessions[1]) == 404
        assert listed(client, server.url, sessions[20]) == 404
        assert listed(client, server.url, sessions[21]) == 200
        assert listed(client, server.url, sessions[-1]) == 200


HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
REFUSED: dict[str, dict[str, Any]] = {
    "a stream": {"method": "GET"},
    "an end": {"method": "DELETE"},
    "another method": {"method": "PUT"},
    "broken JSON": {"method": "POST", "content": b"{", "headers": {"content-type": JSON}},
    "another message": {"method": "POST", "json": {"jsonrpc": "2.0", "id": 1, "method": "ping"}},
    "another Accept": {"method": "POST", "json": HELLO, "headers": {"accept": "text/html"}},
    "an invalid beginning": {"method": "POST", "json": HELLO},
}


@pytest.mark.many_cases
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_request_opens_no_session(server: HttpServer, name: str) -> None:
    """And however many there are, they end the session of nobody."""
    accept = {"accept": f"{JSON}, text/event-stream"}
    with httpx2.Client(timeout=30, trust_env=False, headers=accept) as client:
        session = opened_session(client, server.url).headers["mcp-session-id"]
        for _ in range(SESSIONS + 1):
            answer = client.request(url=f"{server.url}/mcp", **REFUSED[name])
        assert answer.status_code >= 400 or '"error"' in answer.text
        assert listed(client, server.url, session) == 200
        for opened in answer.headers.get_list("mcp-session-id"):
            assert listed(client, server.url, opened) == 404
