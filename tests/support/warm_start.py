"""The installed commands as processes that need not import everything anew.

Half of what the tests took was the same second, over and over: an interpreter that starts and
imports. ``warm_script`` returns a command that is used as the installed script is; its process is
forked from an interpreter that is warm already. Where the start itself, its imports, the process's
number or a limit of the system is what is tested, ``installed_script`` is the one to run.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

HERE = Path(__file__).parent
SECONDS = 30
WARM: set[object] = set()
"""The commands that ask the warm interpreter for their process."""
NUMBERS: WeakKeyDictionary[subprocess.Popen[Any], int] = WeakKeyDictionary()
"""The numbers of processes: that of who asked may be another command's once it has ended."""

CAN_FORK = hasattr(os, "fork") and hasattr(os, "pidfd_open")


def installed_script(name: str = "fumishirube") -> str:
    """Return the installed console script."""
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    assert found, "install the project into the environment that runs the tests: pip install -e ."
    return found


@cache
def warm_script(name: str = "fumishirube") -> str:
    """Return a command that does what the installed script does, without its start."""
    return warm_words(name)[0]


@cache
def warm_words(name: str = "fumishirube", *prefix: str) -> list[str]:
    """Return a command that does what the installed script does below another command.

    The other command, such as ``setpriv`` with its options, is run once for all processes.
    """
    real = [*prefix, installed_script(name)]
    (entry,) = entry_points(group="console_scripts", name=name)
    return [_command(name, real, entry.value, *prefix)] if CAN_FORK else real


@cache
def warm_python(script: Path) -> list[str]:
    """Return a command that does what Python does with a script of ours."""
    real = [sys.executable, str(script)]
    return [_command(script.stem, real, str(script))] if CAN_FORK else real


def _command(name: str, real: list[str], entry: str, *prefix: str) -> str:
    """Write a command that asks the warm interpreter; ``real`` is what it stands in for."""
    command = _interpreter(*prefix) / name
    address = command.with_name("socket")
    source = (HERE / "warm_command.py").read_text(encoding="utf-8")
    for mark, value in (("REAL", real), ("ENTRY", entry), ("ADDRESS", str(address))):
        source = source.replace(f'"@{mark}@"', repr(value).strip("[]"))
    program = command.with_name(f"{name}.py")
    program.write_text(source, encoding="utf-8")
    # A shell, since a path with blanks, or a long one, is none for the system's own ``#!``.
    words = shlex.join([sys.executable, "-IS", str(program)])
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    WARM.add(str(command))
    return str(command)


def process_of(started: subprocess.Popen[Any]) -> int:
    """Return the number of the process that a warm script, or any other command, has become."""
    command = started.args[0] if isinstance(started.args, list) else started.args
    if command not in WARM:
        return started.pid
    if started not in NUMBERS:
        NUMBERS[started] = _number(started, Path(str(command)).with_name(f"socket-{started.pid}"))
    return NUMBERS[started]


def _number(started: subprocess.Popen[Any], file: Path) -> int:
    """Return the number that the warm interpreter writes for as long as the process runs.

    Raises:
        ProcessLookupError: when the process has ended.
    """
    deadline = time.monotonic() + SECONDS
    while True:
        with suppress(FileNotFoundError):
            if number := file.read_text():
                return int(number)
        if started.poll() is not None:
            raise ProcessLookupError
        assert time.monotonic() < deadline, "the warm interpreter did not fork"
        time.sleep(0.002)


def kill(started: subprocess.Popen[Any]) -> None:
    """End a process at once, if it still runs, and wait until it is gone."""
    if started.poll() is None:
        with suppress(ProcessLookupError):
            os.kill(process_of(started), signal.SIGKILL)
    started.wait(SECONDS)


@cache
def _interpreter(*prefix: str) -> Path:
    """Start the interpreter of these tests' process; return the folder in which it is asked."""
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    process = subprocess.Popen(
        [*prefix, sys.executable, str(HERE / "warm_interpreter.py"), str(folder / "socket")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"\n", "the warm interpreter did not start"
    atexit.register(process.communicate)
    return folder
