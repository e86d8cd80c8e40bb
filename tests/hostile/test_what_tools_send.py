"""What tools of plugins send beside their answers: texts, progress, questions and log lines."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import stdio
from http_server import HttpServer
from manuals import write
from mcp import Client
from stdio import Fumishirube, Wire
from strangers import stranger

from fumishirube.host.scheduler import SLOT_SECONDS, WORKERS

pytestmark = pytest.mark.timeout(60)

PLUGIN = r"""
import logging, math, threading
from typing import Any, ClassVar
from fumishirube import Answer, Params, Stage, Tool, hook
from fumishirube.tools import Question

class Reply(Answer):
    value: int = 1

class Steps(Params):
    step: str = "0, 1, 'x'"

def report(params, call):
    if call.progress:
        call.progress(*eval(params.step))
    return Reply()

def log(params, call):
    logging.getLogger("fumishirube.owner").warning("%d files", "x")
    return Reply()

def block(params, call):
    threading.Event().wait()

def tool(name, run=report, **more):
    return Tool(name, "Own", "A tool.", Steps, Reply, run, **more)

class Own(Stage):
    root: ClassVar[str] = "manuals"
    pipeline: ClassVar[dict[str, Any]] = {}

    def tools(self, context):
        ask = lambda arguments, session: Question("step", "Step", "Which?", ["0, 1, ''"])
        half = lambda payload: "value: \ud83d"
        more = [tool("own_text", text=half), tool("own_question", question=ask)]
        return [tool("own_step"), tool("own_log", log), tool("own_block", block), *more]

@hook
def register_surfaces(register):
    register("own", Own, default=True)
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sent")
    stranger(folder / "plugins", "owner", PLUGIN)
    return write(folder / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})


def plugins(workspace: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(workspace.parent / "plugins")}


def reported(wire: Wire, step: str) -> Any:
    """Return the result of a call whose client asks for progress."""
    meta = {"progressToken": step}
    params = {"name": "own_step", "arguments": {"step": step}, "_meta": meta}
    return wire.request("tools/call", params)["result"]


def test_progress_that_is_none_is_a_fault_of_the_plugin(workspace: Path) -> None:
    wrong = ["1, 3, None", "1, 3, 5", "math.nan, 3, ''", "1, math.inf, ''", "'1', 3, ''"]
    with Wire(workspace, **plugins(workspace)) as wire:
        for step in wrong:
            error = reported(wire, step)["_meta"]["fumishirube/error"]
            assert error["code"] == "internal_error", step
            named = "tool 'own_step' of plugin owner failed: TypeError; "
            assert error["message"].startswith(named), step
        assert not reported(wire, "1, 3, 'half'")["isError"]
        assert "plugin owner: tool 'own_step' failed: TypeError" in wire.hang_up()


def test_a_log_line_whose_values_do_not_fit_fails_no_tool(workspace: Path) -> None:
    with Wire(workspace, **plugins(workspace)) as wire:
        assert wire.ok("own_log") == {"value": 1}
        assert "owner.py:19 logged what cannot be written: TypeError" in wire.hang_up()


def test_nobody_is_asked_about_arguments_that_are_no_object(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(stdio.HELLO, "capabilities", {"elicitation": {}})
    with Wire(workspace, **plugins(workspace)) as wire:
        params = {"name": "own_question", "arguments": [1]}
        wire._send({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params})
        first = json.loads(wire._output.readline())
        assert first["id"] == "x"
        assert first["result"]["_meta"]["fumishirube/error"]["code"] == "invalid_parameter"


@pytest.mark.anyio
@pytest.mark.parametrize("http", [False, True])
async def test_half_a_surrogate_pair_in_the_text_of_an_answer_is_replaced(
    workspace: Path, http: bool
) -> None:
    with ExitStack() as stack:
        if http:
            server = stack.enter_context(HttpServer(workspace, **plugins(workspace)))
            async with Client(f"{server.url}/mcp", mode="legacy") as client:
                result = await client.call_tool("own_text", {}, 20)
            assert "Error in" not in server.log
        else:
            server = stack.enter_context(Fumishirube(workspace, **plugins(workspace)))
            result = server.invoke("call_tool", "own_text", {}, 20)
    assert [block.text for block in result.content] == ["value: \ufffd"]


@pytest.mark.slow
def test_calls_are_refused_once_cancelled_ones_that_never_end_hold_all_threads(
    workspace: Path,
) -> None:
    with Wire(workspace, **plugins(workspace)) as wire:
        wire.ok("manual_ls")
        for number in range(WORKERS):
            identity = f"block {number}"
            meta = {"progressToken": number}
            params = {"name": "own_block", "arguments": {}, "_meta": meta}
            wire._send({"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params})
            wire.ping()
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": identity}}
            time.sleep(2 * SLOT_SECONDS)
            wire._send({"jsonrpc": "2.0", **cancelled})
        error = reported(wire, "0, 1, ''")["_meta"]["fumishirube/error"]
        assert error["code"] == "internal_error"
        assert "calls of own_block hold all threads and do not end" in error["message"]
        refused = wire.request("resources/list", {})["error"]
        assert refused["data"]["code"] == "internal_error"
        assert "own_block" in refused["message"]
        wire.ping()
