"""What an application hands on to the one that takes its place, and what it closes itself."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from fumishirube import ConfigError
from fumishirube.config.configuration import load_config
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application, replaced_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call
from fumishirube_manual.surface import ManualSurface

Opened = Callable[..., Application]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Open the workspace with a configuration, in the place of an application if one is given."""
    (tmp_path / "manuals" / "handbook").mkdir(parents=True)
    (tmp_path / "manuals" / "handbook" / "leave.md").write_text("# Leave\nTen days.\n", "utf-8")

    def opening(
        yaml: str = "", former: Application | None = None, revision: int = 0
    ) -> Application:
        (tmp_path / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
        if former is None:
            return open_application(tmp_path, strangers=False, environ={})
        read = partial(load_config, tmp_path, environ={})
        return replaced_application(former, read, strangers=False, revision=revision)

    return opening


def found(application: Application) -> str:
    asked = {"query": "leave", "manual_id": "handbook", "required_terms": ["leave"]}
    call_tool(application.tools["manual_ls"], {}, Call())
    answer: Any = call_tool(application.tools["manual_find"], asked, Call())
    trace: str = answer["trace_id"]
    return trace


def test_a_search_of_before_can_still_be_looked_at(opened: Opened) -> None:
    before = opened()
    trace = found(before)
    after = opened("pipelines: {manual: {fusers: []}}", former=before)
    before.close([after.memory])
    assert after.traces.get(trace).text == "leave"
    found(after)
    after.close()


def test_the_same_question_of_the_same_pipeline_is_answered_from_the_cache(opened: Opened) -> None:
    before = opened()
    found(before)
    after = opened("surfaces: [{use: manual}]", former=before)
    assert after.traces.get(found(after)).cache.hit
    other = opened("pipelines: {manual: {fusers: []}}", former=after)
    assert not other.traces.get(found(other)).cache.hit


def test_code_that_was_imported_anew_takes_over_no_answers_and_no_statistics(
    opened: Opened,
) -> None:
    """Statistics are kept by the class of a surface, so that those of old code would pile up."""
    before = opened()
    found(before)
    after = opened("", former=before, revision=1)
    assert not after.traces.get(found(after)).cache.hit
    assert after.memory.statistics is not before.memory.statistics


class _Failing:
    """Statistics whose every method exits."""

    def __getattr__(self, name: str) -> Any:
        raise SystemExit(7)


@pytest.mark.parametrize("made", [True, False])
def test_statistics_that_fail_end_no_search(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, made: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def statistics(self: ManualSurface, *_: Any, **__: Any) -> Any:
        return _Failing() if made else sys.exit(7)

    monkeypatch.setattr(ManualSurface, "search_statistics", statistics)
    application = opened("adaptive: {candidate_low: 3}")
    trace = application.traces.get(found(application))
    assert trace.thresholds.candidate_low == 3
    application.close()
    assert caplog.text.count("the statistics of ManualSurface failed") == 1


def test_thresholds_of_another_type_are_not_used(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(_Failing):
        thresholds = ("x", None)

    monkeypatch.setattr(ManualSurface, "search_statistics", lambda *_, **__: Odd())
    application = opened("adaptive: {candidate_low: 3}")
    assert application.traces.get(found(application)).thresholds.candidate_low == 3
    application.close()


@pytest.mark.parametrize("first", [True, False])
def test_no_search_waits_for_the_statistics_of_another_surface(opened: Opened, first: bool) -> None:
    begun, done = Event(), Event()

    class Slow(ManualSurface):
        def search_statistics(self, *_: Any, **__: Any) -> Any:
            begun.set()
            done.wait(10)
            raise SystemExit(7)

    application = opened()
    if not first:
        found(application)
    making = Thread(target=application.memory.statistics.thresholds, args=[Slow()])
    making.start()
    assert begun.wait(10)
    search = Thread(target=found, args=[application])
    search.start()
    search.join(5)
    waits = search.is_alive()
    done.set()
    making.join()
    search.join()
    application.close()
    assert not waits


@pytest.mark.parametrize(
    ("yaml", "kept"),
    [
        ("traces: {keep: 7}", {"cache", "statistics"}),
        ("cache: {keep: 7}", {"traces", "statistics"}),
        ("adaptive: {min_recall: 0.5}", {"traces", "cache"}),
        ("roots: {state: elsewhere}", {"cache", "statistics"}),
        ("limits: {depth: 7}", {"traces", "cache", "statistics"}),
    ],
)
def test_each_part_is_handed_on_unless_its_settings_change(
    opened: Opened, yaml: str, kept: set[str]
) -> None:
    before = opened()
    trace = found(before)
    after = opened(yaml, former=before)
    parts = ("traces", "cache", "statistics")
    same = {part for part in parts if getattr(after.memory, part) is getattr(before.memory, part)}
    assert same == kept
    assert after.traces.get(trace).text == "leave", "traces are handed on whatever changes"


def test_where_the_server_listens_stays_and_is_said_to(opened: Opened) -> None:
    before = opened("server: {port: 1234}")
    after = opened("server: {port: 4321}\nsecurity: {allowed_hosts: [a.example]}", former=before)
    assert after.config.server.port == 1234
    assert after.config.security.allowed_hosts == ()
    assert after.warnings == [
        "server.port: it needs a restart; 1234 stays",
        "security.allowed_hosts: it needs a restart; [] stays",
    ]


def test_what_cannot_be_built_leaves_the_former_as_it_was(opened: Opened) -> None:
    before = opened()
    trace = found(before)
    with pytest.raises(ConfigError, match=r"pipelines\.manual\.fusers\[0\]"):
        opened("pipelines: {manual: {fusers: [{use: nonsense}]}}", former=before)
    found(before)
    assert before.traces.get(trace).text == "leave"
    folder = before.state.path / "traces"
    before.close()
    assert (folder / f"{trace}.json").is_file(), "it still writes what it keeps"


@pytest.mark.slow
def test_no_search_leaves_objects_that_only_the_garbage_collector_frees(opened: Opened) -> None:
    """A search has thousands of objects; a cycle among them would keep all until a collection."""
    application = opened()
    found(application)
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        for query in ("ten days", "holiday"):
            asked = {"query": query, "manual_id": "handbook", "required_terms": ["leave", "tne"]}
            call_tool(application.tools["manual_find"], asked, Call())
        gc.collect()
        kept = {f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    application.close()
    assert not {name for name in kept if name.startswith("fumishirube")}
