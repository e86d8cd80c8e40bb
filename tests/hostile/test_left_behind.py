"""Plugins that leave timers, copies of the process or other streams behind: undone, and named."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from http_server import eventually
from manuals import fumishirube, write
from stdio import Wire
from strangers import stranger

from fumishirube.faces.cli.folders import folders_in_place, keep_folders
from fumishirube.host.left_behind import undoing
from fumishirube.plugins.discovery import load_plugins

SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar"]}
PLUGIN = """
import io, logging, os, signal, sys
from fumishirube import Document, Section, Source, Stage, hook

def leave(where):
    if os.environ.get("WHERE") != where:
        return
    match os.environ["LEFT"]:
        case "timer": signal.setitimer(signal.ITIMER_REAL, 0.2)
        case "copy": os.fork()
        case "folder": os.chdir(os.path.dirname(os.getcwd()))
        case "no folder": os.rmdir(os.getcwd())
        case "log":
            logging.disable(logging.CRITICAL)
            raise RuntimeError("hostile")
        case "limit": sys.setrecursionlimit(90)
        case "no output": sys.stdout = None
        case "other output": sys.stdout = io.StringIO()
        case "closed output":
            sys.stdout.close()
            raise RuntimeError("hostile")
        case "no errors": sys.stderr = None
        case "closed errors": sys.stderr.close()
        case "detached output": sys.stdout = io.TextIOWrapper(sys.stdout.detach(), "utf-8")
        case "detached errors": sys.stderr.detach()
        case "closed descriptors":
            os.close(1)
            os.close(2)

leave("import")

class Reads(Stage):
    def sources(self, root):
        return [Source("x.zz")]

    def load(self, root, source):
        leave("load")
        return Document("x.zz", "zz", "solar", (Section("Zz", 1, 1, 0, 5, 5, 0),))

class Refines(Stage):
    def model_post_init(self, context):
        leave("make")

    def refine(self, ranking, query, corpus):
        leave("refine")
        return ranking

@hook
def register_loaders(register):
    register("leaver", Reads)

@hook
def register_refiners(register):
    register("leaver", Refines)
"""
WAITER = """
from threading import Event
from fumishirube import Stage, hook

begun, ended = Event(), Event()

class Refines(Stage):
    def refine(self, ranking, query, corpus):
        return ranking

@hook
def register_refiners(register):
    begun.set()
    assert ended.wait(30)
    register("waiter", Refines)
"""
TIMER = "it left a timer behind that would have ended the process"
COPY = "it copied the process, and the copy went on; the copy was ended"
STREAM = "it closed or replaced a standard stream"
COMMAND = [
    ("log", "it switched off the log"),
    ("log", "RuntimeError: hostile"),
    ("limit", "it lowered the limit of nested calls"),
    ("no output", STREAM),
    ("other output", STREAM),
    ("closed output", "RuntimeError: hostile"),
    ("no errors", STREAM),
    ("closed errors", STREAM),
    ("detached output", STREAM),
    ("detached errors", STREAM),
    ("closed descriptors", STREAM),
]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither of them")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    write(tmp_path, {"m/a.md": "# Sun\nSolar winter.\n", "m/x.zz": "x"})
    stages = "loaders: [defaults, leaver], refiners: [defaults, leaver]"
    (tmp_path / "fumishirube.yaml").write_text(f"pipelines: {{manual: {{{stages}}}}}\n")
    return tmp_path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(stranger(tmp_path_factory.mktemp("plugins") / "site", "leaver", PLUGIN))


def faults(workspace: Path, site: str) -> str:
    done = fumishirube("plugins", "--json", cwd=workspace, environ={"PYTHONPATH": site})
    return str([report["faults"] for report in done.json if report["plugin"] == "leaver"])


@pytest.mark.many_cases
@pytest.mark.parametrize(("left", "told"), COMMAND)
def test_a_command_has_its_own_streams_again(
    workspace: Path, site: str, left: str, told: str
) -> None:
    environ = {"PYTHONPATH": site, "WHERE": "refine", "LEFT": left}
    done = fumishirube("find", "solar winter", "--json", cwd=workspace, environ=environ)
    assert done.code == 0
    assert done.json["hits"]
    assert f"problem: plugin leaver: refiner 'leaver' failed: {told}" in done.err
    assert "refiner 'leaver' failed: " in faults(workspace, site)


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("where", ["import", "load", "refine"])
def test_a_copy_of_the_process_answers_nothing(workspace: Path, site: str, where: str) -> None:
    environ = {"PYTHONPATH": site, "WHERE": where, "LEFT": "copy"}
    done = fumishirube("find", "solar winter", "--json", cwd=workspace, environ=environ)
    assert done.json["hits"], "one answer, and one alone"
    assert COPY in done.err
    assert COPY in faults(workspace, site)


@pytest.mark.slow
@POSIX
def test_a_server_outlives_a_timer_and_copies_of_itself(workspace: Path, site: str) -> None:
    for left, told in (("timer", TIMER), ("copy", COPY)):
        with Wire(workspace, PYTHONPATH=site, WHERE="refine", LEFT=left) as wire:
            wire.ok("manual_ls")
            assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
            time.sleep(0.3)
            wire.ping()
            assert f"plugin leaver: refiner 'leaver' failed: {told}" in wire.hang_up()
        assert told in faults(workspace, site)


@POSIX
def test_a_timer_from_before_stays() -> None:
    before = signal.setitimer(signal.ITIMER_REAL, 600)
    try:
        with undoing(lambda: None) as left:
            pass
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
        assert TIMER not in left
    finally:
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_a_command_finds_the_workspace_after_an_import_changed_the_current_folder(
    workspace: Path, site: str
) -> None:
    environ = {"PYTHONPATH": site, "WHERE": "import", "LEFT": "folder"}
    done = fumishirube("find", "solar winter", "--json", cwd=workspace, environ=environ)
    assert done.code == 0, done.err
    assert done.json["hits"]
    listed = fumishirube("plugins", "--json", cwd=workspace, environ=environ).json
    (problems,) = (report["problems"] for report in listed if report["plugin"] == "leaver")
    assert problems == ["it changed the current folder, which was undone"]


@POSIX
def test_a_command_answers_though_an_import_removed_the_current_folder(
    workspace: Path, site: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    environ = {"PYTHONPATH": site, "WHERE": "import", "LEFT": "no folder"}
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    words = ("find", "solar winter", "--json", "--workspace", str(workspace))
    done = fumishirube(*words, cwd=elsewhere, environ=environ)
    assert done.code == 0, done.err
    assert done.json["hits"]
    assert not elsewhere.exists()


def test_a_call_that_changes_the_current_folder_beside_a_reload_has_it_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(stranger(tmp_path / "site", "waiter", WAITER))
    waiter, before = importlib.import_module("waiter"), Path.cwd()
    monkeypatch.chdir(tmp_path)  # as a call does, and undoes
    with ThreadPoolExecutor(1) as reloading:
        loading = reloading.submit(load_plugins)
        assert waiter.begun.wait(30)
        os.chdir(before)
        waiter.ended.set()
        plugins = loading.result()
    assert Path.cwd() == before
    (report,) = (report for report in plugins.reports if report.plugin == "waiter")
    assert report.problems == ()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_server_follows_a_link_that_leads_to_another_folder_later(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    (tmp_path / "current").symlink_to("old")
    options = Namespace(config=None, folders=[str(tmp_path / "current")])
    keep_folders(options)
    assert folders_in_place(options) == {"old": tmp_path / "old"}
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("new")
    assert folders_in_place(options) == {"new": tmp_path / "new"}


@pytest.mark.parametrize("where", ["make", "refine"])
@pytest.mark.parametrize("chosen", [("--workspace", "."), ("--in", "manuals/m")])
def test_a_server_reads_its_configuration_again_after_the_current_folder_changed(
    workspace: Path, site: str, chosen: tuple[str, str], where: str
) -> None:
    file = workspace / "fumishirube.yaml"
    options = (*chosen, "--config", file.name)
    own = {f"XDG_{kind}_HOME": str(workspace / "own") for kind in ("CONFIG", "CACHE", "STATE")}
    environ = {"PYTHONPATH": site, "WHERE": where, "LEFT": "folder", **own}
    with Wire(workspace, *options, **environ) as wire:
        wire.ok("manual_ls")
        assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
        file.write_text("surfaces: [{use: manual, with: {extras: []}}]\n", encoding="utf-8")
        eventually(lambda: "manual_grep" not in str(wire.request("tools/list", {})))
        assert wire.ok("manual_ls")["items"]
        assert "reload refused" not in wire.hang_up()


@pytest.mark.many_cases
@pytest.mark.parametrize("left", ["no output", "detached errors", "closed descriptors"])
def test_a_server_has_its_own_streams_again(workspace: Path, site: str, left: str) -> None:
    """The next file that opens, such as one of an index, would take the number of a closed one."""
    with Wire(workspace, PYTHONPATH=site, WHERE="refine", LEFT=left) as wire:
        wire.ok("manual_ls")
        assert wire.ok("manual_find", **SEARCH)["candidates"] == 2
        if sys.platform == "linux":
            descriptors = Path(f"/proc/{wire.process.pid}/fd")
            assert (descriptors / "1").readlink() == (descriptors / "2").readlink()
        assert f"plugin leaver: refiner 'leaver' failed: {STREAM}" in wire.hang_up()


def test_a_server_leaves_an_output_that_is_only_another_one(workspace: Path, site: str) -> None:
    """Another thread may redirect it for a while."""
    for left in ("other output", "detached output"):
        with Wire(workspace, PYTHONPATH=site, WHERE="refine", LEFT=left) as wire:
            wire.ok("manual_ls")
            for _ in range(2):
                assert wire.ok("manual_find", **SEARCH, use_cache=False)["candidates"] == 2
            assert "failed" not in wire.hang_up()
