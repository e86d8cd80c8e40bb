"""The bridge: an MCP process over stdio whose tools run at HTTP servers, real ones and false."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import manuals
import pytest
from http_server import PROBE, SECONDS, HttpServer, environment, probing, reserved_port
from stdio import Wire

SEARCH = {"manual_name": "給付編", "query": "入院"}


class Client(Wire):
    """A bridge's client; what a refusal says is returned as it is."""

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        (block,) = result["content"]
        told: dict[str, Any] = json.loads(block["text"])
        if result["isError"]:
            assert "structuredContent" not in result
            assert result["_meta"]["fumishirube/error"] == told
            assert len(told["message"]) <= 300
        else:
            assert result["structuredContent"] == told
        return told


def bridge(workspace: Path, url: str, **environ: str) -> Client:
    return Client(workspace, PYTHONPATH=str(PROBE), MANUAL_TOOLS_BASE_URL=url, **environ)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("backend"))) as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "bridge"
    folder.mkdir()
    return probing(folder)


# --- a real backend -------------------------------------------------------------------------


def test_the_bridge_answers_as_its_backend_and_as_the_tools_do(
    workspace: Path, backend: HttpServer
) -> None:
    page = {"manual_name": "給付編", "page": 3, "deep": True, "weight": 0.25, "words": ["a", "b"]}
    calls = [("probe_names", {}), ("probe_page", page), ("probe_search", SEARCH)]
    with (
        bridge(workspace, backend.url) as bridged,
        Client(workspace, PYTHONPATH=str(PROBE)) as local,
    ):
        for tool, arguments in calls:
            told = bridged.answer(tool, **arguments)
            assert told == local.answer(tool, **arguments)
            assert told == backend.post(f"/tools/{tool}", arguments).json()
    assert backend.logged('"endpoint":"GET /probe_page"')


@pytest.mark.slow
def test_tools_without_an_endpoint_run_here(workspace: Path) -> None:
    with (
        reserved_port() as port,
        bridge(workspace, f"http://127.0.0.1:{port}") as client,
    ):
        assert client.ok("manual_ls")["items"]
        assert client.answer("probe_names")["code"] == "backend_unavailable"


def test_arguments_are_checked_before_anybody_is_asked(workspace: Path) -> None:
    with (
        reserved_port() as port,
        bridge(workspace, f"http://127.0.0.1:{port}") as client,
    ):
        told = client.answer("probe_search", **SEARCH, limit=0)
        assert told["code"] == "invalid_parameter"
        assert told["details"]["parameter"] == "limit"


def test_refusals_come_through(workspace: Path, backend: HttpServer) -> None:
    with bridge(workspace, backend.url) as client:
        told = client.answer("probe_page", manual_name="経理編")
        assert told == {"code": "not_found", "message": "manual '経理編' was not found"}
        told = client.answer("probe_page", manual_name="あ" * 8_000)
        assert told["message"] == "manual_name is too long"
        assert told["details"] == {"parameter": "manual_name"}
        told = client.answer("probe_search", manual_name="給付編", query="boom")
        assert told["code"] == "internal_error"
        assert f'"error_id":"{told["details"]["error_id"]}"' in backend.log
        assert client.answer("probe_search", **SEARCH)["results"]


@pytest.mark.slow
def test_the_backend_may_come_late_die_and_return(workspace: Path, tmp_path: Path) -> None:
    served = probing(tmp_path / "served")
    with (
        reserved_port() as port,
        bridge(workspace, f"http://127.0.0.1:{port}") as client,
    ):
        assert client.answer("probe_names")["code"] == "backend_unavailable"
        for _ in range(2):
            with HttpServer(served, port=port) as server:
                for _ in range(2):
                    assert client.answer("probe_names") == {"names": ["給付編", "事務編"]}
                    assert client.answer("probe_search", **SEARCH)["results"]
                server.kill()
                told = client.answer("probe_search", **SEARCH)
                assert told["code"] == "backend_unavailable"
                assert f"127.0.0.1:{port}" in told["message"]


@pytest.mark.slow
def test_a_backend_that_is_too_slow_is_not_waited_for(workspace: Path, backend: HttpServer) -> None:
    with bridge(workspace, backend.url, FUMISHIRUBE_BRIDGE_TIMEOUT_SECONDS="0.5") as client:
        assert client.answer("probe_wait", mark="slow")["code"] == "backend_timeout"
        manuals.appears(backend.workspace / "manuals" / "slow.cancelled")
        assert client.answer("probe_names")["names"]


def test_cancelling_a_call_aborts_its_request(workspace: Path, backend: HttpServer) -> None:
    labels = backend.workspace / "manuals"
    with bridge(workspace, backend.url) as client:
        call = {"name": "probe_wait", "arguments": {"mark": "cancel"}}
        client._send({"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": call})
        manuals.appears(labels / "cancel.began")
        cancelled = {"requestId": 900}
        client._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        manuals.appears(labels / "cancel.cancelled")
        client.ping()


@pytest.mark.slow
def test_a_prefix_and_a_token_are_kept(workspace: Path, tmp_path: Path) -> None:
    served = probing(tmp_path / "served", "server: {base_path: /api}\n")
    token = {"FUMISHIRUBE_HTTP_TOKEN": "öffne dich, Sesam"}
    with HttpServer(served, **token) as server:
        with bridge(workspace, server.url, **token) as client:
            assert client.answer("probe_names")["names"]
        with bridge(workspace, server.url) as client:
            told = client.answer("probe_names")
            assert (told["code"], told["details"]["status"]) == ("backend_error", 401)


# --- false backends -------------------------------------------------------------------------


def response(status: str, body: bytes, *headers: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


NAMES = response("200 OK", '["給付編"]'.encode())


class FalseBackend:
    """Answers each request on each connection with the next of its answers; ``None`` hangs up."""

    def __init__(self, answers: Sequence[bytes | None]) -> None:
        self.answers = iter(answers)
        self.requests: list[bytes] = []
        self.connections = 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self._closing = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Listen no more; a thread that still did would take connections of the next backend."""
        self._closing = True
        with suppress(OSError):
            socket.create_connection(self.listening.getsockname(), timeout=SECONDS).close()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()
        self.listening.close()

    def _serve(self) -> None:
        with suppress(OSError, StopIteration):
            while True:
                connection, _ = self.listening.accept()
                with connection:
                    if self._closing:
                        return
                    self.connections += 1
                    self._talk(connection)

    def _talk(self, connection: socket.socket) -> None:
        while True:
            received = b""
            while b"\r\n\r\n" not in received:
                piece = connection.recv(65536)
                if not piece:
                    return
                received += piece
            head, _, body = received.partition(b"\r\n\r\n")
            for line in head.lower().splitlines():
                if line.startswith(b"content-length:"):
                    while len(body) < int(line.partition(b":")[2]):
                        body += connection.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
            answer = next(self.answers)
            if answer is None:
                return
            connection.sendall(answer)


@contextmanager
def answering(*answers: bytes | None) -> Iterator[FalseBackend]:
    backend = FalseBackend(answers)
    try:
        yield backend
    finally:
        backend.close()


def test_connections_are_kept(workspace: Path) -> None:
    with answering(*[NAMES] * 5) as backend, bridge(workspace, backend.url) as client:
        for _ in range(5):
            assert client.answer("probe_names") == {"names": ["給付編"]}
        assert backend.connections == 1


@pytest.mark.slow
def test_a_get_is_asked_again_a_few_times(workspace: Path) -> None:
    with answering(None, None, NAMES) as backend, bridge(workspace, backend.url) as client:
        assert client.answer("probe_names") == {"names": ["給付編"]}
        assert len(backend.requests) == 3
    with answering(*[None] * 9) as backend, bridge(workspace, backend.url) as client:
        assert client.answer("probe_names")["code"] == "backend_unavailable"
        assert len(backend.requests) == 3


@pytest.mark.slow
def test_a_post_is_asked_again_only_where_a_kept_connection_was_closed(workspace: Path) -> None:
    found = response("200 OK", b'{"results": []}')
    with answering(None, found) as backend, bridge(workspace, backend.url) as client:
        assert client.answer("probe_search", **SEARCH)["code"] == "backend_unavailable"
        assert len(backend.requests) == 1
    answers = (found, None, found, None, None, found)
    with answering(*answers) as backend, bridge(workspace, backend.url) as client:
        assert client.answer("probe_search", **SEARCH) == {"results": []}
        assert client.answer("probe_search", **SEARCH) == {"results": []}
        assert len(backend.requests) == 3
        assert client.answer("probe_search", **SEARCH)["code"] == "backend_unavailable"
        assert len(backend.requests) == 5


def test_nothing_is_sent_that_was_not_given(workspace: Path) -> None:
    found = response("200 OK", b'{"results": []}')
    with answering(found) as backend, bridge(workspace, backend.url) as client:
        client.answer("probe_search", **SEARCH)
        _, _, body = backend.requests[0].partition(b"\r\n\r\n")
        assert json.loads(body) == SEARCH


MANY = response("200 OK", b"[" + b'"%s",' % (b"x" * 1000) * 34_000 + b'""]')


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (response("302 Found", b"", "Location: http://127.0.0.1:9/"), "backend_error", "302"),
        (response("200 OK", b"<html>hello</html>"), "backend_error", "<html>hello"),
        (response("200 OK", b""), "backend_error", "no JSON"),
        (response("200 OK", b"[" * 100_000), "backend_error", "no JSON"),
        (response("204 No Content", b""), "backend_error", "204"),
        (response("503 Busy", b'{"error": "busy"}'), "backend_error", "503"),
        (response("500 Oops", b'{"error": "x"}'), "backend_error", "500"),
        (response("404 Not Found", b"[]"), "backend_error", "404"),
        (response("400 Bad", b'{"message": "no"}'), "invalid_parameter", "no"),
        (response("422 Bad", b'{"detail": []}'), "invalid_parameter", "did not say"),
        (
            response("422 Bad", b'{"detail": [{"loc": ["body", "mode"], "msg": "no"}]}'),
            "invalid_parameter",
            "mode: no",
        ),
        (
            response(
                "422 Bad", b'{"detail": [{"loc": ["body", "y%s"], "msg": "no"}]}' % (b"x" * 99)
            ),
            "invalid_parameter",
            f"y{'x' * 79}: no",
        ),
        (response("200 OK", b'{"a": 1}'), "invalid_response", "Output validation error (-32602)"),
        (response("200 OK", b"[1]"), "invalid_response", "names.0"),
        (b"what is this\r\n\r\n", "backend_error", "no HTTP"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "backend_error", "200"),
        (response("200 OK", b"plain", "Content-Encoding: gzip"), "backend_error", "200"),
        (MANY, "backend_error", "too large"),
    ],
)
@pytest.mark.many_cases
def test_what_no_tool_answers_is_told_with_a_code(
    workspace: Path, answer: bytes, code: str, words: str
) -> None:
    with answering(answer, answer, answer) as backend, bridge(workspace, backend.url) as client:
        told = client.answer("probe_names")
        assert told["code"] == code, told
        assert words in told["message"]
        assert backend.url not in told["message"]
        client.ping()


def test_a_refusal_names_its_argument_and_says_nothing_of_the_backends_folders(
    workspace: Path,
) -> None:
    told = {"error": "invalid_request", "message": "query is required"}
    hostile = (
        "section \x1b[31m of /srv/data/manuals/x.txt, C:\\data\\x.txt, http://h/a/b " + "x" * 999
    )
    refusals = [
        response("400 Bad", json.dumps(told).encode()),
        response(
            "404 Not Found", json.dumps({"message": "manual '/etc/x\n' was not found"}).encode()
        ),
        response("404 Not Found", json.dumps({"message": hostile}).encode()),
        response(
            "404 Not Found",
            b'{"message": "use read/write/exec or and/or/not with ./manuals/x/y, not /srv/x"}',
        ),
    ]
    with answering(*refusals) as backend, bridge(workspace, backend.url) as client:
        answer = client.answer("probe_search", **SEARCH)
        assert answer["details"] == {"parameter": "query"}
        asked = {**SEARCH, "manual_name": "/etc/x\n"}
        message = client.answer("probe_search", **asked)["message"]
        assert message == "manual '/etc/x\n' was not found"
        message = client.answer("probe_search", **SEARCH)["message"]
        prose = client.answer("probe_search", **SEARCH)["message"]
    assert message.startswith("section  [31m of …, …, http:/… xxx")
    assert prose == "use read/write/exec or and/or/not with ./manuals/x/y, not …"
    assert len(message) == 200


def test_unknown_keys_of_an_answer_are_left_out(workspace: Path) -> None:
    body = {"results": [{"section_id": "1", "snippet": "x", "score": 2}], "took": 3}
    known = response("200 OK", json.dumps(body).encode())
    with answering(known) as backend, bridge(workspace, backend.url) as client:
        told = client.answer("probe_search", **SEARCH)
    assert told == {"results": [{"section_id": "1", "snippet": "x"}]}


@pytest.mark.slow
def test_an_answer_that_trickles_is_cut_off(workspace: Path) -> None:
    with answering(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[") as backend:
        late = {"FUMISHIRUBE_BRIDGE_TIMEOUT_SECONDS": "0.5"}
        with bridge(workspace, backend.url, **late) as client:
            assert client.answer("probe_names")["code"] == "backend_timeout"


@pytest.mark.slow
def test_proxies_are_not_asked(workspace: Path) -> None:
    proxies = {"HTTP_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    with answering(NAMES) as backend, bridge(workspace, backend.url, **proxies) as client:
        assert client.answer("probe_names")["names"]


# --- starting -------------------------------------------------------------------------------


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:80",
        "http://",
        "http://me:secret@127.0.0.1",
        "http://127.0.0.1/?x=secret",
        "http://127.0.0.1:80#",
        "http://127.0.0.1/\tx",
        "http://127.0.0.1:port",
        "http://192.0.2.1:80",
        "https://example.org",
        "http://127.0.0.1.example.org",
        "http://[::1",
    ],
)
def test_a_backend_that_may_not_be_asked_stops_the_start(workspace: Path, url: str) -> None:
    environ = environment(MANUAL_TOOLS_BASE_URL=url)
    done = manuals.fumishirube("serve", cwd=workspace, environ=environ)
    assert done.code == 2
    assert "MANUAL_TOOLS_BASE_URL" in done.err
    assert "secret" not in done.err


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FUMISHIRUBE_BRIDGE_TIMEOUT_SECONDS", "0"),
        ("FUMISHIRUBE_BRIDGE_TIMEOUT_SECONDS", "inf"),
        ("FUMISHIRUBE_BRIDGE_RETRIES", "-1"),
        ("FUMISHIRUBE_BRIDGE_RETRIES", "many"),
    ],
)
def test_an_unusable_variable_is_named(workspace: Path, variable: str, value: str) -> None:
    done = manuals.fumishirube("serve", cwd=workspace, environ=environment(**{variable: value}))
    assert done.code == 2
    assert variable in done.err


def test_default_is_the_port_of_the_configuration(workspace: Path) -> None:
    with answering(NAMES) as backend:
        port = backend.url.rpartition(":")[2]
        with bridge(workspace, "default", FUMISHIRUBE_SERVER_PORT=port) as client:
            assert client.answer("probe_names")["names"]
