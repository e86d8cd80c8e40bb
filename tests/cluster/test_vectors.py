"""Vectors in a k-NN field of the cluster, which compares them with the query itself."""

from __future__ import annotations

import math
import os
import random
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import MANUALS, TRUSTED, eventually_listed, first_ten, opened

from fumishirube import Query, Root
from fumishirube.engine.vectors.embedding import NamedEmbedder, divided
from fumishirube.engine.vectors.manual_vectors import DistantVectors
from fumishirube.engine.vectors.section_vectors import StoredVectors
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch import OpenSearch
from fumishirube_opensearch.cluster import Cluster as Client
from fumishirube_opensearch.names import meta_name
from fumishirube_opensearch.vector_updates import VectorUpdate
from fumishirube_opensearch.vectors import ClusterVectors

STAGES: dict[str, Any] = {
    "embedder": {"use": "hashing"},
    "scorers": [{"use": "lexical"}, {"use": "vector"}],
}
QUERIES = [
    Query("入院給付と通院給付の違いは？", limit=10),
    Query("手続きに必要な書類", required=("書類",), limit=10),
    Query("料金はいつ支払いますか", limit=10),
]


@pytest.fixture
def settings(knn_node: Cluster) -> Iterator[dict[str, Any]]:
    namespace = f"k{secrets.token_hex(4)}"
    yield {"hosts": [knn_node.nodes[0].url], "replicas": 0, "namespace": namespace}
    knn_node.nodes[0].delete(f"/{namespace}-*")


@pytest.fixture
def stage(settings: dict[str, Any]) -> OpenSearch:
    return OpenSearch(**{**settings, "lease_seconds": 1})


def test_the_first_ten_are_those_of_a_comparison_with_every_vector(
    knn_node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    reading = {**settings, "writes": False}
    with (
        opened(tmp_path / "disk", MANUALS, stages=STAGES) as local,
        opened(tmp_path / "cluster", MANUALS, stages=STAGES, **settings, shards=3) as remote,
        opened(tmp_path / "without", tmp_path / "none", stages=STAGES, **reading) as without,
    ):
        for manual in (folder.name for folder in MANUALS.iterdir() if folder.is_dir()):
            for query in QUERIES:
                expected = first_ten(local, manual, query)
                assert first_ten(remote, manual, query) == expected, query.text
                eventually_listed(without, manual)
                eventually_embedded(without, manual)
                assert first_ten(without, manual, query) == expected, query.text
                for server in (remote, without):
                    assert compared(server, manual, query) == KNN
                assert compared(local, manual, query) is None
    mapping = knn_node.nodes[0].get(f"/{settings['namespace']}-*-vectors-*/_mapping")
    assert "'type': 'knn_vector'" in str(mapping)
    assert f"vectors are compared {KNN}" in doctor(tmp_path / "cluster")
    for server in ("cluster", "without"):
        assert not [*(tmp_path / server).rglob("vectors.db")], "a server has vectors of its own"


def test_vectors_are_searched_in_the_requests_for_sections(
    settings: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By the log of the client: each path names the index that a request is for."""
    wordings = ("保険金の請求", "支払いの期日", "病院に通う日数")
    with opened(tmp_path / "cluster", MANUALS, stages=STAGES, **settings, shards=3) as remote:
        for manual in (folder.name for folder in MANUALS.iterdir() if folder.is_dir()):
            first_ten(remote, manual, Query("warm", limit=1))
            for query in (*QUERIES, replace(QUERIES[0], alternatives=wordings)):
                caplog.clear()
                with caplog.at_level("INFO", "opensearch"):
                    assert compared(remote, manual, query) == KNN
                searches = [row for row in caplog.messages if "/_msearch" in row]
                assert searches
                assert not [row for row in searches if "-vectors-" in row]


def doctor(workspace: Path) -> str:
    """Return what ``fumishirube doctor`` prints."""
    environ = {**os.environ, "MANUALS_ROOT": str(MANUALS), **TRUSTED}
    command = [sys.executable, "-m", "fumishirube", "doctor"]
    done = subprocess.run(
        command, cwd=workspace, env=environ, capture_output=True, text=True, check=False
    )
    return done.stdout


KNN = "by the cluster: in a k-NN field, by HNSW of Lucene"


def compared(application: Application, manual: str, query: Query) -> object:
    """Return what the diagnostics of a search say about who compared vectors."""
    ranking = search_context(application).find(manual, query).ranking
    return ranking.diagnostics.get("vectors_compared")


def eventually_embedded(application: Application, manual: str) -> None:
    """Wait until a server has read which files have vectors."""
    deadline = time.monotonic() + 20
    context = search_context(application)
    while context.prepare(manual, Query(""), vectors=True).degraded is not None:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("plugin", [True, False])
def test_a_cluster_that_cannot_compare_leaves_it_to_the_servers(
    node: Cluster, settings: dict[str, Any], tmp_path: Path, *, plugin: bool
) -> None:
    """Without the plugin, and where the configuration says so."""
    more = {"knn": False} if plugin else {"hosts": [node.nodes[0].url]}
    manual, query = "給付金編", QUERIES[0]
    with (
        opened(tmp_path / "disk", MANUALS, stages=STAGES) as local,
        opened(tmp_path / "cluster", MANUALS, stages=STAGES, **{**settings, **more}) as remote,
    ):
        assert first_ten(remote, manual, query) == first_ten(local, manual, query)
        said = str(compared(remote, manual, query))
    assert f"vectors are compared {said}" in doctor(tmp_path / "cluster")
    assert said.startswith("by this server")
    assert ("knn: false" if plugin else "no k-NN plugin on the nodes n1") in said
    assert [*(tmp_path / "cluster").rglob("vectors.db")]
    node.nodes[0].delete(f"/{settings['namespace']}-*")


class Directions:
    """Embeds a text as a direction that only its characters decide."""

    def __init__(self) -> None:
        self.embedded = 0

    def embed(
        self, texts: Sequence[str], role: Literal["query", "passage"]
    ) -> Sequence[Sequence[float]]:
        self.embedded += len(texts) * (role == "passage")
        return [self.direction(text) for text in texts]

    @staticmethod
    def direction(text: str) -> list[float]:
        numbers = random.Random(text)
        vector = [numbers.gauss(0, 1) for _ in range(16)]
        length = math.sqrt(sum(number * number for number in vector))
        return [number / length for number in vector]


class Server:
    """The vectors of one server, with a client and an embedder of its own."""

    def __init__(self, stage: OpenSearch) -> None:
        self.client = Client(stage)
        self.client.make_index(meta_name(stage), {})
        self.embedder = Directions()
        self.store = ClusterVectors(
            self.client, stage, meta_name(stage), name_of(stage), "directions"
        )
        named = NamedEmbedder("directions", "directions", self.embedder)
        self.vectors = DistantVectors(named, lambda: self.store)

    def up_to_date(self) -> Server:
        """Read the record again, whenever it was read last."""
        self.store._read = 0.0
        return self


def name_of(stage: OpenSearch) -> str:
    return f"{stage.namespace}-manual"


@pytest.fixture
def server(stage: OpenSearch) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def made() -> Server:
        servers.append(Server(stage))
        return servers[-1]

    yield made
    for each in servers:
        each.client.close()


TEXTS = {f"{n:03}.md": [("", f"section {n}-{m}") for m in range(5)] for n in range(60)}


def update(server: Server, texts: dict[str, list[tuple[str, str]]], stamp: str = "1") -> Any:
    return server.vectors.update(dict.fromkeys(texts, stamp), lambda path: texts[path])


def test_the_nearest_sections_are_those_of_all(
    server: Callable[[], Server], tmp_path: Path
) -> None:
    first, other = server(), server()
    named = NamedEmbedder("directions", "directions", Directions())
    local = StoredVectors(named, Root(tmp_path))
    stamps = dict.fromkeys(TEXTS, "1")
    assert update(first, TEXTS).embedded == 300
    local.update(stamps, lambda path: TEXTS[path])
    some = frozenset([*TEXTS][::7])
    for query in ("one", "two", "three"):
        for within in (None, some):
            for limit, per_file in ((10, None), (10, 1), (200, 3)):
                expected = local.nearest(query, stamps, limit, within, per_file)
                for reader in (first, other):
                    found = reader.vectors.nearest(query, stamps, limit, within, per_file)
                    assert [row[:2] for row in found] == [row[:2] for row in expected]
                    assert [r.similarity for r in found] == pytest.approx(
                        [r.similarity for r in expected], abs=2e-6
                    )
    assert other.vectors.files_left(stamps) == 0


def test_what_changes_or_goes_is_found_no_more_on_any_server(
    server: Callable[[], Server], knn_node: Cluster
) -> None:
    first, other = server(), server()
    update(first, TEXTS)
    assert other.vectors.present
    changed = {**TEXTS, "000.md": [("", "section 0-0"), ("", "another")]}
    del changed["001.md"]
    stamps = dict.fromkeys(changed, "1") | {"000.md": "2"}
    counts = first.vectors.update(stamps, lambda path: changed[path])
    assert (counts.embedded, counts.reused, counts.dropped) == (1, 1, 1), "equal texts stay"
    for reader in (first, other.up_to_date()):
        assert reader.vectors.files_left(stamps) == 0
        near = reader.vectors.nearest("section 0-3", stamps, 400)
        places = {(row.path, row.number) for row in near}
        assert not [place for place in places if place[0] == "001.md"]
        assert {number for path, number in places if path == "000.md"} <= {0, 1}
    client = first.client
    index = str(first.store._record.index)
    assert update(first, {**changed, "new.md": [("", "x")]}, "2").embedded == 1  # refreshed
    gone = {
        "query": {"bool": {"filter": [{"term": {"of": "001.md"}}, {"term": {"kind": "piece"}}]}}
    }
    (answer,) = client.searches(index, [gone], whole=False)
    assert answer["hits"]["hits"] == []


def test_an_update_that_is_cut_goes_on_on_another_server(server: Callable[[], Server]) -> None:
    embedded = turns = 0
    done = False
    long = {"long.md": [("", f"part {n}") for n in range(200)], **TEXTS}
    while not done:
        turns += 1
        each = server()
        left = iter(range(4))
        counts = each.vectors.update(
            dict.fromkeys(long, "1"),
            long.__getitem__,
            lambda left=left: next(left, None) is not None,
        )
        done, embedded = not counts.cut, embedded + each.embedder.embedded
    assert turns > 2
    assert embedded == 500


def test_a_server_that_may_not_write_embeds_nothing(stage: OpenSearch) -> None:
    reader = Server(stage.model_copy(update={"writes": False}))
    try:
        assert not update(reader, TEXTS).cut
        assert reader.embedder.embedded == 0
        assert not reader.vectors.present
    finally:
        reader.client.close()


def test_an_earlier_writer_is_refused(server: Callable[[], Server]) -> None:
    """Its lease expired while it was stopped; what it sends then counts nowhere."""
    old, new = server(), server()
    with old.store.writing(lambda: True) as mine:
        assert mine
        update_inside(old, {"a.md": [("", "first")]}, "1")
        writer = old.store._writer
        assert writer is not None
        writer._ended.set()  # as a stopped process, it renews the lease no more
        writer._thread.join()
        counts = new.vectors.update({"a.md": "2"}, lambda _: [("", "second")])
        assert counts.embedded == 1
        with pytest.raises(Exception, match=r"refuses|another process"):
            update_inside(old, {"a.md": [("", "third")]}, "3")
    reader = server()
    assert dict(reader.store.stamps()) == {"a.md": "2"}
    assert [row.number for row in reader.vectors.nearest("\nsecond", {"a.md": "2"}, 9)] == [0]


def update_inside(server: Server, texts: dict[str, list[tuple[str, str]]], stamp: str) -> None:
    def read(path: str) -> Sequence[Sequence[tuple[str, str]]]:
        return divided(texts[path])

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return server.embedder.embed(texts, "passage")

    VectorUpdate(server.store, embed, lambda: True).run(dict.fromkeys(texts, stamp), read)


def test_an_index_that_was_deleted_is_made_again(
    server: Callable[[], Server], knn_node: Cluster
) -> None:
    first, other = server(), server()
    update(first, TEXTS)
    assert other.vectors.present
    knn_node.nodes[0].delete(f"/{first.store._record.index}")
    assert update(first.up_to_date(), TEXTS).embedded == 300
    stamps = dict.fromkeys(TEXTS, "1")
    assert len(other.up_to_date().vectors.nearest("one", stamps, 9)) == 9
