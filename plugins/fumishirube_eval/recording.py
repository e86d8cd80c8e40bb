"""A process between an agent and its tools that logs every call.

``recording.py LOG mcp COMMAND…`` relays MCP over standard input and output to a server that it
starts. ``recording.py LOG shell FOLDER COMMAND…`` runs a shell command in a folder and prints its
output, up to a limit. It runs as a file and imports the standard library alone, to add little to
the time of a call.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any, NamedTuple

CALL, LISTING = "call", "listing"
"""The kinds of log lines: a tool call, or the list of tools shown."""

SHELL_CHARACTERS = 30_000
SHELL_SECONDS = 120
_USAGE = 2
_TIMED_OUT = 124
_ENDED = 143
_SECONDS_TO_END = 10


def log_line(log: Path, what: str, tool: str, argument: str, shown: str, seconds: float) -> None:
    """Append a line to a log: the call, and the output shown to the agent."""
    row = {
        "what": what,
        "tool": tool,
        "argument": argument,
        "shown": shown,
        "seconds": round(seconds, 3),
    }
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


class Finished(NamedTuple):
    """What a command printed, on either stream, and its exit code; ``None`` if it was stopped."""

    printed: str
    errors: str
    code: int | None


def run_command(
    words: str | Sequence[str],
    text: str,
    seconds: float,
    started: Callable[[], None] = lambda: None,
    **options: Any,
) -> Finished:
    """Run a command with a text as its input; after some seconds end it with all its children.

    ``started`` is called when the command runs; what it raises ends the command too. ``options``
    are those of ``subprocess.Popen``.

    Raises:
        OSError: when it cannot be run.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - the command that the caller names
        words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, **options
    )
    with process:
        try:
            started()
            printed, errors = process.communicate(text.encode("utf-8", "replace"), seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            printed, errors = _rest(process)
            return Finished(_text(printed), _text(errors), None)
        except BaseException:
            _end(process)
            raise
    return Finished(_text(printed), _text(errors), process.returncode)


def _rest(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return what an ended process printed, though a child that left its session may go on."""
    try:
        return process.communicate(timeout=_SECONDS_TO_END)
    except subprocess.TimeoutExpired as error:
        return error.output or b"", error.stderr or b""


def _end(process: subprocess.Popen[bytes]) -> None:
    if os.name == "nt":
        process.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SECONDS_TO_END)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace").replace("\r\n", "\n")


class RecordingProxy:
    """Relays JSON-RPC between a client and a server, line by line and unchanged."""

    def __init__(self, log: Path, server: subprocess.Popen[bytes]) -> None:
        self._log, self._server = log, server
        self._waiting: dict[str, tuple[Mapping[str, Any], float]] = {}
        self._lock = Lock()

    def relay(self, client_input: IO[bytes], client_output: IO[bytes]) -> int:
        """Relay until either side ends, and return the server's exit code."""
        reader = Thread(target=self._requests, args=(client_input,), daemon=True)
        reader.start()
        assert self._server.stdout is not None
        for line in self._server.stdout:
            self._note_answer(line)
            client_output.write(line)
            client_output.flush()
        return self._server.wait()

    def _requests(self, client_input: IO[bytes]) -> None:
        assert self._server.stdin is not None
        try:
            for line in client_input:
                self._note_request(line)
                self._server.stdin.write(line)
                self._server.stdin.flush()
            self._server.stdin.close()
        except OSError:
            return  # the server has ended; relay() reads its exit code

    def _note_request(self, line: bytes) -> None:
        message = _message(line)
        if message.get("method") in {"tools/call", "tools/list"} and "id" in message:
            with self._lock:
                self._waiting[repr(message["id"])] = (message, time.monotonic())

    def _note_answer(self, line: bytes) -> None:
        message = _message(line)
        if "method" in message:  # a request of the server, whose ids are its own
            return
        with self._lock:
            request, began = self._waiting.pop(repr(message.get("id")), ({}, 0.0))
        if not request:
            return
        seconds = time.monotonic() - began
        if request["method"] == "tools/list":
            tools = message.get("result", {}).get("tools", [])
            log_line(self._log, LISTING, "tools/list", "", _listing(tools), seconds)
            return
        params = request.get("params")
        params = params if isinstance(params, dict) else {}
        argument = json.dumps(params.get("arguments", {}), ensure_ascii=False)
        log_line(self._log, CALL, str(params.get("name")), argument, _shown(message), seconds)


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _listing(tools: Sequence[Mapping[str, Any]]) -> str:
    """Return the description of the tools that a client shows its model."""
    keys = ("name", "description", "inputSchema")
    rows = [{key: tool[key] for key in keys if key in tool} for tool in tools]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)


def _shown(message: Mapping[str, Any]) -> str:
    """Return the text of a result that a client shows its model: its texts, or the error."""
    if "result" not in message:
        return json.dumps(message.get("error"), ensure_ascii=False)
    parts = message["result"].get("content", [])
    return "".join(str(part.get("text", "")) for part in parts)


def relay_mcp(log: Path, command: Sequence[str]) -> int:
    """Start a server, and relay until the client disconnects."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as server:  # noqa: S603 - our own server
        return RecordingProxy(log, server).relay(sys.stdin.buffer, sys.stdout.buffer)


class _Termination:
    """Has whoever ends this process end its command too, which is in another session."""

    def __init__(self) -> None:
        self._received = False
        signal.signal(signal.SIGTERM, self._note)

    def started(self) -> None:
        """End the process from now on; a signal that came while the command started counts."""
        signal.signal(signal.SIGTERM, self._end)
        if self._received:
            self._end()

    def _note(self, *_: object) -> None:
        self._received = True

    def _end(self, *_: object) -> None:
        sys.exit(_ENDED)


def run_shell(
    log: Path, folder: Path, command: str, started: Callable[[], None] = lambda: None
) -> int:
    """Run a shell command, and print as much of its output as a client would show."""
    shell = shutil.which("bash") or shutil.which("sh")
    words = [shell, "-c", command] if shell else command
    began = time.monotonic()
    done = run_command(words, "", SHELL_SECONDS, started, shell=shell is None, cwd=folder)
    shown = (done.printed + done.errors)[:SHELL_CHARACTERS]
    if done.code is None:
        shown += f"stopped after {SHELL_SECONDS} seconds\n"
    log_line(log, CALL, "shell", command, shown, time.monotonic() - began)
    sys.stdout.buffer.write(shown.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return _TIMED_OUT if done.code is None else done.code


def main(words: Sequence[str]) -> int:
    """Run the command line."""
    match words:
        case [log, "mcp", *command] if command:
            return relay_mcp(Path(log), command)
        case [log, "shell", folder, *command] if command:
            return run_shell(Path(log), Path(folder), " ".join(command), _Termination().started)
    sys.stderr.write("usage: LOG mcp COMMAND… | LOG shell FOLDER COMMAND…\n")
    return _USAGE


if __name__ == "__main__":
    # A thread may still wait for input of the client.
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
