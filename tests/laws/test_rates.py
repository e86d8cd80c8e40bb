"""How often a person may call: no more than the rate allows, in one process or in several."""

from __future__ import annotations

import shutil
import signal
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import torture
from hypothesis import given, settings
from hypothesis import strategies as st

from fumishirube_http.people import limits, rates
from fumishirube_http.people.rates import Allowance, Rates

STEPS = st.lists(st.tuples(st.floats(0, 200), st.integers(1, 7)), max_size=40)


@given(st.floats(0, 4000) | st.integers(0, 4000))
def test_the_answer_says_to_wait_no_second_more_than_needed(seconds: float) -> None:
    problem = limits._too_many("60 calls in a minute", seconds)
    said = int(problem.headers["retry-after"])
    assert max(1, seconds) <= said < max(1, seconds) + 1


@pytest.mark.property
@settings(max_examples=torture.examples(200))
@given(per_minute=st.integers(1, 30), steps=STEPS)
def test_no_window_has_more_calls_than_the_rate(
    per_minute: int, steps: list[tuple[float, int]]
) -> None:
    now, allowance = 0.0, Allowance(per_minute, 0.0)
    used: list[tuple[float, int]] = []
    for pause, number in steps:
        now += pause
        allowance, wait = allowance.after(number, per_minute, now)
        if wait == 0:
            used.append((now, number))
        elif number <= per_minute:  # after the wait there are so many
            assert allowance.after(number, per_minute, now + wait + 1e-6)[1] == 0
    for first in range(len(used)):
        for last in range(first, len(used)):
            seconds = used[last][0] - used[first][0]
            calls = sum(number for _, number in used[first : last + 1])
            assert calls <= per_minute + seconds * per_minute / 60 + 1e-6


def test_a_clock_that_goes_back_earns_nothing() -> None:
    allowance, wait = Allowance(0.0, 1000.0).after(1, 60, 10.0)
    assert (allowance.at, wait) == (10.0, 1.0)


def _used(file: Path) -> int:
    shared = Rates(file)
    return sum(shared.use("aiko", 1, 50) == 0 for _ in range(60))


def test_processes_with_one_file_count_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "time", lambda: 1000.0)  # also in the forked processes
    with ProcessPoolExecutor(3, mp_context=get_context("fork")) as pool:
        assert sum(pool.map(_used, [tmp_path / "var" / "rates.db"] * 3)) == 50
    assert Rates(tmp_path / "var" / "rates.db").use("ben", 1, 50) == 0


def test_where_the_file_cannot_be_used_each_process_counts_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    alone = Rates(tmp_path / "file" / "rates.db")
    assert [alone.use("aiko", 2, 3) == 0, alone.use("aiko", 2, 3) == 0] == [True, False]
    assert caplog.text.count("counts the calls of people by itself") == 1
    (tmp_path / "file").unlink()
    assert alone.use("aiko", 3, 3) == 0
    assert "together again" in caplog.text


def _calls(shared: Rates, number: int) -> int:
    return sum(shared.use("aiko", 1, 5) == 0 for _ in range(number))


@pytest.mark.parametrize("damage", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_made_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: bytes,
) -> None:
    monkeypatch.setattr(rates, "time", lambda: 1000.0)
    file = tmp_path / "rates.db"
    first, second = Rates(file), Rates(file)
    assert _calls(first, 4) == 4
    file.write_bytes(damage)
    assert _calls(first, 3) + _calls(second, 9) == 5, "they count together again"
    assert caplog.text.count("rates.db is damaged and made again") == 1
    assert "by itself" not in caplog.text


def test_a_damaged_row_is_like_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rates, "time", lambda: 1000.0)
    file = tmp_path / "rates.db"
    first, second = Rates(file), Rates(file)
    assert _calls(first, 4) == 4
    for damage in ("remaining = NULL", "at = 'x'", "remaining = -1e308"):
        with closing(sqlite3.connect(file)) as base, base:
            base.execute(f"UPDATE rates SET {damage}")
        assert _calls(first, 3) + _calls(second, 9) == 5, damage
    assert not caplog.text


def test_a_file_that_is_deleted_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "time", lambda: 1000.0)
    file = tmp_path / "var" / "rates.db"
    first, second = Rates(file), Rates(file)
    assert _calls(first, 9) == 5
    shutil.rmtree(file.parent)
    assert _calls(first, 3) + _calls(second, 9) == 5


def _calls_without_space(file: Path) -> int:
    import resource  # noqa: PLC0415 - Windows has none

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return _calls(Rates(file), 9)


def test_on_a_full_disk_each_process_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rates, "time", lambda: 1000.0)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert pool.submit(_calls_without_space, tmp_path / "rates.db").result() == 5


def test_a_process_opens_the_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And again only when another file has its name."""
    opened: list[object] = []
    connect = sqlite3.connect

    def counted(path: Path, **named: Any) -> sqlite3.Connection:
        opened.append(path)
        return connect(path, **named)

    monkeypatch.setattr(sqlite3, "connect", counted)
    file, other = tmp_path / "rates.db", tmp_path / "other" / "rates.db"
    first = Rates(file)
    assert _calls(first, 3) == 3
    assert opened.count(file) == 1
    _calls(Rates(other), 1)
    other.replace(file)
    assert _calls(first, 9) == 4, "one is used in the file that is there now"
    assert opened.count(file) == 2
