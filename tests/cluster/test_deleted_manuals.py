"""A manual whose folder is deleted at its indexer disappears from the servers without files."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from cluster_nodes import Cluster
from cluster_workspaces import TRUSTED, first_ten, opened

from fumishirube import NotFound, Query
from fumishirube.engine.recoverable_index import REBUILT
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

SECONDS = 60


@pytest.fixture
def settings(node: Cluster) -> Iterator[dict[str, Any]]:
    namespace = f"d{secrets.token_hex(4)}"
    yield {"hosts": [node.nodes[0].url], "replicas": 0, "namespace": namespace}
    node.nodes[0].delete(f"/{namespace}-*")


class Indexer:
    """A workspace of its own, whose command indexes its manuals."""

    def __init__(self, folder: Path, settings: dict[str, Any], *names: str) -> None:
        self.folder = folder
        self.manuals = folder / "manuals"
        for name in names:
            (self.manuals / name).mkdir(parents=True)
            (self.manuals / name / "a.md").write_text(f"# Valve\n\nThe valve of {name}.\n")
        index = {"use": "opensearch", "with": settings}
        config = {"pipelines": {"manual": {"index": index}}}
        (folder / "fumishirube.yaml").write_text(yaml.safe_dump(config))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "fumishirube", "index", *words]

    @property
    def environ(self) -> dict[str, str]:
        return {**os.environ, "MANUALS_ROOT": str(self.manuals), **TRUSTED}

    def index(self, *words: str) -> str:
        """Run the command, and return what it writes to standard error."""
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stderr


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def listed(server: Application) -> list[str]:
    return [*search_context(server).manuals()]


def test_a_deleted_manual_is_gone_for_all_and_others_stay(
    node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    first = Indexer(tmp_path / "first", settings, "pumps", "doors")
    other = Indexer(tmp_path / "other", settings, "lamps")
    first.index()
    other.index()
    with opened(tmp_path / "server", tmp_path / "none", **settings, writes=False) as server:
        eventually(lambda: listed(server) == ["doors", "lamps", "pumps"])
        assert first_ten(server, "pumps", Query("valve", cache=False)) == [("a.md", 1)]

        shutil.rmtree(first.manuals / "pumps")
        assert "lamps" not in other.index(), "the manuals of another workspace are not its own"
        first.index("doors")  # a command for one manual deletes no other
        assert "pumps" in listed(server)
        assert "pumps: its folder is gone; deleted from the index" in first.index()
        eventually(lambda: listed(server) == ["doors", "lamps"])
        with pytest.raises(NotFound):
            first_ten(server, "pumps", Query("valve", cache=False))
        indexes = str(node.nodes[0].get("/_cat/indices?format=json&h=index"))
        assert f"{settings['namespace']}-pumps" not in indexes
        assert "gone" not in first.index(), "it is deleted once"

        (first.manuals / "pumps").mkdir()
        (first.manuals / "pumps" / "a.md").write_text("# Again\n\nThe valve is back.\n")
        first.index()
        eventually(lambda: "pumps" in listed(server))
        assert first_ten(server, "pumps", Query("valve", cache=False)) == [("a.md", 1)]


def test_a_manual_of_other_settings_hides_none(
    node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    """The same manual may be in the cluster several times, once for each tokenizer."""
    indexer = Indexer(tmp_path / "indexer", settings, "pumps")
    indexer.index()
    reading = {**settings, "writes": False}
    with opened(tmp_path / "server", tmp_path / "none", **reading) as server:
        eventually(lambda: listed(server) == ["pumps"])
    for number, tokenizer in enumerate(("ngram", "pairs")):
        other = opened(
            tmp_path / f"w{number}", indexer.manuals, stages={"tokenizer": tokenizer}, **settings
        )
        with other as writer:
            search_context(writer).prepare("pumps", Query(""))
        node.nodes[0].get(f"/{settings['namespace']}-meta/_refresh")
        with opened(tmp_path / f"r{number}", tmp_path / "none", **reading) as server:
            assert listed(server) == ["pumps"], tokenizer


def test_an_empty_folder_of_manuals_deletes_nothing(
    node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    """It may be that of a disk that is not mounted."""
    indexer = Indexer(tmp_path / "indexer", settings, "pumps", "doors")
    indexer.index()
    indexer.manuals.rename(tmp_path / "elsewhere")
    indexer.index()
    indexer.manuals.mkdir()
    indexer.index()
    with opened(tmp_path / "server", tmp_path / "none", **settings, writes=False) as server:
        eventually(lambda: listed(server) == ["doors", "pumps"])


def test_a_folder_and_a_manual_may_be_called_index(
    node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    indexer = Indexer(tmp_path / "index" / "shop", settings, "index", "doors")
    indexer.index()
    with opened(tmp_path / "server", tmp_path / "none", **settings, writes=False) as server:
        eventually(lambda: listed(server) == ["doors", "index"])
        shutil.rmtree(indexer.manuals / "index")
        assert "index: its folder is gone; deleted from the index" in indexer.index()
        eventually(lambda: listed(server) == ["doors"])
    written = [*tmp_path.rglob("opensearch-origin")]
    assert written == [indexer.folder / ".fumishirube" / "opensearch-origin"]


@pytest.mark.slow
def test_an_indexer_that_follows_deletes_a_manual_too(
    node: Cluster, settings: dict[str, Any], tmp_path: Path
) -> None:
    indexer = Indexer(tmp_path / "indexer", settings, "pumps", "doors")
    with opened(tmp_path / "server", tmp_path / "none", **settings, writes=False) as server:
        process = subprocess.Popen(
            indexer.command("--follow"),
            cwd=indexer.folder,
            env=indexer.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            eventually(lambda: listed(server) == ["doors", "pumps"])
            shutil.rmtree(indexer.manuals / "doors")
            eventually(lambda: listed(server) == ["pumps"])
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("lost", ["pumps-*", "meta", "*"])
def test_an_index_that_the_cluster_lost_is_made_again_from_the_files(
    node: Cluster, settings: dict[str, Any], tmp_path: Path, lost: str
) -> None:
    manuals = Indexer(tmp_path, settings, "pumps").manuals
    with opened(tmp_path / "server", manuals, **settings) as server:
        assert first_ten(server, "pumps", Query("valve")) == [("a.md", 1)]
        node.nodes[0].delete(f"/{settings['namespace']}-{lost}")
        found = search_context(server).find("pumps", Query("valve of pumps"))
        assert [hit.passage.path for hit in found.ranking.hits] == ["a.md"]
        assert found.trace.degraded == REBUILT
        again = search_context(server).find("pumps", Query("the valve"))
        assert again.trace.degraded is None
