"""Indexers that follow the files, and a server that only reads what they have indexed."""

from __future__ import annotations

import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from cluster_nodes import Cluster
from cluster_workspaces import first_ten, index_command, index_environment, index_names, opened

from fumishirube import Query
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

pytestmark = pytest.mark.slow

TAKEN_OVER_WITHIN = 10.0


class Team(NamedTuple):
    """A folder of manuals, two indexers that follow it, and a server that never writes."""

    manuals: Path
    indexers: list[subprocess.Popen[str]]
    server: Application

    def write(self, name: str) -> None:
        (self.manuals / "notes" / f"{name}.md").write_text(f"# {name}\n\nabout {name}\n")

    def seconds_until_found(self, name: str, most: float = 3 * TAKEN_OVER_WITHIN) -> float:
        began = time.monotonic()
        while time.monotonic() < began + most:
            if first_ten(self.server, "notes", Query(name, cache=False)) == [(f"{name}.md", 1)]:
                return time.monotonic() - began
            time.sleep(0.1)
        raise TimeoutError(f"{name} is not found")


@pytest.fixture
def team(node: Cluster, tmp_path: Path) -> Iterator[Team]:
    settings = {
        "hosts": [node.nodes[0].url],
        "namespace": f"w{secrets.token_hex(4)}",
        "replicas": 0,
    }
    manuals = tmp_path / "manuals"
    (manuals / "notes").mkdir(parents=True)
    with ExitStack() as stack:
        server = stack.enter_context(opened(tmp_path / "server", manuals, **settings, writes=False))
        made = Team(manuals, [], server)
        made.write("zebra")
        for number in (1, 2):
            folder = tmp_path / f"indexer-{number}"
            folder.mkdir()
            index = {"use": "opensearch", "with": settings}
            config = {"pipelines": {"manual": {"index": index}}}
            (folder / "fumishirube.yaml").write_text(yaml.safe_dump(config))
            made.indexers.append(stack.enter_context(_indexer(folder, manuals)))
        yield made
        for indexer in made.indexers:
            indexer.kill()
    node.nodes[0].delete(f"/{settings['namespace']}-*")


def _indexer(folder: Path, manuals: Path) -> subprocess.Popen[str]:
    command, environment = index_command("--follow"), index_environment(manuals)
    log = folder / "output.log"
    with log.open("w") as output:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, text=True
        )


def test_a_server_reads_what_another_process_indexes(team: Team) -> None:
    team.seconds_until_found("zebra")
    team.write("giraffe")
    team.seconds_until_found("giraffe")
    state = search_context(team.server).prepare("notes", Query(""))
    assert state.degraded is None, "the index is as the files are"


def test_a_rebuild_leaves_no_gap(team: Team, node: Cluster) -> None:
    """Every file is indexed anew in another index, which takes over when it is complete."""
    for number in range(150):
        team.write(f"animal{number}")
    team.seconds_until_found("animal149")
    for indexer in team.indexers:
        indexer.terminate()
        indexer.wait(10)
    folder = team.manuals.parent / "indexer-1"
    before = index_names(node.nodes[0])
    command, environment = index_command("--rebuild"), index_environment(team.manuals)
    with subprocess.Popen(command, cwd=folder, env=environment, text=True) as rebuild:
        answers = 0
        while rebuild.poll() is None:
            assert first_ten(team.server, "notes", Query("zebra", cache=False)) == [("zebra.md", 1)]
            answers += 1
    assert rebuild.returncode == 0
    assert answers > 3
    assert index_names(node.nodes[0]) - before, "no other index was made"
    assert team.seconds_until_found("animal7") < 2


def test_a_server_that_may_not_write_says_that_files_wait(team: Team) -> None:
    team.seconds_until_found("zebra")
    for indexer in team.indexers:
        indexer.terminate()
        assert indexer.wait(10) == 0
    team.write("lion")
    state = search_context(team.server).prepare("notes", Query(""))
    assert state.degraded
    assert "lion.md" in {out.path for out in state.skipped}


def test_an_indexer_takes_over_from_one_that_was_killed(team: Team) -> None:
    team.seconds_until_found("zebra")
    for number, indexer in enumerate(team.indexers[:1]):
        team.write(f"tiger{number}")
        indexer.kill()
        team.write(f"leopard{number}")
        assert team.seconds_until_found(f"tiger{number}") <= TAKEN_OVER_WITHIN
        assert team.seconds_until_found(f"leopard{number}") <= TAKEN_OVER_WITHIN
