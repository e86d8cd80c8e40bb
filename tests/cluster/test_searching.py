"""Finds over the sample manuals: the ranking of the embedded index, in few round trips."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import MANUALS, eventually_listed, first_ten, opened, requests

from fumishirube import Query
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

QUESTIONS = {
    manual.name: [
        Query("入院給付と通院給付の違いは？", limit=10),
        Query("手続きに必要な書類", required=("書類",), limit=10),
        Query("how to reset the password", limit=10),
        Query("error code timeout retry", required=("error",), limit=10),
        Query("料金はいつ支払いますか", alternatives=("支払期日", "お支払い"), limit=10),
    ]
    for manual in MANUALS.iterdir()
    if manual.is_dir()
}


@pytest.fixture(scope="module")
def sides(
    node: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Application, Application]]:
    folder = tmp_path_factory.mktemp("sides")
    settings = {"hosts": [node.nodes[0].url], "shards": 3, "replicas": 0}
    name = f"s{secrets.token_hex(4)}"
    with (
        opened(folder / "disk", MANUALS) as local,
        opened(folder / "cluster", MANUALS, namespace=name, **settings) as remote,
    ):
        yield local, remote
    node.nodes[0].delete(f"/{name}-*")


@pytest.mark.parametrize("manual", QUESTIONS)
def test_the_first_ten_are_those_of_the_embedded_index(
    sides: tuple[Application, Application], manual: str
) -> None:
    local, remote = sides
    for query in QUESTIONS[manual]:
        assert first_ten(remote, manual, query) == first_ten(local, manual, query), query.text


def test_a_find_takes_four_round_trips_at_most(
    sides: tuple[Application, Application], node: Cluster, tmp_path: Path
) -> None:
    remote = sides[1]
    trips = []
    for manual, queries in QUESTIONS.items():
        first_ten(remote, manual, Query("warm", limit=1))
        for query in queries:
            before = requests(node.nodes[0].get("/_nodes/usage"), "msearch_action")
            first_ten(remote, manual, query)
            after = requests(node.nodes[0].get("/_nodes/usage"), "msearch_action")
            trips.append((after - before, manual, query.text))
    assert max(trips)[0] <= 4, sorted(trips)[-5:]


VECTORS: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "scorers": [{"use": "lexical"}, {"use": "vector"}],
}


def test_vectors_are_made_and_compared_here_also_without_the_files(
    node: Cluster, tmp_path: Path
) -> None:
    """The cluster has no vectors; each server makes those of the sections that it reads there."""
    manual = min(QUESTIONS)
    name = f"v{secrets.token_hex(4)}"
    settings = {"hosts": [node.nodes[0].url], "replicas": 0, "namespace": name}
    reading = {**settings, "writes": False}
    with (
        opened(tmp_path / "disk", MANUALS, stages=VECTORS) as local,
        opened(tmp_path / "cluster", MANUALS, stages=VECTORS, **settings) as remote,
        opened(tmp_path / "without", tmp_path / "none", stages=VECTORS, **reading) as without,
    ):
        for query in QUESTIONS[manual]:
            expected = first_ten(local, manual, query)
            assert first_ten(remote, manual, query) == expected, query.text
            eventually_listed(without, manual)
            assert first_ten(without, manual, query) == expected, query.text
            for server in (remote, without):
                assert ("vector" in str(signals(server, manual, query))) == bool(expected)
    mapping = node.nodes[0].get(f"/{name}-*/_mapping")
    assert "vector" not in str(mapping)
    node.nodes[0].delete(f"/{name}-*")


def signals(application: Application, manual: str, query: Query) -> set[str]:
    """Return the scorers that gave hits a signal."""
    hits = search_context(application).find(manual, query).ranking.hits
    return {name for hit in hits for name in hit.signals}
