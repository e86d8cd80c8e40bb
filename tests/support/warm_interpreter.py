"""An interpreter that has imported everything already, and forks a process for each command.

Before the fork, modules are imported and the models in them completed, nothing else, so that each
process starts as the installed script does: with its own arguments, folder, variables, streams,
signals and exit code.
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import importlib.metadata
import io
import marshal
import os
import pkgutil
import random
import runpy
import selectors
import shutil
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ENTRY_POINTS = importlib.metadata.entry_points(group="fumishirube.v1")
PACKAGES = ("fumishirube", *(e.value for e in ENTRY_POINTS if e.value.startswith("fumishirube_")))
"""Those of the project itself; strangers' packages are imported by the process that asks."""

LEFT_OUT = ("fumishirube.testing",)
"""What only pytest can import."""

LAZY = (
    "anyio._backends._asyncio",
    "fastapi",
    "httpx2",
    "markdown_it",
    "mcp.server.lowlevel",
    "mcp.server.stdio",
    "rapidfuzz.process",
    "tantivy",
    "tomlkit",
    "tqdm",
    "uvicorn",
    "yaml",
)
"""What the project imports only when it needs it."""

DESCRIPTORS = struct.calcsize("3i")
NUMBER = struct.Struct("i")
STREAMS = (
    ("stdin", "r", "surrogateescape"),
    ("stdout", "w", "surrogateescape"),
    ("stderr", "w", "backslashreplace"),
)
STDERR, FIRST_FREE, MANY = 2, 3, 1024


class Request(NamedTuple):
    """What a process is to run, and with what; its number is written into a file."""

    entry: str
    words: list[str]
    folder: str
    environ: dict[str, str]
    number: str


class Forked(NamedTuple):
    """A process that runs, the connection of who waits for its end, and the file of its number."""

    pid: int
    asker: socket.socket
    handle: int
    number: Path


def warm_up() -> None:
    """Import all that a command may need, and complete the models whose schemas are deferred."""
    for name in (*LAZY, *PACKAGES):
        _import_all(name)
    definitions = importlib.import_module("fumishirube.tools.definitions")
    schemas = importlib.import_module("fumishirube.tools.schemas")
    for model in _models(importlib.import_module("pydantic").BaseModel):
        model.model_rebuild()
        if issubclass(model, definitions.Params):
            schemas.arguments_shape(model)
        elif issubclass(model, definitions.Answer):
            schemas._answer_shape(model)
    gc.collect()
    gc.freeze()


def _import_all(name: str) -> None:
    """Import a module and, of a package of the project, all that is in it."""
    if name in LEFT_OUT or name.endswith("__main__"):
        return
    with suppress(ImportError):
        module = importlib.import_module(name)
        if name.startswith(PACKAGES):
            for inner in pkgutil.iter_modules(getattr(module, "__path__", ())):
                _import_all(f"{name}.{inner.name}")


def _models(parent: type[Any]) -> Iterator[type[Any]]:
    """Yield the models of the project."""
    for model in parent.__subclasses__():
        yield from _models(model)
        if model.__module__.startswith(PACKAGES):
            yield model


class Forks:
    """Forks a process for each request that comes in, until standard input ends."""

    def __init__(self, address: str) -> None:
        own = _python_path(os.environ)
        self._path = [folder for folder in sys.path[1:] if folder not in own]
        self._running: dict[int, Forked] = {}
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._folder = Path(address).parent
        self._listener.bind(address)
        self._listener.listen()
        for readable in (0, self._listener.fileno()):
            self._selector.register(readable, selectors.EVENT_READ)

    def serve(self) -> None:
        """Fork and wait, for as long as somebody may ask."""
        while True:
            for key, _ in self._selector.select():
                if key.fd == 0:
                    self._end()
                    return
                if key.fd == self._listener.fileno():
                    self._fork()
                # A process that has just been forked may have the descriptor of one that ended.
                elif (process := self._running.get(key.fd)) and process is key.data:
                    self._finish(key.fd, process)

    def _fork(self) -> None:
        asker, _ = self._listener.accept()
        received = _received(asker)
        if received is None:
            asker.close()
            return
        request, streams = received
        pid = os.fork()
        if pid == 0:
            _become(streams, request, self._path)
        for stream in streams:
            os.close(stream)
        with suppress(OSError):  # who asked has been killed: this process is ended, too
            asker.sendall(NUMBER.pack(pid))
        process = Forked(pid, asker, os.pidfd_open(pid), Path(request.number))
        for descriptor in (asker.fileno(), process.handle):
            self._running[descriptor] = process
            self._selector.register(descriptor, selectors.EVENT_READ, process)

    def _finish(self, readable: int, process: Forked) -> None:
        """Tell that a process has ended; one that nobody waits for any more is ended."""
        if readable == process.asker.fileno():
            os.kill(process.pid, signal.SIGKILL)
        status = os.waitpid(process.pid, 0)[1]
        # Before who asked ends, whose own number the system may then give to another command.
        process.number.unlink(missing_ok=True)
        with suppress(OSError):
            process.asker.sendall(NUMBER.pack(status))
        for descriptor in (process.asker.fileno(), process.handle):
            del self._running[descriptor]
            self._selector.unregister(descriptor)
        process.asker.close()
        os.close(process.handle)

    def _end(self) -> None:
        for pid in {process.pid for process in self._running.values()}:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self._folder)


def _received(asker: socket.socket) -> tuple[Request, array.array[int]] | None:
    """Return a request with its streams, unless who asked was killed while it did."""
    message, ancillary, _, _ = asker.recvmsg(NUMBER.size, socket.CMSG_SPACE(DESCRIPTORS))
    if not message:
        return None
    streams = array.array("i", ancillary[0][2])
    (size,) = NUMBER.unpack(message)
    with asker.makefile("rb") as text:
        asked = text.read(size)
    if len(asked) < size:
        for stream in streams:
            os.close(stream)
        return None
    return Request(*marshal.loads(asked)), streams


def _become(streams: array.array[int], request: Request, path: list[str]) -> None:
    """Run the command with what belongs to the process that asked; never return."""
    code = 1
    try:
        Path(request.number).write_text(str(os.getpid()), encoding="utf-8")
        for standard, stream in enumerate(streams):
            os.dup2(stream, standard)
        os.closerange(FIRST_FREE, MANY)
        os.chdir(request.folder)
        os.environ.clear()
        os.environ.update(request.environ)
        if _is_hidden(_python_path(os.environ)):
            os.execv(request.words[0], request.words)
        sys.argv[:] = request.words
        sys.path[:] = [str(Path(request.words[0]).parent), *_python_path(os.environ), *path]
        importlib.invalidate_caches()
        random.seed()
        time.tzset()
        for standard, (name, mode, errors) in enumerate(STREAMS):
            stream = _stream(standard, mode, errors)
            vars(sys).update({name: stream, f"__{name}__": stream})
        code = _exit_code(_entry(request.entry))
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _is_hidden(folders: list[str]) -> bool:
    """Tell whether these folders hide a module that is imported already behind one of their own."""
    files = (file for folder in map(Path, folders) if folder.is_dir() for file in folder.iterdir())
    return any(file.stem in sys.modules for file in files)


def _entry(name: str) -> Callable[[], object]:
    if name.endswith(".py"):
        return lambda: runpy.run_path(name, run_name="__main__") and None
    module, _, function = name.partition(":")
    entry: Callable[[], object] = getattr(importlib.import_module(module), function)
    return entry


def _exit_code(entry: Callable[[], object]) -> int:
    code: object
    try:
        code = entry()
    except SystemExit as leaving:
        code = leaving.code
    return code if isinstance(code, int) else int(code is not None)


def _stream(number: int, mode: str, errors: str) -> io.TextIOWrapper:
    """Return a standard stream that is read, buffered and encoded as the interpreter's own."""
    raw = io.FileIO(number, mode, closefd=False)
    binary = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    at_once = raw.isatty() or number == STDERR
    return io.TextIOWrapper(binary, "utf-8", errors, line_buffering=at_once)


def _python_path(environ: Mapping[str, str]) -> list[str]:
    value = environ.get("PYTHONPATH", "")
    return value.split(os.pathsep) if value else []


if __name__ == "__main__":
    warm_up()
    forks = Forks(sys.argv[1])
    sys.stdout.write("\n")
    sys.stdout.flush()
    forks.serve()
