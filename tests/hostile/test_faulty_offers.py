"""What plugins do wrong in surfaces, commands and observers: named, and confined to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import Done, fumishirube, write
from strangers import PLUGIN, stranger


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path / "work", {"m/a.md": "# Oil\n\nChange the oil.\n"})


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return the folder in which plugins are installed."""
    return tmp_path / "plugins"


def run(workspace: Path, *words: str) -> Done:
    return fumishirube(*words, cwd=workspace, environ=installed(workspace))


def installed(workspace: Path) -> dict[str, str]:
    """Return the environment in which the test's plugins can be imported."""
    return {"PYTHONPATH": str(workspace.parent / "plugins")}


def configure(workspace: Path, text: str) -> None:
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def report(workspace: Path, plugin: str) -> Any:
    """Return what ``plugins`` says of a plugin."""
    done = run(workspace, "plugins", "--json")
    assert done.code == 0, done.err
    return next(report for report in done.json if report["plugin"] == plugin)


def doctor_names(workspace: Path, plugin: str, problem: str) -> bool:
    """Tell whether ``doctor`` fails with a problem of a plugin."""
    done = run(workspace, "doctor", "--json")
    assert done.code == 1, done.err
    failures = [check for check in done.json if check["status"] == "FAIL"]
    return any(c["subject"] == f"plugin {plugin}" and problem in c["finding"] for c in failures)


# --- observers ----------------------------------------------------------------------------------

OBSERVER = """
from fumishirube import hook

@hook
def search_finished(trace):
    raise SystemExit(3)
"""


def test_an_observer_that_exits_costs_no_answer_and_is_named(
    workspace: Path, plugins: Path
) -> None:
    stranger(plugins, "watcher", OBSERVER)
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    problem = "its search_finished failed: SystemExit: 3"
    assert f"plugin watcher: {problem}" in done.err
    assert report(workspace, "watcher")["faults"][0].startswith(problem)


# --- exceptions without a message ---------------------------------------------------------------

WORDLESS = """
class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no message")
"""


def test_an_exception_that_cannot_be_written_is_named_by_its_type(
    workspace: Path, plugins: Path
) -> None:
    code = PLUGIN.format(name="wordless").replace("return ranking", "raise Wordless")
    stranger(plugins, "first", WORDLESS + code)
    stranger(plugins, "second", WORDLESS + "raise Wordless\n")
    configure(workspace, "pipelines: {manual: {refiners: [{use: wordless}]}}\n")
    done = run(workspace, "find", "oil", "--json")
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert "plugin first: refiner 'wordless' failed: Wordless" in done.err
    assert report(workspace, "second")["problems"] == ["cannot be imported: Wordless"]
