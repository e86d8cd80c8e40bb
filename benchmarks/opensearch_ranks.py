"""Whether a cluster ranks like the index on disk: the first ten of the same questions.

    python benchmarks/opensearch_ranks.py --manuals DIR --questions SET.jsonl ... --hosts URL
    python benchmarks/opensearch_ranks.py --manuals DIR --questions SET.jsonl ...

With ``--edited`` a copy of the manuals is indexed, then every fifth file is extended and every
seventh deleted, both indexes are updated, and the questions are asked then.

Questions are lines of JSON with ``query``, ``manual_id`` and perhaps ``required_terms``. Without
``--hosts`` a node is started as the tests of ``tests/cluster`` do. It needs the package
``fumishirube-opensearch``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.query import Query

_FIRST = 10
sys.path.append(str(Path(__file__).parent.parent / "tests" / "cluster"))


class Ranked(NamedTuple):
    """What came first, and how long that took, in milliseconds."""

    hits: Sequence[tuple[str, int, float]]
    milliseconds: float

    @property
    def places(self) -> Sequence[tuple[str, int]]:
        return [hit[:2] for hit in self.hits]


def main() -> int:
    asked = _arguments()
    with ExitStack() as stack:
        hosts = asked.hosts or [stack.enter_context(_node())]
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = {"hosts": hosts, "shards": asked.shards, "replicas": asked.replicas}
        manuals = work / "manuals" if asked.edited else asked.manuals
        if asked.edited:
            shutil.copytree(asked.manuals, manuals)
        local = stack.enter_context(_opened(work / "tantivy", manuals, {"use": "tantivy"}))
        index = {"use": "opensearch", "with": settings | {"namespace": f"ranks-{os.getpid()}"}}
        remote = stack.enter_context(_opened(work / "opensearch", manuals, index))
        for file in asked.questions:
            cases = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
            for manual in {case["manual_id"] for case in cases}:
                _index(manual, local, remote)
                if asked.edited:
                    _edit(manuals / manual)
                    _index(manual, local, remote)
            _compare(file.stem, cases[:: asked.every], local, remote, explain=asked.explain)
    return 0


def _index(manual: str, local: Application, remote: Application) -> None:
    seconds = [_timed(application, manual) for application in (local, remote)]
    print(f"{manual}: indexed in {seconds[0]:.1f} s, {seconds[1]:.1f} s", flush=True)


def _edit(folder: Path) -> None:
    """Extend every fifth file of a manual by its first half, and delete every seventh."""
    for number, file in enumerate(sorted(path for path in folder.rglob("*") if path.is_file())):
        if number % 7 == 0:
            file.unlink()
        elif number % 5 == 0:
            text = file.read_text("utf-8")
            file.write_text(f"{text}\n\n{text[: len(text) // 2]}\n", "utf-8")


def _compare(
    name: str,
    cases: Sequence[Mapping[str, Any]],
    local: Application,
    remote: Application,
    *,
    explain: bool,
) -> None:
    same = first = 0
    times: tuple[list[float], list[float]] = ([], [])
    for case in cases:
        here, there = _ranked(local, case), _ranked(remote, case)
        same += here.places == there.places
        first += here.places[:1] == there.places[:1]
        times[0].append(here.milliseconds)
        times[1].append(there.milliseconds)
        if explain and here.places != there.places:
            print(f"  {case.get('case_id')} {case['query'][:60]!r}")
            for mine, other in zip(here.hits, there.hits, strict=False):
                print(f"    {'  ' if mine[:2] == other[:2] else '* '}{mine}  |  {other}")
    number = len(cases)
    medians = [statistics.median(each) for each in times]
    print(
        f"{name}: {number} questions, same first ten {same} ({same / number:.1%}), "
        f"same first {first} ({first / number:.1%}); "
        f"p50 {medians[0]:.0f} ms, {medians[1]:.0f} ms",
        flush=True,
    )


def _ranked(application: Application, case: Mapping[str, Any]) -> Ranked:
    required = tuple(case.get("required_terms") or ())
    query = Query(case["query"], required=required, limit=_FIRST, cache=False)
    started = time.perf_counter()
    result = search_context(application).find(case["manual_id"], query)
    spent = 1000 * (time.perf_counter() - started)
    hits = [
        (hit.passage.path, hit.passage.start_line, round(hit.score, 4))
        for hit in result.ranking.hits[:_FIRST]
    ]
    return Ranked(hits, spent)


def _timed(application: Application, manual: str) -> float:
    started = time.perf_counter()
    state = search_context(application).prepare(manual, Query(""))
    assert not state.degraded, state.degraded
    return time.perf_counter() - started


@contextmanager
def _opened(folder: Path, manuals: Path, index: Mapping[str, Any]) -> Iterator[Application]:
    folder.mkdir()
    config = {"pipelines": {"manual": {"index": index}}}
    (folder / "fumishirube.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    environ = {"MANUALS_ROOT": str(manuals)}
    application = open_application(folder, strangers=True, environ=environ)
    try:
        yield application
    finally:
        application.close()


@contextmanager
def _node() -> Iterator[str]:
    from cluster_nodes import started  # noqa: PLC0415 - only where a node is to be started

    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as cluster:
        yield cluster.nodes[0].url


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--questions", type=Path, nargs="+", required=True)
    parser.add_argument("--hosts", nargs="*")
    parser.add_argument("--shards", type=int, default=3)
    parser.add_argument("--replicas", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="only each so many-th question")
    parser.add_argument("--edited", action="store_true", help="after updates and deletions")
    parser.add_argument("--explain", action="store_true", help="print rankings that differ")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
