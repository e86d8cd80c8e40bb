"""``fumishirube plugins doctor``: each reason why a plugin has no effect, and the remedy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from manuals import write
from stdio import Wire
from strangers import PLUGIN, claim, stranger
from warm_start import warm_script

from fumishirube.plugins.discovery import load_plugins
from fumishirube_authoring.package_files import package_files

SURFACE = """
from typing import ClassVar
from fumishirube import Stage, hook

class Faulty(Stage):
    root: ClassVar = "manuals"
    pipeline: ClassVar = {}

    def tools(self, context):
        raise KeyError("no tools")

@hook
def register_surfaces(register):
    register("faulty", Faulty)
"""
COMMAND = """
from fumishirube import Command, hook

@hook
def register_commands(register):
    register(Command("greet", "say hello", "no_such_module.greeting"))
"""
OBSERVER = """
from fumishirube import hook

@hook
def search_finished(trace):
    print("searched")
"""
VECTOR = (
    "add {use: vector} to pipelines.manual.scorers; "
    "write into fumishirube.yaml: pipelines: {manual: {embedder: hashing}}"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path / "work", {"m1/a.md": "# Oil\n\nOil.\n"})


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return the folder in which plugins are installed."""
    (tmp_path / "plugins").mkdir()
    return tmp_path / "plugins"


def run(workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm_script(), *words],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(workspace.parent / "plugins"), "LANG": "C"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


def doctor(workspace: Path, name: str, *words: str) -> tuple[int, list[dict[str, str]]]:
    done = run(workspace, "plugins", "doctor", name, *words, "--json")
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def failure(workspace: Path, name: str, *words: str) -> str:
    """Return the first thing that fails, with its remedy."""
    code, checks = doctor(workspace, name, *words)
    assert code == 1, checks
    first = next(check for check in checks if check["status"] == "FAIL")
    return f"{first['subject']}: {first['finding']}; {first['remedy']}"


def configure(workspace: Path, text: str) -> None:
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def test_a_plugin_in_use_is_well(workspace: Path, plugins: Path) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    configure(workspace, "pipelines: {manual: {refiners: [{use: steady}]}}\n")
    for name in ("first", "First", "steady"):
        code, checks = doctor(workspace, name)
        assert code == 0, checks
        assert [check["status"] for check in checks] == ["ok", "ok"]
        assert checks[-1]["finding"] == "it is used in pipelines.manual.refiners"
    assert doctor(workspace, "stages")[0] == 0
    assert [check["subject"] for check in doctor(workspace, "rrf")[1]][1:] == ["fuser rrf"]


def test_what_is_said_to_run_a_command_can_be_typed(workspace: Path) -> None:
    findings = [
        check["finding"]
        for plugin in ("http", "vault", "graph")
        for check in doctor(workspace, plugin)[1]
        if check["subject"].startswith("command ")
    ]
    assert "set MANUAL_TOOLS_BASE_URL, and run 'fumishirube serve'" in findings
    for finding in findings:
        words = re.findall(r"run (?:it as )?'fumishirube (.*)'", finding)
        assert words, finding
        assert run(workspace, *words[0].split(), "--help").returncode == 0


def test_a_package_that_is_not_installed_is_named_with_its_command(
    workspace: Path, plugins: Path
) -> None:
    told = failure(workspace, "fumishirube-nowhere")
    assert f"no plugin, package or stage has this name for {sys.executable}" in told
    assert f"{sys.executable} -m pip install PATH" in told
    assert "install fumishirube-nowhere" not in told, "anybody may own that name on the index"
    assert "did you mean 'manual'?" in failure(workspace, "manuel")
    assert "did you mean 'lexical'?" in failure(workspace, "lexicale")
    unlike = failure(workspace, "zzzz")
    assert "manual, " in unlike
    assert not re.search(r"[ :]fumishirube[,;]", unlike)
    source = workspace / "fumishirube-mine"
    source.mkdir()
    (source / "pyproject.toml").write_text('[project]\nname = "fumishirube-mine"\n')
    assert "pip install -e ./fumishirube-mine" in failure(workspace, "fumishirube-mine")
    (plugins / "astray.py").write_text("")
    assert "a module 'astray' can be imported, but no package" in failure(workspace, "astray")


def test_a_package_without_an_entry_point_is_told_which_line_it_lacks(
    workspace: Path, plugins: Path
) -> None:
    claim(plugins, "fumishirube-blue", "blue = fumishirube_blue", "other")
    told = failure(workspace, "fumishirube-blue")
    assert "has no entry point in the group 'fumishirube.v1'" in told
    assert 'a line such as blue = "fumishirube_blue"' in told


@pytest.mark.parametrize(
    ("group", "told"),
    [
        ("fumishirube.plugins", "its entry points are in the group 'fumishirube.plugins'"),
        ("fumishirube", "its entry points are in the group 'fumishirube', and this is"),
        ("fumishirube.v2", "it is for the plugin API fumishirube.v2, and this is fumishirube.v1"),
    ],
)
def test_another_group_is_named(workspace: Path, plugins: Path, group: str, told: str) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"), group=group)
    assert told in failure(workspace, "first")


@pytest.mark.parametrize(
    ("code", "error", "remedy"),
    [
        ("\n\nraise ValueError('no')", "ValueError: no (", "correct the module first"),
        ("import absent_module", "No module named 'absent_module'", "to its dependencies"),
        ("def broken(:", "SyntaxError", "correct the module first"),
        ("raise SystemExit(3)", "SystemExit: 3", "correct the module first"),
    ],
)
def test_an_import_error_is_named_with_its_place(
    workspace: Path, plugins: Path, code: str, error: str, remedy: str
) -> None:
    stranger(plugins, "first", code)
    told = failure(workspace, "first")
    assert error in told
    assert remedy in told
    line = code.count("\n") + 1
    assert ("SyntaxError" in error) or f"first.py, line {line})" in told


def test_a_module_that_the_package_lacks_is_named(workspace: Path, plugins: Path) -> None:
    claim(plugins, "first", "first = first_module")
    assert "the package has no module 'first_module'" in failure(workspace, "first")


@pytest.mark.many_cases
@pytest.mark.parametrize("value", ["my-plugin", "a b:c", ":x", ".", "a..b"])
def test_an_entry_point_that_names_no_module_is_shown_and_stops_nothing(
    workspace: Path, plugins: Path, value: str
) -> None:
    claim(plugins, "first", f"first = {value}")
    told = f"its entry point {value!r} is no dotted name of a module"
    assert told in failure(workspace, "first")
    assert told in run(workspace, "plugins").stdout
    with Wire(workspace, PYTHONPATH=str(plugins)) as wire:
        assert wire.ok("manual_ls")["items"]


@pytest.mark.slow
@pytest.mark.parametrize("metadata", [None, "Metadata-Version: 2.1\n"])
def test_a_half_removed_package_is_listed_and_stops_nothing(
    workspace: Path, plugins: Path, metadata: str | None
) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    (about,) = plugins.glob("*.dist-info")
    (about / "METADATA").unlink()
    if metadata is not None:
        (about / "METADATA").write_text(metadata)
    reports = json.loads(run(workspace, "plugins", "--json").stdout)
    (report,) = [report for report in reports if report["plugin"] == "first"]
    assert (report["status"], report["distribution"]) == ("loaded", "unknown")
    assert doctor(workspace, "steady")[1][0]["status"] == "ok"
    assert run(workspace, "find", "Oil").returncode == 0
    with Wire(workspace, PYTHONPATH=str(plugins)) as wire:
        assert wire.ok("manual_ls")["items"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("@hook", "", "it registers nothing; add a hook such as register_scorers"),
        ("register_refiners", "register_finers", "there is no hook 'register_finers'"),
        ("register_refiners", "register_fusers", "Plain is no fuser: it has no method plan()"),
        ("steady", "cutoff", "refiner 'cutoff' is the name of a built-in; choose another"),
    ],
)
def test_a_wrong_module_is_named(
    workspace: Path, plugins: Path, old: str, new: str, told: str
) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady").replace(old, new))
    assert told in failure(workspace, "first")


def test_a_rival_of_the_same_name_is_named(workspace: Path, plugins: Path) -> None:
    for name in ("first", "second"):
        stranger(plugins, name, PLUGIN.format(name="contested"))
    assert "is also offered by second; none gets it" in failure(workspace, "first")
    code, checks = doctor(workspace, "contested")
    assert code == 1
    assert {check["subject"] for check in checks} == {"plugin first", "plugin second"}


def test_a_plugin_that_is_left_out_is_named(workspace: Path, plugins: Path) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    assert "left out by --no-plugins" in failure(workspace, "first", "--no-plugins")


def test_a_stage_that_nothing_uses_is_named_with_lines_that_use_it(
    workspace: Path, plugins: Path
) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    told = failure(workspace, "steady")
    assert "refiner steady: nothing in the configuration uses it" in told
    configure(workspace, told.partition("fumishirube.yaml: ")[2])
    code, checks = doctor(workspace, "steady")
    assert code == 0, checks


def test_a_loader_that_others_leave_nothing_is_named(workspace: Path, plugins: Path) -> None:
    code = package_files("fumishirube-mine", "loader", load_plugins(strangers=False))
    stranger(plugins, "mine", code["src/fumishirube_mine/__init__.py"])
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", code["README.md"], re.DOTALL | re.MULTILINE)
    configure(workspace, block)
    write(workspace, {"m1/oil.adoc": "= Filter\n\nClean the filter.\n"})
    assert [check["status"] for check in doctor(workspace, "mine")[1]] == ["ok", "ok"]
    configure(workspace, "pipelines: {manual: {loaders: [defaults, mine]}}\n")
    status, checks = doctor(workspace, "mine")
    assert (status, checks[-1]["status"]) == (0, "warn")
    assert checks[-1]["remedy"] == "put it before them in pipelines.manual.loaders"


def test_the_embedder_of_the_cache_is_used(workspace: Path) -> None:
    configure(workspace, "cache: {embedder: hashing}\n")
    code, checks = doctor(workspace, "hashing")
    assert (code, checks[-1]["finding"]) == (0, "it is used in cache.embedder")


def test_what_is_said_to_use_an_embedder_starts(workspace: Path) -> None:
    configure(workspace, failure(workspace, "hashing").partition("fumishirube.yaml: ")[2])
    assert doctor(workspace, "hashing")[0] == 0


@pytest.mark.parametrize(
    ("yaml", "name", "told"),
    [
        ("pipelines: {manual: {scorers: [{use: lexical}]}}", "vector", VECTOR),
        ("surfaces: [{use: manual, with: {}}]", "chapters", "add {use: chapters} to surfaces"),
        (
            "pipelines: {manual: {scorers: [{use: lexical, with: {title_boost: 1.0}}]}}",
            "numbers",
            "add {use: numbers} to pipelines.manual.scorers",
        ),
    ],
)
def test_what_is_said_drops_no_settings(workspace: Path, yaml: str, name: str, told: str) -> None:
    configure(workspace, f"{yaml}\n")
    assert doctor(workspace, name)[1][-1]["remedy"] == told


def test_what_a_plugin_says_that_it_needs_is_not_trusted(workspace: Path, plugins: Path) -> None:
    code = PLUGIN.format(name="steady").replace("    def", "    needs: 'ClassVar' = 5\n    def", 1)
    stranger(plugins, "first", f"from typing import ClassVar\n{code}")
    assert "refiners: [steady, defaults]" in failure(workspace, "steady")


def test_a_stage_under_a_wrong_kind_is_named_with_the_right_one(
    workspace: Path, plugins: Path
) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    configure(workspace, "pipelines:\n  manual:\n    scorers: [{use: steady}]\n")
    told = failure(workspace, "first")
    assert (
        "pipelines.manual.scorers[0] names 'steady' as a scorer (fumishirube.yaml line 3)" in told
    )
    assert "it is a refiner; write it under refiners" in told
    configure(workspace, "pipelines: {manual: {scorers: [{use: absent}]}}\n")
    assert doctor(workspace, "absent")[1][-1]["remedy"] == "install its package, or leave it out"


def test_a_faulty_configuration_is_named(workspace: Path, plugins: Path) -> None:
    stranger(plugins, "first", PLUGIN.format(name="steady"))
    configure(workspace, "pipelines: {manual: {refiners: [{use: steady, with: {a: 1}}]}}\n")
    assert "configuration: pipelines.manual.refiners[0].with" in failure(workspace, "first")


def test_a_surface_that_fails_and_a_command_without_a_module_are_named(
    workspace: Path, plugins: Path
) -> None:
    stranger(plugins, "first", SURFACE)
    configure(workspace, "surfaces: [{use: manual}, {use: faulty}]\n")
    assert "KeyError" in failure(workspace, "first")
    stranger(plugins, "greeter", COMMAND)
    told = failure(workspace, "greeter")
    assert "no_such_module.greeting cannot be imported" in told


def test_what_a_stage_did_wrong_in_a_search_is_named(workspace: Path, plugins: Path) -> None:
    code = PLUGIN.format(name="steady").replace("return ranking", "raise KeyError('late')")
    stranger(plugins, "first", code)
    configure(workspace, "pipelines: {manual: {refiners: [{use: steady}]}}\n")
    run(workspace, "find", "oil")
    assert "KeyError: 'late'" in failure(workspace, "first")
    findings = [check["finding"] for check in doctor(workspace, "first")[1]]
    assert not any("it took" in finding for finding in findings), "it did nothing"


@pytest.mark.slow
def test_a_slow_stage_is_named_with_its_seconds(workspace: Path, plugins: Path) -> None:
    slow = "import time; time.sleep(1.2); return ranking"
    stranger(plugins, "first", PLUGIN.format(name="steady").replace("return ranking", slow))
    stranger(plugins, "second", PLUGIN.format(name="quick"))
    configure(
        workspace,
        "pipelines: {manual: {refiners: [{use: steady, as: mine}, {use: quick}]}}\n",
    )
    run(workspace, "find", "oil")
    (stage,) = (one for one in doctor(workspace, "first")[1] if one["status"] == "warn")
    took = re.search(r"it took (\d\.\d+) s of (\d+\.\d+) s", stage["finding"])
    assert took is not None, stage
    assert 1.2 <= float(took[1]) <= float(took[2])
    assert stage["remedy"] == "make it faster, or leave it out"
    (code, checks) = doctor(workspace, "quick")
    assert (code, {check["status"] for check in checks}) == (0, {"ok"})
    assert "in the slowest recorded search it took 0.0" in checks[-1]["finding"]


def test_the_list_of_plugins_is_as_before(workspace: Path) -> None:
    assert "manual  fumishirube " in run(workspace, "plugins").stdout
    assert json.loads(run(workspace, "plugins", "--json").stdout)


def test_an_observer_is_listed_and_counted_like_a_stage(workspace: Path, plugins: Path) -> None:
    stranger(plugins, "watcher", OBSERVER)
    listed = run(workspace, "plugins").stdout.splitlines()
    (at,) = (place for place, line in enumerate(listed) if line.startswith("watcher  "))
    assert listed[at + 1] == "  observer: search_finished"
    assert "watcher 1.0, offers 1 part\n" in run(workspace, "doctor").stdout
    done = run(workspace, "plugins", "doctor", "watcher")
    said = "ok  observer search_finished  it is called after each search"
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, said)
