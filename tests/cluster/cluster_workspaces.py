"""Workspaces whose manuals are indexed in a cluster, and finds in them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from cluster_nodes import Node

from fumishirube import Query
from fumishirube.faces.cli.workspace import search_context
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application

MANUALS = Path(__file__).parents[2] / "manuals"
TRUSTED = {"FUMISHIRUBE_TRUST": "true"}
"""The variables with which a workspace may name hosts."""


@contextmanager
def opened(
    folder: Path,
    manuals: Path,
    environ: Mapping[str, str] | None = None,
    stages: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Iterator[Application]:
    """Open a workspace over a folder of manuals; with settings their index is in a cluster.

    ``stages`` are other stages of the pipeline.
    """
    folder.mkdir(exist_ok=True)
    index = {"use": "opensearch", "with": settings} if settings else {"use": "tantivy"}
    config = {"pipelines": {"manual": {"index": index, **(stages or {})}}}
    (folder / "fumishirube.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    variables = {"MANUALS_ROOT": str(manuals), **TRUSTED, **(environ or {})}
    application = open_application(folder, strangers=True, environ=variables)
    try:
        yield application
    finally:
        application.close()


def index_command(option: str) -> Sequence[str]:
    """Return the command that indexes the manuals of the workspace where it runs."""
    return [str(Path(sys.executable).with_name("fumishirube")), "index", option]


def index_environment(manuals: Path) -> Mapping[str, str]:
    """Return the environment of that command."""
    return {"PATH": "/usr/bin:/bin", "MANUALS_ROOT": str(manuals), "PYTHONUTF8": "1", **TRUSTED}


def first_ten(application: Application, manual: str, query: Query) -> Sequence[tuple[str, int]]:
    """Return where the first ten hits of a query are."""
    hits = search_context(application).find(manual, query).ranking.hits
    return [hit.passage.key for hit in hits[:10]]


def eventually_listed(application: Application, manual: str) -> None:
    """Wait until a server lists a manual."""
    deadline = time.monotonic() + 10
    while manual not in search_context(application).manuals():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def index_names(node: Node) -> set[str]:
    """Return the names of all indexes of a cluster, as one of its nodes lists them."""
    return {row["index"] for row in node.get("/_cat/indices?format=json&h=index")}


def requests(usage: Mapping[str, Any], action: str) -> int:
    """Return how often all nodes were asked for something, given what they say of their usage."""
    return sum(node["rest_actions"].get(action, 0) for node in usage["nodes"].values())
