"""What a shard costs: index size, heap, bulk rate and the time of a find, by number of sections.

    python benchmarks/opensearch_scale.py --cache ~/.cache/bench --sections 10000 100000

One node with a heap of its own is started, and a manual indexed into one shard. It needs the
package ``fumishirube-opensearch`` and what ``tests/cluster`` needs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from corpus import manual

from fumishirube.faces.cli.workspace import search_context
from fumishirube.query import Query

sys.path.append(str(Path(__file__).parent.parent / "tests" / "cluster"))
from cluster_nodes import started
from cluster_workspaces import opened, requests

_FINDS = 60


def main() -> int:
    asked = _arguments()
    print("| sections | built | sections/s | index | heap after collection | p50 | p95 | trips |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for sections in asked.sections:
        with tempfile.TemporaryDirectory() as folder:
            print(_measured(Path(folder), asked.cache, sections, asked.language), flush=True)
    return 0


def _measured(folder: Path, cache: Path, sections: int, language: str) -> str:
    made = manual(cache, sections, language)
    with started(folder / "nodes") as cluster:
        node = cluster.nodes[0]
        settings = {"hosts": [node.url], "shards": 1, "replicas": 0}
        with opened(folder / "workspace", made.workspace / "manuals", **settings) as application:
            context = search_context(application)
            began = time.perf_counter()
            state = context.prepare("m", Query(""))
            built = time.perf_counter() - began
            assert not state.degraded, state.degraded
            before = requests(node.get("/_nodes/usage"), "msearch_action")
            times = []
            for question in made.questions[:_FINDS]:
                began = time.perf_counter()
                query = Query(question.text, required=question.terms, limit=10, cache=False)
                context.find("m", query)
                times.append(1000 * (time.perf_counter() - began))
            trips = (requests(node.get("/_nodes/usage"), "msearch_action") - before) / len(times)
            size = node.get("/_stats/store")["_all"]["total"]["store"]["size_in_bytes"]
            pools = next(iter(node.get("/_nodes/stats/jvm")["nodes"].values()))["jvm"]["mem"][
                "pools"
            ]
            heap = sum(pool["last_gc_stats"]["used_in_bytes"] for pool in pools.values())
    low, high = statistics.median(times), sorted(times)[int(0.95 * len(times))]
    return (
        f"| {state.corpus.size:,} | {built:.0f} s | {state.corpus.size / built:.0f} "
        f"| {size / 1e6:.0f} MB | {heap / 1e6:.0f} MB "
        f"| {low:.0f} ms | {high:.0f} ms | {trips:.1f} |"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--sections", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--language", choices=("ja", "en"), default="ja")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
