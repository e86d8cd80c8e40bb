"""What plugins do wrong outside the stages of a search: named, guarded, and confined to them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from manuals import appears, fumishirube, write
from strangers import stranger
from warm_start import installed_script

from fumishirube.host.crash_marks import (
    FOLDER,
    CrashMarks,
    ForeignWork,
    _elsewhere,
    crashed_work,
)
from fumishirube.host.faults import FaultLog

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import PluginVenv, Serving
    from stdio import Wire

pytest_plugins = ["plugin_venv"]

PAGE = "# Power\nThe solar panel has a winter schedule.\n# Water\nPumps rest.\n"
SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar", "winter"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, {"m/a.md": PAGE})


def configure(workspace: Path, text: str) -> None:
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


def pipeline(workspace: Path, stages: str, *, strict: bool = False) -> None:
    configure(workspace, f"strict: {strict}\npipelines: {{manual: {{{stages}}}}}\n".lower())


def reports(venv: PluginVenv, workspace: Path) -> Mapping[str, Any]:
    """What ``plugins --json`` says, by plugin."""
    done = venv.fumishirube(workspace, "plugins", "--json")
    assert done.returncode == 0, done.stderr
    return {report["plugin"]: report for report in json.loads(done.stdout)}


def failing(venv: PluginVenv, workspace: Path) -> set[tuple[str, str]]:
    """The subjects and findings that make ``doctor`` fail."""
    done = venv.fumishirube(workspace, "doctor", "--json")
    assert done.returncode == 1
    checks = json.loads(done.stdout)
    return {(c["subject"], c["finding"]) for c in checks if c["status"] == "FAIL"}


def names(findings: set[tuple[str, str]], subject: str, *words: str) -> bool:
    return any(s == subject and all(word in f for word in words) for s, f in findings)


# --- surfaces ---------------------------------------------------------------------------------

TYPO = "surface 'mistyped' of plugin broken-surface: AttributeError: "
NO_PIPELINE = (
    "surfaces[2]: surface 'rootless' of plugin broken-rootless: "
    "TypeError: it has no class variable 'pipeline'"
)
SURFACES = "surfaces: [{use: manual}, {use: mistyped}, {use: rootless}]\n"


def test_surfaces_that_fail_are_left_out_and_the_rest_is_served(
    serving: Serving, workspace: Path
) -> None:
    configure(workspace, SURFACES)
    wire = serving()
    wire.ok("manual_ls")
    assert wire.ok("manual_find", **SEARCH)["candidates"] > 0
    listed = wire.request("tools/list", {})["result"]["tools"]
    assert {tool["name"].split("_")[0] for tool in listed} == {"manual"}
    stderr = wire.hang_up()
    assert f"problem: {TYPO}" in stderr
    assert f"problem: {NO_PIPELINE}" in stderr


def test_surfaces_that_fail_are_named_everywhere(plugin_venv: PluginVenv, workspace: Path) -> None:
    configure(workspace, SURFACES)
    listed = reports(plugin_venv, workspace)
    assert listed["broken-surface"]["problems"][0].startswith(TYPO)
    assert listed["broken-rootless"]["problems"][0].startswith(NO_PIPELINE)
    findings = failing(plugin_venv, workspace)
    assert names(findings, "plugin broken-surface", TYPO)
    assert names(findings, "plugin broken-rootless", NO_PIPELINE)
    called = plugin_venv.fumishirube(workspace, "call", "manual_ls", "{}")
    assert called.returncode == 0
    assert TYPO in called.stderr
    assert NO_PIPELINE in called.stderr
    assert "unexpected" not in called.stderr


@pytest.mark.parametrize(
    ("name", "message"), [("mistyped", TYPO), ("rootless", NO_PIPELINE.replace("[2]", "[1]"))]
)
def test_strict_makes_a_surface_that_fails_stop_the_start(
    plugin_venv: PluginVenv, workspace: Path, name: str, message: str
) -> None:
    configure(workspace, f"strict: true\nsurfaces: [{{use: manual}}, {{use: {name}}}]\n")
    done = plugin_venv.fumishirube(workspace, "serve")
    assert done.returncode == 2
    assert f"configuration error: {message}" in done.stderr


def test_without_plugins_the_same_configuration_names_what_is_missing(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    configure(workspace, SURFACES)
    done = plugin_venv.fumishirube(workspace, "find", "solar", "--no-plugins")
    assert done.returncode == 2
    assert "surfaces[1]: no surface is called 'mistyped'" in done.stderr
    configure(workspace, "")
    done = plugin_venv.fumishirube(workspace, "find", "solar", "--no-plugins")
    assert done.returncode == 0
    assert "noisy" not in done.stderr


# --- loaders ----------------------------------------------------------------------------------

LOADER = "loaders: [{use: markdown}, {use: failing-loader}]"
NOTES = {"m/good.note": "alpha beacon", "m/bad.note": "unreadable"}
FAILED = "loader 'failing-loader' failed on {}: ZeroDivisionError"


def found(wire: Wire, term: str) -> tuple[dict[str, Any], list[str]]:
    """Search; return the answer, and the paths of the hits."""
    asked = {"query": term, "manual_id": "m", "required_terms": [term]}
    answer = wire.ok("manual_find", **asked)
    hits = wire.ok("manual_hits", trace_id=answer["trace_id"])["items"]
    return answer, [hit["ref"]["path"] for hit in hits]


def test_a_file_on_which_a_loader_fails_is_skipped_and_named(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    write(workspace, NOTES)
    pipeline(workspace, LOADER)
    done = plugin_venv.fumishirube(workspace, "find", "beacon", "--json")
    assert done.returncode == 0
    assert [hit["ref"]["path"] for hit in json.loads(done.stdout)["hits"]] == ["good.note"]
    named = f"plugin broken-loader (broken-plugins): {FAILED.format('m/bad.note')}"
    assert named in done.stderr
    (fault,) = reports(plugin_venv, workspace)["broken-loader"]["faults"]
    assert fault.startswith(FAILED.format("m/bad.note") + ": the loader has divided by zero")
    findings = failing(plugin_venv, workspace)
    assert names(findings, "plugin broken-loader", FAILED.format("m/bad.note"))
    assert names(findings, "manual m", "its loader failed", "bad.note")
    # Once the file is read, nothing is held against the plugin any more.
    write(workspace, {"m/bad.note": "readable by now"})
    assert plugin_venv.fumishirube(workspace, "index").returncode == 0
    assert reports(plugin_venv, workspace)["broken-loader"]["faults"] == []


def test_a_loader_that_begins_to_fail_spoils_its_files_alone(
    serving: Serving, workspace: Path
) -> None:
    write(workspace, {"m/good.note": "alpha beacon", "m/other.note": "gamma"})
    pipeline(workspace, LOADER)
    wire = serving()
    wire.ok("manual_ls")
    assert found(wire, "beacon")[1] == ["good.note"]
    write(workspace, {"m/fails": "", "m/other.note": "gamma and more"})
    ref = {"manual_id": "m", "path": "good.note", "start_line": 1}
    refused = wire.refused("manual_read", ref=ref)
    assert refused["code"] == "invalid_scope"
    assert (
        refused["message"] == "loader 'failing-loader' of plugin broken-loader failed on the file"
    )
    assert found(wire, "winter")[1] == ["a.md"]
    stderr = wire.hang_up()
    assert FAILED.format("m/good.note") in stderr
    assert FAILED.format("m/other.note") in stderr
    assert "divided by zero" not in stderr, "what a plugin raises may quote a text"


def test_a_loader_that_cannot_list_its_files_any_more_keeps_those_it_had(
    serving: Serving, workspace: Path
) -> None:
    write(workspace, {"m/good.note": "alpha beacon"})
    pipeline(workspace, LOADER)
    wire = serving()
    wire.ok("manual_ls")
    assert "degraded" not in found(wire, "beacon")[0]
    write(workspace, {"m/fails-listing": ""})
    answer, paths = found(wire, "beacon")
    assert paths == ["good.note"]
    assert "loader 'failing-loader' of plugin broken-loader failed" in answer["degraded"]
    (workspace / "manuals" / "m" / "fails-listing").unlink()
    assert "degraded" not in found(wire, "beacon")[0]


def test_strict_makes_a_loader_that_fails_an_error(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    write(workspace, NOTES)
    pipeline(workspace, LOADER, strict=True)
    done = plugin_venv.fumishirube(workspace, "find", "beacon")
    assert done.returncode == 1
    message = "error: loader 'failing-loader' of plugin broken-loader failed on m/bad.note: Zero"
    assert message in done.stderr
    assert "rebuild" not in done.stderr


# --- prints -----------------------------------------------------------------------------------


def test_what_stages_print_stays_out_of_the_output(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    quiet = plugin_venv.fumishirube(workspace, "find", "solar winter", "--json", "--no-plugins")
    pipeline(workspace, "refiners: [{use: exploration}, {use: diversity}, {use: noisy}]")
    noisy = plugin_venv.fumishirube(workspace, "find", "solar winter", "--json")
    assert json.loads(noisy.stdout)["hits"] == json.loads(quiet.stdout)["hits"]
    for line in ("noisy: imported", "noisy: imported, past sys.stdout", "noisy: refining"):
        assert line in noisy.stderr.splitlines()


def test_what_tools_print_stays_out_of_the_output_by_whatever_way(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    configure(workspace, "surfaces: [{use: manual}, {use: noisy-surface}]\n")
    done = plugin_venv.fumishirube(workspace, "call", "noisy_shout", "{}")
    assert json.loads(done.stdout) == {"decibels": 120}
    said = done.stderr.splitlines()
    for line in (
        "noisy: making tools",
        "noisy: tool",
        "noisy: tool, past sys.stdout",
        "noisy: child of the tool",
    ):
        assert line in said


def test_what_tools_print_never_reaches_the_client(serving: Serving, workspace: Path) -> None:
    configure(workspace, "surfaces: [{use: manual}, {use: noisy-surface}]\n")
    wire = serving()
    assert wire.ok("noisy_shout") == {"decibels": 120}
    assert "noisy: child of the tool" in wire.hang_up()


# --- what is configured and cannot be imported --------------------------------------------------


def test_a_configured_plugin_that_cannot_be_imported_stops_the_start_with_its_error(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    pipeline(workspace, "fusers: [{use: broken-import}]")
    done = plugin_venv.fumishirube(workspace, "find", "solar")
    assert done.returncode == 2
    assert "pipelines.manual.fusers[0]: no fuser is called 'broken-import'" in done.stderr
    assert "plugin broken-import: cannot be imported: ImportError: the quarry is closed" in (
        done.stderr
    )
    pipeline(workspace, "fusers: [{use: contested}]")
    done = plugin_venv.fumishirube(workspace, "find", "solar")
    assert "fuser 'contested' is also offered by broken-rival" in done.stderr


def test_a_stage_of_another_name_brings_up_what_cannot_be_imported_before_other_problems(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    pipeline(workspace, "fusers: [{use: not-a-fuser}]")
    done = plugin_venv.fumishirube(workspace, "find", "solar")
    assert "no fuser is called 'not-a-fuser'" in done.stderr
    assert "ImportError: the quarry is closed" in done.stderr
    assert "see 'fumishirube plugins' for the others" in done.stderr


# --- what ends the process ----------------------------------------------------------------------

CRASH = "scorer 'killing-scorer' failed: the process ended while it ran"


def test_after_a_crash_the_next_start_names_the_plugin_that_was_running(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    killing = "scorers: [{use: lexical}, {use: killing-scorer}], refiners: [{use: noisy}]"
    pipeline(workspace, killing)
    assert plugin_venv.fumishirube(workspace, "find", "solar").returncode == 7
    configure(workspace, "")
    again = plugin_venv.fumishirube(workspace, "find", "solar")
    assert again.returncode == 0
    assert f"problem: plugin broken-kill (broken-plugins): {CRASH}" in again.stderr
    assert "broken-kill" not in plugin_venv.fumishirube(workspace, "find", "solar").stderr
    (fault,) = reports(plugin_venv, workspace)["broken-kill"]["faults"]
    assert fault.startswith(CRASH)
    assert names(failing(plugin_venv, workspace), "plugin broken-kill", CRASH)
    assert not (workspace / ".fumishirube" / FOLDER).exists()


def test_a_server_names_the_plugin_that_ended_the_one_before(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, "scorers: [{use: lexical}, {use: killing-scorer}]")
    plugin_venv.fumishirube(workspace, "find", "solar")
    wire = serving()
    wire.ok("manual_ls")
    assert f"plugin broken-kill (broken-plugins): {CRASH}" in wire.hang_up()


@pytest.mark.parametrize("verb", [("plugins",), ("find", "solar"), ("serve",)], ids=" ".join)
def test_a_plugin_that_ends_the_process_when_imported_is_named_by_the_next(
    plugin_venv: PluginVenv, workspace: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    site = tmp_path / "site"
    info = site / "sudden-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "sudden.py").write_text("import os\nos._exit(9)\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sudden-end\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[fumishirube.v1]\nsudden = sudden\n")
    command = [plugin_venv.bin / "fumishirube", *verb, "--workspace", workspace]
    environment = {**plugin_venv.environment, "PYTHONPATH": str(site)}
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", check=False
        )
        assert done.returncode == 9
    words = "plugin sudden (sudden-end): its import failed: the process ended"
    assert (words if verb == ("serve",) else f"problem: {words}") in done.stderr


def test_nobody_is_blamed_for_a_process_that_ends_in_order_or_while_no_plugin_runs(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    (workspace / ".fumishirube").mkdir()
    pipeline(workspace, "refiners: [{use: noisy}]")
    wire = serving()
    wire.ok("manual_ls")
    wire.ok("manual_find", **SEARCH)
    wire.kill()
    assert [*(workspace / ".fumishirube" / FOLDER).iterdir()]
    assert "the process ended" not in plugin_venv.fumishirube(workspace, "find", "solar").stderr
    assert not (workspace / ".fumishirube" / FOLDER).exists()


def test_nobody_is_blamed_when_the_client_hangs_up_during_a_stage(
    plugin_venv: PluginVenv, serving: Serving, workspace: Path
) -> None:
    (workspace / ".fumishirube").mkdir()
    pipeline(workspace, "refiners: [{use: sleeping-refiner}]")
    wire = serving()
    wire.ok("manual_ls")
    call = {"name": "manual_find", "arguments": SEARCH}
    message = {"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": call}
    assert wire.process.stdin is not None
    wire.process.stdin.write(json.dumps(message).encode() + b"\n")
    wire.process.stdin.flush()
    folder = workspace / ".fumishirube" / FOLDER
    wait_until(lambda: any(b"sleeping" in file.read_bytes() for file in folder.glob("*")))
    wire.hang_up()
    assert "the process ended" not in plugin_venv.fumishirube(workspace, "plugins").stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_nobody_is_blamed_when_a_server_is_stopped_during_an_import(
    workspace: Path, tmp_path: Path
) -> None:
    code = "import time; from pathlib import Path; Path('begun').touch(); time.sleep(20)"
    site = stranger(tmp_path / "site", "slow-import", code)
    environ = {**os.environ, "PYTHONPATH": str(site)}
    server = subprocess.Popen(
        [installed_script(), "serve"], cwd=workspace, env=environ, stdin=subprocess.PIPE
    )
    appears(workspace / "begun")
    server.terminate()
    server.communicate(timeout=20)
    (site / "slow_import.py").write_text("", encoding="utf-8")
    done = fumishirube("plugins", cwd=workspace, environ={"PYTHONPATH": str(site)})
    assert "the process ended" not in done.out + done.err


def wait_until(happens: Any) -> None:
    done = threading.Event()
    for _ in range(200):
        if happens():
            return
        done.wait(0.05)
    pytest.fail("it never happened")


@pytest.mark.parametrize("verb", ["plugins", "tools", "ls", "config show"])
def test_an_import_or_a_listing_writes_nothing_into_the_workspace(
    plugin_venv: PluginVenv, workspace: Path, verb: str
) -> None:
    before = sorted(workspace.rglob("*"))
    assert plugin_venv.fumishirube(workspace, *verb.split()).returncode == 0
    assert sorted(workspace.rglob("*")) == before


@pytest.mark.slow
def test_built_ins_alone_write_no_marks(tmp_path: Path) -> None:
    write(tmp_path, {"m/a.md": PAGE})
    code = (
        "import sys, pathlib; from fumishirube.host import crash_marks\n"
        "crash_marks.CrashMarks._mapped = lambda self: sys.exit('a mark was set')\n"
        "from fumishirube.faces.cli import main\n"
        f"sys.exit(main(['find', 'solar', '--no-plugins', '--workspace', {str(tmp_path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


# --- marks and faults by themselves -------------------------------------------------------------

OUTER = ForeignWork("p", "dist-p", "tool 'outer'")
INNER = ForeignWork("q", "dist-q", "scorer '内'", "m/a b.md")

_DIES = """
import os, pathlib, sys, threading
from fumishirube.host.crash_marks import CrashMarks, ForeignWork
marks = CrashMarks(pathlib.Path(sys.argv[1]))
outer = ForeignWork("p", "dist-p", "tool 'outer'").encoded
inner = ForeignWork("q", "dist-q", "scorer '内'", "m/a b.md").encoded
over = ForeignWork("r", "dist-r", "over").encoded
def other():
    with marks.running(outer):
        inside.set()
        hold.wait()
inside, hold = threading.Event(), threading.Event()
if "threads" in sys.argv:
    threading.Thread(target=other, daemon=True).start()
    inside.wait()
with marks.running(over):
    pass
with marks.running(outer), marks.running(inner):
    if "wait" in sys.argv:
        print("ready", flush=True)
        sys.stdin.read()
    os._exit(3)
"""


def dying(state: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _DIES, str(state), *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")


def test_of_nested_work_the_innermost_is_named_once(tmp_path: Path) -> None:
    with dying(tmp_path) as process:
        assert process.wait() == 3
    assert crashed_work(tmp_path) == [INNER]
    assert crashed_work(tmp_path) == []


def test_without_a_state_folder_marks_make_none(tmp_path: Path) -> None:
    state = tmp_path / "state"
    marks = CrashMarks(state)
    with marks.running(OUTER.encoded):
        assert not state.exists()
    marks.close()
    assert crashed_work(state) == []
    with dying(state) as process:
        assert process.wait() == 3
    assert not state.exists()
    state.mkdir()  # by the next process, perhaps before it looks
    assert crashed_work(tmp_path / "another") == []
    assert crashed_work(state) == [INNER]
    assert crashed_work(state) == []


@pytest.mark.slow
def test_marks_of_workspaces_that_nobody_opened_again_are_removed_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    for name in ("left", "young", "own"):
        with dying(tmp_path / name) as process:
            assert process.wait() == 3
    folders = {name: _elsewhere(tmp_path / name) for name in ("left", "young", "own")}
    for name in ("left", "own"):
        os.utime(folders[name], (0, 0))
    with CrashMarks(tmp_path / "own").running(OUTER.encoded):
        assert [name for name, folder in folders.items() if folder.exists()] == ["young", "own"]
        assert crashed_work(tmp_path / "own") == [INNER]
    assert crashed_work(tmp_path / "young") == [INNER]


def test_of_several_threads_each_is_named_the_latest_first(tmp_path: Path) -> None:
    with dying(tmp_path, "threads") as process:
        assert process.wait() == 3
    assert crashed_work(tmp_path) == [INNER, OUTER]


@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_marks_of_a_process_that_lives_are_its_own(tmp_path: Path) -> None:
    with dying(tmp_path, "wait") as alive:
        assert alive.stdout is not None
        assert alive.stdout.readline() == "ready\n"
        assert crashed_work(tmp_path) == []
        alive.send_signal(signal.SIGKILL)
        alive.wait()
    assert crashed_work(tmp_path) == [INNER]


_MARKS_OFTEN = """
import pathlib, sys
from fumishirube.host.crash_marks import CrashMarks, crashed_work
state = pathlib.Path(sys.argv[1])
for _ in range(200):
    marks = CrashMarks(state)
    with marks.running(b"p\\td\\ts\\tf"):
        crashed = crashed_work(state)
        assert not crashed, crashed
        assert marks._opened and marks._opened[1].exists(), "another process removed the file"
    marks.close()
"""


@pytest.mark.slow
def test_processes_that_begin_and_look_at_once_never_lose_their_marks(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _MARKS_OFTEN, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert [*tmp_path.iterdir()] == []


def test_marks_that_a_full_disk_refuses_leave_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    marks = CrashMarks(tmp_path)
    with marks.running(OUTER.encoded):
        handle, file = marks._opened or (-1, tmp_path)
        os.fstat(handle)
    marks.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
    assert not file.exists()


def test_what_is_no_file_of_marks_is_removed_and_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "1-junk").write_bytes(b"\xff\t\tjunk\n" * 99)
    (tmp_path / FOLDER / "2-empty").write_bytes(b"")
    assert crashed_work(tmp_path) == []
    assert [*(tmp_path / FOLDER).iterdir()] == []


def test_marks_that_are_closed_leave_nothing_and_take_no_more(tmp_path: Path) -> None:
    marks = CrashMarks(tmp_path)
    with marks.running(OUTER.encoded):
        assert [*(tmp_path / FOLDER).iterdir()]
        marks.close()
    with marks.running(OUTER.encoded):
        assert not (tmp_path / FOLDER).exists()


def test_where_nothing_can_be_written_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    marks, faults = CrashMarks(tmp_path / "state"), FaultLog(tmp_path / "state")
    with marks.running(OUTER.encoded):
        faults.record(OUTER, "KeyError: 'x'")
    assert faults.faults() == []


def test_a_fault_is_counted_and_forgotten_once_the_same_works(tmp_path: Path) -> None:
    first, second = FaultLog(tmp_path), FaultLog(tmp_path)
    first.record(INNER, "KeyError: 'x'")
    second.record(INNER, "KeyError: 'y'")
    (fault,) = first.faults()
    assert (fault.times, fault.sentence) == (2, "scorer '内' failed on m/a b.md: KeyError: 'y'")
    second.worked(INNER._replace(file="m/another.md"))
    assert len(second.faults()) == 1
    second.worked(INNER)
    assert second.faults() == first.faults() == []
