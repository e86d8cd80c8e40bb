"""How fast documents are indexed, searched and walked: 5,000 of them, 15 MB, 35,000 sections.

    python benchmarks/graph.py [DOCUMENTS]

Wall times, and processor times, which other programs hardly change.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fumishirube.config.pipelines import Use
from fumishirube.disk.folders import RACY_NS
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call

QUERIES = ("the", "e", "検索", "を", "設計 search", "engine setup", "zzzq", '"search engine"')
CLIQUE = 60


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as name:
        workspace = Path(name)
        write(workspace / "docs", count)
        # What has just been written is read once more when it is compared.
        time.sleep(RACY_NS / 1e9 + 0.5)
        command = [sys.executable, "-m", "fumishirube", "docs", "index", "--workspace", name]
        index = partial(subprocess.run, command, check=True)
        told("first index, as a process", timed(index, spent_by_children))
        told_memory("peak memory of it", resource.RUSAGE_CHILDREN)
        application = opened(workspace)
        with application.lifespan():
            serve(application)
        application.close()
    told_memory("peak memory of what serves", resource.RUSAGE_SELF)


def serve(application: Application) -> None:
    """Measure what answers while the folder is followed, as behind a client."""
    told("ready with a current index", timed(lambda: ask(application, "ubp_list_pages")))
    ask(application, "ubp_fulltext_search", query="anything")
    times = []
    for query in QUERIES * 5:
        time.sleep(0.01)
        work = partial(ask, application, "ubp_fulltext_search", query=query)
        times.append(timed(work, time.thread_time))
    first = times[: len(QUERIES)]
    told("full text, first time, median", median(first))
    told("full text, first time, slowest", max(first))
    told("full text p50", median(times))
    columns = zip(*times, strict=True)
    told("full text p95", Taken(*(statistics.quantiles(each, n=20)[18] for each in columns)))
    told("search", timed(lambda: ask(application, "ubp_search", query="設計 search")))
    told("whole graph, a page of it", timed(lambda: ask(application, "ubp_get_graph")))
    clique = {"center": "clique/0.md", "depth": 5}
    told(
        f"{CLIQUE}-page clique, depth 5", timed(lambda: ask(application, "ubp_get_graph", **clique))
    )
    context = {"filepath": "clique/0.md", "depth": 3}
    told("context", timed(lambda: ask(application, "ubp_get_context", **context)))


def write(root: Path, count: int) -> None:
    dice = random.Random(7)
    words = "the search engine setup install graph 依存 設計 検索 文書 です を に page token"
    common = words.split()
    rare = [
        "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(3, 9)))
        for _ in range(3000)
    ]
    rare += ["".join(chr(dice.randint(0x4E00, 0x5E00)) for _ in range(2)) for _ in range(2000)]

    def text(size: int) -> str:
        words: list[str] = []
        while size > 0:
            words.append(dice.choice(common if dice.random() < 0.4 else rare))
            size -= len(words[-1].encode()) + 1
        return "\n".join(" ".join(words[n : n + 12]) for n in range(0, len(words), 12))

    for number in range(count):
        parts = [f"---\ntitle: Page {number} {dice.choice(rare)}\ndoc_type: design\n---\n# Page\n"]
        for part in range(6):
            link = f"\nsee [[page{dice.randrange(count)}|depends_on]]\n" if part < 3 else ""
            parts.append(f"{text(420)}\n{link}\n## {dice.choice(rare)} {part}\n")
        path = root / f"part{number % 50:02d}" / f"page{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*parts, text(420)]), encoding="utf-8")
    (root / "clique").mkdir()
    links = "\n".join(f"[[clique/{n}]]" for n in range(CLIQUE))
    for number in range(CLIQUE):
        (root / "clique" / f"{number}.md").write_text(links, encoding="utf-8")


def opened(workspace: Path) -> Application:
    return open_application(workspace, strangers=False, environ={}, only=Use(use="graph"))


def ask(application: Application, name: str, **arguments: Any) -> Any:
    tool = application.tools.get(name) or application.commands[name]
    return call_tool(tool, arguments, Call())


class Taken(NamedTuple):
    """Seconds: by the clock, and of the processor."""

    wall: float
    spent: float


def timed(work: Callable[[], object], spent: Callable[[], float] = time.process_time) -> Taken:
    before, began = spent(), time.perf_counter()
    work()
    return Taken(time.perf_counter() - began, spent() - before)


def median(times: Sequence[Taken]) -> Taken:
    return Taken(*map(statistics.median, zip(*times, strict=True)))


def spent_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(what: str, taken: Taken) -> None:
    wall, spent = taken.wall * 1000, taken.spent * 1000
    print(f"{what:32} {wall:8.0f} ms {spent:8.0f} ms of the processor", flush=True)


def told_memory(what: str, who: int) -> None:
    print(f"{what:32} {resource.getrusage(who).ru_maxrss / 1024:8.0f} MB", flush=True)


if __name__ == "__main__":
    main()
