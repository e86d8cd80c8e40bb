"""Traces outlive their process, as files, within bounds, and without slowing a search."""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manuals import RULES, appears, ask, citation, fumishirube, opened, trace_appears, write
from stdio import Fumishirube, Wire

from fumishirube import LeftOut, NotFound, Query, Root, Span, TermReport, Trace, TraceRow
from fumishirube.host.application import Application
from fumishirube.model import FrequencyReport, OutsideSearch, SearchReport, Skipped
from fumishirube.traces.files import VERSION, TraceFiles, decode_trace, encode_trace
from fumishirube.traces.records import CacheOutcome, Origin, PipelineSnapshot, Thresholds
from fumishirube.traces.store import StoredTrace, TraceStore, new_trace_id

FIND: dict[str, Any] = {"query": "対象外", "manual_id": "m1", "required_terms": ["対象外"]}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, {"m1/rules.md": RULES})


@pytest.fixture
def application(workspace: Path) -> Iterator[Application]:
    application = opened(workspace)
    yield application
    application.close()


def a_trace(text: str = "問い \ud800", **changes: Any) -> Trace:
    row = TraceRow(
        "a.md", 1, 2, "題", "0123456789ab", 1 / 3, 0.5, frozenset("xy"), ("あ",), {"s": 0.1}
    )
    left = LeftOut("b.md", None, "too_large")
    run = Span("g0", "run", 0.1, 0.2, (row, row), (left,), {"matched": 3}, weight=1.1, must=("対",))
    search = Span("search", "search", 0.0, 1.5, (row,), (), {"n": [1, {"k": None}]}, error="e")
    trace = Trace(
        id=new_trace_id(),
        manual_id="m1",
        created=time.time(),
        search=replace(search, children=(run,)),
        files=3,
        sections=9,
        skipped=(left,),
        degraded="stale",
        cache=CacheOutcome("semantic", 0.93, 1.25),
        thresholds=Thresholds(2, 0.7),
        aside=OutsideSearch(1, (Skipped("hidden", "file", 2), Skipped("too_deep", "folder", 3))),
        annotations={"graph": {"claims": [{"text": "題 \ud800", "n": 0.5}], "none": None}},
        origin=Origin(
            PipelineSnapshot(
                "manual", "manual", "f" * 16, {"scorers": [{"use": "s"}]}, {"p": "p 1.0"}
            ),
            "0" * 16,
            Query(
                text,
                ("対象外",),
                ("対象外",),
                50,
                frozenset({("a.md", 1), ("b.md", 7)}),
                case_sensitive=True,
                within=frozenset({"a.md", "b.md"}),
                stage_arguments={"graph": {"depth": 2}},
            ),
        ),
        report=SearchReport(
            (TermReport("対象外", 0, ("対象",)),),
            None,
            (FrequencyReport("対象外", 0, 0.0, "too_rare", dropped=False),),
            9,
            holding=(1, 2),
            left_out={"candidate_cap": 2},
            at_least=True,
        ),
    )
    return replace(trace, **changes)


def changed(data: bytes, **members: Any) -> bytes:
    """Return the document of a trace with other values of some members."""
    return json.dumps({**json.loads(data), **members}).encode()


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()} if folder.is_dir() else set()


# --- the document ---------------------------------------------------------------------------


def test_a_trace_survives_its_document() -> None:
    trace = a_trace()
    again = decode_trace(encode_trace(trace))
    for one in fields(Trace):
        assert getattr(again, one.name) == getattr(trace, one.name), one.name
        assert type(getattr(again, one.name)) is type(getattr(trace, one.name)), one.name
    assert again == trace


@given(
    st.builds(
        TraceRow,
        st.text(),
        st.integers(1),
        st.integers(1),
        st.text(),
        st.text(),
        st.floats(allow_nan=False),
        st.floats(0, 1),
        st.frozensets(st.text()),
        st.lists(st.text()).map(tuple),
        st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
    )
)
def test_any_row_survives(row: TraceRow) -> None:
    trace = a_trace(search=Span("search", "search", 0, 0, (row,)))
    assert decode_trace(encode_trace(trace)) == trace


def test_the_trace_of_a_real_search_survives(application: Application) -> None:
    trace = application.traces.get(ask(application, "manual_find", **FIND)["trace_id"])
    assert decode_trace(encode_trace(trace)) == trace


def test_the_document_is_json_with_a_version_and_holds_each_row_once() -> None:
    document = json.loads(encode_trace(a_trace(text="問い")))
    assert document["version"] == VERSION
    assert len(document["rows"]) == len(document["places"]) == 1
    assert document["search"]["children"][0]["rows"] == [0, 0]


def test_what_an_older_form_lacks_has_its_default() -> None:
    document = json.loads(encode_trace(a_trace(text="問い")))
    for name in ("aside", "cache", "thresholds", "annotations", "origin", "report"):
        del document[name]
    document["query"] = {"text": "問い"}
    document["unheard_of"] = 1
    again = decode_trace(json.dumps(document).encode())
    assert (again.aside, again.cache, again.thresholds) == (
        OutsideSearch(),
        CacheOutcome(),
        Thresholds(),
    )
    assert again.excluded == frozenset()
    assert again.origin == Origin(query=Query("問い"))
    assert again.report == SearchReport()


def test_a_trace_says_which_pipeline_searched_what(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text(
        "pipelines: {manual: {refiners: [{use: cutoff, as: last, with: {limit: 7}}]}}\n"
    )
    application = opened(workspace)
    try:
        traces = [
            application.traces.get(ask(application, "manual_find", **FIND | more)["trace_id"])
            for more in ({}, {"use_cache": True}, {"budget": {"max_candidates": 3}})
        ]
    finally:
        application.close()
    first = traces[0].origin
    assert first.recipe.stages["refiners"][0].items() >= {"use": "cutoff", "as": "last"}.items()
    assert first.recipe.stages["refiners"][0]["with"]["limit"] == 7
    assert first.recipe.stages["index"]["use"] == "tantivy"
    assert (first.recipe.surface, first.recipe.name) == ("manual", "manual")
    assert [*first.recipe.makers] == ["stages"]
    assert traces[1].cache.hit
    assert traces[1].origin == first
    assert traces[2].origin == replace(first, query=replace(first.query, limit=3))
    assert first.corpus


# --- the folder -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\xff\xfe",
        lambda data: b"[]",
        lambda data: b"{}",
        lambda data: data.replace(b'"version":1', b'"version":99'),
        lambda data: data.replace(b'"places":[[', b'"places":[[1,'),
        lambda data: b"[" * 100_000,
        lambda data: changed(data, created=1e300),
        lambda data: changed(data, created=math.inf),
        lambda data: changed(data, created=math.nan),
        lambda data: data.replace(b'"rows":[0]', b'"rows":[-1]'),
        lambda data: data.replace(b'"kind":"run"', b'"kind":"walk"'),
        lambda data: data.replace(b'"started_ms":0.1', b'"started_ms":"x"'),
        lambda data: data.replace(b'"rows":[[0,', b'"rows":[[-1,'),
        lambda data: data + b" " * 2**26,
    ],
)
def test_a_file_that_is_no_trace_is_ignored(tmp_path: Path, spoil: Any) -> None:
    files = TraceFiles(Root(tmp_path), 10, 60)
    trace = a_trace(text="q")
    files.write(trace)
    assert files.read(trace.id) == trace
    file = tmp_path / f"{trace.id}.json"
    before = file.read_bytes()
    file.write_bytes(spoil(before))
    assert file.read_bytes() != before
    assert files.read(trace.id) is None
    store = TraceStore(10, 60, Root(tmp_path))
    with pytest.raises(NotFound):
        store.get(trace.id)
    assert store.all_traces() == ([], [file.name])


@pytest.mark.parametrize("answer", [b"", b"{}", b"[1]", b"\xff"])
def test_what_another_process_answers_may_be_no_trace(answer: bytes) -> None:
    store = TraceStore(10, 60)
    store.elsewhere = lambda _: answer
    with pytest.raises(NotFound):
        store.get(new_trace_id())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_a_pipe_among_the_traces_is_named_and_not_read(workspace: Path) -> None:
    assert fumishirube("find", "rules", cwd=workspace).code == 0
    pipe = f"{new_trace_id()}.json"
    os.mkfifo(workspace / ".fumishirube" / "traces" / pipe)
    listed = fumishirube("trace", "ls", cwd=workspace)
    assert (listed.code, "rules" in listed.out, pipe in listed.err) == (0, True, True)


def test_a_file_speaks_for_its_own_id_only(tmp_path: Path) -> None:
    files, trace, other = TraceFiles(Root(tmp_path), 10, 60), a_trace(), new_trace_id()
    files.write(trace)
    (tmp_path / f"{trace.id}.json").rename(tmp_path / f"{other}.json")
    assert files.read(other) is None


@pytest.mark.parametrize("name", ["../secret", "a/b", "", ".", "..", "C:x", "ａ", "x\0", "a" * 999])
def test_no_id_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.json").write_bytes(encode_trace(a_trace(id=name, text="q")))
    (tmp_path / "traces").mkdir()
    assert TraceFiles(Root(tmp_path / "traces"), 10, 60).read(name) is None


def test_never_more_than_so_many_the_oldest_go(tmp_path: Path) -> None:
    files = TraceFiles(Root(tmp_path), 3, 3600)
    traces = [a_trace() for _ in range(6)]
    for age, trace in enumerate(reversed(traces)):
        files.write(trace)
        written = time.time() - age * 10
        os.utime(tmp_path / f"{trace.id}.json", (written, written))
    files.tidy()
    assert names(tmp_path) == {f"{trace.id}.json" for trace in traces[3:]}


def test_none_older_than_so_long(tmp_path: Path) -> None:
    files, trace = TraceFiles(Root(tmp_path), 10, 60), a_trace(created=time.time() - 61)
    files.write(trace)
    assert files.read(trace.id) is None
    old = time.time() - 61
    os.utime(tmp_path / f"{trace.id}.json", (old, old))
    (tmp_path / "left.part").write_bytes(b"x")
    os.utime(tmp_path / "left.part", (old, old))
    (tmp_path / "mine.txt").write_bytes(b"x")
    files.tidy()
    assert names(tmp_path) == {"mine.txt"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_a_trace_is_its_owners_alone(tmp_path: Path) -> None:
    trace = a_trace()
    TraceFiles(Root(tmp_path), 10, 60).write(trace)
    assert stat.S_IMODE((tmp_path / f"{trace.id}.json").stat().st_mode) == 0o600


def test_nothing_half_written_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        TraceFiles(Root(tmp_path), 10, 60).write(a_trace())
    assert names(tmp_path) == set()


# --- the store ------------------------------------------------------------------------------


def test_another_store_reads_what_one_has_written(tmp_path: Path) -> None:
    one, other = TraceStore(10, 60, Root(tmp_path)), TraceStore(10, 60, Root(tmp_path))
    traces = [a_trace() for _ in range(5)]
    for trace in traces:
        one.put(trace)
    one.close()
    assert [other.get(trace.id) for trace in traces] == traces


def test_the_oldest_is_gone_from_memory_and_folder_alike(tmp_path: Path) -> None:
    store, first, second = TraceStore(1, 60, Root(tmp_path)), a_trace(), a_trace()
    store.put(first)
    appears(tmp_path / f"{first.id}.json")
    assert names(tmp_path) == {f"{first.id}.json"}
    store.put(second)
    with pytest.raises(NotFound):
        store.get(first.id)
    store.close()
    assert names(tmp_path) == {f"{second.id}.json"}


def test_a_lower_limit_holds_for_the_traces_of_a_former_server(workspace: Path) -> None:
    folder = workspace / ".fumishirube" / "traces"
    files, traces = TraceFiles(Root(folder), 10, 60), [a_trace() for _ in range(3)]
    for age, trace in enumerate(traces):
        files.write(trace)
        written = time.time() - age * 10
        os.utime(folder / f"{trace.id}.json", (written, written))
    application = opened(workspace, TRACE_MAX_KEEP="1")
    assert len(names(folder)) == 3  # what does not serve removes nothing
    with application.lifespan():
        assert application.traces.get(traces[0].id) == traces[0]
        for trace in traces[1:]:
            with pytest.raises(NotFound):
                application.traces.get(trace.id)
    application.close()


def test_reading_does_not_make_a_trace_live_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, trace = TraceStore(10, 60, Root(tmp_path)), a_trace()
    store.put(trace)
    store.close()
    other = TraceStore(10, 60, Root(tmp_path))
    for age, kept in ((50, True), (61, False)):
        monkeypatch.setattr(time, "time", lambda age=age: trace.created + age)
        for one in (store, other):
            if kept:
                assert one.get(trace.id) == trace
            else:
                with pytest.raises(NotFound):
                    one.get(trace.id)


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    store, trace = TraceStore(10, 60), a_trace()
    store.put(trace)
    store.close()
    assert store.get(trace.id) is trace
    assert names(tmp_path) == set()


def test_a_folder_that_cannot_be_written_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store, trace = TraceStore(10, 60, Root(tmp_path / "file" / "traces")), a_trace()
    store.put(trace)
    store.close()
    assert store.get(trace.id) == trace


def test_a_trace_that_cannot_be_written_takes_no_other_along(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    traces = [a_trace() for _ in range(3)]
    (tmp_path / f"{traces[1].id}.json" / "in the way").mkdir(parents=True)
    expired = tmp_path / f"{new_trace_id()}.json"
    expired.write_text("{}")
    os.utime(expired, (1, 1))
    store = TraceStore(10, 60, Root(tmp_path))
    for trace in traces:
        store.put(trace)
    store.close()
    assert names(tmp_path) == {f"{trace.id}.json" for trace in traces}
    assert (tmp_path / f"{traces[2].id}.json").is_file()
    assert "a trace could not be written" in caplog.text


def test_all_that_is_put_quickly_is_kept(tmp_path: Path, application: Application) -> None:
    trace = application.traces.get(ask(application, "manual_find", **FIND)["trace_id"])
    store = TraceStore(100, 60, Root(tmp_path / "traces"))
    for _ in range(100):
        store.put(replace(trace, id=new_trace_id()))
    store.close()
    assert len(names(tmp_path / "traces")) == 100


def test_traces_are_written_too_while_they_keep_coming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fumishirube.traces.store._LATEST", 0.2)
    store = TraceStore(1000, 60, Root(tmp_path))
    until = time.monotonic() + 30
    while not names(tmp_path) and time.monotonic() < until:
        store.put(a_trace())
        time.sleep(0.005)
    assert names(tmp_path), "never quiet, and never written"
    began = time.monotonic()
    store.close()
    assert time.monotonic() - began < 5, "closing does not pause between traces"
    assert len(names(tmp_path)) == len(store._traces)


def test_all_but_the_newest_are_packed_and_read_as_they_were(tmp_path: Path) -> None:
    store = TraceStore(100, 60, Root(tmp_path))
    traces = [a_trace(f"{number} \ud800") for number in range(20)]
    stored = [store.put(trace) for trace in traces]
    assert [store.get(trace.id) for trace in traces] == traces
    store.close()
    assert [one.whole for one in stored] == [None] * 12 + traces[12:]
    assert [store.get(trace.id) for trace in traces] == traces
    noted = store.annotate(traces[0], "one", 1)
    assert noted == replace(traces[0], annotations={**traces[0].annotations, "one": 1})
    assert store.get(noted.id) == noted
    assert sorted(store.all_traces()[0], key=lambda trace: trace.text) == sorted(
        [noted, *traces[1:]], key=lambda trace: trace.text
    )
    packed = store.encoded(traces[1].id)
    assert packed is not None
    assert decode_trace(packed) == traces[1]


def test_a_version_that_is_packed_late_replaces_no_newer_one() -> None:
    old = a_trace(annotations={})
    new = replace(old, annotations={"one": 1})
    stored = StoredTrace(old)
    stored.replace(new)
    stored.pack(old, zlib.compress(encode_trace(old)))
    assert stored.trace == new
    stored.pack(new, zlib.compress(encode_trace(new)))
    assert stored.whole is None
    assert stored.trace == new


# --- other processes ------------------------------------------------------------------------


def test_a_trace_is_there_when_the_process_has_ended(workspace: Path) -> None:
    found = fumishirube("find", "対象外", "--require", "対象外", "--json", cwd=workspace).json
    trace_id = found["traces"]["m1"]
    assert names(workspace / ".fumishirube" / "traces") == {f"{trace_id}.json"}
    arguments = json.dumps({"trace_id": trace_id, "kind": "integrated_top"})
    page = fumishirube("call", "--json", "manual_hits", arguments, cwd=workspace).json
    assert [citation(item) for item in page["items"]] == [hit["cite"] for hit in found["hits"]]


def test_two_servers_and_the_command_line_share_traces(workspace: Path) -> None:
    with Fumishirube(workspace) as one, Fumishirube(workspace) as other:
        one.ok("manual_ls")
        trace_id = one.ok("manual_find", **FIND)["trace_id"]
        mine = one.ok("manual_hits", trace_id=trace_id)
        trace_appears(workspace, trace_id)
        assert other.ok("manual_hits", trace_id=trace_id) == mine
        other.ok("manual_ls")
        asked = FIND | {"only_unscanned_from_trace_id": trace_id}
        assert other.ok("manual_find", **asked)["candidates"] == 0
        assert fumishirube("coverage", trace_id, cwd=workspace).code == 0


def test_a_server_that_is_hung_up_on_has_written_its_traces(workspace: Path) -> None:
    with Wire(workspace) as server:
        server.ok("manual_ls")
        trace_id = server.ok("manual_find", **FIND)["trace_id"]
        server.hang_up()
    assert names(workspace / ".fumishirube" / "traces") == {f"{trace_id}.json"}


def test_the_files_can_be_turned_off(workspace: Path) -> None:
    (workspace / "fumishirube.yaml").write_text("traces: {files: false}\n")
    found = fumishirube("find", "対象外", "--json", cwd=workspace).json
    assert names(workspace / ".fumishirube" / "traces") == set()
    assert fumishirube("coverage", found["traces"]["m1"], cwd=workspace).code == 1


def test_the_limits_of_the_configuration_hold_for_the_files(workspace: Path) -> None:
    environ = {"TRACE_MAX_KEEP": "2"}
    traces = [
        fumishirube("find", "対象外", "--json", cwd=workspace, environ=environ).json["traces"]["m1"]
        for _ in range(3)
    ]
    assert names(workspace / ".fumishirube" / "traces") == {f"{one}.json" for one in traces[1:]}


def test_what_two_calls_add_to_a_trace_stays(tmp_path: Path) -> None:
    store, trace = TraceStore(10, 60, Root(tmp_path)), a_trace(annotations={})
    store.put(trace)
    store.annotate(trace, "one", 1)
    both = store.annotate(trace, "two", 2)
    assert both.annotations == {"one": 1, "two": 2}
    assert store.annotate(trace, "one", "late") == both
    assert store.get(trace.id) == both
    store.close()
