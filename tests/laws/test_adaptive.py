"""One line a search, never the query; and thresholds that follow slowly, and never far."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stdio import Fumishirube

from fumishirube import Query, SearchAssessment, Trace
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.traces.records import Thresholds
from fumishirube_manual import json_lines as journals
from fumishirube_manual.adaptive import DAY, LEAST, MOST, FindStatistics, Tuner
from fumishirube_manual.json_lines import JsonLinesFile

Opened = Callable[..., Application]

KEYS = [
    "ts",
    "query_hash",
    "scanned_files",
    "scanned_nodes",
    "candidates",
    "cutoff_reason",
    "status",
    "recall_ok",
    "unscanned_count",
    "est_tokens",
    "marginal_gain",
    "candidate_low_threshold",
    "file_bias_threshold",
    "sem_cache_hit",
    "sem_cache_mode",
    "sem_cache_score",
    "latency_saved_ms",
    "scoring_mode",
]
BASE = Thresholds(3, 0.8)
VERDICT = SearchAssessment(
    status="required_effective",
    cutoff_reason="stage_cap",
    recall_ok=True,
    unscanned=4,
    tokens=120,
    marginal_gain=0.5,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals" / "m1"
    folder.mkdir(parents=True)
    (folder / "rules.md").write_text("# 総則\n対象です。\n## 例外\n対象外です。\n", "utf-8")
    (folder / "toc.md").write_text("# 目次\n", "utf-8")
    (tmp_path / "vault").mkdir()
    return tmp_path


@pytest.fixture
def opened(workspace: Path) -> Iterator[Opened]:
    with ExitStack() as stack:

        def opening(**environ: str) -> Application:
            application = open_application(workspace, strangers=False, environ=environ)
            stack.callback(application.close)
            return application

        yield opening


@pytest.fixture
def file(workspace: Path) -> Path:
    return workspace / "vault" / ".system" / "adaptive_stats.jsonl"


def trace_of(
    application: Application, text: str = "対象外", assessment: SearchAssessment | None = VERDICT
) -> Trace:
    context = application.contexts["manual"]
    trace = context.find("m1", Query(text, ("対象外",))).trace
    if assessment:
        context.conclude(trace.id, assessment)
    return trace


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def a_line_comes(file: Path) -> None:
    """Wait until a whole line is written, which is some time after the file is there."""
    deadline = time.monotonic() + 60
    while not (file.is_file() and file.read_bytes().endswith(b"\n")):
        assert time.monotonic() < deadline, "no line was ever written"
        time.sleep(0.02)


def past(at: float, reason: str | None, *, used: Thresholds = BASE, ok: object = True) -> str:
    row = dict.fromkeys(KEYS)
    row |= {"ts": datetime.fromtimestamp(at, UTC).isoformat(), "cutoff_reason": reason}
    row |= {"candidate_low_threshold": used.candidate_low, "file_bias_threshold": used.file_bias}
    return json.dumps(row | {"recall_ok": ok})


def write(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")


# --- lines ----------------------------------------------------------------------------------


def test_a_search_leaves_one_line_with_all_the_keys(opened: Opened, file: Path) -> None:
    application = opened()
    assert not file.parent.exists()
    trace_of(application)
    application.close()
    (row,) = rows(file)
    assert list(row) == KEYS
    at = datetime.fromisoformat(row.pop("ts"))
    assert abs(at.timestamp() - time.time()) < 60
    assert re.fullmatch("[0-9a-f]{16}", row.pop("query_hash"))
    assert row == {
        "scanned_files": 1,
        "scanned_nodes": 2,
        "candidates": 2,
        "cutoff_reason": "stage_cap",
        "status": "required_effective",
        "recall_ok": True,
        "unscanned_count": 4,
        "est_tokens": 120,
        "marginal_gain": 0.5,
        "candidate_low_threshold": 3,
        "file_bias_threshold": 0.8,
        "sem_cache_hit": False,
        "sem_cache_mode": "miss",
        "sem_cache_score": None,
        "latency_saved_ms": None,
        "scoring_mode": "gate_rrf",
    }


def test_a_cached_answer_leaves_a_line_too(opened: Opened, file: Path) -> None:
    application = opened()
    trace_of(application)
    trace_of(application)
    application.close()
    first, second = rows(file)
    assert (first["sem_cache_hit"], second["sem_cache_hit"]) == (False, True)
    assert second["sem_cache_mode"] == "exact"
    assert second["scoring_mode"] == "cache"
    assert second["latency_saved_ms"] >= 0
    assert first["query_hash"] == second["query_hash"]


@pytest.mark.parametrize(
    ("text", "required", "expected"),
    [
        ("対象外", ("対象外",), "gate_rrf"),
        ("対象と例外の違い", ("どこにもない",), "query_decomp_rrf"),
        ("対象", ("どこにもない",), "lexical"),
    ],
)
def test_the_scoring_mode_names_what_merged_the_rows(
    opened: Opened, file: Path, text: str, required: tuple[str, ...], expected: str
) -> None:
    application = opened()
    application.contexts["manual"].find("m1", Query(text, required))
    application.close()
    assert rows(file)[0]["scoring_mode"] == expected


def test_the_query_is_nowhere_in_the_file(opened: Opened, file: Path) -> None:
    application = opened()
    secret = "ひみつの質問 secret"
    trace_of(application, secret)
    application.close()
    text = file.read_text("utf-8")
    assert not any(word in text for word in (secret, "ひみつ", "secret", "対象外"))


def test_a_search_nobody_speaks_of_leaves_its_line_at_the_end(opened: Opened, file: Path) -> None:
    application = opened()
    trace_of(application, assessment=None)
    application.close()
    (row,) = rows(file)
    assert row["status"] is None
    assert row["candidates"] == 2


def test_what_waits_is_bounded(opened: Opened, file: Path) -> None:
    application = opened()
    for _ in range(70):
        trace_of(application, assessment=None)
    statistics = application.memory.statistics.of(application.surfaces[0].surface)
    assert isinstance(statistics, FindStatistics)
    assert len(statistics._waiting) <= 64
    application.close()
    assert len(rows(file)) == 70


def test_a_verdict_counts_once(opened: Opened, file: Path) -> None:
    application = opened()
    trace = trace_of(application)
    application.contexts["manual"].conclude(trace.id, VERDICT)
    application.contexts["manual"].conclude("nobody", VERDICT)
    application.close()
    assert len(rows(file)) == 1


def test_each_surface_that_keeps_statistics_has_those_of_its_class(
    opened: Opened, workspace: Path, file: Path
) -> None:
    surfaces = "surfaces: [{use: manual}, {use: manual, as: other}, {use: vault}]\n"
    (workspace / "fumishirube.yaml").write_text(surfaces, "utf-8")
    write(file, *[past(time.time() - 3600, "stage_cap")] * LEAST)
    application = opened()
    statistics = application.memory.statistics
    manual, other, vault = (statistics.of(each.surface) for each in application.surfaces)
    assert manual is other
    assert manual is not vault is None
    used = [statistics.thresholds(each.surface) for each in application.surfaces]
    assert used == [(2, 0.83), (2, 0.83), BASE]


def test_lines_come_soon_without_closing(opened: Opened, file: Path) -> None:
    trace_of(opened())
    a_line_comes(file)
    assert len(rows(file)) == 1


@pytest.mark.parametrize(
    ("environ", "where"),
    [
        ({"ADAPTIVE_STATS_PATH": "stats/mine.jsonl"}, "stats/mine.jsonl"),
        ({"ADAPTIVE_STATS_PATH": "${VAULT_ROOT}/x.jsonl"}, "vault/x.jsonl"),
        ({"VAULT_ROOT": "notes"}, "notes/.system/adaptive_stats.jsonl"),
    ],
)
def test_the_file_is_where_the_configuration_says(
    opened: Opened, workspace: Path, environ: dict[str, str], where: str
) -> None:
    application = opened(**environ)
    trace_of(application)
    application.close()
    assert len(rows(workspace / where)) == 1


def test_a_search_makes_no_vault(opened: Opened, workspace: Path, file: Path) -> None:
    (workspace / "vault").rmdir()
    application = opened()
    trace_of(application)
    application.close()
    assert not (workspace / "vault").exists()
    application = opened()
    trace_of(application, "例外")
    (workspace / "vault").mkdir()
    trace_of(application)
    application.close()
    assert len(rows(file)) == 1


def test_a_real_call_leaves_a_line(workspace: Path, file: Path) -> None:
    with Fumishirube(workspace) as server:
        server.ok("manual_ls")
        server.ok("manual_find", query="対象外", manual_id="m1", required_terms=["対象外"])
        a_line_comes(file)
    (row,) = rows(file)
    assert list(row) == KEYS
    assert (row["candidates"], row["status"]) == (2, "required_effective")
    assert row["recall_ok"] is True
    assert row["est_tokens"] > 0


# --- the file -------------------------------------------------------------------------------


def test_a_full_file_is_put_aside_and_one_older_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "FULL_BYTES", 1000)
    file = tmp_path / "s.jsonl"
    for number in range(60):
        journal = JsonLinesFile(file)
        journal.put({"ts": number, "text": "x" * 50})
        journal.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.1"]
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
    kept = [row["ts"] for row in rows(tmp_path / "s.jsonl.1") + rows(file)]
    assert kept == list(range(kept[0], 60))


def test_only_the_end_of_a_long_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "TAIL_BYTES", 100)
    file = tmp_path / "s.jsonl"
    write(file, *(json.dumps({"ts": n}) for n in range(1000)))
    assert_last_of_thousand(file)


def test_lines_of_the_file_put_aside_are_read_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journals, "TAIL_BYTES", 100)
    file = tmp_path / "s.jsonl"
    for new in range(12):
        write(tmp_path / "s.jsonl.1", *(json.dumps({"ts": n}) for n in range(1000 - new)))
        write(file, *(json.dumps({"ts": n}) for n in range(1000 - new, 1000)))
        assert_last_of_thousand(file)


def assert_last_of_thousand(file: Path) -> None:
    numbers = [row["ts"] for row in JsonLinesFile(file).tail()]
    assert numbers == list(range(numbers[0], 1000))
    assert 3 <= len(numbers) <= 9


FULL = """
import logging, resource, sys
from pathlib import Path
from fumishirube_manual.json_lines import JsonLinesFile
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
journal = JsonLinesFile(Path(sys.argv[1]))
for number in range(10):
    journal.put({"ts": number, "text": "x" * 9})
journal.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_lines_for_which_the_disk_has_no_room_are_not_lost_silently(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    command = [sys.executable, "-c", FULL, str(file)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert "cannot be written" in done.stderr
    journal = JsonLinesFile(file)
    journal.put({"ts": 10})
    journal.close()
    numbers = [row["ts"] for row in journal.tail()]
    assert numbers == [*range(len(numbers) - 1), 10]


def test_a_line_that_was_cut_short_spoils_no_other(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"ts": 1}\n{"ts', "utf-8")
    journal = JsonLinesFile(file)
    journal.put({"ts": 2})
    journal.close()
    assert [row["ts"] for row in JsonLinesFile(file).tail()] == [1, 2]


@pytest.mark.parametrize("content", [b"[core]\n", b'{"a": 1}', b"# A\n", b"\0" * 2000])
def test_a_file_of_something_else_is_left_as_it_is(
    tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a configuration names it; a full one of ours is not put over another either."""
    monkeypatch.setattr(journals, "FULL_BYTES", 1000)
    names = ("other", "s.jsonl.1")
    for name in names:
        (tmp_path / name).write_bytes(content)
    write(tmp_path / "s.jsonl", json.dumps({"ts": "x" * 1000}))
    for name in ("other", "s.jsonl"):
        journal = JsonLinesFile(tmp_path / name)
        journal.put({"ts": 1})
        journal.close()
    assert [(tmp_path / name).read_bytes() for name in names] == [content] * 2
    assert len(list(tmp_path.iterdir())) == 3


def test_damage_costs_one_line_of_the_log(
    opened: Opened, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(file, "\x00\x01", "[1]", "null", past(time.time(), None), '"x"', '{"ts": "soon"}', "{")
    with caplog.at_level(logging.WARNING, "fumishirube"):
        application = opened()
        for _ in range(3):
            assert trace_of(application).thresholds == BASE
        application.close()
    assert len(caplog.records) == 1
    assert "damaged" in caplog.text


def _a_folder(file: Path) -> None:
    file.mkdir(parents=True)


def _a_file_in_the_way(file: Path) -> None:
    file.parent.write_text("x", "utf-8")


def _a_link(file: Path) -> None:
    file.parent.mkdir(parents=True)
    target = file.parent.parent / "elsewhere.txt"
    target.write_text("", "utf-8")
    file.symlink_to(target)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [_a_folder, _a_file_in_the_way, _a_link])
def test_a_file_that_cannot_be_written_costs_one_line_of_the_log(
    opened: Opened, file: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    spoil(file)
    with caplog.at_level(logging.WARNING, "fumishirube"):
        application = opened()
        for _ in range(3):
            assert trace_of(application).search.rows
            time.sleep(0.3)
        application.close()
    assert len(caplog.records) == 1
    assert "cannot be written" in caplog.text
    assert str(file.parent) not in caplog.text


def test_several_threads_lose_no_line(opened: Opened, file: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    application = opened()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: trace_of(application, f"対象 {n}"), range(40)))
    application.close()
    assert len({row["query_hash"] for row in rows(file)}) == len(rows(file)) == 40


# --- tuning ---------------------------------------------------------------------------------


def taught(*searches: tuple[str | None, bool], base: Thresholds = BASE) -> Thresholds:
    tuner = Tuner(base, 0.9)
    for reason, ok in searches:
        tuner.learn(DAY * 100.0, reason, ok)
    return tuner.thresholds


def test_many_shortfalls_loosen_the_thresholds() -> None:
    assert taught(*[("stage_cap", True)] * LEAST) == (2, 0.83)
    assert taught(*[("time_budget", True)] * LEAST) == (2, 0.83)
    assert taught(*[("stage_cap", True)] * 5, *[(None, True)] * 15) == (2, 0.83)


def test_hardly_any_tighten_them() -> None:
    for normal in (None, "dynamic_cutoff", "candidate_cap"):
        assert taught(*[(normal, True)] * LEAST) == (4, 0.77)


def test_some_change_nothing() -> None:
    assert taught(*[("stage_cap", True)] * 4, *[(None, True)] * 16) == BASE
    assert taught(("stage_cap", True), *[(None, True)] * 19) == BASE


def test_too_few_change_nothing() -> None:
    assert taught(*[("stage_cap", True)] * (LEAST - 1)) == BASE


def test_wrong_answers_are_no_reason_to_loosen() -> None:
    assert taught(*[("stage_cap", True)] * 17, *[("stage_cap", False)] * 3) == BASE


def test_wrong_answers_lead_back_to_the_base() -> None:
    tuner = Tuner(BASE, 0.9)
    for _ in range(LEAST):
        tuner.learn(DAY * 100.0, "stage_cap", True)
    assert tuner.thresholds == (2, 0.83)
    for _ in range(LEAST):
        tuner.learn(DAY * 101.5, "stage_cap", False)
    assert tuner.thresholds == BASE


def test_searches_of_which_nothing_is_known_do_not_count() -> None:
    tuner = Tuner(BASE, 0.9)
    for _ in range(MOST):
        tuner.learn(DAY * 100.0, None, None)
    assert tuner.thresholds == BASE


def test_there_is_one_change_a_day() -> None:
    tuner = Tuner(BASE, 0.9)
    changes = set()
    for hour in range(24 * 10):
        for _ in range(5):
            before = tuner.thresholds
            tuner.learn(DAY * 100.0 + hour * 3600, "stage_cap", True)
            if tuner.thresholds != before:
                changes.add(hour)
    gaps = [b - a for a, b in zip(sorted(changes), sorted(changes)[1:], strict=False)]
    assert changes
    assert all(gap >= 24 for gap in gaps)
    assert tuner.thresholds == (2, 0.9)


@given(
    st.tuples(st.integers(1, 50), st.floats(0, 1)).map(lambda pair: Thresholds(*pair)),
    st.lists(
        st.tuples(
            st.floats(0, 2 * DAY),
            st.sampled_from([None, "stage_cap", "dynamic_cutoff"]),
            st.sampled_from([True, True, True, False, None]),
        ),
        max_size=30,
    ),
)
def test_thresholds_stay_near_their_base(
    base: Thresholds, searches: list[tuple[float, str | None, bool | None]]
) -> None:
    tuner, now = Tuner(base, 0.5), DAY * 100.0
    for later, reason, ok in searches:
        now += later
        for _ in range(LEAST):
            tuner.learn(now, reason, ok)
        low, bias = tuner.thresholds
        assert min(2, base.candidate_low) <= low <= max(6, base.candidate_low)
        assert min(0.7, base.file_bias) <= bias <= max(0.9, base.file_bias)


# --- tuning across processes ----------------------------------------------------------------


def test_the_searches_of_an_earlier_process_count(opened: Opened, file: Path) -> None:
    write(file, *[past(time.time() - 3600, "stage_cap")] * LEAST)
    assert trace_of(opened()).thresholds == (2, 0.83)


def test_those_of_another_day_do_not(opened: Opened, file: Path) -> None:
    write(file, *[past(time.time() - DAY - 60, "stage_cap")] * MOST)
    assert trace_of(opened()).thresholds == BASE


def test_an_earlier_change_is_kept_and_counts_for_the_day(opened: Opened, file: Path) -> None:
    used = Thresholds(4, 0.77)
    before = [past(time.time() - 7200, None)] * LEAST
    write(file, *before, *[past(time.time() - 3600, None, used=used)] * MOST)
    assert trace_of(opened()).thresholds == used


def test_thresholds_of_another_base_are_passed_over(opened: Opened, file: Path) -> None:
    write(file, *[past(time.time() - DAY * 2, None, used=Thresholds(50, 0.1))] * MOST)
    assert trace_of(opened()).thresholds == BASE
    environ = {"ADAPTIVE_CANDIDATE_LOW_BASE": "9", "ADAPTIVE_FILE_BIAS_BASE": "0.5"}
    assert trace_of(opened(**environ)).thresholds == (9, 0.5)


def test_a_changed_base_counts_at_once_though_it_is_within_one_step(opened: Opened) -> None:
    """The tuning moves both thresholds, so that one alone comes from another base."""
    application = opened()
    assert trace_of(application).thresholds == BASE
    application.close()
    for variable, value, base in (
        ("ADAPTIVE_CANDIDATE_LOW_BASE", "4", (4, 0.8)),
        ("ADAPTIVE_FILE_BIAS_BASE", "0.82", (3, 0.82)),
    ):
        application = opened(**{variable: value})
        assert trace_of(application).thresholds == base
        application.close()


def test_without_tuning_the_base_stays_and_lines_are_written(opened: Opened, file: Path) -> None:
    write(file, *[past(time.time() - 3600, "stage_cap")] * MOST)
    application = opened(ADAPTIVE_TUNING="off", ADAPTIVE_CANDIDATE_LOW_BASE="7")
    assert trace_of(application).thresholds == (7, 0.8)
    application.close()
    assert len(rows(file)) == MOST + 1


def test_the_least_recall_is_the_configured_one(opened: Opened, file: Path) -> None:
    half = [past(time.time() - 3600, "stage_cap", ok=number % 2 == 0) for number in range(LEAST)]
    write(file, *half)
    assert trace_of(opened()).thresholds == BASE
    assert trace_of(opened(ADAPTIVE_MIN_RECALL="0.5")).thresholds == (2, 0.83)


def test_a_long_session_learns_as_it_goes(opened: Opened, file: Path) -> None:
    application = opened()
    used = [trace_of(application, f"対象 {number}").thresholds for number in range(LEAST + 1)]
    assert used == [BASE] * LEAST + [(2, 0.83)]
    application.close()
    assert rows(file)[-1]["candidate_low_threshold"] == 2
    assert trace_of(opened()).thresholds == (2, 0.83)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
ROWS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(KEYS, VALUES)
    | {"ts": VALUES | st.just(1.0), "recall_ok": VALUES | st.booleans()},
)


@given(st.lists(ROWS))
@example([{"ts": 10**400}])
@example([{"ts": 1.0, "cutoff_reason": [], "recall_ok": True}])
@example([{"ts": 1.0, "candidate_low_threshold": 3, "file_bias_threshold": 10**400}])
@example([{"ts": 1.0, "candidate_low_threshold": 10**400, "file_bias_threshold": 0.8}])
def test_whatever_the_file_says_the_thresholds_are_usable(lines: list[dict[str, Any]]) -> None:
    tuner = Tuner(BASE, 0.9)
    tuner.recall(lines)
    assert 2 <= tuner.thresholds.candidate_low <= 6
