"""The lock of the server: one process at a time follows the documents of a workspace."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from fumishirube import AlreadyServed, ConfigError, Forbidden, Root
from fumishirube.disk import open_own, read_own, take_lock

FOLDER, NAME = ".ubp", "serve.lock"

_READING = "'fumishirube docs serve --no-lock', or {use: graph, with: {lock: false}}"
_PATIENCE = 1.0
_LONGEST = 1000
"""The most bytes of a lock file; other programs may write more than a number."""
_MOMENT = 0.1
"""Seconds; another process that only asks whether the lock is taken has it for less."""
_FAR = 1 << 30
"""The byte that Windows locks; a locked byte cannot be read, so it lies behind the text."""


class ServeLock:
    """``.ubp/serve.lock``: the process number on line 1, the start time of the process on line 2.

    The lock is taken while the operating system's lock is, or while a process with that number and
    start time runs: other programs write the number only.
    """

    def __init__(self, workspace: Root) -> None:
        self._workspace = workspace
        self._path = workspace.path / FOLDER / NAME
        self._handle: int | None = None

    def take(self) -> None:
        """Take the lock.

        Raises:
            AlreadyServed: when another process has it.
            ConfigError: when its file cannot be written.
        """
        while True:
            handle = self._opened()
            if not _locked(handle, _MOMENT):
                os.close(handle)
                raise _already_served(self._named())
            if self._is_still(handle):
                break
            os.close(handle)  # its last owner has just removed it
        other = _running(self._path)
        if other is not None and other != os.getpid():
            os.close(handle)
            raise _already_served(other)
        owner = f"{os.getpid()}\n{began(os.getpid())}\n".encode()
        try:
            os.write(handle, owner)  # over what is there: nobody reads an empty file meanwhile
            os.ftruncate(handle, len(owner))
        except OSError as error:
            os.close(handle)  # or nobody could take the lock while this process runs
            raise ConfigError(
                f"{FOLDER}/{NAME}: it cannot be written; make room on the disk, or only read: "
                f"{_READING}"
            ) from error
        self._handle = handle

    def release(self) -> None:
        """Remove the lock file, if this process still owns it."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        with suppress(OSError):
            if self._is_still(handle):
                if sys.platform == "win32":
                    os.close(handle)
                    handle = None
                self._path.unlink()
        if handle is not None:
            os.close(handle)

    def _opened(self) -> int:
        try:
            self._workspace.make(FOLDER)
            return open_own(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except (Forbidden, OSError) as error:
            raise ConfigError(
                f"{FOLDER}/{NAME}: it cannot be opened as a file; make {FOLDER} a folder where it "
                f"can, or only read: {_READING}"
            ) from error

    def _is_still(self, handle: int) -> bool:
        try:
            return os.path.samestat(os.fstat(handle), os.stat(self._path))  # noqa: PTH116 - as above
        except OSError:
            return False

    def _named(self) -> int | None:
        """Return the process that has just taken the lock; it writes its number a moment later."""
        deadline = time.monotonic() + _PATIENCE
        while (number := _read(self._path)[0]) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return number


def holder(workspace: Path) -> int | None:
    """Return the process that owns the lock of a workspace: its own number for itself.

    That of a process in a container may be of no process here.
    """
    path = workspace / FOLDER / NAME
    return _running(path) or (_read(path)[0] if _is_locked(path) else None)


def _is_locked(path: Path) -> bool:
    """Tell whether a process has the operating system's lock of a file."""
    with suppress(OSError):
        handle = open_own(path, os.O_RDWR)
        try:
            return not _locked(handle)
        finally:
            os.close(handle)
    return False


def _running(path: Path) -> int | None:
    """Return the process that a lock file names, if it still runs."""
    number, start = _read(path)
    if number is None or not _lives(number):
        return None
    return number if start in ("", began(number)) else None


def began(number: int) -> str:
    """Return the system's own text for the start time of a process; empty where unavailable."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        return fields[19]
    if sys.platform == "win32":
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(  # noqa: S603 - a fixed command and a number
            ["ps", "-o", "lstart=", "-p", str(number)],  # noqa: S607 - wherever it is
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            timeout=5,
            text=True,
            env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},  # else processes may disagree
        )
        return " ".join(done.stdout.split())
    return ""


def _already_served(number: int | None) -> AlreadyServed:
    name = f"process {number}" if number is not None else "another process"
    message = (
        f"{name} already serves these documents ({FOLDER}/{NAME}); to add a reader: {_READING}"
    )
    return AlreadyServed(message, number)


def _read(path: Path) -> tuple[int | None, str]:
    try:
        lines = read_own(path, _LONGEST).decode(errors="replace").splitlines()
    except OSError:
        return None, ""
    first = lines[0].strip() if lines else ""
    digits = first.isascii() and first.isdigit() and len(first) < 10  # noqa: PLR2004 - as many as systems count
    number = (int(first) or None) if digits else None  # 0 would mean this process and its group
    return number, lines[1].strip() if len(lines) > 1 else ""


def _lives(number: int) -> bool:
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - os.kill would end the process there

        limited = 0x1000
        process = ctypes.windll.kernel32.OpenProcess(limited, False, number)  # noqa: FBT003 - by place
        if process:
            ctypes.windll.kernel32.CloseHandle(process)
        return bool(process)
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    with suppress(OSError):
        # A process that has ended but was not waited for owns no lock.
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        return state[0] != "Z"
    return True


def _locked(handle: int, seconds: float = 0) -> bool:
    """Take the operating system's lock, which ends with the process."""
    os.lseek(handle, _FAR, os.SEEK_SET)
    taken = take_lock(handle, seconds)
    os.lseek(handle, 0, os.SEEK_SET)
    return taken
