"""What a person has open at a time: no more than the limit, in one process or in several."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from fumishirube_http.people.slots import Slots


def _take_some(folder: Path, number: int, results: Connection) -> None:
    slots = Slots(folder)
    taken = [slots.take("aiko", "request", 5) for _ in range(number)]
    results.send(sum(handle is not None for handle in taken))
    results.recv()  # until the end of the test


def test_processes_share_slots_and_those_of_a_dead_one_are_free(tmp_path: Path) -> None:
    context = get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_take_some, args=(tmp_path / "var" / "open", 3, theirs))
    process.start()
    try:
        assert ours.recv() == 3
        slots = Slots(tmp_path / "var" / "open")
        taken = [slots.take("aiko", "request", 5) for _ in range(4)]
        assert sum(handle is not None for handle in taken) == 2
        assert slots.take("aiko", "stream", 5) is not None, "another kind"
        assert slots.take("ben", "request", 5) is not None, "another person"
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        taken = [slots.take("aiko", "request", 5) for _ in range(4)]
        assert sum(handle is not None for handle in taken) == 3
    finally:
        process.kill()
        process.join()


def test_a_released_slot_is_free(tmp_path: Path) -> None:
    first, second = Slots(tmp_path), Slots(tmp_path)
    handle = first.take("aiko", "request", 1)
    assert handle is not None
    with first.released(handle):
        assert second.take("aiko", "request", 1) is None
    assert second.take("aiko", "request", 1) is not None


def test_threads_never_take_more(tmp_path: Path) -> None:
    slots = Slots(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        taken = [*pool.map(lambda _: slots.take("aiko", "request", 7), range(40))]
    assert sum(handle is not None for handle in taken) == 7


def test_where_the_folder_cannot_be_used_each_process_counts_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    alone = Slots(tmp_path / "file")
    assert [alone.take("aiko", "request", 1) for _ in range(3)] == [-1] * 3
    assert caplog.text.count("counts the open requests of people by itself") == 1
    (tmp_path / "file").unlink()
    handle = alone.take("aiko", "request", 1)
    assert handle is not None
    assert handle >= 0
    assert "together again" in caplog.text
