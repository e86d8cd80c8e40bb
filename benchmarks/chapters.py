"""How long the classic manual tools take, on generated manuals of 17, 200 and 2,000 chapters.

    python benchmarks/chapters.py
    python benchmarks/chapters.py --chapters 2000 --naive

Prints one line a size, in milliseconds: the first search without projections (each file is read
and projected), the first with kept ones, and the medians of warm calls: one chapter, a loose hit, a
loose miss, a plain miss, a pattern in RE2, one for a worker, the exceptions; then the resident
memory. ``--naive`` adds a line that normalises and scans every file a request, in the same run.
``--clients`` adds fifty clients at once of a real server, and the signs of life it gives meanwhile.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import statistics
import tempfile
import time
import unicodedata
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from clients import crowded, fifty

from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call

NAME = "給付編"
BYTES = 20_000
WORDS = (
    *("給付", "金", "の", "支給", "は", "会員", "が", "定める", "手続", "による", "もの", "と"),
    *("する。", "入院", "通院", "（１）", "第３条", "ただし", "書類", "存在"),
)
COLUMNS = ("cold", "start", "section", "hit", "miss", "plain", "re2", "worker", "exceptions", "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chapters", type=int, nargs="+", default=[17, 200, 2000])
    parser.add_argument("--naive", action="store_true", help="normalise and scan a request, too")
    parser.add_argument("--clients", action="store_true", help="fifty clients at once, too")
    asked = parser.parse_args()
    print(f"{'chapters':>16}", *(f"{name:>10}" for name in COLUMNS))
    for number in asked.chapters:
        with tempfile.TemporaryDirectory() as folder:
            workspace = made(Path(folder), number)
            shown(number, measured(workspace, number))
            if asked.naive:
                shown(f"naive {number}", naive(workspace))
            if asked.clients:
                told(f"50 clients of {number}", fifty(workspace, NAME, f"{number - 1:04}"))
            if asked.clients and asked.naive:
                files = sorted((workspace / "manuals" / NAME).glob("*.txt"))
                work = partial(scan, files, loose_of("帝王切開"))
                told(f"naive 50 of {number}", crowded(work))


def made(workspace: Path, number: int) -> Path:
    """Write a manual of so many chapters of about 20 KB; one holds 帝 王 切 開."""
    chance = random.Random(7)
    folder = workspace / "manuals" / NAME
    folder.mkdir(parents=True)
    toc = []
    for place in range(number):
        lines, size = [f"第{place + 1}章 通則"], 0
        while size < BYTES:
            lines.append("".join(chance.choices(WORDS, k=24)))
            size += len(lines[-1].encode())
        if place == number - 1:
            lines.append("帝 王 切 開は対象外とする。")
        file = f"{place:04}.txt"
        (folder / file).write_text("\n".join(lines), encoding="utf-8")
        toc.append({"id": f"{place:04}", "title": lines[0], "file": file})
    written = json.dumps({"manual": NAME, "toc": toc}, ensure_ascii=False)
    (folder / "00_目次.json").write_text(written, encoding="utf-8")
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: chapters}]\n", encoding="utf-8")
    time.sleep(2.1)  # younger files may change again within their time stamp
    return workspace


def measured(workspace: Path, number: int) -> list[float]:
    miss = {"query": "存在しない語句", "mode": "loose"}
    cold = timed(lambda: search(opened(workspace), **miss), 1)
    application = opened(workspace)
    start = timed(lambda: search(application, **miss), 1)
    last = f"{number - 1:04}"
    calls: tuple[Callable[[], Any], ...] = (
        lambda: ask(application, "get_section", section_id=last),
        lambda: search(application, query="帝王切開", mode="loose"),
        lambda: search(application, **miss),
        lambda: search(application, query="存在しない語句", mode="plain"),
        lambda: search(application, query="存在.{1,9}語句"),
        lambda: search(application, query=r"存在\b語句"),
        lambda: ask(application, "find_exceptions"),
    )
    times = [timed(call, 9) for call in calls]
    application.close()
    return [cold, start, *times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]


def naive(workspace: Path) -> list[float]:
    files = sorted((workspace / "manuals" / NAME).glob("*.txt"))

    loose = [loose_of("帝王切開"), loose_of("存在しない語句")]
    calls: tuple[Callable[[], Any], ...] = (
        lambda: files[-1].read_text(encoding="utf-8"),
        lambda: scan(files, loose[0]),
        lambda: scan(files, loose[1]),
        lambda: scan(files, "存在しない語句"),
        lambda: scan(files, "存在.{1,9}語句"),
        lambda: scan(files, r"存在\b語句"),
        lambda: scan(files, "対象外|禁止|例外|留意|注意"),
    )
    return [float("nan"), float("nan"), *(timed(call, 3) for call in calls), float("nan")]


def scan(files: list[Path], pattern: str) -> None:
    """Do what a request does that keeps nothing: normalise each file, and search it."""
    compiled = re.compile(pattern)
    for file in files:
        compiled.search(unicodedata.normalize("NFKC", file.read_text(encoding="utf-8")))


def loose_of(query: str) -> str:
    return r"[\s・/\-]*".join(query)


def told(label: str, figures: dict[str, float]) -> None:
    print(f"{label!s:>16}", *(f"{name} {figure:.1f}," for name, figure in figures.items()))


def opened(workspace: Path) -> Application:
    return open_application(workspace, strangers=False, environ={})


def search(application: Application, **arguments: Any) -> Any:
    return ask(application, "search_text", **arguments)


def ask(application: Application, name: str, **arguments: Any) -> Any:
    return call_tool(application.tools[name], {"manual_name": NAME, **arguments}, Call())


def timed(call: Callable[[], Any], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def shown(label: object, figures: list[float]) -> None:
    print(f"{label!s:>16}", *(f"{figure:>10.1f}" for figure in figures))


if __name__ == "__main__":
    main()
