"""Nodes that are killed and cut off while two servers answer finds and files change."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pytest
from cluster_nodes import Cluster, Node
from cluster_workspaces import index_command, index_environment, index_names, opened

from fumishirube import Budget, Query, ToolError
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

SECTIONS = int(os.environ.get("FUMISHIRUBE_CLUSTER_SECTIONS", "3000"))
FINDS = int(os.environ.get("FUMISHIRUBE_CLUSTER_FINDS", "500"))
A_FILE = 10
CHANGES = 25
BUDGET_MS = 20_000


class Outcome(NamedTuple):
    """What came of one find: ``right``, ``said`` to be incomplete, ``coded`` or ``wrong``."""

    kind: str
    seconds: float
    message: str = ""


def word(file: int, section: int, edition: int = 0) -> str:
    return f"zq{file}x{section}e{edition}"


def write_file(manuals: Path, file: int, edition: int = 0) -> None:
    parts = [
        f"# Part {section} of {file}\n\nThe valve {word(file, section, edition)} opens slowly.\n"
        for section in range(A_FILE)
    ]
    (manuals / "plant" / f"{file:05}.md").write_text("\n".join(parts), encoding="utf-8")


class Servers:
    """Two servers over the same files, each with a client and a state folder of its own."""

    def __init__(self, applications: Sequence[Application], manuals: Path) -> None:
        self.applications = applications
        self.manuals = manuals

    def find(self, server: int, text: str) -> Outcome:
        began = time.monotonic()
        query = Query(text, limit=5, budget=Budget.of(BUDGET_MS), cache=False)
        try:
            result = search_context(self.applications[server]).find("plant", query)
        except ToolError as error:
            return Outcome("coded", time.monotonic() - began, f"{error.code}: {error}")
        seconds = time.monotonic() - began
        if any(text in hit.passage.fields["body"] for hit in result.ranking.hits[:1]):
            return Outcome("right", seconds, result.trace.degraded or "")
        if result.trace.degraded:
            return Outcome("said", seconds, result.trace.degraded)
        return Outcome("wrong", seconds, text)

    def change(self, files: Sequence[int], edition: int) -> None:
        for number, file in enumerate(files):
            write_file(self.manuals, file, edition)
            if number % 5 == 0:
                self.find(0, word(file, 0, edition))

    def missing(self, files: Sequence[int], edition: int) -> list[str]:
        """Return what of some files is not found from each server."""
        wanted = [(server, word(file, 3, edition)) for file in files for server in (0, 1)]
        return [text for server, text in wanted if self.find(server, text).kind != "right"]


class Finder(Thread):
    """Asks for sections that do not change, of each server in turn, until it is stopped."""

    def __init__(self, servers: Servers, files: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self._servers = servers
        self._files = files
        self.stopped = False
        self.outcomes: list[Outcome] = []

    def run(self) -> None:
        chosen = random.Random(7)
        while not self.stopped or len(self.outcomes) < FINDS:
            text = word(chosen.choice(self._files), chosen.randrange(A_FILE))
            self.outcomes.append(self._servers.find(len(self.outcomes) % 2, text))

    def report(self) -> str:
        """Return what came of all finds, and check what always has to hold."""
        self.stopped = True
        self.join()
        kinds = Counter(outcome.kind for outcome in self.outcomes)
        said = Counter(o.message for o in self.outcomes if o.message)
        slowest = max(outcome.seconds for outcome in self.outcomes)
        text = f"{dict(kinds)}, slowest {slowest:.1f} s, {said.most_common(6)}"
        assert not kinds["wrong"], text
        assert kinds["right"] > len(self.outcomes) / 2, text
        assert slowest < BUDGET_MS / 1000 + 5, text
        return text


@pytest.fixture(scope="module")
def servers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("plant")
    manuals = folder / "manuals"
    (manuals / "plant").mkdir(parents=True)
    for file in range(SECTIONS // A_FILE):
        write_file(manuals, file)
    hosts = [node.url for node in cluster.nodes]
    settings = {"hosts": hosts, "shards": 3, "replicas": 1, "namespace": f"f{secrets.token_hex(4)}"}
    with ExitStack() as stack:
        both = [
            stack.enter_context(opened(folder / f"server-{n}", manuals, **settings)) for n in (1, 2)
        ]
        state = search_context(both[0]).prepare("plant", Query(""))
        assert not state.degraded, state.degraded
        assert state.corpus.size == SECTIONS
        cluster.wait("green")
        yield Servers(both, manuals)


def _files(start: int, number: int) -> Sequence[int]:
    return range(start, start + number)


STEADY = _files(100, SECTIONS // A_FILE - 100)


def test_each_server_finds_every_section(servers: Servers) -> None:
    chosen = random.Random(3)
    for server in (0, 1):
        for _ in range(20):
            text = word(chosen.choice(STEADY), chosen.randrange(A_FILE))
            assert servers.find(server, text).kind == "right"


def test_a_full_rebuild_under_load_leaves_no_gap(
    cluster: Cluster, servers: Servers, tmp_path: Path
) -> None:
    """A third process indexes every file anew, while both servers answer and files change."""
    shutil.copy(servers.manuals.parent / "server-1" / "fumishirube.yaml", tmp_path)
    before = _of_the_manual(cluster)
    files = _files(0, CHANGES)
    finder = Finder(servers, STEADY)
    finder.start()
    command, environment = index_command("--rebuild"), index_environment(servers.manuals)
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as rebuild:
        while rebuild.poll() is None and _of_the_manual(cluster) == before:
            time.sleep(0.1)
        asked = len(finder.outcomes)
        servers.change(files, 3)
    asked = len(finder.outcomes) - asked
    assert rebuild.returncode == 0
    assert asked > 3, "it was not under load"
    assert len(_of_the_manual(cluster) - before) == 1, "no other index was made"
    assert servers.missing(files, 3) == []
    text = finder.report()
    assert {outcome.kind for outcome in finder.outcomes} == {"right"}, text


def test_killed_nodes_lose_nothing(cluster: Cluster, servers: Servers) -> None:
    """First a node that only holds data, then the elected manager, each while files change."""
    finder = Finder(servers, STEADY)
    finder.start()
    for number, manager in enumerate((False, True)):
        files = _files(CHANGES * number, CHANGES)
        victim = _node(cluster, manager=manager)
        victim.kill()
        servers.change(files, 1)
        victim.start(cluster.nodes)
        cluster.wait("green", seconds=180)
        assert servers.missing(files, 1) == []
    finder.report()


def test_a_node_that_is_cut_off_and_healed_loses_nothing(
    cluster: Cluster, servers: Servers
) -> None:
    finder = Finder(servers, STEADY)
    finder.start()
    files = _files(60, CHANGES)
    victim = _node(cluster, manager=False)
    cluster.cut_off(victim)
    servers.change(files, 2)
    cluster.cut_off(victim, healed=True)
    cluster.wait("green", seconds=180)
    assert servers.missing(files, 2) == []
    finder.report()


def test_without_two_nodes_answers_say_what_was_not_searched(
    cluster: Cluster, servers: Servers
) -> None:
    """One copy of each shard is on two nodes; without both, some shards are nowhere."""
    manager = _node(cluster, manager=True)
    others = [node for node in cluster.nodes if node is not manager]
    for node in others:
        node.kill()
    try:
        outcomes = [servers.find(n % 2, word(file, 1)) for n, file in enumerate(STEADY[:12])]
    finally:
        for node in others:
            node.start(cluster.nodes)
    cluster.wait("green", seconds=180)
    kinds = Counter(outcome.kind for outcome in outcomes)
    assert not kinds["wrong"], outcomes
    assert kinds["said"] + kinds["coded"], outcomes
    assert max(outcome.seconds for outcome in outcomes) < BUDGET_MS / 1000 + 5
    assert servers.missing([*STEADY[:4]], 0) == []


def _node(cluster: Cluster, *, manager: bool) -> Node:
    elected = cluster.manager()
    return elected if manager else next(node for node in cluster.nodes if node is not elected)


def _of_the_manual(cluster: Cluster) -> set[str]:
    return {name for name in index_names(cluster.nodes[0]) if "-plant-" in name}
