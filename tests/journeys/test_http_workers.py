"""Several worker processes behind one address: sessions, traces, and what dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import manuals
import pytest
import stdio
from http_server import PROBE, SECONDS, HttpServer, environment, probing
from mcp import Client
from starlette.types import Message, Receive, Scope, Send

from fumishirube_http.workers.places import WorkerPlace
from fumishirube_http.workers.relay import WorkerEnded, relay
from fumishirube_http.workers.routing import WorkerRouter

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": stdio.HELLO}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}
FIND = {"query": "入院", "required_terms": ["入院"], "manual_id": "給付編"}
COLD = {"PYTHONWARNINGS": "default"}
"""What makes the process start an interpreter of its own."""
SAME = """
from fumishirube import Stage, hook

class Same(Stage):
    def refine(self, ranking, query, corpus):
        return ranking._replace(hits=tuple(hit._replace(score=%s) for hit in ranking.hits))

@hook
def register_refiners(register):
    register("same", Same)
"""
NEEDS = """
from pathlib import Path
from fumishirube import ConfigError, Stage, hook

class Needs(Stage):
    words: str = ""

    def model_post_init(self, _):
        if not Path(self.words).is_file():
            raise ConfigError("there is no such file")

    def refine(self, ranking, query, corpus):
        return ranking

@hook
def register_refiners(register):
    register("needs", Needs)
"""
THREAD = """
import threading, time
threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
"""
TIMES = 12
"""Fresh connections, of which each worker gets some."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the processes are read from /proc"),
    pytest.mark.timeout(120),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with HttpServer(probing(tmp_path_factory.mktemp("workers")), "--workers", "3") as running:
        yield running


def children(pid: int) -> list[int]:
    """Return the running children of a process, the oldest first."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(word) for word in text.split()]


def oldest_worker(server: HttpServer) -> int:
    """Return the process of the worker that was started first; Python may have one of its own."""
    named = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in children(server.pid)}
    return next(pid for pid, line in named.items() if "resource_tracker" not in line)


def waited(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def posted(server: HttpServer, path: str, body: Any, **headers: str) -> httpx2.Response:
    """Post over a connection of its own."""
    return httpx2.post(
        f"{server.url}{path}",
        json=body,
        headers={**ACCEPT, **headers},
        timeout=SECONDS,
        trust_env=False,
    )


def opened(server: HttpServer) -> str:
    answer = posted(server, "/mcp", HELLO)
    assert answer.status_code == 200
    return answer.headers["mcp-session-id"]


def client_at(server: HttpServer, worker: str) -> httpx2.Client:
    """Return a client with an open connection to the worker of this number."""
    while True:
        client = httpx2.Client(base_url=server.url, timeout=SECONDS, trust_env=False)
        answer = client.post("/mcp", json=HELLO, headers=ACCEPT)
        if answer.headers["mcp-session-id"].startswith(worker):
            return client
        client.close()


def test_every_worker_answers(server: HttpServer) -> None:
    assert len(children(server.pid)) == 3
    sessions = {opened(server).partition("-")[0] for _ in range(40)}
    assert sessions <= {"1", "2", "3"}
    assert len(sessions) > 1


def test_a_request_that_cannot_be_relayed_is_refused(server: HttpServer) -> None:
    for number in (1, 2, 3):
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as connection:
            connection.sendall(f"GET /mcp HTTP/1.0\r\nMcp-Session-Id: {number}-x\r\n\r\n".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 400 ")


def test_an_answer_before_the_end_of_the_body_is_passed_on() -> None:
    """Also from a worker that then takes no more of the body."""
    body = {"type": "http.request", "body": b"x" * 100_000, "more_body": True}
    scope = {"method": "POST", "raw_path": b"/mcp", "query_string": b"", "scheme": "http"}
    headers = [(b"host", b"localhost"), (b"content-length", b"100000000")]
    sent: list[Message] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nbig!")
        writer.close()

    async def receive() -> Message:
        await asyncio.sleep(0)
        return body

    async def send(message: Message) -> None:
        sent.append(message)

    async def relayed() -> None:
        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as peer:
            place = WorkerPlace(2, (peer.sockets[0].getsockname()[1],), "secret")
            await relay({**scope, "headers": headers}, receive, send, place, 1)

    asyncio.run(relayed())
    assert (sent[0]["status"], sent[1]["body"]) == (413, b"big!")
    assert sent[2] == {"type": "http.response.body", "body": b""}


def test_a_request_for_a_worker_that_does_not_serve_is_not_relayed_to_it() -> None:
    """Its port accepts connections all the same: the supervisor has it open."""
    asked: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        asked.append(scope["path"])

    async def unused(*_: Any) -> Any:
        raise AssertionError

    headers = [(b"mcp-session-id", b"2-x")]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "raw_path": b"/mcp"}
    with socket.create_server(("127.0.0.1", 0)) as unread:
        place = WorkerPlace(1, (0, unread.getsockname()[1]), "secret", frozenset({2}))
        router = WorkerRouter(app, place, lambda *_: None)
        request = router({**scope, "headers": headers, "query_string": b""}, unused, unused)
        asyncio.run(asyncio.wait_for(request, SECONDS))
        assert place.fetch_trace("store", "trace") is None
    assert asked == ["/mcp"]


def test_a_request_that_a_worker_has_not_accepted_when_it_ends_does_not_wait_for_the_next() -> None:
    async def receive() -> Message:
        place.unserved = frozenset({1})  # the supervisor notices while the request waits
        return await asyncio.get_running_loop().create_future()

    async def unused(*_: Any) -> Any:
        raise AssertionError

    scope = {"method": "GET", "raw_path": b"/mcp", "query_string": b"", "scheme": "http"}
    headers = [(b"host", b"a.test")]
    with socket.create_server(("127.0.0.1", 0)) as unread:
        place = WorkerPlace(2, (unread.getsockname()[1], 0), "secret")
        asked = relay({**scope, "headers": headers}, receive, unused, place, 1)
        with pytest.raises(WorkerEnded):
            asyncio.run(asyncio.wait_for(asked, SECONDS))


@pytest.mark.slow
def test_a_session_is_served_by_the_worker_that_opened_it(server: HttpServer) -> None:
    session = opened(server)
    for _ in range(TIMES):
        answer = posted(server, "/mcp", LIST, **{"mcp-session-id": session})
        assert answer.status_code == 200
        assert "manual_find" in answer.text
    ended = httpx2.delete(f"{server.url}/mcp", headers={"mcp-session-id": session}, trust_env=False)
    assert ended.status_code == 200
    for _ in range(TIMES):
        assert posted(server, "/mcp", LIST, **{"mcp-session-id": session}).status_code == 404


@pytest.mark.parametrize("made_up", ["made-up", "1-", "2-00", "99-00", "-1", "1-\xe9", "٣-1"])
def test_a_session_cannot_be_made_up(server: HttpServer, made_up: str) -> None:
    for _ in range(TIMES):
        answer = server.client.post(
            "/mcp", json=LIST, headers={**ACCEPT, "mcp-session-id": made_up.encode()}
        )
        assert answer.status_code in (400, 404)


def test_what_workers_say_to_each_other_is_closed_to_clients(server: HttpServer) -> None:
    trace = posted(server, "/tools/manual_find", FIND).json()["trace_id"]
    headers = {"fumishirube-worker": "0" * 64, "fumishirube-client": "https 10.0.0.1 1"}
    for path in (f"/.worker/traces/{trace}", "/.worker/traces/x"):
        answer = httpx2.get(f"{server.url}{path}", headers=headers, trust_env=False)
        assert answer.status_code == 404
        assert answer.json()["error"] == "not_found"


@pytest.mark.slow
def test_a_trace_is_readable_at_every_worker_at_once(server: HttpServer) -> None:
    for _ in range(3):
        trace = posted(server, "/tools/manual_find", FIND).json()["trace_id"]
        for _ in range(TIMES):
            hits = posted(server, "/tools/manual_hits", {"trace_id": trace})
            assert hits.status_code == 200, hits.text
    unknown = posted(server, "/tools/manual_hits", {"trace_id": "0" * 32})
    assert unknown.status_code == 404


@pytest.mark.slow
def test_traces_need_no_files_to_be_readable_everywhere(tmp_path: Path) -> None:
    probing(tmp_path, "traces: {files: false}\n")
    with HttpServer(tmp_path, "--workers", "2") as server:
        trace = posted(server, "/tools/manual_find", FIND).json()["trace_id"]
        for _ in range(TIMES):
            assert posted(server, "/tools/manual_hits", {"trace_id": trace}).status_code == 200
    assert not (tmp_path / ".fumishirube" / "traces").exists()


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_the_client_of_the_sdk_notices_nothing(server: HttpServer, era: str) -> None:
    for _ in range(4):
        async with Client(f"{server.url}/mcp", mode=era) as client:
            await client.call_tool("manual_ls", {})
            for _ in range(4):
                found = await client.call_tool("manual_find", FIND)
                assert not found.is_error
            await client.list_tools()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_takes_only_its_sessions(tmp_path: Path) -> None:
    with HttpServer(probing(tmp_path), "--workers", "2") as server:
        sessions: dict[str, str] = {}
        waited(lambda: sessions.update({(s := opened(server))[0]: s}) or len(sessions) == 2)
        first, second = children(server.pid)
        with ThreadPoolExecutor() as pool:
            wait, headers = {"mark": "relayed"}, {"mcp-session-id": sessions["2"]}
            client = client_at(server, "1")
            relayed = pool.submit(client.post, "/tools/probe_wait", json=wait, headers=headers)
            waited((tmp_path / "manuals" / "relayed.began").exists)
            os.kill(second, signal.SIGKILL)
            answer = relayed.result()
            client.close()
        assert (answer.status_code, answer.json()["error"]) == (503, "busy")
        assert '"endpoint":"POST /tools/probe_wait","status":503' in server.log
        for _ in range(TIMES):  # the other one answers at any moment
            assert posted(server, "/tools/manual_ls", {}).status_code == 200
        waited(lambda: len(children(server.pid)) == 2)
        assert first in children(server.pid)
        assert second not in children(server.pid)
        for _ in range(TIMES):
            lost = posted(server, "/mcp", LIST, **{"mcp-session-id": sessions["2"]})
            assert lost.status_code == 404
            left = posted(server, "/mcp", LIST, **{"mcp-session-id": sessions["1"]})
            assert left.status_code == 200
        assert "worker 2 ended" in server.log


@pytest.mark.slow
def test_a_worker_that_replaces_another_has_in_force_what_all_have(tmp_path: Path) -> None:
    """New code of a plugin, the last usable configuration, and the security of the start."""
    place = Path(manuals.stranger(tmp_path, SAME % "1.25"))
    file = probing(tmp_path, "security: {allowed_hosts: [one.test]}\n") / "fumishirube.yaml"
    path = os.pathsep.join([str(place), str(PROBE)])
    with HttpServer(tmp_path, "--workers", "2", "--trust", PYTHONPATH=path) as server:
        (place / "stranger_plugin.py").write_text(
            SAME % "22.25"
        )  # Python compares sizes and seconds
        file.write_text(
            "pipelines: {manual: {refiners: [same]}}\nsecurity: {allowed_hosts: [two.test]}\n"
        )
        waited(lambda: server.log.count("allowed_hosts: it needs a restart") == 2)
        file.write_text("pipelines: nothing\n")
        waited(lambda: server.log.count("reload refused") == 2)
        os.kill(children(server.pid)[0], signal.SIGKILL)
        client_at(server, "1").close()
        for _ in range(TIMES):
            hits = posted(server, "/tools/manual_find", FIND).json()["inline_hits"]["items"]
            assert [hit["score"] for hit in hits] == [22.25]
            assert posted(server, "/tools/manual_ls", {}, host="two.test").status_code == 400


@pytest.mark.slow
@pytest.mark.parametrize("spawned", [False, True])
def test_a_worker_begins_with_what_is_in_force_or_not_at_all(tmp_path: Path, spawned: bool) -> None:
    """Neither needs what the server began with, nor goes back to it."""
    place = Path(manuals.stranger(tmp_path, NEEDS + (THREAD if spawned else "")))
    path = os.pathsep.join([str(place), str(PROBE)])
    needed = [tmp_path / "first", tmp_path / "second"]
    yaml = "pipelines: {manual: {refiners: [{use: needs, with: {words: %s}}]}}\n"
    file = probing(tmp_path, yaml % needed[0]) / "fumishirube.yaml"
    for words in needed:
        words.touch()
    with HttpServer(tmp_path, "--workers", "2", "--trust", PYTHONPATH=path) as server:
        file.write_text(yaml % needed[1] + "surfaces: [manual]\n")
        waited(lambda: server.log.count("tools that went: ") == 2)
        needed[0].unlink()
        os.kill(oldest_worker(server), signal.SIGKILL)
        client_at(server, "1").close()
        needed[1].unlink()
        os.kill(oldest_worker(server), signal.SIGKILL)
        waited(lambda: server.log.count("worker 2 ended with code 2") == 1)
        for _ in range(TIMES):
            assert posted(server, "/tools/manual_find", FIND).status_code == 200
            assert posted(server, "/tools/vault_create", {}).status_code == 404
        needed[1].touch()
        client_at(server, "2").close()
        assert posted(server, "/tools/vault_create", {}).status_code == 404


def indexed(workspace: Path) -> int:
    """Return the number of documents in the index on disk."""
    for meta in (workspace / ".fumishirube" / "index").glob("*/*/meta.json"):
        return sum(segment["max_doc"] for segment in json.loads(meta.read_text())["segments"])
    return 0


@pytest.mark.slow
def test_another_worker_goes_on_with_the_index_when_its_writer_dies(tmp_path: Path) -> None:
    text = "".join(f"## 節 {n}\n\n入院と通院の給付を定める。\n\n" for n in range(20))
    files = 600
    manuals.write(tmp_path, {f"m/{n:04}.md": f"# 章 {n}\n\n{text}" for n in range(files)})
    with HttpServer(tmp_path, "--workers", "2") as server:
        writer = children(server.pid)[0]
        waited(lambda: indexed(tmp_path) > 0)
        assert indexed(tmp_path) < files * 20
        os.kill(writer, signal.SIGKILL)
        waited(lambda: indexed(tmp_path) >= files * 21)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_all_processes_end_with_the_signal(tmp_path: Path, sign: signal.Signals) -> None:
    with HttpServer(probing(tmp_path), "--workers", "2") as server:
        workers = children(server.pid)
        assert server.stop(sign) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@pytest.mark.slow
def test_no_worker_outlives_the_process_that_started_it(tmp_path: Path) -> None:
    with HttpServer(probing(tmp_path), "--workers", "3") as server:
        workers = children(server.pid)
        os.kill(workers[0], signal.SIGKILL)
        waited(lambda: len(children(server.pid)) == 3 and workers[0] not in children(server.pid))
        workers = children(server.pid)
        os.kill(server.pid, signal.SIGKILL)
        waited(lambda: not any(map(_runs, workers)))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_is_wrong_is_said_once(tmp_path: Path) -> None:
    probing(tmp_path, "pipelines: {manual: {scorers: [{use: nothing}]}}\n")
    done = manuals.fumishirube(
        *("serve", "--http", "127.0.0.1:0", "--workers", "2"), cwd=tmp_path, environ=environment()
    )
    assert done.code == 2
    assert done.err.count("configuration error") == 1


@pytest.mark.slow
def test_documents_are_followed_by_one_worker_and_read_by_all(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("---\ndoc_id: spec:a\n---\n\n# A\n\ntext\n", encoding="utf-8")
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n", encoding="utf-8")
    with HttpServer(tmp_path, "--workers", "2") as server:
        for _ in range(TIMES):
            assert posted(server, "/tools/ubp_list", {}).status_code in (200, 404)
        assert server.is_well()


@pytest.mark.slow
def test_workers_are_spawned_where_a_plugin_has_started_a_thread(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    threads = tmp_path / "plugins" / "sitecustomize.py"
    threads.write_text(THREAD)
    path = os.pathsep.join([str(threads.parent), str(PROBE)])
    with HttpServer(probing(tmp_path), "--workers", "2", PYTHONPATH=path, **COLD) as server:
        assert len(children(server.pid)) >= 2
        session = opened(server)
        for _ in range(TIMES):
            answer = posted(server, "/mcp", LIST, **{"mcp-session-id": session})
            assert answer.status_code == 200
        assert any(
            "spawn_main" in Path(f"/proc/{p}/cmdline").read_text() for p in children(server.pid)
        )
