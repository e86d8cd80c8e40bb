"""Measuring: runs with their clients, the command as a real process, and its page."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from evaluation_runs import RAW, case, fumishirube, gate_file, samples, written
from manuals import write
from stdio import Fumishirube, Wire

from fumishirube.errors import InvalidParameter, NotFound
from fumishirube.host.startup import open_application
from fumishirube.text.folding import estimate_tokens
from fumishirube.tools.calls import compact
from fumishirube.traces.records import CacheOutcome
from fumishirube_eval.cases import Case, parsed_cases
from fumishirube_eval.known_item import known_items
from fumishirube_eval.metrics import CaseResult, summary
from fumishirube_eval.runs import InProcessClient, result_line, run_case, run_cases

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "manuals"
PAGE = ROOT / "docs" / "evaluation.md"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples(tmp_path_factory.mktemp("workspace"))


# --- runs -----------------------------------------------------------------------------------


class Scripted:
    """A client whose replies are given: rows by kind, handed out in pages of two."""

    def __init__(self, rows: Sequence[tuple[str, int]], gaps: int = 0) -> None:
        self.kinds: dict[str, list[Any]] = {
            "candidates": [{"ref": {"path": path, "start_line": line}} for path, line in rows],
            "unscanned": [{"start_line": None, "reason": "navigation_file"}],
            "gaps": [{}] * gaps,
            "conflicts": [],
        }
        self.asked: list[tuple[str, Any]] = []
        self.more: dict[str, Any] = {}

    def text(self, tool: str, reply: Mapping[str, Any]) -> str:
        return compact(dict(reply))

    def cached(self, trace_id: str) -> CacheOutcome | None:
        return CacheOutcome("exact", saved_ms=7.5) if self.asked[-1][1].get("use_cache") else None

    def call(self, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append((tool, arguments))
        if tool == "manual_ls":
            return {}
        if tool == "manual_find":
            if arguments["query"] == "bad":
                raise InvalidParameter("query is bad")
            return {"trace_id": "t", "status": "required_effective", **self.more}
        rows = self.kinds[arguments["kind"]]
        page = rows[arguments["offset"] :][: min(2, arguments["limit"])]
        return {"total": len(rows), "items": page}


def test_ignored_paths_are_dropped_before_ranks_are_counted() -> None:
    apart = unicodedata.normalize("NFD", "が.md")
    client = Scripted([("x.md", 1), (apart, 2), ("y.md", 3), ("x.md", 4), ("a.md", 5)], gaps=1)
    one = run_case(client, case(ignored_paths=("x.md",)))
    assert one.ranking == (("が.md", 2), ("y.md", 3), ("a.md", 5))
    assert (one.returned, one.gaps, one.conflicts, one.unscored) == (5, 1, 0, False)
    assert summary([one], 5)["mrr@5"] == 1 / 3


def test_errors_are_counted_and_the_run_goes_on() -> None:
    client = Scripted([("a.md", 1)])
    cases = [case(query="bad"), case(case_id="c2")]
    ((first, second),) = run_cases([client], cases)
    assert (first.error, first.ranking) == ("invalid_parameter", ())
    assert first.tokens > 0
    assert second.error is None
    assert summary([first, second], 5)["error_rate"] == 1 / 2
    row = json.loads(result_line(first, 5, "config"))
    assert (row["error"], row["message"]) == ("invalid_parameter", "query is bad")


def test_discovery_comes_first_and_the_cache_is_off_unless_measured() -> None:
    client = Scripted([])
    run_cases([client], [case()])
    assert [tool for tool, _ in client.asked[:3]] == ["manual_ls", "manual_find", "manual_find"]
    assert client.asked[2][1]["use_cache"] is False
    assert run_case(client, case()).cache is None
    run_case(client, case(), use_cache=True)
    finds = [arguments for tool, arguments in client.asked if tool == "manual_find"]
    assert finds[-1]["use_cache"] is True


@pytest.mark.parametrize(
    ("row", "more", "unscored"),
    [
        ({"start_line": None, "reason": "navigation_file"}, {}, False),
        ({"start_line": None, "reason": "undecodable"}, {}, True),
        ({"start_line": 3, "reason": "stage_cap"}, {}, False),
        ({"start_line": 3, "reason": "per_file_cap"}, {}, True),
        (None, {"coverage": {"cutoff_reason": "dynamic_cutoff"}}, False),
        (None, {"coverage": {"cutoff_reason": "candidate_cap"}}, True),
    ],
)
def test_what_was_left_unscored_is_seen(row: Any, more: Any, unscored: bool) -> None:
    client = Scripted([("a.md", 1)])
    client.kinds["unscanned"] = [row] if row else []
    client.more = more
    assert run_case(client, case()).unscored is unscored


def test_clients_take_turns_at_being_first() -> None:
    order: list[str] = []

    class Noted(Scripted):
        def call(self, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
            if tool == "manual_find":
                order.append(self.more["name"])
            return super().call(tool, arguments)

    clients = [Noted([]), Noted([])]
    for client, name in zip(clients, "ab", strict=True):
        client.more = {"name": name}
    run_cases(clients, [case(case_id=str(n)) for n in range(4)])
    assert "".join(order) == "ab" + "abbaabba"


def test_a_client_over_stdio_and_one_in_process_find_the_same(workspace: Path) -> None:
    application = open_application(workspace, environ={})
    with Fumishirube(workspace) as server:

        class OverStdio:
            def call(self, tool: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
                answer = server.call(tool, arguments)
                if answer.is_error:
                    raise NotFound(answer.payload["message"])
                return answer.payload

            def text(self, tool: str, reply: Mapping[str, Any]) -> str:
                return ""

            def cached(self, trace_id: str) -> None:
                return None

        context = application.contexts["manual"]
        made = known_items([context.manual("field-guide")], 6)
        cases = [*made, made[0].model_copy(update={"case_id": "x", "manual_id": "absent"})]
        here, there = run_cases([InProcessClient.of(application), OverStdio()], cases)
    application.close()
    assert [one.ranking for one in here] == [one.ranking for one in there]
    assert [one.error for one in here] == [one.error for one in there] == [None] * 6 + ["not_found"]
    assert [one.gaps for one in here] == [one.gaps for one in there]


def test_tokens_are_those_of_the_text_that_a_client_gets(workspace: Path) -> None:
    asked = {"query": "battery", "manual_id": "field-guide", "required_terms": ["battery"]}
    with Wire(workspace) as server:
        server.ok("manual_ls", id="manuals")
        call = {"name": "manual_find", "arguments": {**asked, "use_cache": False}}
        result = server.request("tools/call", call)["result"]
    (content,) = result["content"]
    application = open_application(workspace, environ={})
    ((measured,),) = run_cases([InProcessClient.of(application)], [case(manual_id="field-guide")])
    application.close()
    assert measured.tokens == pytest.approx(estimate_tokens(content["text"]), abs=2)
    assert measured.tokens < estimate_tokens(compact(result["structuredContent"]))


# --- the command ----------------------------------------------------------------------------


def test_a_gate_that_fails_sets_the_exit_code(workspace: Path) -> None:
    wrong = RAW | {"case_id": "c2", "expected_paths": ["absent.md"]}
    file = written(workspace / "wrong.jsonl", RAW, wrong)
    done = fumishirube("eval", file.name, cwd=workspace)
    note = "note: 1 case with expected files that the manual does not have, such as absent.md in"
    assert (done.code, done.err) == (1, f"{note} case c2\n")
    assert "gate default: not passed\n  hit_rate@5 is 0.5000; it has to be at least 0.9" in done.out
    assert fumishirube("eval", file.name, "--gate", "none", cwd=workspace).code == 0
    gate = gate_file(workspace, '[at_least]\n"hit_rate@5" = 0.5\n[at_most]\nerror_rate = 0\n')
    done = fumishirube("eval", file.name, "--gate", Path(gate).name, "--json", cwd=workspace)
    assert done.code == 0
    assert [one["passed"] for one in done.json["gate"]["thresholds"]] == [True, True]


@pytest.mark.parametrize("words", [(), ("--everywhere",)])
def test_cases_that_cannot_be_right_are_named(workspace: Path, words: Sequence[str]) -> None:
    everywhere = [f"field-guide/{path}" for path in RAW["expected_paths"]]
    file = written(
        workspace / "odd.jsonl",
        RAW | {"manual_id": " field-guide "},
        RAW | {"case_id": "c2", "expected_paths": ["./power.md"]},
        RAW | {"case_id": "c3", "expected_paths": ["field-guide/power.md"]},
        RAW | {"case_id": "c4", "expected_lines": [["power.md", 1], ["power.md", 2]]},
        RAW | {"case_id": "c5", "manual_id": "*", "expected_paths": everywhere},
        RAW | {"case_id": "c6", "manual_id": "absent"},
    )
    done = fumishirube(
        "eval", file.name, "--gate", "none", "--rows", "o.jsonl", *words, cwd=workspace
    )
    files, lines = done.err.splitlines()
    assert files.startswith("note: 3 cases with expected files that the manual does not have")
    assert files.endswith("such as ./power.md in case c2")
    assert lines.startswith("note: 1 case with expected lines at which no section begins")
    assert lines.endswith("such as power.md#L2 in case c4")
    rows = [json.loads(line) for line in (workspace / "o.jsonl").read_bytes().splitlines()]
    assert rows[0]["metrics"]["hit_rate@5"] == 1


def test_a_manual_that_cannot_be_listed_stops_no_other_case(tmp_path: Path) -> None:
    apart = unicodedata.normalize("NFD", "ガイド")
    write(tmp_path, {"ガイド/a.md": "# Pump\n", "b/a.md": "# A\n", "b/b.md": "# B\n"})
    (tmp_path / "fumishirube.yaml").write_text("limits: {files: 1}\n")
    pump = RAW | {"query": "pump", "required_terms": ["pump"], "expected_paths": ["a.md"]}
    file = written(
        tmp_path / "c.jsonl",
        pump | {"manual_id": apart},
        pump | {"case_id": "c2", "manual_id": "b"},
        pump | {"case_id": "c3", "manual_id": "*", "expected_paths": ["ガイド/a.md"]},
        pump | {"case_id": "c4", "manual_id": "absent"},
    )
    done = fumishirube("eval", file.name, "--gate", "none", cwd=tmp_path)
    assert "needs_narrow_scope (1), not_found (1)" in done.out
    note = "note: 1 case with expected files that the manual does not have, such as a.md in case c4"
    assert (done.code, done.err) == (0, f"{note}\n")


def test_failed_searches_are_named_with_the_reason(workspace: Path) -> None:
    file = written(
        workspace / "failing.jsonl",
        RAW | {"manual_id": "absent"},
        RAW | {"case_id": "c2", "required_terms": []},
        RAW | {"case_id": "c3", "query": " "},
    )
    words = ("eval", file.name, "--rows", "failed.jsonl")
    done = fumishirube(*words, cwd=workspace)
    assert done.code == 1
    assert "failed searches with the defaults: invalid_parameter (2), not_found (1)" in done.out
    assert "\n  invalid_parameter, such as case c2: required_terms must" in done.out
    assert "\n  not_found, such as case c1: manual not found\n" in done.out
    assert "error_rate is 1.0000; it has to be at most 0" in done.out
    rows = [json.loads(line) for line in (workspace / "failed.jsonl").read_bytes().splitlines()]
    assert rows[2]["message"].startswith("query must")
    failures = fumishirube(*words, "--json", cwd=workspace).json["first_failures"]
    assert [one["case_id"] for one in failures.values()] == ["c2", "c1"]
    assert failures["not_found"]["message"] == rows[0]["message"]


def test_a_measurement_leaves_no_marks_but_the_index(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "field-guide", tmp_path / "manuals" / "field-guide")
    file = written(tmp_path / "c.jsonl", RAW)
    assert fumishirube("eval", file.name, "--gate", "none", cwd=tmp_path).code == 0
    assert {one.name for one in tmp_path.iterdir()} == {"manuals", "c.jsonl", ".fumishirube"}
    assert [one.name for one in (tmp_path / ".fumishirube").iterdir()] == ["index"]


def test_the_cache_is_measured_on_request(workspace: Path) -> None:
    file = written(workspace / "twice.jsonl", RAW, RAW | {"case_id": "again"})
    words = ("eval", file.name, "--gate", "none", "--json")
    off, on = (
        fumishirube(*words, *more, cwd=workspace).json["metrics"] for more in ((), ("--cache",))
    )
    assert not [name for name in off if name.startswith("sem_cache")]
    assert (on["sem_cache_miss_rate"], on["sem_cache_exact_rate"]) == (0.5, 0.5)
    assert on["sem_cache_saved_ms"] > 0
    assert on["sem_cache_saved_ms_per_query"] == pytest.approx(on["sem_cache_saved_ms"] / 2)


def test_a_configuration_is_no_better_than_itself(workspace: Path) -> None:
    (workspace / "same.yaml").write_text("version: 1\n", encoding="utf-8")
    file = written(workspace / "one.jsonl", RAW, RAW | {"case_id": "c2", "query": "solar panel"})
    words = ("eval", file.name, "--against", "same.yaml", "--gate", "none", "--rows", "rows.jsonl")
    done = fumishirube(*words, "--json", cwd=workspace)
    assert done.code == 0
    assert done.json["against"]["configuration"] == "same.yaml"
    for name, one in done.json["against"]["paired"].items():
        if name != "latency_ms":
            assert (one["difference"], one["low"], one["high"], one["p"]) == (0, 0, 0, 1), name
            assert (one["wins"], one["losses"], one["ties"]) == (0, 0, 2)
    rows = [json.loads(line) for line in (workspace / "rows.jsonl").read_text().splitlines()]
    assert [(row["run"], row["case_id"]) for row in rows] == [
        *(("config", "c1"), ("config", "c2"), ("against", "c1"), ("against", "c2"))
    ]
    assert rows[0]["metrics"]["hit_rate@5"] in (0, 1)
    assert rows[0]["ranking"]


@pytest.mark.slow
def test_a_worse_configuration_is_seen_to_be_worse(workspace: Path) -> None:
    """One that returns a single hit finds fewer of two right files, and costs fewer tokens."""
    short = "pipelines: {manual: {refiners: [{use: cutoff, with: {limit: 1}}]}}\n"
    (workspace / "short.yaml").write_text(short, encoding="utf-8")
    right = ["power.md", "safety.md", "installation.md", "about.md", "telemetry.md", "glossary.md"]
    cases = [
        RAW | {"case_id": word, "query": word, "required_terms": [word], "expected_paths": right}
        for word in ("battery", "station", "panel", "winter", "sensor", "visit", "antenna")
    ]
    file = written(workspace / "many.jsonl", *cases)
    words = ("--against", "short.yaml", "--gate", "none")
    paired = fumishirube("eval", file.name, *words, "--json", cwd=workspace).json["against"][
        "paired"
    ]
    assert paired["recall@5"]["difference"] > 0
    assert paired["recall@5"]["low"] > 0
    assert paired["recall@5"]["wins"] > paired["recall@5"]["losses"]
    assert paired["recall@5"]["p"] < 0.1
    assert paired["tokens_per_query"]["losses"] > paired["tokens_per_query"]["wins"]
    told = fumishirube("eval", file.name, *words, cwd=workspace).out
    assert "against: short.yaml" in told
    assert "wins/losses/ties" in told


# --- the page -------------------------------------------------------------------------------

_BLOCK = re.compile(
    r"^(?:<!-- (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def blocks() -> Iterator[re.Match[str]]:
    yield from _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))


def settled(output: str) -> list[str]:
    """Return lines with widths and times made alike: these change, all other figures do not."""
    lines = (" ".join(line.split()) for line in output.strip().splitlines())
    return [_NUMBER.sub("0", line) if "latency_ms" in line else line for line in lines]


@pytest.mark.slow
def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    """``FUMISHIRUBE_REWRITE=1`` writes the page anew."""
    shutil.copytree(SAMPLES, tmp_path / "manuals")
    text = PAGE.read_text(encoding="utf-8")
    commands = 0
    for block in blocks():
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        if block["kind"] != "console":
            continue
        first, _, shown = block["text"].partition("\n")
        words = shlex.split(first.removeprefix("$ "))
        assert words[0] == "fumishirube"
        done = fumishirube(*words[1:], cwd=tmp_path)
        slow = [line for line in done.err.splitlines() if line.endswith("this may take a while")]
        assert (done.code, done.err.splitlines()) == (0, slow), first
        commands += 1
        if os.environ.get("FUMISHIRUBE_REWRITE"):
            text = text.replace(block["text"], f"{first}\n{done.out}")
        else:
            assert settled(done.out) == settled(shown), first
    if os.environ.get("FUMISHIRUBE_REWRITE"):
        PAGE.write_text(text, encoding="utf-8")
    assert commands == 5


def test_the_case_on_the_page_is_one_and_every_metric_is_explained() -> None:
    (raw,) = [json.loads(block["text"]) for block in blocks() if block["kind"] == "json"]
    (one,) = parsed_cases([json.dumps(raw).encode()], "page")
    text = PAGE.read_text(encoding="utf-8")
    for key in Case.model_fields:
        assert f"`{key}`" in text
    names = summary([CaseResult(one)], 5)
    for name in names:
        assert f"`{name.replace('@5', '@k')}`" in text, name
