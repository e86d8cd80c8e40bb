"""What is deprecated goes on working, and whoever uses it is told: authors, and their users."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel, Field

import fumishirube
from fumishirube import Hit
from fumishirube.config.notices import deprecated_settings
from fumishirube.plugins import deprecation
from fumishirube.plugins.deprecation import Deprecation, RenamedExport, collect_deprecations

if TYPE_CHECKING:
    from plugin_venv import PluginVenv

pytest_plugins = ["plugin_venv"]

SAID = "fumishirube.OldHit is called Hit since 0.1; it goes in 0.3"
PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "fumishirube-dated"
version = "1.0"
[project.entry-points."fumishirube.v1"]
dated = "fumishirube_dated"
"""
PLUGIN = '''
import warnings
from pydantic import Field
from fumishirube import OldHit, Stage, hook
warnings.warn("nothing of Fumishirube's", DeprecationWarning)

class Dated(Stage):
    """Has a setting of old."""
    old: int = Field(default=1, deprecated="use new")
    new: int = 1
    def refine(self, ranking, query, corpus):
        assert all(isinstance(hit, OldHit) for hit in ranking.hits)
        return ranking

@hook
def register_refiners(register):
    register("dated", Dated)
'''
RUN = """
import sys
import fumishirube.plugins.deprecation as d
d.RENAMED = {"OldHit": d.RenamedExport("Hit", "0.1", "0.3")}
from fumishirube.faces.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecation, "RENAMED", {"OldHit": RenamedExport("Hit", "0.1", "0.3")})


def test_nothing_of_the_facade_is_deprecated_without_a_successor() -> None:
    for name, one in deprecation.RENAMED.items():
        assert one.now in fumishirube.__all__
        assert name not in fumishirube.__all__


@pytest.mark.usefixtures("renamed")
def test_an_old_name_works_and_warns_whoever_asks_for_it() -> None:
    with pytest.warns(Deprecation, match="OldHit is called Hit since 0.1") as heard:
        assert fumishirube.OldHit is Hit  # type: ignore[attr-defined]
    assert heard[0].filename == __file__
    with pytest.raises(AttributeError, match="module 'fumishirube' has no attribute 'NoHit'"):
        _ = fumishirube.NoHit  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="cannot import name 'NoHit' from 'fumishirube'"):
        exec("from fumishirube import NoHit")


def test_other_warnings_go_their_way() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with collect_deprecations() as messages:
            warnings.warn("one", Deprecation, stacklevel=1)
            warnings.warn("one", Deprecation, stacklevel=1)
            warnings.warn("other", UserWarning, stacklevel=1)
    assert messages == ["one"]
    assert {str(one.message) for one in heard} == {"one", "other"}


def test_a_setting_that_is_set_is_told_with_its_coordinate() -> None:
    class Inner(BaseModel):
        old: int = Field(default=1, deprecated="use new")
        older: int = Field(default=1, deprecated=True)

    class Outer(BaseModel):
        inner: Inner = Inner()
        fresh: int = 1

    assert list(deprecated_settings(Outer(), "x")) == []
    given = Outer.model_validate({"fresh": 2, "inner": {"old": 1, "older": 2}})
    assert list(deprecated_settings(given, "x")) == [
        "x.inner.old: it is deprecated: use new",
        "x.inner.older: it is deprecated: deprecated",
    ]


def test_users_are_told_what_an_installed_plugin_uses(
    plugin_venv: PluginVenv, tmp_path: Path
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (package / "fumishirube_dated.py").write_text(PLUGIN, encoding="utf-8")
    (tmp_path / "manuals" / "m1").mkdir(parents=True)
    (tmp_path / "manuals" / "m1" / "a.md").write_text("# Leave\n\nTen days.\n", encoding="utf-8")
    (tmp_path / "fumishirube.yaml").write_text(
        "pipelines: {manual: {refiners: [{use: dated, with: {old: 2}}]}}\n", encoding="utf-8"
    )
    pip = [sys.executable, "-m", "pip", "--python", str(plugin_venv.python), "--quiet"]
    local = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *local, package], check=True)
    try:
        doctor, plugins, find = (
            _main(plugin_venv, tmp_path, *words)
            for words in (["doctor"], ["plugins", "--json"], ["find", "leave"])
        )
    finally:
        subprocess.run([*pip, "uninstall", "--yes", "fumishirube-dated"], check=True)
    reports = {one["plugin"]: one for one in json.loads(plugins.stdout)}
    assert reports["dated"]["status"] == "loaded"
    assert reports["dated"]["problems"] == []
    assert reports["dated"]["deprecations"] == [SAID]
    assert all(not one["deprecations"] for one in reports.values() if one["plugin"] != "dated")
    lines = [line for line in doctor.stdout.splitlines() if SAID in line]
    assert len(lines) == 1
    assert lines[0].startswith("warn")
    assert lines[0].endswith("; update fumishirube-dated")
    assert find.returncode == 0
    where = "pipelines.manual.refiners[0].with.old: it is deprecated: use new"
    assert f"warning: {where}" in find.stderr
    assert where in doctor.stdout


def _main(venv: PluginVenv, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [venv.python, "-c", RUN, *words, "--workspace", str(folder)],
        env=venv.environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
