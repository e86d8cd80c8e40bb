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
MOST_BYTES = 4 * 1024 * 1024
"""The most bytes that are kept of what a command prints on a stream; it may print more."""
_USAGE = 2
_TIMED_OUT = 124
_SECONDS_TO_END = 10
_SECONDS_TO_PRINT = 2
"""Seconds in which the streams of a command that has ended have to end too."""
_CHUNK = 65536


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

    Children that hold its streams after its own end are ended too. ``started`` is called when the
    command runs; what it raises ends the command. ``options`` are those of ``subprocess.Popen``.

    Raises:
        OSError: when it cannot be run.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - the command that the caller names
        words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, **options
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    printed, errors = _OutputReader(process.stdout), _OutputReader(process.stderr)
    # In threads: a command may neither read nor end, and what it left may hold its streams.
    Thread(target=_give, args=(process.stdin, text.encode("utf-8", "replace")), daemon=True).start()
    waiting = Thread(target=process.wait, daemon=True)
    waiting.start()
    try:
        started()
        waiting.join(seconds)
        in_time = not waiting.is_alive()
        if not in_time or not _complete(printed, errors):
            _end(process)
            _complete(printed, errors)  # a child that left its session may go on
    except BaseException:
        _end(process)
        raise
    return Finished(printed.text, errors.text, process.returncode if in_time else None)


class _OutputReader(Thread):
    """Reads a stream to its end, and keeps its beginning."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._beginning = bytearray()
        self.start()

    def run(self) -> None:
        """Read; what is not kept is read too, so that the command can go on."""
        with self._stream:
            while data := os.read(self._stream.fileno(), _CHUNK):
                self._beginning += data[: MOST_BYTES - len(self._beginning)]

    @property
    def text(self) -> str:
        """The beginning, as far as it is read."""
        return bytes(self._beginning).decode("utf-8", "replace").replace("\r\n", "\n")


def _complete(*outputs: _OutputReader) -> bool:
    """Wait a while for the ends of streams, and tell whether they came."""
    until = time.monotonic() + _SECONDS_TO_PRINT
    for output in outputs:
        output.join(max(0.0, until - time.monotonic()))
    return not any(output.is_alive() for output in outputs)


def _give(stream: IO[bytes], data: bytes) -> None:
    with suppress(OSError), stream:  # the command may have ended
        stream.write(data)


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


class Termination:
    """Has whoever ends this process end its command too, which is in another session."""

    def __init__(self) -> None:
        self._received = 0
        self._handle(self._note)

    def started(self) -> None:
        """End the process from now on; a signal that came while the command started counts."""
        self._handle(self._end)
        if self._received:
            self._end(self._received)

    @staticmethod
    def _handle(handler: Callable[..., None]) -> None:
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no hangups, and nohup ignores them
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, handler)

    def _note(self, number: int, _frame: object = None) -> None:
        self._received = number

    def _end(self, number: int, _frame: object = None) -> None:
        sys.exit(128 + number)


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
            return run_shell(Path(log), Path(folder), " ".join(command), Termination().started)
    sys.stderr.write("usage: LOG mcp COMMAND… | LOG shell FOLDER COMMAND…\n")
    return _USAGE


if __name__ == "__main__":
    # A thread may still wait for input of the client.
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
