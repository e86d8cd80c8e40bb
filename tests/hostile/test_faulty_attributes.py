"""Stages of plugins that fail where a value of theirs is looked up or used, not in a call."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from manuals import fumishirube, write
from strangers import stranger

from fumishirube import Root
from fumishirube.engine.stage_results import MOST_ITEMS
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.guarded_indexes import GuardedIndex
from fumishirube.host.guarded_stages import GuardedStage, GuardedTokenizer
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.stages import Fields

PLUGIN = """
from fumishirube import Stage, hook

class Unclear:
    def __bool__(self):
        raise ValueError("neither true nor false")

class Undecided(Stage):
    def applies(self, query):
        return Unclear()

    def plan(self, query, corpus):
        return ()

    def fuse(self, query, outcomes, corpus):
        return ()

class Leaving(Stage):
    def refine(self, ranking, query, corpus):
        return ranking

    def __getattribute__(self, name):
        if name == "refine":
            raise SystemExit(3)
        return super().__getattribute__(name)

@hook
def register_fusers(register):
    register("undecided", Undecided)

@hook
def register_refiners(register):
    register("leaving", Leaving)
"""


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        (
            "fusers: [undecided, defaults]",
            "fuser 'undecided' failed: ValueError: neither true nor false",
        ),
        ("refiners: [leaving, defaults]", "refiner 'leaving' failed: SystemExit: 3"),
    ],
)
def test_the_answer_comes_without_the_stage_and_names_it(
    tmp_path: Path, stages: str, problem: str
) -> None:
    workspace = write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})
    environ = {"PYTHONPATH": str(stranger(tmp_path / "plugins", "looker", PLUGIN))}
    file = workspace / "fumishirube.yaml"
    file.write_text(f"pipelines: {{manual: {{{stages}}}}}\n", encoding="utf-8")
    done = fumishirube("find", "oil", "--json", cwd=workspace, environ=environ)
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert "of plugin 'looker' failed and was skipped" in str(done.json["coverage"]["degraded"])
    assert f"problem: plugin looker: {problem}" in done.err
    listed = fumishirube("plugins", "--json", cwd=workspace, environ=environ).json
    (faults,) = (report["faults"] for report in listed if report["plugin"] == "looker")
    assert [fault.startswith(problem) for fault in faults] == [True]


WORK = ForeignWork("looker", "looker", "refiner 'late'")


@pytest.fixture
def guard(tmp_path: Path) -> Iterator[PluginGuard]:
    with closing(PluginGuard(tmp_path / "state")) as guard:
        yield guard


class Late:
    """Has its method only when it is asked for it again."""

    asked = 0

    @property
    def refine(self) -> Any:
        self.asked += 1
        if self.asked <= 2:
            raise OSError("not loaded yet")
        return lambda: "refined"


def test_a_method_that_could_not_be_looked_up_once_works_later(guard: PluginGuard) -> None:
    stage: Any = GuardedStage(Late(), WORK, guard)
    with pytest.raises(OSError, match="not loaded yet"):
        stage.refine()
    assert [fault.problem for fault in guard.log.faults()] == ["OSError: not loaded yet"]
    assert stage.refine() == "refined"
    assert guard.log.faults() == []


class Characters:
    """Makes a term of each character."""

    def terms(self, text: str) -> list[str]:
        return [*text]

    def narrow(self, text: str) -> Any:
        raise NotImplementedError


def test_a_section_as_large_as_a_file_may_have_as_many_terms(guard: PluginGuard) -> None:
    tokenizer = GuardedTokenizer(Characters(), WORK, guard)
    assert len(tokenizer.terms("x" * (MOST_ITEMS + 1))) == MOST_ITEMS + 1


class Index:
    """Opens an index that closes slowly."""

    def open(self, folder: Root, fields: Fields) -> Any:
        return SlowlyClosed()


class SlowlyClosed:
    def __getattr__(self, name: str) -> Any:
        return lambda: time.sleep(7 if name == "close" else 0)


@pytest.mark.slow
def test_an_index_that_closes_slowly_is_named_while_all_else_waits(
    guard: PluginGuard, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    index = GuardedIndex(Index(), WORK, guard).open(Root(tmp_path), Fields((), Characters()))
    index.close()
    assert "it is not closed after 5 s, and everything waits for it" in caplog.text
    assert guard.log.faults() == []
