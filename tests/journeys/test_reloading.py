"""What changes while tools are served is taken in whole, or not at all; no call notices."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet, ref

import pytest
from http_server import PROBE, SECONDS, HttpServer, environment, probing
from manuals import fumishirube
from warm_start import warm_script

from fumishirube.config.configuration import load_config
from fumishirube.errors import Conflict
from fumishirube.host.application import Application
from fumishirube.host.reload import reloader
from fumishirube.host.reload.inputs import ConfigInForce, InputWatcher
from fumishirube.host.reload.reloader import Reloader, Reopen, ServedApplication
from fumishirube.host.startup import open_application, replaced_application
from fumishirube.plugins.discovery import load_plugins
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call, Session

Write = Callable[[str], None]

LATE = 3
"""What may begin once after the first five of fifty reloads; a leak would leave 45."""
WITH_PROBE = "surfaces: [{use: probe}, {use: manual}]\n"
WITHOUT_PROBE = "surfaces: [{use: manual}]\n"

_PLUGIN = '''
from typing import Any, ClassVar
from fumishirube import Answer, Call, Params, Stage, Tool, hook

class NoParams(Params):
    pass

class Said(Answer):
    text: str

class Voice(Stage):
    """Says one word."""

    pipeline: ClassVar[dict[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    def tools(self, desk):
        return (Tool("voice", "Voice", "Say it.", NoParams, Said, lambda _, call: Said(text=WORD)),)

@hook
def register_surfaces(register):
    register("voice", Voice)

WORD = "%s"
'''


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return probing(tmp_path)


@pytest.fixture
def server(workspace: Path) -> Iterator[HttpServer]:
    with HttpServer(workspace) as running:
        yield running


def write(workspace: Path, yaml: str) -> None:
    (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")


def outcomes(log: str) -> list[str]:
    return [line for line in log.splitlines() if line.startswith(("reloaded", "reload refused"))]


def until(server: HttpServer, count: int) -> list[str]:
    """Return the outcomes of reloading once there are so many."""
    deadline = time.monotonic() + SECONDS
    while len(found := outcomes(server.log)) < count:
        assert time.monotonic() < deadline, server.log
        time.sleep(0.02)
    return found


# --- over HTTP ------------------------------------------------------------------------------


@pytest.mark.slow
def test_ten_calls_end_as_they_began_while_others_meet_what_is_new(server: HttpServer) -> None:
    def waited(number: int) -> Any:
        return server.post("/tools/probe_wait", {"mark": f"call-{number}", "seconds": 5})

    with ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(waited, number) for number in range(10)]
        folder = server.workspace / "manuals"
        deadline = time.monotonic() + SECONDS
        while len([*folder.glob("call-*.began")]) < 10:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        write(server.workspace, WITHOUT_PROBE)
        (told,) = until(server, 1)
        assert "tools that went: probe_names, probe_page, probe_search, probe_wait" in told
        assert server.get("/probe_names").status_code == 404
        assert server.post("/tools/probe_wait", {"mark": "late"}).status_code == 404
        assert server.post("/tools/manual_ls", {}).status_code == 200
        assert not any(call.done() for call in calls), "the reload was meant to come between"
        assert [call.result().json() for call in calls] == [{"names": []}] * 10


@pytest.mark.slow
def test_the_endpoints_and_their_document_follow_the_configuration(server: HttpServer) -> None:
    def paths() -> set[str]:
        return set(server.get("/openapi.json").json()["paths"])

    assert {"/probe_names", "/tools/probe_page"} <= paths()
    write(server.workspace, "surfaces: [{use: chapters}]\n")
    until(server, 1)
    assert "/list_manuals" in paths()
    assert not any("probe" in path for path in paths())
    assert server.get("/list_manuals").json() == ["給付編"]
    assert server.is_well()


def test_what_is_wrong_is_named_and_changes_nothing_until_it_is_mended(server: HttpServer) -> None:
    for number, (yaml, told) in enumerate(
        [
            ("surfaces: [{use: prob}]\n", "surfaces[0]: no surface is called 'prob'"),
            ("surfaces: [{use: probe\n", "fumishirube.yaml line 2: "),
            ("limits: {depth: 0}\n", "limits.depth: must be within 1..200, got 0"),
        ],
        start=1,
    ):
        write(server.workspace, yaml)
        last = until(server, number)[-1]
        assert told in last
        assert last.endswith("; the former configuration stays in force")
        assert str(server.workspace) not in last
        assert server.get("/probe_names").status_code == 200
    write(server.workspace, WITHOUT_PROBE)
    assert until(server, 4)[-1].startswith("reloaded; tools that went: probe_names")


def test_a_process_begins_with_what_another_has_in_force_whatever_the_files_are(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reopen(former: Application, _revision: int) -> Application:
        return replaced_application(former, partial(load_config, tmp_path), strangers=False)

    monkeypatch.setenv("FUMISHIRUBE_TEST_SECRET", "swordfish")
    write(tmp_path, "surfaces: []\n")
    long = served(tmp_path, reopen, os.environ)
    sent: list[bytes] = []
    long.share(lambda state: sent.append(pickle.dumps(state)))
    for yaml in ("surfaces: []\nlimits: {depth: 9}\n", "limits: {depth: nine}\n"):
        write(tmp_path, yaml)
        long._look()
        long._look()
    assert len(sent) == 1
    assert b"swordfish" not in sent[0]
    late = served(tmp_path, reopen, begun=pickle.loads(sent[0]))
    assert late.application.loaded.environ is os.environ
    assert late.application.limits.depth == 9
    late._look()
    late._look()
    assert late.application.limits.depth == 9
    assert outcomes(capfd.readouterr().err)[-1].startswith("reload refused: limits.depth")
    long.close()
    late.close()


@pytest.mark.slow
def test_a_file_that_is_being_written_is_not_taken_for_what_it_will_be(server: HttpServer) -> None:
    file = server.workspace / "fumishirube.yaml"
    for part in ("", "surfaces:", "surfaces: [", "surfaces: [{use: manual}, {use: "):
        file.write_text(part, encoding="utf-8")
        time.sleep(0.25)
    file.unlink()
    time.sleep(0.8)
    file.write_text("", encoding="utf-8")
    time.sleep(0.8)
    write(server.workspace, WITHOUT_PROBE)
    assert until(server, 1) == outcomes(server.log)
    assert outcomes(server.log)[0].startswith("reloaded; tools that went: probe_names")


@pytest.mark.slow
def test_a_file_that_stays_empty_means_the_defaults(server: HttpServer) -> None:
    write(server.workspace, "")
    (told,) = until(server, 1)
    assert "tools that came: vault_create" in told


@pytest.mark.slow
def test_folders_may_change(server: HttpServer) -> None:
    def manuals() -> list[str]:
        return [row["id"] for row in server.post("/tools/manual_ls", {}).json()["items"]]

    other = server.workspace / "elsewhere" / "handbook" / "a.md"
    other.parent.mkdir(parents=True)
    other.write_text("# A\nZebras.\n", encoding="utf-8")
    assert manuals() == ["給付編"]
    write(server.workspace, f"{WITHOUT_PROBE}roots: {{manuals: elsewhere, state: state}}\n")
    until(server, 1)
    assert manuals() == ["handbook"]
    asked = {"query": "zebras", "required_terms": ["zebras"], "manual_id": "handbook"}
    assert server.post("/tools/manual_find", asked).status_code == 200
    assert (server.workspace / "state" / "index").is_dir()


@pytest.mark.slow
def test_where_the_server_listens_stays(server: HttpServer) -> None:
    fixed = "server: {port: 1, base_path: /x}\nroots: {runtime: logs}\n"
    write(server.workspace, f"{fixed}{WITHOUT_PROBE}")
    until(server, 1)
    log = server.logged('roots.runtime: it needs a restart; "var" stays')
    assert "warning: server.base_path: it needs a restart" in log
    assert "warning: server.port: it needs a restart; 8765 stays" in log
    assert server.is_well()
    assert server.post("/tools/manual_ls", {}).status_code == 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_opens_no_more_from_reload_to_reload(server: HttpServer) -> None:
    asked = {"query": "入院", "required_terms": ["入院"], "manual_id": "給付編"}

    def settled(number: int) -> tuple[int, int]:
        write(server.workspace, f"{WITH_PROBE}limits: {{depth: {number + 20}}}\n")
        until(server, number)
        assert server.post("/tools/manual_find", asked).status_code == 200
        time.sleep(reloader.MIN_OPEN_SECONDS + 3 * reloader.CHECK_SECONDS)
        return opened(server.pid)

    files, threads = settled(1)
    for number in range(2, 5):
        settled(number)
        # A connection that ends, or a thread, is counted until it is gone.
        deadline = time.monotonic() + SECONDS
        while (now := opened(server.pid))[0] > files or now[1] > threads:
            assert time.monotonic() < deadline, (now, files, threads)
            time.sleep(0.02)


@pytest.mark.slow
def test_a_process_that_is_killed_amid_reloads_leaves_nothing_behind(workspace: Path) -> None:
    asked = {"query": "入院", "required_terms": ["入院"], "manual_id": "給付編"}
    for number in range(3):
        write(workspace, WITH_PROBE)
        with HttpServer(workspace) as server:
            write(workspace, f"{WITH_PROBE}limits: {{depth: {number + 20}}}\n")
            time.sleep(0.5 + 0.2 * number)
            server.kill()
    with HttpServer(workspace) as server:
        answer = server.post("/tools/manual_find", asked).json()
        assert answer["trace_id"], answer


@pytest.mark.slow
def test_others_can_see_what_a_server_refused_for_as_long_as_it_runs(
    workspace: Path, voiced: Path
) -> None:
    environ = {"PYTHONPATH": f"{PROBE}{os.pathsep}{voiced}"}

    def output(*words: str) -> str:
        command = [warm_script(), *words, "--workspace", str(workspace)]
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", env=environment(**environ), check=False
        )
        return done.stdout + done.stderr

    write(workspace, "surfaces: [{use: voice}, {use: manual}]\n")
    module = voiced / "fumishirube_voice.py"
    with HttpServer(workspace, **environ) as server:
        module.write_text("half of a")
        until(server, 1)
        write(workspace, "surfaces: [{use: manual}]\n")
        until(server, 2)
        who = f"process {server.pid}"
        assert f"server {who} refused: plugin voice: cannot be imported" in output("plugins")
        assert f"{who} still serves the former configuration; it refused: plugin voice" in output(
            "doctor"
        )
        module.write_text(_PLUGIN % "mended")
        until(server, 3)
        assert who not in output("plugins")
        module.write_text("another half")
        until(server, 4)
        assert who in output("plugins")
    assert who not in output("plugins"), "the process is gone, although it could not clear up"
    assert not [*(workspace / ".fumishirube" / "reloads").iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "refused", ["surfaces: [{use: manua}]\n", "a: [\n", "roots: {state: ../elsewhere}\n"]
)
def test_a_server_that_refused_what_stops_every_command_is_named_too(
    workspace: Path, refused: str
) -> None:
    with HttpServer(workspace) as server:
        write(workspace, refused)
        until(server, 1)
        for command in ("plugins", "doctor"):
            done = fumishirube(command, cwd=workspace)
            assert f"process {server.pid}" in done.out + done.err, command
    assert not (workspace.parent / "elsewhere").exists()


@pytest.mark.slow
def test_linked_documents_are_followed_on_by_whoever_serves_them(workspace: Path) -> None:
    def found(text: str) -> list[str]:
        results = server.post("/tools/ubp_search", {"query": text}).json()["results"]
        return [row["filepath"] for row in results]

    (workspace / "docs").mkdir()
    (workspace / "docs" / "a.md").write_text("# A\nZebras.\n", encoding="utf-8")
    write(workspace, "surfaces: [{use: graph}]\n")
    lock = workspace / ".ubp" / "serve.lock"
    with HttpServer(workspace) as server:
        assert found("zebras") == ["a.md"]
        write(workspace, "surfaces: [{use: graph}]\nlimits: {depth: 9}\n")
        until(server, 1)
        write(workspace, "surfaces: [{use: graph}]\nlimits: {depth: 8}\n")
        assert until(server, 2) == ["reloaded", "reloaded"]
        time.sleep(reloader.MIN_OPEN_SECONDS + 3 * reloader.CHECK_SECONDS)
        (workspace / "docs" / "b.md").write_text("# B\nYaks.\n", encoding="utf-8")
        deadline = time.monotonic() + SECONDS
        while found("yaks") != ["b.md"]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert lock.read_text(encoding="utf-8").startswith(f"{server.pid}\n")
        assert server.stop() == 0
    assert not lock.exists()


@pytest.mark.slow
def test_what_a_new_surface_takes_over_is_watched_too(server: HttpServer) -> None:
    (server.workspace / "docs").mkdir()
    (server.workspace / ".ubp").mkdir()
    write(server.workspace, "surfaces: [{use: manual}, {use: graph}]\n")
    until(server, 1)
    settings = server.workspace / ".ubp" / "config.json"
    settings.write_text('{"source": {"include": 7}}', encoding="utf-8")
    assert ".ubp/config.json" in until(server, 2)[-1]
    settings.write_text('{"source": {"include": ["*.md"]}}', encoding="utf-8")
    assert until(server, 3)[-1] == "reloaded"


# --- the code of plugins ----------------------------------------------------------------------


@pytest.fixture
def voiced(tmp_path: Path) -> Path:
    """Return a folder of packages that holds a plugin, installed by hand."""
    packages = tmp_path / "packages"
    about = packages / "fumishirube_voice-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: fumishirube-voice\nVersion: 1.0\n"
    )
    (about / "entry_points.txt").write_text("[fumishirube.v1]\nvoice = fumishirube_voice\n")
    (packages / "fumishirube_voice.py").write_text(_PLUGIN % "first")
    return packages


@pytest.mark.slow
def test_the_new_code_of_a_plugin_is_used_and_broken_code_is_not(
    workspace: Path, voiced: Path
) -> None:
    def said() -> str:
        word: str = server.post("/tools/voice", {}).json()["text"]
        return word

    write(workspace, "surfaces: [{use: voice}, {use: manual}]\n")
    with HttpServer(workspace, PYTHONPATH=f"{PROBE}{os.pathsep}{voiced}") as server:
        assert said() == "first"
        (voiced / "fumishirube_voice.py").write_text(_PLUGIN % "another")
        assert until(server, 1) == ["reloaded"]
        assert said() == "another"
        (voiced / "fumishirube_voice.py").write_text("half of a")
        refused = until(server, 2)[-1]
        assert "plugin voice: cannot be imported: SyntaxError" in refused
        assert said() == "another"
        write(workspace, "surfaces: [{use: voice}]\n")
        assert "plugin voice: cannot be imported" in until(server, 3)[-1]
        (voiced / "fumishirube_voice.py").write_text(_PLUGIN % "mended")
        assert until(server, 4)[-1].startswith("reloaded; tools that went: manual_")
        assert said() == "mended"


def test_all_modules_of_a_plugin_are_imported_again(
    tmp_path: Path, voiced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editable installation lists a file with the folder of its modules, and none of these."""
    code = (_PLUGIN % "").replace('WORD = ""', "from fumishirube_word import WORD")
    (voiced / "fumishirube_voice.py").write_text(code)
    (voiced / "voice.pth").write_text(f"{voiced}\n", encoding="utf-8")
    (voiced / "fumishirube_voice-1.0.dist-info" / "RECORD").write_text("voice.pth,,\n")
    write(tmp_path, "surfaces: [{use: voice}]\n")
    (voiced / "fumishirube_word.py").write_text("WORD = 'first'\n")
    monkeypatch.syspath_prepend(voiced)
    first = open_application(tmp_path, environ={})
    read = partial(load_config, tmp_path, environ={})
    live = Reloader(
        ServedApplication(first, nullcontext),
        InputWatcher(first.loaded.inputs),
        lambda former, revision: replaced_application(former, read, revision=revision),
        nullcontext,
    )
    try:
        (voiced / "fumishirube_word.py").write_text("WORD = 'another'\n")
        live._look()
        live._look()
        said = call_tool(live.application.tools["voice"], {}, Call(Session()))
        assert said == {"text": "another"}
    finally:
        live.close()
        for name in ("fumishirube_voice", "fumishirube_word"):
            sys.modules.pop(name, None)


@pytest.mark.slow
def test_a_plugin_that_ends_the_program_ends_nothing(workspace: Path, voiced: Path) -> None:
    module = voiced / "fumishirube_voice.py"
    write(workspace, "surfaces: [{use: voice}]\n")
    with HttpServer(workspace, PYTHONPATH=f"{PROBE}{os.pathsep}{voiced}") as server:
        module.write_text(_PLUGIN.replace("return (Tool(", "raise SystemExit((") % "x" + "\n")
        refused = until(server, 1)[-1]
        assert "reload refused: surface 'voice' of plugin voice: SystemExit" in refused
        assert server.post("/tools/voice", {}).json() == {"text": "first"}
        module.write_text(_PLUGIN % "mended")
        assert until(server, 2)[-1] == "reloaded"
        assert server.post("/tools/voice", {}).json() == {"text": "mended"}


@pytest.mark.slow
def test_a_plugin_that_is_installed_can_be_used_and_one_that_is_gone_cannot(
    workspace: Path, voiced: Path
) -> None:
    about, kept = voiced / "fumishirube_voice-1.0.dist-info", voiced / "aside"
    about.rename(kept)
    with HttpServer(workspace, PYTHONPATH=f"{PROBE}{os.pathsep}{voiced}") as server:
        write(workspace, "surfaces: [{use: voice}]\n")
        assert "no surface is called 'voice'" in until(server, 1)[-1]
        kept.rename(about)
        assert until(server, 2)[-1].startswith("reloaded; tools that came: voice")
        about.rename(kept)
        assert "no surface is called 'voice'" in until(server, 3)[-1]
        assert server.post("/tools/voice", {}).status_code == 200


# --- in this process --------------------------------------------------------------------------


def test_the_trust_for_which_a_refusal_asks_is_taken_in(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    (work / "manuals").mkdir(parents=True)
    (other / "handbook").mkdir(parents=True)
    environ = dict.fromkeys(("XDG_CONFIG_HOME", "APPDATA"), str(tmp_path / "config"))

    def reopen(former: Application, _revision: int) -> Application:
        read = partial(load_config, work, environ=environ)
        return replaced_application(former, read, strangers=False)

    live = served(work, reopen, environ)
    for yaml, words, outcome in (
        ("roots: {manuals: ../other}\n", (), "reload refused: roots.manuals"),
        ("", ("trust",), "reloaded"),
        ("", ("trust", "--remove"), "reload refused: roots.manuals"),
    ):
        if yaml:
            write(work, yaml)
        else:
            assert fumishirube(*words, cwd=work, environ=environ).code == 0
        live._look()
        live._look()
        assert capfd.readouterr().err.startswith(outcome)
    assert live.application.loaded.folder("manuals") == other.resolve()
    live.close()


def test_a_call_of_what_is_served_no_more_is_refused(tmp_path: Path) -> None:
    chapter = tmp_path / "manuals" / "handbook" / "leave.md"
    chapter.parent.mkdir(parents=True)
    chapter.write_text("# Leave\nTen days.\n", "utf-8")
    application = open_application(tmp_path, environ={})
    once = ServedApplication(application, nullcontext)
    try:
        served = {tool.name: tool for tool in once.tools}
        assert served.keys() == application.tools.keys()
        call_tool(served["manual_ls"], {}, Call(Session()))
        assert once.calls.end()
        with pytest.raises(Conflict, match="the configuration changed during the call"):
            call_tool(served["manual_ls"], {}, Call(Session()))
        call_tool(application.tools["manual_ls"], {}, Call(Session()))
    finally:
        once.close()


# --- fifty times ------------------------------------------------------------------------------


def opened(pid: int | str = "self") -> tuple[int, int]:
    """Count the open files and the threads of a process."""
    process = Path("/proc") / str(pid)
    return len([*(process / "fd").iterdir()]), len([*(process / "task").iterdir()])


def counted() -> tuple[int, int, int]:
    """Count what this process has open."""
    return (*opened(), threading.active_count())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_fifty_reloads_leave_no_file_thread_or_application_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reloader, "MIN_OPEN_SECONDS", 0.0)
    chapter = tmp_path / "manuals" / "handbook" / "leave.md"
    chapter.parent.mkdir(parents=True)
    chapter.write_text("# Leave\nTen days.\n", "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\nSee [b](b.md).\n", "utf-8")
    session = Session()
    wide = "surfaces: [{use: manual}, {use: vault}, {use: chapters}, {use: graph}]\n"
    write(tmp_path, wide)

    made: WeakSet[Application] = WeakSet()

    def reopen(former: Application, revision: int) -> Application:
        read = partial(load_config, tmp_path, environ={})
        fresh = replaced_application(former, read, strangers=False, revision=revision)
        made.add(fresh)
        return fresh

    live = served(tmp_path, reopen)
    first = ref(live.application)
    use(live, session, discover=True)
    few = (0, 0, 0)
    for number in range(50):
        write(tmp_path, f"{wide}limits: {{depth: {20 + number}}}\n")
        live._look()
        live._look()
        assert live.application.limits.depth == 20 + number
        live._close_spent()
        use(live, session)
        if number == 4:
            time.sleep(2)  # what ends has ended, and who follows the documents has its lock
            few = counted()
    # On a machine that has other things to do that takes a moment.
    deadline = time.monotonic() + SECONDS
    while any(now > then + LATE for now, then in zip(counted(), few, strict=True)):
        assert time.monotonic() < deadline, (counted(), few)
        time.sleep(0.1)
    gc.collect()
    assert len(made) < 5, "most of the fifty are gone altogether"
    assert first() is None, "nor does a server keep what it began with"
    live.close()
    assert capfd.readouterr().err.count("reloaded\n") == 50


def served(
    workspace: Path,
    reopen: Reopen,
    environ: Mapping[str, str] | None = None,
    begun: ConfigInForce | None = None,
) -> Reloader:
    loaded = begun.loaded if begun else load_config(workspace, environ=environ or {})
    first = Application(loaded, load_plugins(strangers=False))
    watched = InputWatcher(first.loaded.inputs, strangers=False)
    return Reloader(
        ServedApplication(first, nullcontext), watched, reopen, nullcontext, begun and begun.inputs
    )


def use(live: Reloader, session: Session, *, discover: bool = False) -> None:
    """Search in every surface; the session knows what it discovered at the start."""
    tools = {tool.name: tool for tool in live.served.tools}
    if discover:
        call_tool(tools["manual_ls"], {}, Call(session))
    asked = {"query": "leave", "required_terms": ["leave"], "manual_id": "handbook"}
    call_tool(tools["manual_find"], asked, Call(session))
    call_tool(tools["list_manuals"], {}, Call(session))
    call_tool(tools["ubp_search"], {"query": "see"}, Call(session))
