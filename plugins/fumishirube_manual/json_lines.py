"""A bounded file of JSON lines, rotated, and written in the background."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

from pydantic import JsonValue

from fumishirube import Root
from fumishirube.disk import made_folder, open_own

_log = logging.getLogger("fumishirube")

FULL_BYTES = 5 * 1024 * 1024
"""The size at which a file is rotated; one old file is left."""
TAIL_BYTES = 1024 * 1024

_MARK = b'{"ts"'
"""What every line begins with: its time."""
_QUEUED = 10_000
_DELAY_SECONDS = 0.2
_CLOSE_SECONDS = 2.0


class JsonLinesFile:
    """Queues lines and writes them soon; problems with the file are logged once.

    The first key of every line is ``ts``: a file that begins otherwise is left as it is.

    A ``folder`` is that of the file, which is then reached through no link.
    """

    def __init__(self, file: Path, folder: Root | None = None) -> None:
        self._file = file
        self._folder = folder
        self._lines: deque[str] = deque(maxlen=_QUEUED)
        self._writer: Thread | None = None
        self._lock = Lock()
        self._closing = Event()
        self._warned = False

    def put(self, row: Mapping[str, JsonValue]) -> None:
        """Queue one line."""
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        with self._lock:
            self._lines.append(line)
            if self._writer is None:
                self._writer = self._started()

    def tail(self) -> list[dict[str, Any]]:
        """Return the last lines, oldest first, without damaged ones."""
        try:
            lines = _last_lines(self._file)
        except (OSError, ValueError) as error:
            self._warn("cannot be read", error)
            return []
        rows = _parsed(lines)
        valid = [row for row in rows if isinstance(row, dict)]
        if len(valid) < len(rows):
            self._warn("contains damaged lines, which are skipped")
        return valid

    def close(self) -> None:
        """Write queued lines, within a bounded time."""
        self._closing.set()
        with self._lock:
            writer = self._writer
        if writer is not None:
            writer.join(_CLOSE_SECONDS)

    def _started(self) -> Thread | None:
        writer = Thread(target=self._write_all, name="fumishirube journal", daemon=True)
        try:
            writer.start()
        except RuntimeError as error:
            self._warn("cannot be written", error)
            return None
        return writer

    def _write_all(self) -> None:
        """Write until the queue is empty; lines that come close together are written together."""
        while True:
            self._closing.wait(_DELAY_SECONDS)
            with self._lock:
                lines = [*self._lines]
                self._lines.clear()
                if not lines:
                    self._writer = None
                    return
            try:
                if self._folder is None:
                    self._file.parent.mkdir(parents=True, exist_ok=True)
                else:
                    made_folder(self._folder)
                _append(self._file, lines)
            except (OSError, ValueError) as error:
                self._warn("cannot be written", error)

    def _warn(self, problem: str, error: Exception | None = None) -> None:
        if not self._warned:
            self._warned = True
            reason = f" ({type(error).__name__})" if error else ""
            _log.warning("the file %s %s%s", self._file.name, problem, reason)


def _append(file: Path, lines: Sequence[str]) -> None:
    """Append lines with one write, unless a file of something else is there; rotate a full file."""
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    _refuse_other(file)
    if file.is_file() and file.stat().st_size + len(text) > FULL_BYTES:
        _refuse_other(_old(file))
        file.replace(_old(file))
    with os.fdopen(open_own(file, flags, 0o644), "r+b", buffering=0) as stream:
        end = stream.seek(0, os.SEEK_END)
        if end:
            stream.seek(end - 1)
            text = text if stream.read(1) == b"\n" else b"\n" + text
        while text:  # the rest of a write that a full disk has cut raises
            text = text[stream.write(text) :]


def _refuse_other(file: Path) -> None:
    """Refuse a file that begins unlike any of ours: a configuration may name whatever it likes."""
    with suppress(FileNotFoundError), os.fdopen(open_own(file, os.O_RDONLY), "rb") as stream:
        if stream.read(len(_MARK)) not in (b"", _MARK):
            raise FileExistsError(errno.EEXIST, "it is none of ours", file.name)


def _last_lines(file: Path) -> list[bytes]:
    """Return the last whole lines, also of the old file if the new one is short."""
    lines: list[bytes] = []
    left = TAIL_BYTES
    for part in (file, _old(file)):
        if left and part.is_file():
            with part.open("rb") as stream:
                end = stream.seek(0, os.SEEK_END)
                start = stream.seek(max(0, end - left))
                earlier = stream.read(left).split(b"\n")
            lines = [*(earlier[1:] if start else earlier), *lines]
            left -= end - start
    return [line for line in lines if line.strip()]


def _old(file: Path) -> Path:
    return file.with_name(f"{file.name}.1")


def _parsed(lines: Sequence[bytes]) -> list[Any]:
    """Return the parsed lines; parsing all at once is twice as fast if none is damaged."""
    try:
        rows: list[Any] = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return [_parsed_line(line) for line in lines]
    return rows


def _parsed_line(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
