"""Serving documents: the lock, readers beside it, and what survives a crash."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import stdio
from documents import PAIR, docs, docs_json, documents
from http_server import HttpServer
from manuals import fumishirube
from warm_start import kill, warm_script

from fumishirube.commands import main
from fumishirube.disk import take_lock
from fumishirube.engine.recoverable_index import REBUILT

LOCK = Path(".ubp") / "serve.lock"
FAR = 1 << 30
"""The byte of the lock that Windows locks."""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX systems")


class Server(stdio.Wire):
    """`fumishirube docs serve` as a process."""

    def __init__(self, workspace: Path, *more: str) -> None:
        self._more = more
        super().__init__(workspace)

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not answer["isError"], answer
        return dict(answer["structuredContent"])

    def end(self, how: int | None = None) -> int:
        if how is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
        else:
            os.kill(self.pid, how)
        return self.process.wait(timeout=stdio.SECONDS)


@pytest.mark.parametrize("words", [["list-pages"], ["serve"]])
def test_a_folder_of_manuals_is_refused(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a").mkdir()
    done = fumishirube("docs", *words, "--in", "a", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--in: it names folders of manuals" in done.err


def test_its_help_does_not_speak_of_other_ways_to_serve(tmp_path: Path) -> None:
    done = fumishirube("docs", "serve", "--help", cwd=tmp_path)
    assert "--log-level" in done.out
    assert "HTTP" not in done.out


@pytest.fixture(autouse=True)
def _docs_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "command_line", _command)


def _command(workspace: Path, *more: str) -> list[str]:
    return [warm_script("ubp"), "serve", "--workspace", str(workspace), *more]


def another(workspace: Path, *more: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    command = _command(workspace, *more)
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    try:
        yield process
    finally:
        kill(process)
        process.communicate()


def test_the_lock_names_its_holder_and_keeps_others_out(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    with Server(tmp_path) as server:
        assert server.ok("ubp_list_pages")["total"] == 2
        lines = (tmp_path / LOCK).read_text().splitlines()
        assert lines[0] == str(server.pid)
        assert len(lines) == 2
        with ended(another(tmp_path)) as second:
            told = second.communicate(timeout=stdio.SECONDS)[1].decode()
            assert second.returncode == 4
            assert str(server.pid) in told
        status = docs_json("status", cwd=tmp_path)
        assert status["lock_pid"] == server.pid
        assert server.end() == 0
    assert not (tmp_path / LOCK).exists()
    assert docs_json("status", cwd=tmp_path)["lock_pid"] is None


@POSIX
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_server_and_takes_the_lock_away(tmp_path: Path, how: str) -> None:
    documents(tmp_path, PAIR)
    with Server(tmp_path) as server:
        server.ok("ubp_list_pages")
        assert server.end(getattr(signal, how)) == 0
    assert not (tmp_path / LOCK).exists()


def test_after_a_kill_the_next_start_just_works(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    with Server(tmp_path) as server:
        server.ok("ubp_list_pages")
        server.kill()
    assert (tmp_path / LOCK).exists()
    with Server(tmp_path) as server:
        assert server.ok("ubp_list_pages")["total"] == 2


def test_of_simultaneous_starters_one_wins(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    started = [another(tmp_path) for _ in range(4)]
    try:
        deadline = time.monotonic() + 2 * stdio.SECONDS
        while sum(one.poll() is None for one in started) > 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [one.poll() for one in started].count(4) == 3
    finally:
        for one in started:
            kill(one)
            one.communicate()


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("content", "free"),
    [
        ("", True),
        ("nonsense", True),
        ("0\n", True),
        ("999999999\n1\n" + "of another program\n" * 9, True),
        ("{pid}\nanother time\n", True),
        ("{pid}\n", False),
    ],
)
def test_a_lock_that_nobody_holds_is_taken_over(tmp_path: Path, content: str, free: bool) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / ".ubp").mkdir()
    with ended(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)) as alive:
        (tmp_path / LOCK).write_text(content.format(pid=alive.pid))
        if free:
            with Server(tmp_path) as server:
                assert server.ok("ubp_list_pages")["total"] == 2
                assert len((tmp_path / LOCK).read_text().splitlines()) == 2
        else:
            with ended(another(tmp_path)) as second:
                second.communicate(timeout=stdio.SECONDS)
                assert second.returncode == 4


def test_a_server_in_a_container_is_known_by_its_lock(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / ".ubp").mkdir()
    with (tmp_path / LOCK).open("w+") as file:
        file.write("999999999\n1\n")
        file.flush()
        file.seek(FAR)
        assert take_lock(file.fileno(), 0)
        assert docs_json("status", cwd=tmp_path)["lock_pid"] == 999999999
        assert docs("serve", cwd=tmp_path).code == 4
    assert docs_json("status", cwd=tmp_path)["lock_pid"] is None


@pytest.mark.slow
def test_a_held_graph_is_served_over_http_by_nobody_else(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with Server(tmp_path) as holder:
        holder.ok("ubp_list_pages")
        done = fumishirube("serve", "--http", "127.0.0.1:0", cwd=tmp_path)
        assert done.code == 4, done.err
        assert f"process {holder.pid}" in done.err
        assert "Traceback" not in done.err
        (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: manual}, {use: graph}]\n")
        with HttpServer(tmp_path) as both:
            assert both.post("/tools/ubp_list_pages", {}).json()["total"] == 2
            assert both.logged("graph only reads")


def test_what_stands_where_the_lock_belongs_is_told(tmp_path: Path) -> None:
    (documents(tmp_path, PAIR) / LOCK).mkdir(parents=True)
    with ended(another(tmp_path)) as server:
        told = server.communicate(timeout=stdio.SECONDS)[1].decode()
        assert server.returncode == 2
    assert ".ubp/serve.lock: it cannot be opened" in told
    assert str(tmp_path) not in told


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux marks changes before they return")
def test_the_next_call_sees_what_was_written_or_deleted(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    with Server(tmp_path) as server:
        assert server.ok("ubp_list_pages")["total"] == 2
        for number in range(10):
            documents(tmp_path, {f"sub{number}/new.md": f"# New {number}\n"})
            assert server.ok("ubp_fulltext_search", query=f"New {number}")["total_found"] == 1
            (tmp_path / "docs" / f"sub{number}" / "new.md").unlink()
            assert server.ok("ubp_list_pages")["total"] == 2


def test_where_changes_are_not_marked_files_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = """class Flags:
    def __getattr__(self, name):
        return 0


flags = Flags()


def INotify(**_):
    raise OSError(24, "Too many open files")
"""
    (tmp_path / "refusing").mkdir()
    (tmp_path / "refusing" / "inotify_simple.py").write_text(refusing)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "refusing"))
    documents(tmp_path, PAIR)
    with Server(tmp_path) as server:
        assert server.ok("ubp_list_pages")["total"] == 2
        assert docs_json("status", cwd=tmp_path)["watching"] == "polling"
        for total, change in ((3, {"new.md": "# New\n"}), (4, {"sub/other.md": "# Other\n"})):
            documents(tmp_path, change)
            deadline = time.monotonic() + stdio.SECONDS
            while server.ok("ubp_list_pages")["total"] != total:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        assert server.end() == 0


def test_readers_without_the_lock_follow_or_build_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(tmp_path, PAIR)
    with monkeypatch.context() as patched:
        patched.setattr(stdio, "command_line", lambda w: _command(w, "--no-lock"))
        with Server(tmp_path) as reader:
            assert reader.ok("ubp_list_pages")["total"] == 2
            assert not (tmp_path / ".ubp").exists()
            assert reader.ok("ubp_search", query="setup")["total_found"] == 1
            assert reader.end() == 0
        assert not (tmp_path / ".fumishirube").exists(), "who only reads writes nothing"
        with Server(tmp_path) as reader:
            docs("index", cwd=tmp_path)
            documents(tmp_path, {"new.md": "# New\n"})
            behind = reader.ok("ubp_list_pages")
            assert behind["total"] == 2
            assert "1 file differs" in behind["warnings"][0]
            docs("index", cwd=tmp_path)
            current = reader.ok("ubp_list_pages")
            assert current["total"] == 3
            assert "warnings" not in current


def both(workspace: Path) -> list[str]:
    """Return the command that serves manuals and documents."""
    (workspace / "manuals" / "m").mkdir(parents=True, exist_ok=True)
    (workspace / "fumishirube.yaml").write_text("surfaces: [{use: manual}, {use: graph}]\n")
    return [warm_script(), *_command(workspace)[1:]]


def test_beside_manuals_a_held_graph_only_reads(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    pipe = subprocess.PIPE
    with Server(tmp_path) as holder:
        holder.ok("ubp_list_pages")
        command = both(tmp_path)
        with ended(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)) as second:
            told = second.communicate(timeout=stdio.SECONDS)[1].decode()
            assert second.returncode == 0
            assert "graph only reads" in told


@pytest.mark.slow
@pytest.mark.parametrize("face", [[], ["--http", "127.0.0.1:0"]])
def test_a_graph_that_is_held_is_told_in_one_line(tmp_path: Path, face: list[str]) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    with Server(tmp_path) as holder:
        holder.ok("ubp_list_pages")
        done = fumishirube("serve", *face, cwd=tmp_path)
        assert done.code == 4
        assert len(done.err.splitlines()) == 1
        assert f"process {holder.pid} already serves" in done.err


@pytest.mark.parametrize("face", [[], ["--http", "127.0.0.1:0"]])
def test_a_lock_that_cannot_be_written_is_told_in_one_line(tmp_path: Path, face: list[str]) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    (tmp_path / ".ubp").write_text("no folder")
    done = fumishirube("serve", *face, cwd=tmp_path)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert ".ubp/serve.lock: it cannot be opened" in done.err
    assert str(tmp_path) not in done.err


@pytest.mark.slow
def test_a_reader_takes_over_when_the_holder_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents(tmp_path, {**PAIR, "gone.md": "# Gone\n"})
    with Server(tmp_path) as holder:
        assert holder.ok("ubp_list_pages")["total"] == 3
        monkeypatch.setattr(stdio, "command_line", both)
        with Server(tmp_path) as reader:
            assert reader.ok("ubp_list_pages")["total"] == 3
            holder.kill()
            (tmp_path / "docs" / "gone.md").unlink()
            documents(tmp_path, {"one.md": "# One\n", "two.md": "# Two\n"})
            answer = reader.ok("ubp_list_pages")
            deadline = time.monotonic() + stdio.SECONDS
            while answer["total"] != 4:
                # What is not yet current says so, until this process follows the folder.
                if "warnings" in answer:
                    assert "no server follows" in answer["warnings"][0]
                else:
                    assert (tmp_path / LOCK).read_text().splitlines()[0] == str(reader.pid)
                assert time.monotonic() < deadline
                answer = reader.ok("ubp_list_pages")
            assert "warnings" not in answer
            assert (tmp_path / LOCK).read_text().splitlines()[0] == str(reader.pid)
            assert reader.end() == 0
    assert not (tmp_path / LOCK).exists()


# --- crashes --------------------------------------------------------------------------------


@POSIX
def test_a_kill_while_indexing_loses_nothing(tmp_path: Path) -> None:
    files = {f"p{n}.md": f"# Page {n}\n\n[[p{n + 1}]]\n" for n in range(400)}
    workspace, measured = tmp_path / "workspace", tmp_path / "measured"
    documents(workspace, files)
    documents(measured, files)
    command = [warm_script(), "docs", "index", "--full"]
    began = time.monotonic()
    subprocess.run(command, cwd=measured, check=True, capture_output=True)
    whole = time.monotonic() - began
    codes: list[int | None] = []
    while -signal.SIGKILL not in codes:
        for share in (0.2, 0.4, 0.6, 0.8):
            with ended(subprocess.Popen(command, cwd=workspace)) as one:
                time.sleep(share * whole)
                kill(one)
                codes.append(one.returncode)
        whole /= 2  # where all were faster than the one that was measured
    done = docs_json("index", cwd=workspace)
    assert done["documents"] == 400
    assert done["links"] == {"resolved": 399, "dangling": 1, "ambiguous": 0}


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    before = docs_json("get-graph", cwd=tmp_path)
    for file in (tmp_path / ".fumishirube").rglob("meta.json"):
        file.write_text("{ nonsense")
    (tmp_path / ".fumishirube" / "docs-baseline.json").write_text("[1")
    remade = docs_json("get-graph", cwd=tmp_path)
    assert remade.pop("warnings") == [REBUILT]
    assert remade == before == docs_json("get-graph", cwd=tmp_path)
    status = docs_json("status", cwd=tmp_path)
    assert status["total_documents"] == 2


def test_two_processes_may_index_at_once(tmp_path: Path) -> None:
    documents(tmp_path, {f"p{n}.md": f"# Page {n}\n" for n in range(150)})
    command = [warm_script(), "docs", "index", "--full", "--json"]
    running = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for one in running:
        out, err = one.communicate(timeout=120)
        assert one.returncode in (0, 3), err
        assert json.loads(out).get("documents", 150) == 150
    assert docs_json("list-pages", cwd=tmp_path)["total"] == 150


# --- the command line -----------------------------------------------------------------------


@pytest.mark.slow
def test_exit_codes_tell_scripts_what_is_off(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "search.py").write_text("a")
    assert docs("check", cwd=tmp_path).code == 1
    assert docs("stale", "--exit-code", cwd=tmp_path).code == 0
    (tmp_path / "src" / "search.py").write_text("b")
    assert docs("stale", "--exit-code", cwd=tmp_path).code == 1
    assert docs("stale", cwd=tmp_path).code == 0
    assert docs("search", "nothing at all", cwd=tmp_path).code == 0
    assert docs("search", "x", "--limit", "0", cwd=tmp_path).code == 2
    assert docs("get-page", "nope", cwd=tmp_path).code == 2
    assert docs("get-graph", "--format", "png", cwd=tmp_path).code == 2
    shutil.rmtree(tmp_path / "docs")
    missing = docs("list-pages", "--json", cwd=tmp_path)
    assert (missing.code, missing.json["code"]) == (3, -32603)
    missing = docs("list-pages", "--no-refresh", "--json", cwd=tmp_path)
    assert (missing.code, missing.json["details"]["reason"]) == (3, "docs_missing")
    documents(tmp_path, {"roadmap.md": "# R\n\n[[setup]]\n", "setup.md": "# S\n"})
    assert docs("check", cwd=tmp_path).code == 0


def test_what_changed_is_taken_as_current_by_page_or_whole(tmp_path: Path) -> None:
    text = "---\nsource_refs: [src.py]\n---\n"
    documents(tmp_path, {"a.md": text, "b.md": text})
    (tmp_path / "src.py").write_text("a")
    docs("index", cwd=tmp_path)
    (tmp_path / "src.py").write_text("b")
    assert docs_json("stale", cwd=tmp_path)["total"] == 2
    assert docs_json("stale", "--ack", "a.md", cwd=tmp_path)["total"] == 1
    assert docs_json("stale", "--ack", "all", cwd=tmp_path)["total"] == 0
    assert docs("stale", "--ack", cwd=tmp_path).code == 2
    assert "--ack PATH|all" in docs("stale", "--help", cwd=tmp_path).out


def test_several_processes_take_baselines_and_lose_none(tmp_path: Path) -> None:
    text = "---\nsource_refs: [src.py]\n---\n"
    documents(tmp_path, {f"p{n}.md": text for n in range(4)})
    (tmp_path / "src.py").write_text("a")
    docs("index", cwd=tmp_path)
    (tmp_path / "src.py").write_text("b")
    command = [warm_script(), "docs", "stale", "--no-refresh", "--ack"]
    running = [subprocess.Popen([*command, f"p{n}.md"], cwd=tmp_path) for n in range(4)]
    assert [one.wait(timeout=stdio.SECONDS) for one in running] == [0] * 4
    assert docs_json("stale", cwd=tmp_path)["total"] == 0


def test_a_state_without_a_server_says_none(tmp_path: Path) -> None:
    assert "lock_pid: none" in docs("status", cwd=documents(tmp_path, PAIR)).out


def test_a_surface_is_configured_once(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}, {use: graph}]\n")
    done = fumishirube("serve", cwd=tmp_path)
    assert done.code == 2
    assert "surfaces[1]: 'graph' is used twice" in done.err


def test_no_refresh_answers_of_the_index_as_it_stands(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    docs("index", cwd=tmp_path)
    documents(tmp_path, {"new.md": "# New\n"})
    assert docs_json("list-pages", "--no-refresh", cwd=tmp_path)["total"] == 2
    assert docs_json("list-pages", cwd=tmp_path)["total"] == 3


def test_a_picture_of_the_graph_holds_its_pages_safely(tmp_path: Path) -> None:
    title = '</script><script>alert("x")</script>'
    documents(tmp_path, {"a.md": f"---\ntitle: '{title}'\n---\n[[b|extends]]\n", "b.md": "# B\n"})
    page = docs("get-graph", "--format", "html", cwd=tmp_path).out
    assert page.count("<script>") == 1
    assert "extends" in page
    dot = docs("get-graph", "--format", "dot", cwd=tmp_path).out
    assert dot.startswith("digraph")
    assert "extends" in dot
    drawn = docs("get-graph", "--format", "mermaid", cwd=tmp_path).out
    assert drawn.startswith("graph LR")
    assert "<script>" not in drawn
    done = docs("get-graph", "--format", "dot", "--json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "--json goes with no --format but json" in done.err


def test_full_text_is_not_asked_to_follow_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents(tmp_path, PAIR)
    asked = ["docs", "search", "setup", "--fulltext", "--workspace", str(tmp_path)]
    for words in (["--depth", "1"], ["--include-linked"], ["--link-types", "extends"]):
        assert main([*asked, *words]) == 2
        assert f"--fulltext goes with no {words[0]}" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("form", ["html", "dot", "mermaid"])
def test_a_picture_of_a_part_of_the_graph_says_so(tmp_path: Path, form: str) -> None:
    documents(tmp_path, {f"{number}.md": f"# Page {number}\n" for number in range(5)})
    assert not docs("get-graph", "--format", form, cwd=tmp_path).err
    settings = "surfaces: [{use: graph, with: {max_nodes: 2}}]\n"
    (tmp_path / "fumishirube.yaml").write_text(settings)
    done, pictures = docs("get-graph", "--format", form, cwd=tmp_path), []
    assert "only 2 of 5 documents are drawn" in done.err
    while more := re.search(r"--cursor (\S+)", done.err):
        pictures.append(done.out)
        done = docs("get-graph", "--format", form, "--cursor", more[1], cwd=tmp_path)
    pictures.append(done.out)
    shown = [re.findall(r"Page \d", page) for page in pictures]
    assert shown == [["Page 0", "Page 1"], ["Page 2", "Page 3"], ["Page 4"]]


def test_the_doctor_knows_documents_from_manuals(tmp_path: Path) -> None:
    documents(tmp_path, PAIR)
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    done = fumishirube("doctor", cwd=tmp_path)
    assert done.code == 0, done.out
    assert not [line for line in done.out.splitlines() if line.split()[1:2] == ["manual"]]
    shutil.rmtree(tmp_path / "docs")
    done = fumishirube("doctor", cwd=tmp_path)
    assert done.code == 1
    assert "no folder 'docs'" in done.out
