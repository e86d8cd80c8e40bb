"""Stages of plugins that fail where a value of theirs is looked up or used, not in a call."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import fumishirube, write
from strangers import stranger

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
