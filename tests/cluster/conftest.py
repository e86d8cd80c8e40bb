"""Nodes for the tests of this folder: started when first needed, ended with the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_artifacts import KNN, MissingArtifacts, class_path
from cluster_nodes import Cluster, namespaces_missing, started

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts nodes, which a plain ``pytest`` leaves out."""
    paths = {path for path in {item.path for item in items} if path.is_relative_to(HERE)}
    for item in items:
        if item.path in paths:
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def artifacts() -> None:
    """Skip where no node can be started, and say why."""
    try:
        class_path()
    except MissingArtifacts as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def node(artifacts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster of one node."""
    with started(tmp_path_factory.mktemp("node")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster(artifacts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster of three nodes, each in a network namespace of its own."""
    if reason := namespaces_missing():
        pytest.skip(reason)
    with started(tmp_path_factory.mktemp("cluster"), 3) as nodes:
        yield nodes


@pytest.fixture(scope="session")
def knn_node(artifacts: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster of one node with the k-NN plugin."""
    try:
        class_path([KNN])
    except MissingArtifacts as error:
        pytest.skip(str(error))
    with started(tmp_path_factory.mktemp("knn"), plugins=[KNN]) as cluster:
        yield cluster
