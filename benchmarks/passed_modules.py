"""Which modules one ``manual_find`` passes in a server, and how many of their lines run.

    python benchmarks/passed_modules.py
    python benchmarks/passed_modules.py --manual MANUAL_ID --query '申請期限 例外'

The sample manuals are served, indexed and searched before, so that nothing of the start counts.
Modules that only run on threads beside the call are listed, and not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

from processes import Served

PROJECT = Path(__file__).resolve().parent.parent
BESIDE = {
    "fumishirube indexing",
    "fumishirube journal",
    "fumishirube loading",
    "fumishirube reloading",
    "fumishirube traces",
    "fumishirube warming up",
}
"""Threads that work beside the calls."""
PAUSE = 4.0
"""Seconds in which the work beside the calls ends."""


def serve(report: Path) -> int:
    """Serve; between two signals, record the lines that run, by module and thread."""
    lines: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    recording = threading.Event()
    ours = tuple(f"{PROJECT / name}{os.sep}" for name in ("core", "plugins"))

    def line(frame: FrameType, event: str, _: object) -> Any:
        if recording.is_set() and event in ("call", "line"):
            thread = threading.current_thread().name
            lines[frame.f_code.co_filename, thread].add(frame.f_lineno)
        return line

    def call(frame: FrameType, event: str, argument: object) -> Any:
        of_us = frame.f_code.co_filename.startswith(ours)
        return line(frame, event, argument) if of_us else None

    def end(*_: object) -> None:
        recording.clear()
        rows = [(file, thread, sorted(numbers)) for (file, thread), numbers in lines.items()]
        written = report.with_suffix(".new")
        written.write_text(json.dumps(rows), encoding="utf-8")
        written.replace(report)

    signal.signal(signal.SIGUSR1, lambda *_: recording.set())
    signal.signal(signal.SIGUSR2, end)
    threading.settrace(call)
    sys.settrace(call)
    from fumishirube.commands import main  # noqa: PLC0415 - the trace sees its import

    return main(["serve", "--workspace", str(report.parent)])


def measured(manual: str, query: str) -> list[tuple[str, str, list[int]]]:
    """Return the lines of each module that a find runs, by the threads on which they do."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(PROJECT / "manuals", Path(folder) / "manuals")
        report = Path(folder) / "lines.json"
        find = {"manual_id": manual, "query": query, "required_terms": query.split()[:1]}
        with Served(
            Path(folder), command=[sys.executable, __file__, "--serve", str(report)]
        ) as server:
            server.call("manual_find", {**find, "query": f"{query} 窓口"})
            time.sleep(PAUSE)
            server.process.send_signal(signal.SIGUSR1)
            time.sleep(PAUSE / 10)
            server.call("manual_find", find)
            server.process.send_signal(signal.SIGUSR2)
            while not report.is_file():
                time.sleep(PAUSE / 10)
        rows: list[tuple[str, str, list[int]]] = json.loads(report.read_text("utf-8"))
    return rows


def main() -> int:
    """Print each module with the lines that run and those that it has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manual", default="給付金編")
    parser.add_argument("--query", default="申請期限 例外")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    passed: defaultdict[str, set[int]] = defaultdict(set)
    beside: set[str] = set()
    for file, thread, numbers in measured(options.manual, options.query):
        name = Path(file).relative_to(PROJECT).as_posix()
        if thread in BESIDE:
            beside.add(name)
        else:
            passed[name].update(numbers)
    for name, numbers in sorted(passed.items()):
        total = len((PROJECT / name).read_text(encoding="utf-8").splitlines())
        print(f"{len(numbers):4} of {total:4} lines  {name}")
    print(f"beside the call: {', '.join(sorted(beside - passed.keys())) or 'nothing'}")
    print(f"{len(passed)} modules, {sum(map(len, passed.values()))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
