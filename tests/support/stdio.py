"""`fumishirube serve` as a process, and two clients: the SDK's own, and one that speaks bytes.

Whatever comes back is held against the rules that every answer keeps, so that no test need
repeat them.
"""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from anyio.from_thread import start_blocking_portal
from checked_schemas import remember_checks
from mcp import Client, StdioServerParameters
from mcp.client.stdio import get_default_environment, stdio_client
from warm_start import kill, process_of, warm_script

CODES = frozenset(
    {
        "invalid_parameter",
        "invalid_request",
        "invalid_path",
        "out_of_scope",
        "needs_narrow_scope",
        "not_found",
        "forbidden",
        "invalid_scope",
        "conflict",
    }
)
"""What a call may be refused with; ``internal_error`` is never right."""

DETAILS = frozenset(
    {
        "parameter",
        "allowed",
        "min",
        "max",
        "required_first_call",
        "candidate_ids",
        "manual_id",
        "path",
        "trace_id",
        "start_line",
        "reason",
    }
)
MESSAGE_LIMIT = 300
SECONDS = 30
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}

remember_checks()


class Answer(NamedTuple):
    """What a tool answered: its result, or the error object."""

    is_error: bool
    payload: dict[str, Any]


class _Caller:
    """What both clients offer on top of ``call``."""

    def call(self, tool: str, arguments: Any) -> Answer:
        raise NotImplementedError

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must succeed."""
        answer = self.call(tool, arguments)
        assert not answer.is_error, answer.payload
        return answer.payload

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must refuse; return the error."""
        answer = self.call(tool, arguments)
        assert answer.is_error, answer.payload
        return answer.payload


class Fumishirube(_Caller):
    """A server process, and the SDK's client of it on an event loop in a thread.

    The client checks every result against the tool's output schema.
    """

    def __init__(
        self,
        workspace: Path,
        era: str = "legacy",
        started: Sequence[str] | None = None,
        **environ: str,
    ) -> None:
        self.workspace = workspace
        with ExitStack() as stack:
            errors = stack.enter_context(Path(os.devnull).open("w"))
            self._portal = stack.enter_context(start_blocking_portal())
            command, *args = started or command_line(workspace)
            parameters = StdioServerParameters(command=command, args=args, env=environ or None)
            client = Client(stdio_client(parameters, errlog=errors), mode=era)
            self.client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up; the process ends."""
        self._open.close()

    def call(self, tool: str, arguments: Any) -> Answer:
        """Call a tool; calls from several threads run side by side."""
        result = self._portal.call(self.client.call_tool, tool, arguments, SECONDS)
        return checked(result.model_dump(mode="json", by_alias=True), self.workspace)

    def ping(self) -> None:
        """Ask for a sign of life."""
        self._portal.call(self.client.send_ping)

    def invoke(self, what: str, *arguments: Any, **named: Any) -> Any:
        """Use another of the client's methods."""
        return self._portal.call(partial(getattr(self.client, what), *arguments, **named))

    def tools(self) -> dict[str, Any]:
        """Return what is listed, by name."""
        listed = self._portal.call(self.client.list_tools).tools
        return {tool.name: tool for tool in listed}


class Wire(_Caller):
    """A server process, and a client that sends any JSON and checks each line that comes back.

    With ``options`` the server is started with these, in the workspace.
    """

    def __init__(self, workspace: Path, *options: str, **environ: str) -> None:
        self.workspace = workspace
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [warm_script(), "serve", *options] if options else command_line(workspace),
            cwd=workspace if options else None,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=get_default_environment() | environ,
        )
        self._identity = 0
        with suppress(BrokenPipeError):
            self.request("initialize", HELLO)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for stream in (self._input, self._output, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    @property
    def pid(self) -> int:
        """The number of the process that serves."""
        return process_of(self.process)

    def kill(self) -> None:
        """End the process at once, if it still runs."""
        kill(self.process)

    def call(self, tool: str, arguments: Any) -> Answer:
        """Call a tool with any JSON at all as its arguments."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return checked(answer["result"], self.workspace)

    def call_text(self, tool: str, arguments: str) -> Answer:
        """Call a tool with arguments in JSON, such as numbers that Python does not write."""
        params = f'{{"name":{json.dumps(tool)},"arguments":{arguments}}}'
        answer = self._answer("tools/call", params)
        assert "result" in answer, answer
        return checked(answer["result"], self.workspace)

    def ping(self) -> None:
        """Ask for a sign of life."""
        assert self.request("ping", {}) == {"jsonrpc": "2.0", "id": self._identity, "result": {}}

    def request(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request, and return the whole message that answers it."""
        return self._answer(method, json.dumps(params))

    def _answer(self, method: str, params: str) -> dict[str, Any]:
        self._identity += 1
        begin = json.dumps({"jsonrpc": "2.0", "id": self._identity, "method": method})
        self._write(f'{begin[:-1]}, "params": {params}}}')
        while True:
            line = self._output.readline()
            assert line, f"the server ended: {self._rest_of_errors()}"
            message = _message(line)
            if message.get("id") == self._identity:
                return message

    def hang_up(self) -> str:
        """Close the input, check what still comes, and return what standard error got."""
        self._input.close()
        for line in self._output.read().splitlines(keepends=True):
            _message(line)
        assert self.process.wait(timeout=SECONDS) == 0
        return self._rest_of_errors()

    @property
    def _input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def _rest_of_errors(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()

    def _send(self, message: dict[str, Any]) -> None:
        self._write(json.dumps(message))

    def _write(self, line: str) -> None:
        self._input.write(line.encode() + b"\n")
        self._input.flush()


def command_line(workspace: Path) -> list[str]:
    """Return the command that serves a workspace."""
    return [warm_script(), "serve", "--workspace", str(workspace)]


def checked(result: dict[str, Any], workspace: Path) -> Answer:
    """Return a tool's answer after holding it against what is true of every answer."""
    (block,) = result["content"]
    assert block["type"] == "text"
    plain = not result["isError"] and not block["text"].startswith("{")
    payload: dict[str, Any] = result["structuredContent"] if plain else json.loads(block["text"])
    for told in (block["text"], json.dumps(payload, ensure_ascii=False)):
        assert str(workspace) not in unicodedata.normalize("NFC", told)
        assert "Traceback" not in told
    if not result["isError"]:
        assert result["structuredContent"] == payload
        return Answer(is_error=False, payload=payload)
    assert result.get("structuredContent") is None
    assert result["_meta"]["fumishirube/error"] == payload
    assert payload.keys() - {"error"} in ({"code", "message"}, {"code", "message", "details"})
    assert payload.get("error", payload["code"]) == payload["code"]
    assert payload["code"] in CODES, payload
    assert 0 < len(payload["message"]) <= MESSAGE_LIMIT
    assert payload.get("details", {"parameter": ""}).keys() <= DETAILS, payload
    assert payload.get("details") != {}
    assert "[Errno" not in block["text"]
    return Answer(is_error=True, payload=payload)


def _message(line: bytes) -> dict[str, Any]:
    """Return one line of standard output, which is one message of the protocol."""
    message: dict[str, Any] = json.loads(line)
    assert message["jsonrpc"] == "2.0", message
    assert line.endswith(b"\n")
    assert {"result", "error", "method"} & message.keys(), message
    return message
