"""The harness itself: nodes start, know each other, and are gone afterwards."""

from __future__ import annotations

from cluster_nodes import Cluster


def test_one_node_starts(node: Cluster) -> None:
    assert node.nodes[0].get("/")["version"]["distribution"] == "opensearch"


def test_three_nodes_elect_a_manager(cluster: Cluster) -> None:
    assert cluster.manager() in cluster.nodes
    assert len(cluster.nodes[0].get("/_cat/nodes?format=json")) == 3
