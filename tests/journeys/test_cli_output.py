"""What the command line prints: bars, tables, outlines."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from command_runs import environment
from manuals import RULES, write
from warm_start import warm_script

from fumishirube.faces.cli.config import outline
from fumishirube.faces.cli.output import clipped, table, width
from fumishirube.faces.cli.progress import Bar
from fumishirube.text import places_of


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A workspace that a test may change: one small manual."""
    return write(tmp_path, {"m1/rules.md": RULES})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_a_bar_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert Bar().progress is None
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = Bar()
    assert bar.progress
    bar.progress(1, 3, "indexing m1")
    bar.progress(3, 3, "indexing m1")
    assert "indexing m1" in screen.getvalue()
    bar.close()


def test_long_work_is_told_once_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    clock = iter([0.0, 0.9, 1.1])
    own = SimpleNamespace(monotonic=lambda: next(clock))  # other threads read the real one
    monkeypatch.setattr("fumishirube.faces.cli.progress.time", own)
    bar = Bar()
    assert bar.progress
    for done in range(1, 5):
        bar.progress(done, 5, "indexing m1")
    bar.close()
    assert said.getvalue() == "indexing m1: 3 of 5 done; this may take a while\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_a_first_index_draws_its_bar_even_where_the_terminal_tells_no_size(own: Path) -> None:
    import pty  # noqa: PLC0415 - there is none on Windows

    screen, terminal = pty.openpty()
    done = subprocess.run(
        [warm_script(), "index"],
        cwd=own,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=environment(),
        timeout=60,
        check=True,
    )
    os.close(terminal)
    drawn = os.read(screen, 4096).decode()
    os.close(screen)
    assert "indexing m1" in drawn
    assert done.stdout.decode() == "m1  3 sections in 1 file\n"


def test_wide_characters_take_two_columns() -> None:
    assert width("給付 a") == 6
    assert width("e\u0301") == 1
    assert clipped("給付金編の請求", 7) == "給付金…"
    assert width(clipped("給付金編の請求", 7)) <= 7
    assert clipped("給付", 4) == "給付"
    assert list(table([("給付", "x"), ("abc", "y")])) == ["給付  x", "abc   y"]


def test_what_matched_is_found_in_the_words_of_the_text() -> None:
    assert places_of(("fee", "料金"), "ＦＥＥ と料金、Fees") == [(0, 3), (5, 7), (8, 11)]
    assert places_of(("入院給付", "給付の"), "入院給付の日額") == [(0, 5)]
    assert places_of(("",), "何も") == []


def test_an_outline_is_yaml_whatever_the_words() -> None:
    value = {
        "yes": "no",
        "空": ["日本", "a: b", "# c", "", "1.5", "0x10", "~", "a\nb", "-", ".inf"],
        "rare": ["a\x7fb\x85", "\u2028\u2029", "\ufeff\ufffe\ud800", "𠮷\U000e0100"],
        "nested": [{"a": 1, "b": [True, None, 1.5]}, [], {}, [[1], {"x": "y"}]],
    }
    assert yaml.safe_load("\n".join(outline(value, {}))) == value


@pytest.mark.slow
def test_two_searches_of_a_new_folder_at_once_both_find(tmp_path: Path) -> None:
    folder = tmp_path / "manuals" / "m"
    folder.mkdir(parents=True)
    for number in range(1500):
        text = f"# 第{number}条\n" + "給付の要件と請求の期限を定める。\n" * 20
        (folder / f"f{number:04}.md").write_text(text, encoding="utf-8")
    command = [warm_script(), "find", "第1234条の要件", "--json", "--workspace", str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert [one["hits"][0]["ref"]["path"] for one in told] == ["f1234.md"] * 2
