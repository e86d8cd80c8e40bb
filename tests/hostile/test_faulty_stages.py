"""Stages of plugins that fail in a search: the answer comes without them, and names them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import stdio
from manuals import appears, stranger, write

if TYPE_CHECKING:  # pytest imports the fixture's module itself, to explain its asserts
    from plugin_venv import PluginVenv, Serving

pytest_plugins = ["plugin_venv"]

PAGES = {
    "m/a.md": "# Power\nThe solar panel has a winter schedule.\n# Water\nSolar pumps rest.\n",
    "m/b.md": "# Winter\nIn winter nobody comes.\n",
}
SEARCH = {"query": "solar winter", "manual_id": "m", "required_terms": ["solar", "winter"]}

SCORER = "scorers: [{use: lexical}, {use: failing-scorer}]"
NAN = "scorers: [{use: lexical}, {use: undefined-scorer}]"
FUSER = "fusers: [{use: failing-fuser}]"
NONE = "fusers: [{use: forgetful-fuser}]"
REFINER = "refiners: [{use: failing-refiner}, {use: cutoff}]"

CASES = [
    pytest.param(SCORER, "broken-scorer", "scorer 'failing-scorer'", id="scorer-raises"),
    pytest.param(NAN, "broken-nan", "scorer 'undefined-scorer'", id="scores-are-nan"),
    pytest.param(FUSER, "broken-fuser", "fuser 'failing-fuser'", id="fuser-raises"),
    pytest.param(NONE, "broken-none", "fuser 'forgetful-fuser'", id="fuser-returns-none"),
    pytest.param(REFINER, "broken-refiner", "refiner 'failing-refiner'", id="refiner-raises"),
]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path, PAGES)


def pipeline(workspace: Path, stages: str, *, strict: bool = False) -> None:
    text = f"strict: {str(strict).lower()}\npipelines: {{manual: {{{stages}}}}}\n"
    (workspace / "fumishirube.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("stages", "plugin", "stage"), CASES)
def test_a_server_answers_without_the_stage_and_says_so(
    serving: Serving, workspace: Path, stages: str, plugin: str, stage: str
) -> None:
    pipeline(workspace, stages)
    wire = serving()
    wire.ok("manual_ls")
    answer = wire.ok("manual_find", **SEARCH)
    assert answer["candidates"] > 0
    assert stage.split("'")[1] in answer["degraded"]
    best = wire.ok("manual_hits", trace_id=answer["trace_id"], limit=1)["items"][0]
    assert best["ref"] == {"path": "a.md", "start_line": 1}
    assert best["score"] == best["score"], "no score is NaN"
    wire.ping()
    assert f"plugin {plugin} (broken-plugins): {stage} failed" in wire.hang_up()


@pytest.mark.parametrize(("stages", "plugin", "stage"), CASES)
def test_the_command_line_plugins_and_doctor_name_plugin_and_stage(
    plugin_venv: PluginVenv, workspace: Path, stages: str, plugin: str, stage: str
) -> None:
    pipeline(workspace, stages)
    done = plugin_venv.fumishirube(workspace, "find", "solar winter", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"]
    assert f"problem: plugin {plugin} (broken-plugins): {stage} failed" in done.stderr
    assert "failed and was skipped" not in done.stderr, "it says why"
    assert "rebuild" not in done.stderr
    listed = json.loads(plugin_venv.fumishirube(workspace, "plugins", "--json").stdout)
    (faults,) = (report["faults"] for report in listed if report["plugin"] == plugin)
    assert [fault.startswith(f"{stage} failed") for fault in faults] == [True]
    doctor = plugin_venv.fumishirube(workspace, "doctor", "--json")
    assert doctor.returncode == 1
    assert any(
        check["status"] == "FAIL" and check["finding"].startswith(f"{stage} failed")
        for check in json.loads(doctor.stdout)
        if check["subject"] == f"plugin {plugin}"
    )


@pytest.mark.parametrize(("stages", "plugin", "stage"), CASES)
def test_strict_makes_it_an_error(
    plugin_venv: PluginVenv, workspace: Path, stages: str, plugin: str, stage: str
) -> None:
    pipeline(workspace, stages, strict=True)
    done = plugin_venv.fumishirube(workspace, "find", "solar winter")
    assert done.returncode == 1
    assert "rebuild" not in done.stderr
    del plugin, stage


def test_a_stage_that_sleeps_is_abandoned_and_named_with_its_seconds(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, "refiners: [{use: sleeping-refiner}, {use: cutoff}]")
    wire = serving()
    wire.ok("manual_ls")
    began = time.monotonic()
    answer = wire.ok("manual_find", **SEARCH, budget={"time_ms": 1500})
    assert time.monotonic() - began < 10
    assert "sleeping-refiner" in answer["degraded"]
    assert " s" in answer["degraded"]
    assert answer["candidates"] > 0
    assert (
        "plugin broken-sleep (broken-plugins): refiner 'sleeping-refiner' failed" in wire.hang_up()
    )


LISTER = "loaders: [{use: sleeping-lister}, {use: markdown}]"
EMBEDDER = "scorers: [{use: lexical}, {use: vector}], embedder: {use: sleeping-embedder}"
TOKENIZER = "tokenizer: {use: sleeping-tokenizer}"


@pytest.mark.parametrize(
    ("stages", "stage", "told"),
    [
        (LISTER, "loader 'sleeping-lister'", "files that it reads may be missing"),
        (EMBEDDER, "embedder 'sleeping-embedder'", "this is the state before"),
    ],
)
def test_a_command_does_not_wait_for_a_plugin_that_sleeps_while_it_indexes(
    plugin_venv: PluginVenv, workspace: Path, stages: str, stage: str, told: str
) -> None:
    pipeline(workspace, stages)
    began = time.monotonic()
    arguments = json.dumps(SEARCH | {"budget": {"time_ms": 1500}})
    done = plugin_venv.fumishirube(workspace, "call", "manual_find", arguments, "--json")
    assert time.monotonic() - began < 10
    answer = json.loads(done.stdout)
    assert answer["candidates"] > 0
    assert f"{stage} of plugin broken-sleep" in answer["degraded"]
    assert told in answer["degraded"]
    assert f"problem: plugin broken-sleep (broken-plugins): {stage} failed" in done.stderr


def test_a_process_whose_first_update_is_left_behind_searches_what_others_have_indexed(
    plugin_venv: PluginVenv, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    arguments = json.dumps(SEARCH | {"budget": {"time_ms": 1500}})

    def found() -> Any:
        done = plugin_venv.fumishirube(workspace, "call", "manual_find", arguments, "--json")
        return json.loads(done.stdout)

    before = found()
    write(workspace, {"m/c.md": "# Solar\nIn winter I am tired.\n"})
    answer = found()
    assert " s; this is the state before" in answer["degraded"]
    assert answer["candidates"] == before["candidates"] > 0


def test_the_other_manuals_are_searched_if_a_stage_sleeps_over_the_first_index_of_one(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    wire = serving()
    wire.ok("manual_ls")
    asked = SEARCH | {"manual_id": "*"}
    before = wire.ok("manual_find", **asked)
    write(workspace, {"z/a.md": "# Solar\nIn winter I am tired.\n"})
    answer = wire.ok("manual_find", **asked, budget={"time_ms": 1500})
    assert answer["candidates"] == before["candidates"] > 0
    named = "z: not searched: tokenizer 'sleeping-tokenizer' of plugin broken-sleep was abandoned"
    assert answer["degraded"].startswith(named)


SLOW_OPENING = """
import time
from fumishirube import hook
from fumishirube_stages.indexes.tantivy import Tantivy

class SlowOpening(Tantivy):
    def open(self, folder, fields):
        if "slow" in folder.path.parts:
            time.sleep(60)
        return super().open(folder, fields)

@hook
def register_indexes(register):
    register("slow-opening", SlowOpening)
"""


def test_an_index_that_sleeps_while_it_is_opened_delays_no_other_manual(
    workspace: Path, tmp_path: Path
) -> None:
    pipeline(workspace, "index: {use: slow-opening}")
    write(workspace, {"slow/a.md": PAGES["m/b.md"]})
    with stdio.Wire(workspace, PYTHONPATH=stranger(tmp_path, SLOW_OPENING)) as wire:
        wire.ok("manual_ls")
        wire.ok("manual_find", **SEARCH)
        asked = SEARCH | {"manual_id": "slow", "budget": {"time_ms": 500}}
        refused = wire.request("tools/call", {"name": "manual_find", "arguments": asked})["result"]
        assert "index 'slow-opening'" in refused["_meta"]["fumishirube/error"]["message"]
        write(workspace, {"m/c.md": "# Solar\nA winter more.\n"})
        answer = wire.ok("manual_find", **SEARCH)
        assert "degraded" not in answer
        assert answer["candidates"] == 4


SLOW_SYNC = """
import threading, time
from fumishirube import hook
from fumishirube_stages.indexes.tantivy import Tantivy

LOCK = threading.Lock()

class Locked:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def corpus(self, manual_id):
        return Locked(self.inner.corpus(manual_id))

    @property
    def size(self):
        with LOCK:
            return self.inner.size

    def sync(self, gone, pages):
        pages = [*pages]
        with LOCK:
            if any(file.path == "slow.md" for file, _ in pages):
                time.sleep(60)
        self.inner.sync(gone, pages)

class SlowSync(Tantivy):
    def open(self, folder, fields):
        return Locked(super().open(folder, fields))

@hook
def register_indexes(register):
    register("slow-sync", SlowSync)
"""


def test_an_index_that_cannot_even_be_read_while_it_sleeps_holds_no_call_longer_than_its_time(
    workspace: Path, tmp_path: Path
) -> None:
    pipeline(workspace, "index: {use: slow-sync}")
    with stdio.Wire(workspace, PYTHONPATH=stranger(tmp_path, SLOW_SYNC)) as wire:
        wire.ok("manual_ls")
        wire.ok("manual_find", **SEARCH)
        write(workspace, {"m/slow.md": "# Solar\nA winter more.\n"})
        began = time.monotonic()
        asked = SEARCH | {"budget": {"time_ms": 1500}}
        refused = wire.request("tools/call", {"name": "manual_find", "arguments": asked})["result"]
        assert time.monotonic() - began < 20
        named = "index 'slow-sync' of plugin stranger was abandoned after "
        assert refused["_meta"]["fumishirube/error"]["message"].startswith(named)


def test_an_update_with_a_tokenizer_that_sleeps_is_left_behind(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    wire = serving()
    wire.ok("manual_ls")
    assert wire.ok("manual_find", **SEARCH)["candidates"] > 0
    write(workspace, {"m/c.md": "# Solar\nIn winter I am tired.\n"})
    for milliseconds in (1_500, 30_000):  # a later call does not even wait
        began = time.monotonic()
        budget = {"time_ms": milliseconds}
        answer = wire.ok("manual_find", **SEARCH, budget=budget, use_cache=False)
        assert time.monotonic() - began < 10
        assert answer["candidates"] > 0
        assert "tokenizer 'sleeping-tokenizer' of plugin broken-sleep" in answer["degraded"]
        assert " s; this is the state before" in answer["degraded"]
    began = time.monotonic()
    stderr = wire.hang_up()
    assert time.monotonic() - began < 20, "the server does not wait for it at its end"
    assert "tokenizer 'sleeping-tokenizer' failed: it was abandoned after " in stderr


def test_without_an_index_the_error_names_the_stage_that_sleeps(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    shutil.rmtree(workspace / "manuals" / "m")
    write(workspace, {"other/a.md": PAGES["m/b.md"]})
    wire = serving()
    wire.ok("manual_ls")
    # A manual that comes after those that are indexed ahead of the calls is left to its first one.
    appears(workspace / ".fumishirube" / "index" / "other")
    write(workspace, dict.fromkeys(PAGES, "# Solar\nIn winter I am tired.\n"))
    arguments = SEARCH | {"budget": {"time_ms": 1500}}
    # The client of these tests takes no internal error: it is read from the protocol itself.
    result = wire.request("tools/call", {"name": "manual_find", "arguments": arguments})["result"]
    refused = result["_meta"]["fumishirube/error"]
    assert refused["code"] == "internal_error"
    named = "tokenizer 'sleeping-tokenizer' of plugin broken-sleep was abandoned after "
    assert refused["message"].startswith(named)


def asleep_ahead_of_the_calls(serving: Serving, workspace: Path) -> stdio.Wire:
    """Start a server whose tokenizer sleeps while the index is made ahead of the calls."""
    pipeline(workspace, TOKENIZER)
    write(workspace, dict.fromkeys(PAGES, "# Solar\nIn winter I am tired.\n"))
    wire = serving()
    wire.ok("manual_ls")
    appears(workspace / ".fumishirube" / "index" / "m")
    time.sleep(1)  # until the tokenizer is at work
    return wire


def test_a_tokenizer_that_sleeps_ahead_of_the_calls_is_named_by_them(
    serving: Serving, plugin_venv: PluginVenv, workspace: Path
) -> None:
    wire = asleep_ahead_of_the_calls(serving, workspace)
    named = "tokenizer 'sleeping-tokenizer' of plugin broken-sleep has been at work for "
    for budget in ({}, {"time_ms": 1_500}):
        began = time.monotonic()
        answer = wire.ok("manual_find", **SEARCH, budget=budget)
        assert time.monotonic() - began < 10
        seconds, _, rest = answer["degraded"].removeprefix(named).partition(" ")
        assert float(seconds) >= 0.5
        assert rest.startswith("s; this is the state before")
        assert "another call" not in answer["degraded"]
        assert answer["status"] != "not_found", "nothing is proven to be absent"
    stderr = wire.hang_up()
    assert "failed" not in stderr, "in the background it may take a minute"


def test_after_a_reload_the_stage_is_named_that_sleeps_in_the_update_before(
    serving: Serving, workspace: Path
) -> None:
    wire = asleep_ahead_of_the_calls(serving, workspace)
    pipeline(workspace, f"{TOKENIZER}, refiners: []")  # the index is the same
    assert wire.process.stderr
    assert any(line.startswith(b"reloaded") for line in wire.process.stderr)
    answer = wire.ok("manual_find", **SEARCH)
    named = "tokenizer 'sleeping-tokenizer' of plugin broken-sleep has been at work for "
    assert answer["degraded"].startswith(named)
    assert "another process" not in answer["degraded"]


def test_a_tokenizer_that_sleeps_over_the_query_is_named_beside_the_stages_that_call_it(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    wire = serving()
    wire.ok("manual_ls")
    assert wire.ok("manual_find", **SEARCH)["candidates"] > 0  # the index is there
    asked = SEARCH | {"query": "am I tired", "required_terms": ["tired"]}
    began = time.monotonic()
    answer = wire.ok("manual_find", **asked, budget={"time_ms": 1500})
    assert time.monotonic() - began < 20, "the evidence of its answer needs the tokenizer too"
    named = "tokenizer 'sleeping-tokenizer' of plugin broken-sleep"
    assert f"{named} was at work" in answer["degraded"]
    evidence = answer["degraded"].rpartition(f"{named} was abandoned after ")[2]
    assert evidence.endswith(" s; the answer lacks what needs it")
    hits = wire.ok("manual_hits", trace_id=answer["trace_id"])
    assert hits["total"] == answer["candidates"], "the trace can be read"
    assert "tokenizer 'sleeping-tokenizer' failed: it was abandoned after " in wire.hang_up()


@pytest.mark.slow
def test_a_tokenizer_that_sleeps_over_the_pattern_of_lines_is_left_behind(
    serving: Serving, workspace: Path
) -> None:
    pipeline(workspace, TOKENIZER)
    wire = serving()
    wire.ok("manual_ls")
    assert wire.ok("manual_find", **SEARCH)["candidates"] > 0  # the index is there
    lines = {"tool": "manual_grep", "arguments": {"any": ["tired"], "manual_id": "m"}}
    began = time.monotonic()
    # The first of five calls has a fifth of the minute that lines have by default.
    answered = wire.ok("manual_batch", calls=[lines, *[{"tool": "manual_ls"}] * 4])["items"]
    assert time.monotonic() - began < 40, "it sleeps for a minute"
    named = "tokenizer 'sleeping-tokenizer' of plugin broken-sleep was abandoned after "
    assert answered[0]["error"]["message"].startswith(named)
    assert "answer" in answered[-1]


NAP = "loaders: [{use: sleeping-loader}, {use: markdown}]"


def naps(workspace: Path, **seconds: float) -> None:
    for name, number in seconds.items():
        write(workspace, {f"m/{name}.nap": f"{number}\nThe lighthouse of {name}.\n"})
    pipeline(workspace, NAP)


@pytest.mark.slow
def test_a_loader_that_sleeps_holds_no_call_longer_than_its_time(
    serving: Serving, workspace: Path
) -> None:
    naps(workspace, a=8)
    wire = serving()
    wire.ok("manual_ls")
    began = time.monotonic()
    answer = wire.ok("manual_find", **SEARCH, budget={"time_ms": 1500})
    assert time.monotonic() - began < 7
    assert answer["candidates"] > 0, "files after the slow one are in"
    assert "loader 'sleeping-loader' of plugin broken-sleep" in answer["degraded"]
    assert "m/a.nap for " in answer["degraded"], "with its seconds"
    time.sleep(max(0.0, began + 3 - time.monotonic()))  # the load is slow for each later call
    asked_again = time.monotonic()
    wire.ok("manual_find", **SEARCH)
    lines = wire.ok("manual_grep", any=["lighthouse"], manual_id="m")
    assert time.monotonic() - asked_again < 4, "later calls do not wait for it"
    assert lines["total"] == 0, lines
    asked = {"query": "lighthouse", "manual_id": "m", "required_terms": ["of"]}
    deadline = began + 60
    while (answer := wire.ok("manual_find", **asked)).get("degraded"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert answer["candidates"] == 1
    assert wire.ok("manual_grep", any=["lighthouse"], manual_id="m")["total"]
    stderr = wire.hang_up()
    assert stderr.count("asleep over a.nap") == 1, "it is loaded once"
    problem = "loader 'sleeping-loader' failed on m/a.nap: it was abandoned"
    assert f"plugin broken-sleep (broken-plugins): {problem}" in stderr
    assert "damaged" not in stderr


@pytest.mark.slow
def test_a_loader_that_sleeps_over_all_its_files_leaves_the_other_loaders_their_time(
    serving: Serving, plugin_venv: PluginVenv, workspace: Path
) -> None:
    naps(workspace, **dict.fromkeys("cdefgh", 60))
    wire = serving()
    wire.ok("manual_ls")
    answer = wire.ok("manual_find", **SEARCH, budget={"time_ms": 4000})
    assert answer["candidates"] > 0
    assert (
        wire.ok("manual_find", query="winter", manual_id="m", required_terms=["nobody"])[
            "candidates"
        ]
        > 0
    )
    began = time.monotonic()
    stderr = wire.hang_up()
    assert time.monotonic() - began < 20, "the server does not wait for it at its end"
    assert stderr.count("asleep over") == 2
    listed = json.loads(plugin_venv.fumishirube(workspace, "plugins", "--json").stdout)
    (faults,) = (report["faults"] for report in listed if report["plugin"] == "broken-sleep")
    assert faults[0].startswith("loader 'sleeping-loader' failed on m/c.nap")


@pytest.mark.parametrize(
    ("name", "error"), [("failing-tokenizer", "RuntimeError"), ("wordless-tokenizer", "TypeError")]
)
def test_a_tokenizer_that_fails_is_named_in_the_error_and_the_server_goes_on(
    serving: Serving, plugin_venv: PluginVenv, workspace: Path, name: str, error: str
) -> None:
    pipeline(workspace, f"tokenizer: {{use: {name}}}")
    named = f"tokenizer '{name}' of plugin broken-tokenizer failed: {error}"
    done = plugin_venv.fumishirube(workspace, "find", "solar winter")
    assert done.returncode == 1
    assert f"error: {named}" in done.stderr
    wire = serving()
    wire.ok("manual_ls")
    # The client of these tests takes no internal error: it is read from the protocol itself.
    result = wire.request("tools/call", {"name": "manual_find", "arguments": SEARCH})["result"]
    assert result["isError"]
    refused = result["_meta"]["fumishirube/error"]
    assert refused["code"] == "internal_error"
    assert refused["message"].startswith(named)
    wire.ping()
    named = f"plugin broken-tokenizer (broken-plugins): tokenizer '{name}' failed: {error}"
    assert named in wire.hang_up()


VANDAL = """
from fumishirube import Stage, hook

class Vandal(Stage):
    def refine(self, ranking, query, corpus):
        for hit in ranking.hits:
            hit.passage.fields.clear()
        return ranking

@hook
def register_refiners(register):
    register("vandal", Vandal)
"""


def test_a_stage_cannot_change_the_sections_of_later_searches(
    workspace: Path, tmp_path: Path
) -> None:
    pipeline(workspace, "refiners: [{use: vandal}, {use: cutoff}]")
    with stdio.Wire(workspace, PYTHONPATH=stranger(tmp_path, VANDAL)) as wire:
        wire.ok("manual_ls")
        first, second = (wire.ok("manual_find", **SEARCH, use_cache=False) for _ in range(2))
        assert "stage 'vandal' of plugin 'stranger' failed" in first["degraded"]
        assert second["degraded"] == first["degraded"]
        assert first["inline_hits"]["items"]
        assert second["inline_hits"]["items"] == first["inline_hits"]["items"]
        assert "plugin stranger: refiner 'vandal' failed" in wire.hang_up()


FAILING = """
from fumishirube import Stage, hook

class Failing(Stage):
    def score(self, query, corpus, candidates):
        raise RuntimeError("hostile")

@hook
def register_scorers(register):
    register("failing", Failing)
"""


def test_a_stage_that_always_fails_does_not_fill_the_log(workspace: Path, tmp_path: Path) -> None:
    pipeline(workspace, "scorers: [{use: lexical}, {use: failing}]")
    with stdio.Wire(workspace, PYTHONPATH=stranger(tmp_path, FAILING)) as wire:
        wire.ok("manual_ls")
        for number in range(20):
            answer = wire.ok("manual_find", **SEARCH | {"query": f"solar winter {number}"})
            assert "stage 'failing' of plugin 'stranger' failed" in answer["degraded"]
        lines = [line for line in wire.hang_up().splitlines() if "failing" in line]
    assert len(lines) == 1, lines


def test_the_author_of_a_failing_stage_can_see_where_it_fails(
    workspace: Path, tmp_path: Path
) -> None:
    pipeline(workspace, "scorers: [{use: lexical}, {use: failing}]")
    site = {"PYTHONPATH": stranger(tmp_path, FAILING)}
    words = [stdio.command_line(workspace)[0], "find", "solar", "--verbose"]
    done = subprocess.run(
        words, cwd=workspace, env=os.environ | site, capture_output=True, check=False
    )
    assert b'raise RuntimeError("hostile")' in done.stderr
