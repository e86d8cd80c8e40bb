"""One writer: it is replaced when it dies, and refused when it wakes up too late."""

from __future__ import annotations

import json
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cluster_nodes import Cluster

from fumishirube import Budget, Fields, IndexedFile, OpenIndex, Root
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing.corpora import PlainTokenizer, passage

pytest.importorskip("fumishirube_opensearch", reason="fumishirube-opensearch is not installed")
from fumishirube_opensearch import OpenSearch

pytestmark = pytest.mark.slow

TAKEN_OVER_WITHIN = 10.0


class Writer:
    """Another process that writes."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        script = Path(__file__).with_name("stalling_writer.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(folder), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.heard() == "holding"

    def heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def output_of(self, name: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return self.heard()


@pytest.fixture
def settings(node: Cluster) -> Iterator[dict[str, Any]]:
    name = f"l{secrets.token_hex(4)}"
    yield {
        "hosts": [node.nodes[0].url],
        "namespace": name,
        "replicas": 0,
        "shards": 2,
        "writer_wait_ms": 100,
    }
    node.nodes[0].delete(f"/{name}-*")


@contextmanager
def opened(folder: Path, settings: dict[str, Any]) -> Iterator[OpenIndex]:
    index = OpenSearch(**settings).open(Root(folder), Fields(FIELDS, PlainTokenizer()))
    try:
        yield index
    finally:
        index.close()


@contextmanager
def writer(folder: Path, settings: dict[str, Any]) -> Iterator[Writer]:
    other = Writer(folder, settings)
    try:
        yield other
    finally:
        other.process.send_signal(signal.SIGCONT)
        other.process.kill()
        other.process.communicate()


def _take_over(index: OpenIndex, name: str) -> float:
    """Write a page as soon as that is possible; return after how many seconds it was."""
    began = time.monotonic()
    while time.monotonic() < began + 3 * TAKEN_OVER_WITHIN:
        with index.writing(Budget()) as mine:
            if mine:
                waited = time.monotonic() - began
                page = passage(f"{name}.md", 1, name, f"text of {name}")
                index.sync((), [(IndexedFile(page.path, name, None, 1), [page])])
                return waited
    raise TimeoutError("nobody gave the lease back")


def test_a_writer_that_was_killed_is_replaced(tmp_path: Path, settings: dict[str, Any]) -> None:
    with writer(tmp_path, settings) as other, opened(tmp_path, settings) as index:
        assert other.output_of("first") == "committed"
        other.process.kill()
        assert _take_over(index, "second") <= TAKEN_OVER_WITHIN
        assert set(index.pages()) == {"first.md", "second.md"}
        assert index.corpus("m").size == 2


def test_a_writer_that_wakes_up_past_its_lease_is_refused(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with writer(tmp_path, settings) as other, opened(tmp_path, settings) as index:
        assert other.output_of("first") == "committed"
        other.process.send_signal(signal.SIGSTOP)
        assert _take_over(index, "second") <= TAKEN_OVER_WITHIN
        other.process.send_signal(signal.SIGCONT)
        assert other.output_of("late").startswith("refused")
        index.refresh()
        assert set(index.pages()) == {"first.md", "second.md"}
        assert index.corpus("m").size == 2
        with index.writing(Budget()) as mine:
            assert mine, "the late writer took the lease with it"


def test_a_writer_that_works_keeps_its_lease(tmp_path: Path, settings: dict[str, Any]) -> None:
    short = {**settings, "lease_seconds": 1.5}
    with writer(tmp_path, short) as other, opened(tmp_path, short) as index:
        time.sleep(4)
        with index.writing(Budget()) as mine:
            assert not mine
        assert other.output_of("first") == "committed"
        index.refresh()
        assert set(index.pages()) == {"first.md"}
