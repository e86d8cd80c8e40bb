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
import os
from typing import Any, ClassVar
from fumishirube import Stage, hook
from fumishirube_stages.fusers.rrf import Rrf
from fumishirube_stages.loaders.markdown import Markdown
from fumishirube_stages.scorers.lexical import Lexical

NAME, _, VALUE = os.environ.get("ODD", "").partition("=")

def odd(stage):
    values = {NAME: eval(VALUE), "__annotations__": {NAME: ClassVar[Any]}} if NAME else {}
    return type("Odd" + stage.__name__, (stage,), {"__module__": __name__, **values})

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

class Remembered(Markdown):
    remembered: ClassVar[bool] = True

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
    register("odd-fuser", odd(Rrf))

@hook
def register_loaders(register):
    register("odd-loader", odd(Markdown))
    register("remembered", odd(Remembered))

@hook
def register_scorers(register):
    register("odd-scorer", odd(Lexical))

@hook
def register_refiners(register):
    register("leaving", Leaving)
"""


def configured(folder: Path, stages: str, odd: str) -> dict[str, Any]:
    """Write a workspace with these stages; return where a command uses it with an odd plugin."""
    workspace = write(folder / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})
    site = str(stranger(folder / "plugins", "looker", PLUGIN))
    file = workspace / "fumishirube.yaml"
    file.write_text(f"pipelines: {{manual: {{{stages}}}}}\n", encoding="utf-8")
    return {"cwd": workspace, "environ": {"PYTHONPATH": site, "ODD": odd}}


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        (
            "fusers: [undecided, defaults]",
            "fuser 'undecided' failed: ValueError: neither true nor false",
        ),
        ("refiners: [leaving, defaults]", "refiner 'leaving' failed: SystemExit: 3"),
        (
            "fusers: [odd-fuser]",
            "fuser 'odd-fuser' failed: TypeError: 'int' object is not callable",
        ),
    ],
)
def test_the_answer_comes_without_the_stage_and_names_it(
    tmp_path: Path, stages: str, problem: str
) -> None:
    where = configured(tmp_path, stages, "applies=5")
    done = fumishirube("find", "oil", "--json", **where)
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert "of plugin 'looker' failed and was skipped" in str(done.json["coverage"]["degraded"])
    assert f"problem: plugin looker: {problem}" in done.err
    listed = fumishirube("plugins", "--json", **where).json
    (faults,) = (report["faults"] for report in listed if report["plugin"] == "looker")
    assert [fault.startswith(problem) for fault in faults] == [True]


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ("needs=5", "TypeError: 'int' object is not iterable"),
        ("needs=[5]", "TypeError: 'needs' has something else than texts"),
        ("needs='vectors'", "TypeError: 'needs' is the text 'vectors', not several"),
        ("remembered=property(lambda _: 1 / 0)", "ZeroDivisionError: division by zero"),
        ("parsed_fingerprint=property(lambda _: 1 / 0)", "ZeroDivisionError: division by zero"),
        ("as_written=property(lambda _: 1 / 0)", "ZeroDivisionError: division by zero"),
    ],
)
def test_what_a_stage_says_of_itself_is_read_where_it_can_be_named(
    tmp_path: Path, odd: str, problem: str
) -> None:
    done = fumishirube("find", "oil", **configured(tmp_path, "loaders: [odd-loader]", odd))
    assert done.code == 2
    assert "pipelines.manual.loaders[0]: loader 'odd-loader' of plugin looker: " in done.err
    assert problem in done.err


@pytest.mark.parametrize("odd", ["last=None", "last='yes'", "generates='yes'", "needs=None"])
def test_what_a_scorer_says_of_itself_may_be_none_or_else_is_true(tmp_path: Path, odd: str) -> None:
    done = fumishirube("find", "oil", **configured(tmp_path, "scorers: [odd-scorer, lexical]", odd))
    assert (done.code, "1. Oil" in done.out) == (0, True), done.err


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ("caching=5", "TypeError: 'int' object is not callable"),
        ("caching=lambda *_: None", "TypeError: it returned a NoneType and no loader"),
    ],
)
def test_a_loader_that_cannot_use_a_cache_as_it_says_is_named(
    tmp_path: Path, odd: str, problem: str
) -> None:
    done = fumishirube("find", "oil", **configured(tmp_path, "loaders: [remembered]", odd))
    assert f"problem: plugin looker: loader 'remembered' failed: {problem}" in done.err
    assert "error: loader 'remembered' of plugin looker failed: TypeError" in done.err


@pytest.mark.parametrize("odd", ["5", "{'.pdf': 5}", "property(lambda _: 1)", "{'.pdf': 'a {b'}"])
def test_advice_of_a_loader_that_is_none_hinders_nobody(tmp_path: Path, odd: str) -> None:
    workspace = write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})
    (workspace / "manuals" / "m" / "x.pdf").touch()
    site = str(stranger(tmp_path / "plugins", "looker", PLUGIN))
    environ = {"PYTHONPATH": site, "ODD": f"reads_if={odd}"}
    for words in (["ls", "m"], ["doctor"], ["find", "oil", "-v"]):
        done = fumishirube(*words, cwd=workspace, environ=environ)
        assert "Traceback" not in done.err
        assert "unexpected" not in done.err
        assert ".pdf" in done.out + done.err


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
