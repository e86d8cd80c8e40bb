"""``fumishirube conform``: the contracts, run on stages that are really installed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from plugin_venv import PluginVenv

pytest_plugins = ["plugin_venv"]

PARTLY = '''
from pathlib import Path
from fumishirube import Document, Section, Source, Stage, hook
from fumishirube.text import Lines, decode

class Needing(Stage):
    """Needs a name."""
    name: str
    def refine(self, ranking, query, corpus):
        return ranking

class Dropping(Stage):
    def refine(self, ranking, query, corpus):
        return ranking._replace(hits=())

class Whole(Stage):
    """Reads a file as a section."""
    def sources(self, root):
        return [Source(e.path) for e in root.files() if e.path.endswith(".note")]
    def load(self, root, source):
        text = decode(root.read_bytes(source.path))
        sections = (Section("whole", 1, Lines(text).at(max(0, len(text) - 1)), 0, len(text),
            len(text), 0),) if text.strip() else ()
        return Document(source.path, "note", text, sections)

@hook
def register_refiners(register):
    register("needing", Needing)
    register("dropping", Dropping)

@hook
def register_loaders(register):
    register("whole", Whole)
'''


@pytest.fixture
def partly(tmp_path: Path) -> Path:
    """A plugin, some of which is wrong, and some of which needs to be told more."""
    (tmp_path / "fumishirube_partly.py").write_text(PARTLY, encoding="utf-8")
    info = tmp_path / "fumishirube_partly-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: Fumishirube.Partly\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text("[fumishirube.v1]\npartly = fumishirube_partly\n")
    return tmp_path


def conform(
    venv: PluginVenv, *words: str, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    extra = {"PYTHONPATH": str(path)} if path else {}
    return subprocess.run(
        [venv.bin / "fumishirube", "conform", *words],
        env={**venv.environment, **extra},
        cwd=venv.folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


def stages(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return {one["stage"]: one for one in json.loads(done.stdout)["stages"]}


@pytest.mark.parametrize("name", ["fumishirube-borda", "borda", "Fumishirube_Borda"])
def test_a_sound_plugin_passes_by_any_of_its_names(plugin_venv: PluginVenv, name: str) -> None:
    done = conform(plugin_venv, name, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    one = stages(done)["borda"]
    assert (one["kind"], one["status"], one["failed"], one["skipped"]) == ("fuser", "passed", 0, 0)
    assert one["passed"] > 30


def test_the_table_names_each_stage_and_the_first_reason(
    plugin_venv: PluginVenv, partly: Path
) -> None:
    done = conform(plugin_venv, "partly", path=partly)
    assert done.returncode == 1
    lines = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines()}
    assert lines["stage"] == "stage kind result passed failed skipped"
    assert "failed" in lines["dropping"]
    assert "test_a_single_hit_is_not_lost: AssertionError: " in lines["dropping"], (
        "the missing docstring is named last"
    )
    assert "dropped without a reason" in lines["dropping"]
    assert lines["needing"].startswith("needing refiner not checked 0 0 0 it needs settings: name")
    assert lines["whole"].endswith("a loader needs files to read; give --files DIR")
    assert done.stdout.splitlines()[-1] == "0 of 3 stages passed"


def test_what_is_not_checked_has_not_passed(plugin_venv: PluginVenv, partly: Path) -> None:
    found = stages(conform(plugin_venv, "partly", "--json", path=partly))
    assert {name: one["status"] for name, one in found.items()} == {
        "needing": "not checked",
        "dropping": "failed",
        "whole": "not checked",
    }


def test_settings_and_files_let_it_be_checked(
    plugin_venv: PluginVenv, partly: Path, tmp_path: Path
) -> None:
    manual = tmp_path / "manual"
    manual.mkdir()
    (manual / "a.note").write_text("休暇は10日。\n申請は人事へ。\n", encoding="utf-8")
    more = ("--with", 'needing={"name": "x"}', "--files", str(manual), "--json")
    done = conform(plugin_venv, "fumishirube.partly", *more, path=partly)
    assert done.returncode == 1, "one is wrong still"
    found = stages(done)
    assert found["needing"]["status"] == "passed", found["needing"]
    assert found["whole"]["status"] == "passed", found["whole"]
    assert found["dropping"]["status"] == "failed"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--with", "neding={}"), "there is no stage 'neding'; did you mean 'needing'?"),
        (("--with", "needing=name"), "expected a JSON object after needing="),
        (("--with", "needing=[]"), "expected a JSON object after needing="),
        (
            ("--with", 'needing={"name": "x", "nam": 1}'),
            "--with needing.nam: there is no such setting",
        ),
        (("--with", 'needing={"name": 1}'), "--with needing.name"),
        (("--files", "nowhere"), "--files: there is no folder 'nowhere'"),
    ],
)
def test_unusable_settings_are_named(
    plugin_venv: PluginVenv, partly: Path, words: tuple[str, ...], message: str
) -> None:
    done = conform(plugin_venv, "partly", *words, path=partly)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("package", "message"),
    [
        (
            "fumishirube-borde",
            "there is no plugin 'fumishirube-borde'; did you mean 'fumishirube-borda'?",
        ),
        ("", "there is no plugin ''"),
        ("pydantic", "offers nothing: it has no entry point in the group 'fumishirube.v1'"),
    ],
)
def test_what_is_not_installed_or_offers_nothing_is_told(
    plugin_venv: PluginVenv, package: str, message: str
) -> None:
    done = conform(plugin_venv, package)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stdout == ""


def test_a_stage_that_raises_fails_and_a_refused_plugin_has_a_problem(
    plugin_venv: PluginVenv,
) -> None:
    done = conform(plugin_venv, "broken-scorer", "--json")
    assert done.returncode == 1
    assert stages(done)["failing-scorer"]["status"] == "failed"
    done = conform(plugin_venv, "broken-import", "--json")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["stages"] == []
    assert told["problems"][0].startswith("cannot be imported: ImportError")
    done = conform(plugin_venv, "old-api")
    assert done.returncode == 1
    assert (
        "for the plugin API fumishirube.v0, and this is fumishirube.v1: update old-api"
        in done.stdout
    )


def test_without_pytest_it_says_what_to_install(plugin_venv: PluginVenv) -> None:
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "from fumishirube.faces.cli import main; sys.exit(main(['conform', 'borda']))"
    )
    done = subprocess.run(
        [plugin_venv.python, "-c", code],
        env=plugin_venv.environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert "conform needs pytest; install it with: python -m pip install" in done.stderr
