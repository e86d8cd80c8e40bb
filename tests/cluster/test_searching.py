"""Finds over the sample manuals: the ranking of the embedded index, in few round trips."""

from __future__ import annotations

import random
import secrets
import shutil
from collections.abc import Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import MANUALS, eventually_listed, first_ten, opened, requests
from manuals import stranger

from fumishirube import Passage, Query
from fumishirube.engine import file_readers
from fumishirube.engine.reading_processes import ReadingProcesses
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch.sections import Sections

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


VECTORS: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "scorers": [{"use": "lexical"}, {"use": "vector"}],
}


def write_large_manual(folder: Path) -> None:
    """Write a manual that takes a find as many round trips as it can.

    Terms alone cannot tell where ``utf-8`` and ``retry-after`` stand, and more sections may hold
    them than are read at first; one file fills the candidates, so that others are asked for.
    """
    dice = random.Random(8)
    words = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in ("rt", "st", "nd", "ck")]
    folder.mkdir(parents=True)
    for number in range(30):
        sections = []
        for place in range(150 if number == 0 else 12):
            text = " ".join(dice.choices(words, k=40))
            held = dice.choice(("utf-8 encoding", "encoding of utf 8", "retry-after header", ""))
            sections.append(f"# {dice.choice(words)} {place}\n\n{text} {held} storing strings.\n")
        (folder / f"page{number:02}.md").write_text("\n".join(sections), encoding="utf-8")


LARGE = [
    Query("storing utf-8 encoded text with strings", limit=10),
    Query("which header is sent", required=("retry-after", "utf-8"), limit=10),
    Query("encoding of strings", required=("encoding", "utf-8"), limit=10),
    Query("utf-8 encodng", required=("encodng",), limit=10),
    Query("retry-after", alternatives=("utf-8 strings", "header storing", "encoding"), limit=10),
    Query("strings storing encoding header", limit=100),
]


@pytest.mark.parametrize("stages", [{}, VECTORS], ids=["default", "vectors"])
def test_a_find_takes_four_round_trips_at_most(
    knn_node: Cluster, tmp_path: Path, stages: Mapping[str, Any]
) -> None:
    """By what the node has counted: whatever a find asks, and however many runs it has."""
    shutil.copytree(MANUALS, tmp_path / "manuals")
    write_large_manual(tmp_path / "manuals" / "large")
    node = knn_node.nodes[0]
    name = f"f{secrets.token_hex(4)}"
    settings = {"hosts": [node.url], "shards": 3, "replicas": 0, "namespace": name}
    trips = []
    with opened(tmp_path / "remote", tmp_path / "manuals", stages=stages, **settings) as remote:
        for manual, queries in {**QUESTIONS, "large": LARGE}.items():
            first_ten(remote, manual, Query("warm", limit=1))
            for query in queries:
                before = requests(node.get("/_nodes/usage"), "msearch_action")
                first_ten(remote, manual, query)
                after = requests(node.get("/_nodes/usage"), "msearch_action")
                trips.append((after - before, manual, query.text))
    node.delete(f"/{name}-*")
    assert min(trips)[0] > 0
    assert max(trips)[0] <= 4, sorted(trips)[-5:]


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


FAULTY = """
from fumishirube import Stage, hook

class Faulty(Stage):

    def embed(self, texts, role):
        if role == "query":
            raise RuntimeError("no model")
        return [[1.0, 0.5] for _ in texts]

    def score(self, query, corpus, candidates):
        return ["no hit"]

@hook
def register_embedders(register):
    register("faulty", Faulty)

@hook
def register_scorers(register):
    register("faulty", Faulty)
"""


def test_stages_that_fail_are_left_out_as_with_the_embedded_index(
    node: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(stranger(tmp_path, FAULTY))
    name, manual = f"e{secrets.token_hex(4)}", "給付金編"
    settings = {"hosts": [node.nodes[0].url], "replicas": 0, "namespace": name}
    stages = {"embedder": "faulty", "scorers": ["lexical", "vector", "faulty"]}
    with opened(tmp_path / "w", MANUALS, stages=stages, **settings) as remote:
        found = search_context(remote).find(manual, QUESTIONS[manual][1])
    assert found.ranking.hits
    assert str(found.trace.degraded).count("faulty") > 1
    node.nodes[0].delete(f"/{name}-*")


def signals(application: Application, manual: str, query: Query) -> set[str]:
    """Return the scorers that gave hits a signal."""
    hits = search_context(application).find(manual, query).ranking.hits
    return {name for hit in hits for name in hit.signals}


def test_terms_are_made_by_the_processes_that_read_files(
    node: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is a plugin's: what it prepares has to reach them out of its guard."""
    write_large_manual(tmp_path / "manuals" / "large")
    start, prepare = ReadingProcesses.__init__, Sections.prepare
    here: list[str] = []

    def ready(self: ReadingProcesses, setup: bytes, number: int) -> None:
        start(self, setup, number)
        with self._changed:
            self._changed.wait_for(lambda: self.ready)

    @wraps(prepare)  # it is sent by its name
    def noted(self: Sections, passage: Passage) -> Any:
        here.append(passage.path)
        return prepare(self, passage)

    name = f"p{secrets.token_hex(4)}"
    settings = {"hosts": [node.nodes[0].url], "replicas": 0}
    with (
        opened(tmp_path / "a", tmp_path / "manuals", namespace=f"{name}-a", **settings) as alone,
        opened(tmp_path / "b", tmp_path / "manuals", namespace=f"{name}-b", **settings) as several,
    ):
        expected = [first_ten(alone, "large", query) for query in LARGE]
        monkeypatch.setattr(file_readers, "LARGE", 1)
        monkeypatch.setattr(file_readers, "cores", lambda: 2)
        monkeypatch.setattr(ReadingProcesses, "__init__", ready)
        monkeypatch.setattr(Sections, "prepare", noted)
        assert [first_ten(several, "large", query) for query in LARGE] == expected
    assert not here
    node.nodes[0].delete(f"/{name}-*")
