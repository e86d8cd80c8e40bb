"""What a call has no time to index is indexed beside the calls, by a server and by nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import manuals
import pytest
from stdio import Wire

from fumishirube.budget import Budget
from fumishirube.config.configuration import load_config
from fumishirube.engine import background
from fumishirube.engine.background import BackgroundIndexer
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.engine.stage_calls import AbandonedWork
from fumishirube.errors import Cancelled
from fumishirube.host import context
from fumishirube.host.application import Application
from fumishirube.host.context import PipelineContext
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.memory import PeerProcesses
from fumishirube.host.plugin_guard import PluginGuard
from fumishirube.host.watched_updates import WatchedUpdates
from fumishirube.plugins.discovery import load_plugins
from fumishirube.query import Query

FILES = 400
SECONDS = 30


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    files = {f"m/{n:03}.md": f"# 第{n}条\n給付 {n}\n" * 3 for n in range(FILES - 1)}
    return manuals.write(tmp_path, {**files, "m/zz 交通費.md": "# 請求\n月末まで。\n"})


def hurried(call: Callable[..., dict[str, Any]], query: str = "給付") -> dict[str, Any]:
    """Ask with one millisecond, in which a single file is indexed."""
    return call(
        "manual_find",
        query=query,
        manual_id="m",
        required_terms=[query],
        budget={"time_ms": 1},
        use_cache=False,
    )


def scanned(answer: dict[str, Any]) -> int:
    number: int = answer["coverage"]["scanned"]["files"]
    return number


@pytest.mark.slow
def test_a_server_finishes_what_a_find_had_no_time_for(workspace: Path) -> None:
    with Wire(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage") as server:
        server.ok("manual_ls")
        first = hurried(server.ok)
        assert 0 < scanned(first) < FILES
        assert first["coverage"]["scope"]["files"] == FILES
        assert "time ran out while indexing" in first["degraded"]
        calls, deadline = 1, time.monotonic() + SECONDS
        while (answer := hurried(server.ok)).get("degraded"):
            calls += 1
            assert time.monotonic() < deadline, answer["degraded"]
            time.sleep(0.2)
        assert scanned(answer) == FILES
        assert calls < FILES / 2, "the calls did it all by themselves"


def test_hanging_up_ends_the_indexing_and_leaves_a_sound_index(workspace: Path) -> None:
    with Wire(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage") as server:
        server.ok("manual_ls")
        hurried(server.ok)
        assert "Traceback" not in server.hang_up()
    with closing(manuals.opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")) as application:
        answer = manuals.ask(
            application, "manual_find", query="給付", manual_id="m", required_terms=["給付"]
        )
        assert "degraded" not in answer
        assert scanned(answer) == FILES


@pytest.mark.slow
def test_a_server_answers_from_what_is_there_and_says_how_much_that_is(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "SERVED_SECONDS", 0.0)

    def find(application: Application) -> dict[str, Any]:
        return manuals.ask(
            application, "manual_find", query="給付", manual_id="m", required_terms=["給付"]
        )

    opened = manuals.opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")
    with closing(opened) as application, application.lifespan():
        first = find(application)
        assert 0 < scanned(first) < FILES
        assert f"({scanned(first)} of {FILES} files are)" in first["degraded"]
        deadline = time.monotonic() + SECONDS
        while "degraded" in (answer := find(application)):
            assert time.monotonic() < deadline, answer["degraded"]
            time.sleep(0.2)
        assert scanned(answer) == FILES


def test_a_process_that_does_not_lead_finishes_what_its_own_calls_leave(tmp_path: Path) -> None:
    pipeline = "{embedder: hashing, scorers: [defaults, vector]}"
    manuals.write(tmp_path, {"m/a.md": "# A\nabacus\n"})
    (tmp_path / "fumishirube.yaml").write_text(f"pipelines: {{manual: {pipeline}}}\n")
    other = PeerProcesses(lambda *_: None, first=False)
    opened = Application(
        load_config(tmp_path, environ={}), load_plugins(strangers=False), peers=other
    )
    with closing(opened) as application, application.lifespan():
        find = partial(hurried, partial(manuals.ask, application), "abacus")
        assert "not every file is embedded yet" in find()["degraded"]
        deadline = time.monotonic() + SECONDS
        while "degraded" in find():
            assert time.monotonic() < deadline
            time.sleep(0.02)


def indexed(context: PipelineContext, manual_id: str) -> bool:
    """Tell whether a manual has an index of all its files soon."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        opened = context.indexes.opened(manual_id)
        if opened is not None and opened.committed:
            return True
        time.sleep(0.05)
    return False


def test_a_manual_that_is_gone_does_not_keep_the_others_from_being_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_FIRST_SECONDS", 0.0)
    workspace = manuals.write(tmp_path, {"m/a.md": "# A\n"})
    with closing(manuals.opened(workspace)) as application:
        context = application.contexts["manual"]
        with closing(BackgroundIndexer()) as indexer:
            indexer.begin(lambda: ["gone", "m"], context.indexed_of)
            assert indexed(context, "m")


@pytest.mark.parametrize("error", [BaseException("as of an extension in Rust"), Cancelled("")])
def test_a_panic_does_not_end_the_indexing_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def panic(*_: Any, **__: Any) -> IndexState:
        raise error

    workspace = manuals.write(tmp_path, {"a/a.md": "# A\n", "b/b.md": "# B\n"})
    with closing(manuals.opened(workspace)) as application:
        context = application.contexts["manual"]
        monkeypatch.setattr(context.indexed_of("a"), "bring_up_to_date", panic)
        with closing(BackgroundIndexer()) as indexer:
            indexer.take_up(context.indexed_of("a"))
            indexer.take_up(context.indexed_of("b"))
            assert indexed(context, "b")


def test_a_turn_that_is_left_behind_delays_no_other_manual_and_queues_the_next_when_it_ends(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manuals.write(workspace, {"other/a.md": "# A\n"})
    work, going, turns = ForeignWork("p", "p", "tokenizer 't'"), threading.Event(), list[float]()
    with (
        closing(manuals.opened(workspace)) as application,
        closing(PluginGuard(workspace / "guard")) as guard,
    ):
        context = application.contexts["manual"]
        delayed = context.indexed_of("m")
        update = delayed.bring_up_to_date

        def slow_first(*arguments: Any, **named: Any) -> IndexState:
            turns.append(time.monotonic())
            if len(turns) == 1:
                with guard.marked(work):
                    assert going.wait(30)
            return update(*arguments, **named)

        monkeypatch.setattr(delayed, "bring_up_to_date", slow_first)
        runs = WatchedUpdates(guard, background_seconds=0.5).run_in_background
        try:
            with closing(BackgroundIndexer(runs=runs)) as indexer:
                indexer.take_up(delayed)
                indexer.take_up(context.indexed_of("other"))
                assert indexed(context, "other")
                assert [fault.stage for fault in guard.log.faults()] == [work.stage]
                time.sleep(1)
                assert len(turns) == 1, "it is not repeated while it is at work"
                going.set()
                deadline = time.monotonic() + SECONDS
                while len(delayed.last_state("").pages) < FILES:
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
        finally:
            going.set()
    assert len(turns) > 1


def test_what_an_update_has_left_that_a_call_left_behind_is_indexed_when_its_stage_ends(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, working, going = ForeignWork("p", "p", "tokenizer 't'"), Event(), Event()
    with (
        closing(manuals.opened(workspace)) as application,
        closing(PluginGuard(workspace / "guard")) as guard,
    ):
        context = application.contexts["manual"]
        context.updates = WatchedUpdates(guard)
        delayed = context.indexed_of("m")
        sweep = delayed.manual.sweep

        def slow_first() -> Any:
            if not working.is_set():
                working.set()
                with guard.marked(work):
                    assert going.wait(SECONDS)
            return sweep()

        monkeypatch.setattr(delayed.manual, "sweep", slow_first)
        try:
            with context.serving():
                with pytest.raises(AbandonedWork, match="tokenizer 't'"):
                    context.prepare("m", Query("給付", budget=Budget.of(1)))
                time.sleep(1)  # a turn in the background would be left behind meanwhile
                going.set()
                deadline = time.monotonic() + SECONDS
                while len(delayed.last_state("").pages) < FILES:
                    assert time.monotonic() < deadline, "only the next call would go on"
                    time.sleep(0.05)
        finally:
            going.set()


def test_to_close_while_a_plugin_opens_an_index_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(background, "_FIRST_SECONDS", 0.0)
    work, opening, going = ForeignWork("p", "p", "index 'i'"), threading.Event(), threading.Event()

    with closing(PluginGuard(tmp_path / "guard")) as guard:

        def opened(manual_id: str) -> Any:
            with guard.marked(work):
                opening.set()
                assert going.wait(30), manual_id

        try:
            runs = WatchedUpdates(guard).run_in_background
            with closing(BackgroundIndexer(runs=runs)) as indexer:
                indexer.begin(lambda: ["m", "n"], opened)
                assert opening.wait(30)
            deadline = time.monotonic() + SECONDS
            while "fumishirube warming up" in {each.name for each in threading.enumerate()}:
                assert time.monotonic() < deadline, "it waits for the plugin"
                time.sleep(0.02)
        finally:
            going.set()
    assert not caplog.records


def test_who_serves_nobody_leaves_no_thread_behind(workspace: Path) -> None:
    with closing(manuals.opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")) as application:
        first = hurried(lambda name, **given: manuals.ask(application, name, **given))
        assert 0 < scanned(first) < FILES
        names = {thread.name for thread in threading.enumerate()}
        assert "fumishirube indexing" not in names


def test_in_a_hurry_the_file_that_is_named_goes_first(workspace: Path) -> None:
    with closing(manuals.opened(workspace, FUMISHIRUBE_SURFACE_EXTRAS="coverage")) as application:
        answer = hurried(
            lambda name, **given: manuals.ask(application, name, **given), "交通費の請求"
        )
        assert [item["ref"]["path"] for item in answer["inline_hits"]["items"]] == ["zz 交通費.md"]


def test_an_index_that_cannot_be_written_is_left_to_the_next_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing goes on meanwhile, and nothing is logged again and again."""
    workspace = manuals.write(tmp_path, {"m/a.md": "# A\nabacus\n"})
    application = manuals.opened(workspace)

    def find(term: str) -> dict[str, Any]:
        return manuals.ask(
            application, "manual_find", query=term, manual_id="m", required_terms=[term]
        )

    with closing(application), application.lifespan():
        assert find("abacus")["inline_hits"]["items"]
        (lock,) = (workspace / ".fumishirube").rglob(".tantivy-writer.lock")
        lock.unlink()
        lock.mkdir()
        manuals.write(tmp_path, {"m/b.md": "# B\nbanjos\n"})
        caplog.set_level("INFO")
        assert "the index cannot be written" in find("banjos")["degraded"]
        time.sleep(0.1)
        assert "indexing goes on" not in caplog.text
        lock.rmdir()
        assert "degraded" not in find("banjos")


@contextmanager
def warming_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> Iterator[tuple[BackgroundIndexer, Any]]:
    """What indexes ahead, with so many seconds for the handshake; and the context of a manual."""
    monkeypatch.setattr(background, "_FIRST_SECONDS", seconds)
    workspace = manuals.write(folder, {"m/a.md": "# A\n"})
    with closing(manuals.opened(workspace)) as application:
        context = application.contexts["manual"]
        with closing(BackgroundIndexer()) as indexer:
            indexer.begin(lambda: ["m"], context.indexed_of)
            yield indexer, context


def test_the_end_of_the_handshake_is_not_waited_for_in_vain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warming_up(tmp_path, monkeypatch, 3600.0) as (indexer, context):
        time.sleep(0.2)
        assert context.indexes.opened("m") is None, "the client may still shake hands"
        indexer.greet()
        assert indexed(context, "m")


def test_a_client_that_goes_on_calling_is_given_a_rest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warming_up(tmp_path, monkeypatch, 3600.0) as (indexer, context):
        indexer.greet()
        with indexer.call():
            time.sleep(background._REST_SECONDS + 0.2)
            assert context.indexes.opened("m") is None, "the call has the processor"
        assert indexed(context, "m")


def test_a_client_that_never_rests_does_not_stop_the_indexing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with warming_up(tmp_path, monkeypatch, 0.3) as (indexer, context):
        indexer.greet()
        with indexer.call():
            assert indexed(context, "m")
