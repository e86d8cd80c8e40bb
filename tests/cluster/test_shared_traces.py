"""A trace made on one server is read on the others, and only by whom it belongs to."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cluster_nodes import Cluster
from cluster_workspaces import opened
from team import Caller

from fumishirube.disk import FolderRights
from fumishirube.host.application import Application
from fumishirube.host.people import PersonalTools

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")

SOON = 10.0
FIND = {"manual_id": "open", "query": "valve", "required_terms": ["valve"]}


class Pair(NamedTuple):
    """Two servers of one cluster, and how to open more."""

    one: Application
    other: Application
    stack: ExitStack
    manuals: Path
    settings: dict[str, Any]

    def caller(self, server: Application, *readable: str) -> Caller:
        """Return what a person with rights to some manuals calls at a server."""
        to = {"manuals": FolderRights(frozenset(readable))}
        tools = PersonalTools(server, "aiko", to)
        self.stack.callback(tools.close)
        return Caller(tools.catalog)


@pytest.fixture
def pair(node: Cluster, tmp_path: Path) -> Iterator[Pair]:
    settings = {
        "hosts": [node.nodes[0].url],
        "namespace": f"r{secrets.token_hex(4)}",
        "replicas": 0,
    }
    manuals = tmp_path / "manuals"
    for name in ("open", "closed"):
        (manuals / name).mkdir(parents=True)
        (manuals / name / "a.md").write_text(f"# Valve\n\nThe {name} valve opens slowly.\n")
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(opened(tmp_path / name, manuals, **settings))
            for name in ("one", "other")
        )
        yield Pair(one, other, stack, manuals, settings)
    node.nodes[0].delete(f"/{settings['namespace']}-*")


def traced(caller: Caller) -> str:
    caller.tool("manual_ls", {})
    assert caller.tool("manual_find", FIND)["candidates"] == 1
    return caller.traces[-1]


def hits(caller: Caller, trace: str) -> Any:
    caller.tool("manual_ls", {})
    return caller.tool("manual_hits", {"trace_id": trace})


def hits_soon(caller: Caller, trace: str) -> Any:
    deadline = time.monotonic() + SOON
    while "code" in (answer := hits(caller, trace)):
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)
    return answer


def plain(answer: Any, trace: str) -> str:
    return re.sub(r"trace \d+", "TRACE", str(answer).replace(trace, "TRACE"))


def test_a_trace_of_one_server_is_read_on_the_other(pair: Pair) -> None:
    one, other = Caller(pair.one.catalog), Caller(pair.other.catalog)
    trace = traced(one)
    assert plain(hits_soon(other, trace), trace) == plain(hits(one, trace), trace)


def test_a_server_that_was_restarted_reads_its_traces(pair: Pair, tmp_path: Path) -> None:
    with opened(tmp_path / "third", pair.manuals, **pair.settings) as third:
        trace = traced(Caller(third.catalog))
    assert hits_soon(Caller(pair.other.catalog), trace), "closing sends what waits"


def test_only_the_same_person_with_the_same_rights_reads_it(pair: Pair) -> None:
    trace = traced(pair.caller(pair.one, "open"))
    assert hits_soon(pair.caller(pair.other, "open"), trace)
    unknown = hits(pair.caller(pair.other, "open"), "0" * 32)
    for stranger in (
        pair.caller(pair.other, "closed"),
        pair.caller(pair.other, "open", "closed"),
        pair.caller(pair.one, ""),
        Caller(pair.other.catalog),
    ):
        refused = hits(stranger, trace)
        assert plain(refused, trace) == plain(unknown, "0" * 32)
    for word in (f"-{trace}", f"{trace}/..", trace[:8], trace.upper(), f"x-{trace}"):
        assert hits(Caller(pair.other.catalog), word)["code"] == "not_found"


def test_traces_expire_and_their_indexes_go(node: Cluster, tmp_path: Path, pair: Pair) -> None:
    name = f"r{secrets.token_hex(4)}"
    settings = {**pair.settings, "namespace": name}
    short = {"TRACE_TTL_SEC": "1"}
    with (
        opened(tmp_path / "a", pair.manuals, short, **settings) as one,
        opened(tmp_path / "b", pair.manuals, short, **settings) as other,
    ):
        reader = Caller(other.catalog)
        first = traced(Caller(one.catalog))
        time.sleep(2.5)
        assert hits(reader, first)["code"] == "not_found"
        deadline = time.monotonic() + SOON
        while len(indexes := _trace_indexes(node, name)) > 2 or not indexes:
            assert time.monotonic() < deadline, indexes
            traced(Caller(one.catalog))
            time.sleep(0.5)
    node.nodes[0].delete(f"/{name}-*")


def _trace_indexes(node: Cluster, name: str) -> list[str]:
    rows = node.nodes[0].get("/_cat/indices?format=json&h=index")
    return [row["index"] for row in rows if row["index"].startswith(f"{name}-traces")]


def test_a_cluster_that_is_away_is_said_to_be(pair: Pair, tmp_path: Path) -> None:
    away = {**pair.settings, "hosts": ["http://127.0.0.1:9"]}
    with opened(tmp_path / "away", pair.manuals, **away) as server:
        assert hits(Caller(server.catalog), "0" * 32)["code"] == "unavailable"
