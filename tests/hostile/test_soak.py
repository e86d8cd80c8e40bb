"""Thousands of mixed calls by eleven clients while files change: nothing fails, nothing is left.

``FUMISHIRUBE_SOAK`` is the number of calls; 10,000 of them hold the memory to its bound too.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from http_server import HttpServer
from stdio import HELLO, Wire

CALLS = int(os.environ.get("FUMISHIRUBE_SOAK", "200"))
CLIENTS = 10
SAMPLES = Path(__file__).parents[2] / "manuals"
ENOUGH = 10_000
"""So many calls show whether memory grows: before a fifth of them everything is filled."""
GROWTH = 1.05

EXPECTED = frozenset({"not_found", "invalid_parameter", "conflict", "needs_narrow_scope"})
"""What these calls may be refused with: files come and go, and some ask for what is not there."""
WORDS = [
    *("申請", "期限", "承認", "経費", "宿泊", "日当", "給付金", "請求", "条件", "例外"),
    *("sensor", "battery", "error", "timeout", "station"),
]
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory and descriptors are read in /proc"),
    pytest.mark.timeout(3600),
]


class ToolCall(NamedTuple):
    tool: str
    arguments: dict[str, Any]


class Count:
    """How many calls have been made, by what came of them; any thread may add one."""

    def __init__(self, labels: Mapping[int, Callable[[], None]]) -> None:
        self.number = 0
        self.codes: Counter[str] = Counter()
        self._marks = labels
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether all calls have been made."""
        return self.number >= CALLS

    def add(self, code: str) -> None:
        """Add a call; some numbers are marks at which something is looked at."""
        with self._lock:
            self.number += 1
            self.codes[code] += 1
            if self.number in self._marks:
                self._marks[self.number]()


def random_call(dice: random.Random, traces: list[str]) -> ToolCall:
    """Return the next thing that a client asks for."""
    manual = dice.choice(["業務ハンドブック", "field-guide", "reference", "soaked"])
    query = " ".join(dice.sample(WORDS, dice.randint(1, 3)))
    ref = {"manual_id": manual, "path": f"{dice.randint(0, 30)}.md"}
    note = f"{threading.get_ident()}-{dice.randint(0, 20)}.md"
    find = {"query": query, "manual_id": manual, "required_terms": [query.split()[0]]}
    return dice.choice(
        [
            ToolCall("manual_ls", {}),
            ToolCall("manual_ls", {"manual_id": manual}),
            ToolCall("manual_toc", {"manual_id": manual}),
            ToolCall("manual_find", find),
            ToolCall("manual_find", find),
            ToolCall("manual_find", {**find, "use_cache": False}),
            ToolCall("manual_find", {**find, "query": ""}),
            ToolCall(
                "manual_hits", {"trace_id": dice.choice(traces or ["0" * 32]), "kind": "candidates"}
            ),
            ToolCall("manual_read", {"ref": ref}),
            ToolCall("manual_scan", {"manual_id": manual, "path": ref["path"]}),
            ToolCall("vault_create", {"path": note, "content": query}),
            ToolCall("vault_read", {"path": note}),
            ToolCall("vault_ls", {}),
        ]
    )


def work(
    number: int,
    count: Count,
    call: Callable[[ToolCall], dict[str, Any]],
    faults: list[BaseException],
) -> None:
    """Ask one thing after another until all calls have been made."""
    dice, traces = random.Random(number), list[str]()
    try:
        while not count.over:
            answer = call(random_call(dice, traces))
            if "trace_id" in answer:
                traces[:] = [*traces[-8:], answer["trace_id"]]
            count.add(answer.get("code", answer.get("error", "ok")))
    except BaseException as error:
        faults.append(error)


@contextmanager
def mcp_client(server: HttpServer) -> Iterator[Callable[[ToolCall], dict[str, Any]]]:
    """A session over streamable HTTP; every other call goes to the tool's own endpoint."""
    accept = {"accept": "application/json, text/event-stream"}
    with httpx2.Client(base_url=server.url, timeout=120, trust_env=False, headers=accept) as client:
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
        begun = client.post("/mcp", json=hello)
        client.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
        client.headers["mcp-protocol-version"] = HELLO["protocolVersion"]
        client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        turn = 0

        def call(one: ToolCall) -> dict[str, Any]:
            nonlocal turn
            turn += 1
            if turn > 1 and turn % 2 == 0:
                told: dict[str, Any] = client.post(f"/tools/{one.tool}", json=one.arguments).json()
                return told
            if turn == 1:
                one = ToolCall("manual_ls", {})
            params = {"name": one.tool, "arguments": one.arguments}
            message = {"jsonrpc": "2.0", "id": turn, "method": "tools/call", "params": params}
            answer = client.post("/mcp", json=message)
            line = next(row for row in answer.text.splitlines() if row.startswith(("data: {", "{")))
            result = httpx2.Response(200, text=line.removeprefix("data: ")).json()["result"]
            return payload(result)

        yield call


def payload(result: dict[str, Any]) -> dict[str, Any]:
    """Return what a tool answered, or was refused with."""
    told: dict[str, Any] = result["_meta"]["fumishirube/error"] if result.get("isError") else {}
    return told or result["structuredContent"]


def change(folder: Path, stop: threading.Event) -> None:
    """Write, rewrite and delete files for as long as there are calls."""
    dice = random.Random(0)
    folder.mkdir()
    while not stop.wait(0.02):
        file = folder / f"{dice.randint(0, 30)}.md"
        if dice.random() < 0.3:
            with suppress(FileNotFoundError):
                file.unlink()
        else:
            words = " ".join(dice.choices(WORDS, k=60))
            file.write_text(f"# {dice.choice(WORDS)}\n{words}\n", encoding="utf-8")


class Looked:
    """What a server process holds, at some numbers of calls."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.memory: dict[str, float] = {}
        self.descriptors: dict[str, int] = {}

    def look(self, when: str) -> None:
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="utf-8")
        line = next(row for row in status.splitlines() if row.startswith("VmRSS"))
        self.memory[when] = int(line.split()[1]) / 1024
        self.descriptors[when] = len([*Path(f"/proc/{self._pid}/fd").iterdir()])


@pytest.mark.slow
def test_ten_clients_over_http_and_one_over_stdio_leave_nothing_behind(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES, tmp_path / "manuals")
    # What is kept on purpose is few enough to be full by a fifth of the calls.
    (tmp_path / "fumishirube.yaml").write_text("cache: {keep: 50}\ntraces: {keep: 50}\n")
    stop, faults = threading.Event(), list[BaseException]()
    changing = threading.Thread(target=change, args=(tmp_path / "manuals" / "soaked", stop))
    changing.start()
    try:
        with HttpServer(tmp_path) as server, Wire(tmp_path) as wire:
            processes = {"http": Looked(server.pid), "stdio": Looked(wire.pid)}

            def looking(when: str) -> Callable[[], None]:
                return lambda: [one.look(when) for one in processes.values()] and None

            begun, half = min(100, CALLS // 3), CALLS // 2
            count = Count(
                {
                    begun: looking("begun"),
                    CALLS // 5 + 1: looking("fifth"),
                    half: looking("half"),
                }
            )
            wire.ok("manual_ls")
            clients = [
                threading.Thread(target=over_http, args=(n, count, server, faults))
                for n in range(CLIENTS)
            ]
            clients.append(
                threading.Thread(target=work, args=(99, count, over_stdio(wire), faults))
            )
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            stop.set()
            time.sleep(2)  # connections of the clients end, and what is due is collected
            looking("end")()
            log = server.log
            assert "Traceback" not in wire.hang_up()
            assert server.stop() == 0
    finally:
        stop.set()
        changing.join()
    print(count.codes, {name: (one.memory, one.descriptors) for name, one in processes.items()})  # noqa: T201
    assert faults == []
    assert set(count.codes) - {"ok"} <= EXPECTED
    assert count.codes["ok"] > CALLS / 3
    assert '"level":"error"' not in log
    for one in processes.values():
        assert one.descriptors["end"] <= one.descriptors["begun"]
    if CALLS >= ENOUGH:
        # One client in eleven has filled what its server keeps by half of the calls only.
        for name, filled in (("http", "fifth"), ("stdio", "half")):
            memory = processes[name].memory
            assert memory["end"] <= memory[filled] * GROWTH


def over_http(number: int, count: Count, server: HttpServer, faults: list[BaseException]) -> None:
    with mcp_client(server) as call:
        work(number, count, call, faults)


def over_stdio(wire: Wire) -> Callable[[ToolCall], dict[str, Any]]:
    return lambda one: wire.call(one.tool, one.arguments).payload
