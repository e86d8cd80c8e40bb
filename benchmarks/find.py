"""How long a whole ``manual_find`` takes, and what it costs, beside the engines without it.

    python benchmarks/find.py --cache ~/.cache/bench --sections 600 10000 --language ja en
    python benchmarks/find.py --quick

A find has two required terms and all default stages; its trace is stored and its answer made. Each
question is asked once. The engines get the same questions over the same sections, a single query
each, in turns with the finds, so that what else the machine does hits all of them alike.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

from corpus import Manual, Question, manual
from engines import ENGINES, Search
from goals import COMMAND_MS, LARGE, Verdict, verdicts
from pings import pinged
from processes import QUIET, Served, console, spent, timed
from real_texts import real_manual

from fumishirube.budget import Budget
from fumishirube.faces.mcp.stdio import GC_THRESHOLDS
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.query import Query
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call
from fumishirube.traces.records import Span

Row: TypeAlias = dict[str, Any]

ROUNDS = 4
PATIENCE_MS = 30_000
"""After so long an engine is asked no more questions."""
SAMPLES = Path(__file__).parent.parent / "manuals"
SAMPLE = "業務ハンドブック"


def main() -> int:
    asked = _arguments()
    engines = _installed(asked.engines)
    rows: list[Row] = []
    told: list[Verdict] = []
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {_machine()}")
    for language in [asked.manuals.name] if asked.manuals else asked.language:
        for sections in asked.sections:
            made = (
                real_manual(asked.cache, asked.manuals, asked.questions, sections)
                if asked.manuals
                else manual(asked.cache, sections, language)
            )
            row = measure(made, engines, reuse=asked.reuse, pings=asked.pings, cold=asked.cold)
            row["language"] = language
            rows.append(row)
            smaller = [r for r in rows if (r["language"], r["sections"]) == (language, LARGE)]
            judged = [*verdicts(row, smaller[0] if smaller else None)]
            told += judged
            print("\n".join(["", *_table(row, engines), *map(_said, judged)]), flush=True)
    command = command_line(asked.cold)
    told.append(Verdict("fumishirube find", command, COMMAND_MS, "ms", command <= COMMAND_MS))
    print("", _said(told[-1]), sep="\n")
    if asked.json:
        goals = [verdict._asdict() for verdict in told]
        document = {"machine": _machine(), "rows": rows, "command_ms": command, "goals": goals}
        asked.json.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    sure = 0.0 if asked.manuals else 1.0  # a real question may have no answer there
    broken = [row for row in rows if row["found"] < sure / 2 or row["answered"] < sure]
    for row in broken:
        print(
            f"broken: {row['language']} {row['sections']}: sections are not found", file=sys.stderr
        )
    return 1 if broken else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", type=int, nargs="+", default=[600, 10_000])
    parser.add_argument("--language", choices=("ja", "en"), nargs="+", default=["ja"])
    told = "real Markdown files, instead of generated ones: thinned out or copied to each size"
    parser.add_argument("--manuals", type=Path, metavar="FOLDER", help=told)
    told = "with --manuals: questions as JSON Lines with query, required_terms, expected_paths"
    parser.add_argument("--questions", type=Path, nargs="+", metavar="FILE", help=told)
    cache = Path(tempfile.gettempdir()) / "fumishirube-bench"
    parser.add_argument("--cache", type=Path, default=cache, help="where manuals are kept")
    parser.add_argument("--engines", nargs="*", choices=[*ENGINES], default=[*ENGINES])
    parser.add_argument("--reuse", action="store_true", help="keep indexes that are there")
    parser.add_argument("--pings", action="store_true", help="ping during ten finds at once")
    told = "how often a process is started to take the quickest (default: %(default)s)"
    parser.add_argument("--cold", type=int, default=5, metavar="TIMES", help=told)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--quick", action="store_true", help="200 sections, to see that it works")
    asked = parser.parse_args()
    if bool(asked.manuals) != bool(asked.questions):
        parser.error("--manuals and --questions go together")
    if asked.quick:
        asked.sections, asked.language, asked.pings, asked.cold = [200], ["ja", "en"], True, 1
    return asked


def _installed(names: Sequence[str]) -> list[str]:
    for name in names:
        missing = ENGINES[name].missing()
        if missing:
            print(f"skipped: {missing}")
    return [name for name in names if not ENGINES[name].missing()]


def _machine() -> str:
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    python = f"Python {platform.python_version()}"
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}, {python}"


# --- one manual -----------------------------------------------------------------------------


def measure(made: Manual, engines: Sequence[str], *, reuse: bool, pings: bool, cold: int) -> Row:
    """Return every figure of one manual; what is not named otherwise is ours."""
    row: Row = {"sections": made.sections}
    searches = {name: _opened(name, made, row, reuse=reuse) for name in engines}
    application = open_application(made.workspace, strangers=False, environ=QUIET)
    row |= _build(application, made, reuse=reuse)
    row["index_mb"] = _size(made.workspace / ".fumishirube" / "index")
    # As the server does: what start-up made stays, and collections of everything are rare.
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    with application.lifespan():
        row |= _warm(application, made, searches)
        row["changed_ms"] = statistics.median(_changes(application, made))
    application.close()
    row |= _cold(made, engines, times=cold)
    with Served(made.workspace) as server:
        for question in made.questions[:100]:
            server.call("manual_find", asking(question))
        row["memory_mb"] = server.memory
        if pings:
            row |= pinged(server, [asking(question) for question in made.questions[100:]])
    return row


def asking(question: Question) -> dict[str, Any]:
    return {"query": question.text, "manual_id": "m", "required_terms": list(question.terms)}


def find(application: Application, question: Question) -> dict[str, Any]:
    """Search as a client would, but in this process, and with time enough."""
    arguments = {**asking(question), "budget": {"time_ms": 3_600_000}}
    call = Call(budget=Budget(cancelled=Event()))
    return call_tool(application.tools["manual_find"], arguments, call)


def _opened(name: str, made: Manual, row: Row, *, reuse: bool) -> Search:
    folder = made.workspace / "engines" / name
    if not (reuse and folder.is_dir()):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        row[f"{name} build_per_s"] = (
            made.sections / timed(lambda: ENGINES[name].build(made.texts(), folder)) * 1000
        )
    row[f"{name} index_mb"] = _size(folder)
    return ENGINES[name].open(folder)


def _build(application: Application, made: Manual, *, reuse: bool) -> Row:
    """Index the manual, and return sections a second, parsing and the look for files included."""

    def build() -> None:
        application.contexts["manual"].prepare("m", Query(""))

    folder = made.workspace / ".fumishirube" / "index"
    if reuse and folder.is_dir():
        build()
        return {}
    shutil.rmtree(folder, ignore_errors=True)
    return {"build_per_s": made.sections / timed(build) * 1000}


def _size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _warm(application: Application, made: Manual, searches: Mapping[str, Search]) -> Row:
    """Ask each question once of everybody, in turns of a few dozen."""
    first, *questions = made.questions
    find(application, first)
    for search in searches.values():
        search(first.text)
    times: dict[str, list[float]] = defaultdict(list)
    stages: dict[str, float] = defaultdict(float)
    cpu: dict[str, float] = defaultdict(float)
    answers: list[tuple[Question, dict[str, Any]]] = []
    for turn in range(ROUNDS):
        began = time.process_time()
        for question in questions[turn::ROUNDS]:
            times[""].append(timed(lambda q=question: answers.append((q, find(application, q)))))
        cpu[""] += time.process_time() - began
        for _, answer in answers[-len(questions[turn::ROUNDS]) :]:
            for name, ms in _stages(application.traces.get(answer["trace_id"]).search):
                stages[name] += ms
        for name, search in searches.items():
            began = time.process_time()
            for question in questions[turn::ROUNDS]:
                if sum(times[name]) < PATIENCE_MS:
                    times[name].append(timed(lambda s=search, q=question: s(q.text)))
            cpu[name] += time.process_time() - began
    row: Row = {}
    row["stages_ms"] = {name: round(ms / len(questions), 3) for name, ms in stages.items()}
    for name, taken in times.items():
        label = f"{name} " if name else ""
        row[f"{label}p50_ms"] = statistics.median(taken)
        row[f"{label}p95_ms"] = sorted(taken)[int(len(taken) * 0.95)]
        row[f"{label}cpu_ms"] = cpu[name] * 1000 / len(taken)
        row[f"{label}queries"] = len(taken)
    row["answered"] = statistics.mean(answer["candidates"] > 0 for _, answer in answers)
    row["found"] = sum(q.path in json.dumps(a, ensure_ascii=False) for q, a in answers) / len(
        answers
    )
    return row


def _stages(span: Span) -> Iterator[tuple[str, float]]:
    """Yield the time of each stage below a span, and what the pipeline itself takes."""
    if span.kind in {"search", "run"}:
        inner = sum(child.ms for child in span.children)
        yield "pipeline", span.ms - inner
        if span.kind == "search":
            yield "all stages", span.ms
    else:
        yield f"{span.kind} {span.name}", span.ms
    for child in span.children:
        yield from _stages(child)


def _changes(application: Application, made: Manual) -> Iterator[float]:
    """Yield how long a find takes just after one file has changed."""
    path = min((made.workspace / "manuals" / "m").rglob("*.md"))
    text = path.read_text(encoding="utf-8")
    for number, question in enumerate(made.questions[:6]):
        path.write_text(text + "\n" * (number % 2 == 0), encoding="utf-8")
        yield timed(lambda q=question: find(application, q))
    assert path.read_text(encoding="utf-8") == text


# --- fresh processes ------------------------------------------------------------------------


def _cold(made: Manual, engines: Sequence[str], times: int) -> Row:
    """Return milliseconds from start to first answer, and the import of the SDK alone."""
    question = made.questions[0]
    sdk, first = [], []
    for _ in range(times):
        sdk.append(spent([sys.executable, "-c", "import mcp.server"]))
        first.append(_first_answer(made, question))
    row: Row = {"sdk_ms": min(sdk), "first_ms": min(first)}
    program = Path(__file__).with_name("engines.py")
    for name in engines:
        folder = made.workspace / "engines" / name
        command = [sys.executable, str(program), name, str(folder), question.text]
        began = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, timeout=600)
        row[f"{name} first_ms"] = (time.perf_counter() - began) * 1000
        row[f"{name} memory_mb"] = json.loads(done.stdout)["memory_mb"]
    return row


def _first_answer(made: Manual, question: Question) -> float:
    began = time.perf_counter()
    with Served(made.workspace) as server:
        server.call("manual_find", asking(question))
        return (time.perf_counter() - began) * 1000


def command_line(times: int) -> float:
    """Return the milliseconds of a whole ``fumishirube find`` on the indexed sample manuals."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        shutil.copytree(SAMPLES, workspace / "manuals")
        command = [console(), "find", "申請 期限", "--manual", SAMPLE, "--workspace", folder]
        return min(spent(command) for _ in range(times))


# --- what is printed ------------------------------------------------------------------------

_COLUMNS = {
    "p50": "p50_ms",
    "p95": "p95_ms",
    "CPU": "cpu_ms",
    "first": "first_ms",
    "changed": "changed_ms",
    "memory": "memory_mb",
    "index": "index_mb",
    "build": "build_per_s",
}


def _table(row: Row, engines: Sequence[str]) -> Iterator[str]:
    size = f"{row['language']}, {row['sections']:,} sections"
    yield f"{size}; ms, MB, sections a second; × says how many times as much ours is"
    yield " ".join([f"{'':14}", *(f"{name:>16}" for name in _COLUMNS)])
    yield " ".join([f"{'manual_find':14}", *(_cell(row.get(k)) for k in _COLUMNS.values())])
    for name in engines:
        cells = (_cell(row.get(f"{name} {key}"), row.get(key)) for key in _COLUMNS.values())
        yield " ".join([f"{name:14}", *cells])
    yield f"import of the SDK: {row['sdk_ms']:.0f} ms"
    yield f"questions whose own file is among the first five hits: {row['found']:.0%}"
    if "ping_max_ms" in row:
        yield (
            "pings during ten finds: "
            f"p50 {row['ping_p50_ms']:.1f}, p95 {row['ping_p95_ms']:.1f}, "
            f"slowest {row['ping_max_ms']:.1f} ms of {row['pings']}; idle: "
            f"p95 {row['ping_idle_p95_ms']:.1f}, slowest {row['ping_idle_max_ms']:.1f} ms"
        )
    stages = sorted(row["stages_ms"].items(), key=lambda pair: -pair[1])
    yield "mean ms by stage: " + ", ".join(f"{name} {ms:.1f}" for name, ms in stages)


def _cell(value: float | None, ours: float | None = None) -> str:
    """Write a figure; an engine's, with how many times as much ours is."""
    if value is None or value != value:  # noqa: PLR0124 - not a number: it was not measured
        return f"{'–':>16}"
    told = f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    return f"{told} ×{ours / value:.3g}".rjust(16) if ours and value else told.rjust(16)


def _said(verdict: Verdict) -> str:
    name, figure, goal, unit, met = verdict
    return f"  {'met   ' if met else 'MISSED'} {name}: {figure:,.1f} {unit} (goal {goal:,.1f})"


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.exit(main())
