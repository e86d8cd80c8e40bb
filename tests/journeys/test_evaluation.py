"""Measuring: the figures against figures made by hand, and the command as a real process."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdio import Fumishirube
from warm_start import warm_script

from fumishirube.errors import ConfigError, InvalidParameter, NotFound
from fumishirube.host.startup import open_application
from fumishirube.text.folding import estimate_tokens
from fumishirube.tools.calls import compact
from fumishirube.traces.records import CacheOutcome
from fumishirube_eval import metrics
from fumishirube_eval.cases import Case, load_cases, parsed_cases, save_cases
from fumishirube_eval.gates import DEFAULT_GATE, load_gate
from fumishirube_eval.known_item import known_items, sentences, words_of
from fumishirube_eval.metrics import CaseResult, integration_status, percentile, summary
from fumishirube_eval.paired import compare, interval, sign_flip_p
from fumishirube_eval.runs import InProcessClient, result_line, run_case, run_cases

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "manuals"
PAGE = ROOT / "docs" / "evaluation.md"
NEUTRAL = ("WORKSPACE_ROOT", "MANUALS_ROOT", "FUMISHIRUBE_STATE_ROOT", "COLUMNS")


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def fumishirube(*words: str | Path, cwd: Path) -> Done:
    done = subprocess.run(
        [warm_script(), *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if name not in NEUTRAL},
        timeout=100,
        check=False,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    assert "Traceback" not in out + err
    assert str(cwd) not in out + err
    return Done(done.returncode, out, err)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(SAMPLES, folder / "manuals")
    return folder


def case(**more: Any) -> Case:
    given = {
        "case_id": "c1",
        "query": "battery",
        "manual_id": "m",
        "required_terms": ("battery",),
        "expected_paths": ("a.md",),
    }
    return Case.model_validate(given | more)


def written(file: Path, *objects: Any) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in objects), encoding="utf-8")
    return file


RAW = {
    "case_id": "c1",
    "query": "battery",
    "manual_id": "field-guide",
    "required_terms": ["battery"],
    "expected_paths": ["power.md"],
}


# --- metrics --------------------------------------------------------------------------------

RANKING = ["b", "a", "a", "c", "d"]
RIGHT = {"a", "d", "z"}
GAIN = [1 / math.log2(rank + 1) for rank in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("name", "k", "expected"),
    [
        ("hit_rate", 1, 0),
        ("hit_rate", 2, 1),
        ("recall", 1, 0),
        ("recall", 4, 1 / 3),
        ("recall", 5, 2 / 3),
        ("mrr", 1, 0),
        ("mrr", 5, 1 / 2),
        ("precision", 3, 1 / 3),
        ("precision", 5, 2 / 5),
        ("precision", 10, 2 / 10),
        ("ndcg", 1, 0),
        ("ndcg", 3, GAIN[1] / sum(GAIN[:3])),
        ("ndcg", 5, (GAIN[1] + GAIN[4]) / sum(GAIN[:3])),
    ],
)
def test_a_metric_is_what_it_is_by_hand(name: str, k: int, expected: float) -> None:
    assert getattr(metrics, name)(RANKING, RIGHT, k) == pytest.approx(expected)


def test_precision_has_a_ceiling_and_a_form_without_k() -> None:
    assert [metrics.precision_ceiling(RIGHT, k) for k in (1, 3, 5)] == [1, 1, 3 / 5]
    assert metrics.precision_retrieved(RANKING, RIGHT) == 2 / 4
    assert metrics.precision_retrieved([], RIGHT) == 0


def test_a_percentile_is_the_value_with_the_number_rounded_up() -> None:
    assert [percentile(range(1, n + 1), 95) for n in (1, 2, 19, 20, 21, 40, 100)] == [
        *(1, 2, 19, 19, 20, 38, 95)
    ]
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([], 95) == 0


rankings = st.lists(st.sampled_from("abcdefgh"), max_size=12)
rights = st.sets(st.sampled_from("abcdefgh"), min_size=1)
NAMES = ("hit_rate", "recall", "mrr", "ndcg", "precision")


@given(rankings, rights, st.integers(1, 15))
def test_metrics_lie_between_0_and_1(ranking: list[str], right: set[str], k: int) -> None:
    for name in NAMES:
        assert 0 <= getattr(metrics, name)(ranking, right, k) <= 1 + 1e-12
    assert metrics.precision(ranking, right, k) <= metrics.precision_ceiling(right, k)
    assert 0 <= metrics.precision_retrieved(ranking, right) <= 1


@given(rankings, rights, st.integers(1, 15))
def test_more_rows_never_find_less(ranking: list[str], right: set[str], k: int) -> None:
    for name in ("hit_rate", "recall", "mrr"):
        of = getattr(metrics, name)
        assert of(ranking, right, k) <= of(ranking, right, k + 1)


@given(rankings, rights, st.integers(1, 15))
def test_what_stands_below_k_does_not_matter(ranking: list[str], right: set[str], k: int) -> None:
    shuffled = [*ranking[:k], *reversed(ranking[k:])]
    for name in NAMES:
        of = getattr(metrics, name)
        assert of(shuffled, right, k) == of(ranking[:k], right, k) == of(ranking, right, k)


@given(rankings, rights, st.integers(1, 15), st.permutations("abcdefgh"))
def test_names_do_not_matter(ranking: list[str], right: set[str], k: int, other: str) -> None:
    renamed = dict(zip("abcdefgh", other, strict=True))
    for name in NAMES:
        of = getattr(metrics, name)
        anew = of([renamed[one] for one in ranking], {renamed[one] for one in right}, k)
        assert anew == of(ranking, right, k)


@given(rankings.flatmap(st.permutations), rights)
def test_order_matters_only_where_it_should(ranking: list[str], right: set[str]) -> None:
    ordered, whole = sorted(ranking), len(ranking) or 1
    for name in ("hit_rate", "recall", "precision"):
        of = getattr(metrics, name)
        assert of(ranking, right, whole) == of(ordered, right, whole)
    assert metrics.precision_retrieved(ranking, right) == metrics.precision_retrieved(
        ordered, right
    )


def test_a_set_of_cases_comes_to_its_means() -> None:
    found = CaseResult(
        case(expected_lines=(("a.md", 7),), expected_paths=("a.md", "b.md")),
        ranking=(("x.md", 1), ("a.md", 3), ("a.md", 7)),
        returned=4,
        latency_ms=10,
        tokens=100,
        gaps=1,
    )
    failed = CaseResult(case(), latency_ms=30, tokens=20, error="not_found")
    figures = summary([found, failed], 5)
    expected = {
        "hit_rate@5": 1 / 2,
        "recall@5": 1 / 4,
        "mrr@5": 1 / 4,
        "ndcg@5": GAIN[1] / sum(GAIN[:2]) / 2,
        "precision@5": 1 / 10,
        "precision_norm@5": (1 / 10) / (3 / 10),
        "precision@retrieved": 1 / 4,
        "page_hit@5": 1 / 2,
        "page_mrr@5": 1 / 4,
        "sec_hit@5": 1,
        "sec_mrr@5": 1 / 3,
        "gap_rate": 1 / 2,
        "conflict_rate": 0,
        "needs_followup_rate": 1 / 2,
        "blocked_rate": 0,
        "error_rate": 1 / 2,
        "forbidden_hit_rate": 0,
        "tokens_per_query": 60,
        "p50_latency_ms": 10,
        "p95_latency_ms": 30,
    }
    assert figures == pytest.approx(expected)
    assert list(figures) == list(expected)


def test_page_ranks_count_files_and_mrr_counts_rows() -> None:
    one = CaseResult(case(), ranking=(("x.md", 1), ("x.md", 2), ("a.md", 1)), returned=3)
    figures = summary([one], 2)
    assert (figures["mrr@2"], figures["page_mrr@2"]) == (0, 1 / 2)


def test_the_status_of_a_result_follows_from_what_it_says() -> None:
    assert integration_status(CaseResult(case(), error="not_found")) is None
    assert integration_status(CaseResult(case())) == "blocked"
    assert integration_status(CaseResult(case(), returned=1)) == "ready"
    for more in ({"gaps": 1}, {"conflicts": 1}, {"unscored": True}):
        assert integration_status(CaseResult(case(), returned=1, **more)) == "needs_followup"


def test_a_forbidden_file_counts_wherever_it_stands() -> None:
    rows = tuple((f"{n}.md", 1) for n in range(50))
    one = CaseResult(case(forbidden_paths=("49.md",)), ranking=rows, returned=50)
    assert summary([one], 5)["forbidden_hit_rate"] == 1


def test_what_the_cache_did_is_told_where_searches_tell_it() -> None:
    told = [("miss", 0.0), ("exact", 30.0), ("exact", 10.0), ("bypass", 0.0)]
    figures = summary([CaseResult(case(), cache=mode, saved_ms=ms) for mode, ms in told], 5)
    assert figures["sem_cache_exact_rate"] == 1 / 2
    assert figures["sem_cache_semantic_rate"] == 0
    assert (figures["sem_cache_saved_ms"], figures["sem_cache_saved_ms_per_query"]) == (40, 10)


# --- paired ---------------------------------------------------------------------------------

figures = st.lists(st.tuples(*[st.floats(0, 1, width=16)] * 2), min_size=1, max_size=30)


@given(figures)
def test_exchanging_the_two_gives_the_negative(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*pairs, strict=True)
    one, other = compare(ours, theirs), compare(theirs, ours)
    assert (one.difference, one.low, one.high) == (-other.difference, -other.high, -other.low)
    assert one.p == other.p
    assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)


@given(figures)
def test_a_comparison_is_in_order(pairs: list[tuple[float, float]]) -> None:
    one = compare(*zip(*pairs, strict=True))
    assert one.low <= one.high
    assert 0 < one.p <= 1
    assert one.wins + one.losses + one.ties == len(pairs)


def test_nothing_differs_between_a_configuration_and_itself() -> None:
    same = [0.0, 1.0, 0.5] * 40
    one = compare(same, same)
    assert (one.difference, one.low, one.high, one.p) == (0, 0, 0, 1)
    assert (one.wins, one.losses, one.ties) == (0, 0, 120)


def test_less_is_better_where_it_is() -> None:
    one = compare([10, 10, 10], [20, 20, 5], more_is_better=False)
    assert (one.difference, one.wins, one.losses) == (-5, 2, 1)


def test_few_signs_are_flipped_in_every_way() -> None:
    assert sign_flip_p([1, 1, 1]) == 2 / 8
    assert sign_flip_p([1, 1, 1, 0, 0]) == 2 / 8
    assert sign_flip_p([3, -1]) == 1
    assert sign_flip_p([0.1] * 10) == 2 / 1024


def test_many_signs_come_near_to_every_way() -> None:
    offset_maps = sum(math.comb(20, heads) for heads in range(21) if abs(2 * heads - 20) >= 10)
    assert sign_flip_p([1.0] * 15 + [-1.0] * 5) == pytest.approx(offset_maps / 2**20, abs=0.01)
    assert sign_flip_p([1.0] * 40) < 0.001


def test_the_interval_is_about_as_wide_as_theory_says() -> None:
    low, high = interval([1.0] * 40 + [0.0] * 360)
    deviation = math.sqrt(0.1 * 0.9 / 400)
    assert low == pytest.approx(0.1 - 1.96 * deviation, abs=0.004)
    assert high == pytest.approx(0.1 + 1.96 * deviation, abs=0.004)
    assert interval([0.25] * 7) == (0.25, 0.25)


# --- cases ----------------------------------------------------------------------------------


def test_cases_survive_being_written_and_read(tmp_path: Path) -> None:
    cases = [
        case(facet="x", expected_lines=(("a.md", 3),)),
        case(case_id="c2", ignored_paths=("b.md",), forbidden_paths=("x.md",)),
    ]
    save_cases(cases, tmp_path / "cases.jsonl")
    assert load_cases(tmp_path / "cases.jsonl") == cases


def test_paths_are_composed_blank_lines_and_own_keys_are_passed_over() -> None:
    apart = unicodedata.normalize("NFD", "パスワード.md")
    raw = RAW | {"expected_paths": [apart], "ignored_paths": [apart], "notes": "mine"}
    lines = [b"", json.dumps(raw).encode(), b"  "]
    (one,) = parsed_cases(lines, "x")
    assert one.expected_paths == one.ignored_paths == ("パスワード.md",)


def test_a_line_is_ended_by_lf_alone(tmp_path: Path) -> None:
    raw = json.dumps(RAW | {"query": "a\u2028b"}, ensure_ascii=False)
    (tmp_path / "c.jsonl").write_bytes(b"\xef\xbb\xbf" + raw.encode() + b"\r\n")
    assert load_cases(tmp_path / "c.jsonl")[0].query == "a\u2028b"


BAD_CASES = [
    ("{", "cases.jsonl line 2: Expecting property name"),
    ("[1]", "cases.jsonl line 2: a case is a JSON object"),
    (RAW, "cases.jsonl line 2: case_id 'c1' is that of line 1 too"),
    ({"case_id": "x"}, "cases.jsonl line 2: query is required"),
    (RAW | {"case_id": 2}, "cases.jsonl line 2: case_id must be a string"),
    (RAW | {"case_id": "x", "expected_paths": []}, "line 2: expected_paths must not be empty"),
    (RAW | {"case_id": "x", "expected_paths": "a"}, "expected_paths must be an array"),
    (RAW | {"case_id": "x", "expected_lines": [["a.md", 0]]}, "line 2: expected_lines[0][1] must"),
    (
        RAW | {"case_id": "x", "ignored_path": ["a.md"]},
        "line 2: there is no key 'ignored_path'; did you mean 'ignored_paths'?",
    ),
]


@pytest.mark.parametrize(("line", "told"), BAD_CASES)
def test_a_bad_case_is_told_with_its_line(workspace: Path, line: Any, told: str) -> None:
    text = line if isinstance(line, str) else json.dumps(line)
    file = written(workspace / "cases.jsonl", RAW)
    file.write_text(file.read_text() + text + "\n")
    done = fumishirube("eval", file.name, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give either a file of CASES or --known-item"),
        (["c.jsonl", "--known-item", "3"], "give either"),
        (["c.jsonl", "--out", "x"], "--out goes with --known-item"),
        (["absent.jsonl"], "absent.jsonl: there is no such file of cases"),
        (["manuals"], "manuals: it cannot be read"),
        (["empty.jsonl"], "empty.jsonl: there are no cases in it"),
        (["latin.jsonl"], "latin.jsonl line 1: it is not UTF-8"),
        (["--known-item", "0"], "expected a whole number from 1 on"),
        (["c.jsonl", "--against", "absent.yaml"], "--against: there is no file 'absent.yaml'"),
        (["c.jsonl", "--gate", "absent.toml"], "--gate absent.toml: there is no such file"),
    ],
)
def test_wrong_usage_is_told(workspace: Path, words: list[str], told: str) -> None:
    written(workspace / "c.jsonl", RAW)
    (workspace / "empty.jsonl").write_bytes(b"\n\n")
    (workspace / "latin.jsonl").write_bytes(b'{"query": "\xe9"}\n')
    done = fumishirube("eval", *words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


# --- gates ----------------------------------------------------------------------------------


def gate_file(folder: Path, text: str) -> str:
    (folder / "gate.toml").write_text(text, encoding="utf-8")
    return str(folder / "gate.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[at_least]\n"precision@5" = 0.21', "0.21 is more than 0.2, the most that these cases"),
        ('[at_least]\n"sec_hit@5" = 0.5', "no case says which sections are right"),
        ('[at_least]\n"hitrate@5" = 1', "there is no such metric; did you mean 'hit_rate@5'?"),
        ("[at_least]\nhit_rate = 1", "did you mean 'hit_rate@5'?"),
        ('[at_least]\n"hit_rate@0" = 1', "there is no such metric"),
        ('[at_least]\n"hit_rate@5" = "1"', "gate.toml: at_least.hit_rate@5: expected a number"),
        ('[at_least]\n"hit_rate@5" = nan', "expected a number"),
        ("[minimum]\nx = 1", "expected the tables at_least and at_most"),
        ("at_least = 1", "expected metrics and their bounds"),
        ("", "it sets no threshold"),
        ("[", "gate.toml: it is not valid TOML"),
    ],
)
def test_a_gate_that_cannot_be_is_refused_at_load(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_gate(gate_file(tmp_path, text), [case()])
    assert told in str(refused.value)


def test_a_gate_may_ask_for_the_ceiling_itself(tmp_path: Path) -> None:
    cases = [case(expected_paths=("a", "b", "c")), case(expected_paths=("a",))]
    gate = load_gate(gate_file(tmp_path, '[at_least]\n"precision@5" = 0.4'), cases)
    assert [threshold.name for threshold in gate.thresholds] == ["precision@5"]


def test_the_default_gate_is_judged_at_5_whatever_is_shown() -> None:
    rows = ((("x.md", 1),) * 4, ("a.md", 1))
    late = CaseResult(case(), ranking=(*rows[0], rows[1]), returned=5)
    failing = {v.threshold.name for v in DEFAULT_GATE.judge([late]) if not v.passed}
    assert failing == {"mrr@5"}


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
    assert json.loads(result_line(first, 5, "config"))["error"] == "invalid_parameter"


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


def test_tokens_are_those_of_the_public_reply(workspace: Path) -> None:
    application = open_application(workspace, environ={})
    client = InProcessClient.of(application)
    client.call("manual_ls", {})
    one = case(manual_id="field-guide")
    asked = {"query": "battery", "manual_id": "field-guide", "required_terms": ["battery"]}
    reply = client.call("manual_find", {**asked, "use_cache": False})
    assert run_case(client, one).tokens == pytest.approx(
        estimate_tokens(compact(dict(reply))), abs=2
    )
    application.close()


# --- known items ----------------------------------------------------------------------------


def test_words_are_runs_of_one_script_and_no_numbers() -> None:
    assert words_of("電池の交換は　バッテリー LOW 12.5 V 電池 HR-01") == [
        *("電池", "交換", "バッテリー", "low", "hr")
    ]
    assert words_of("| 甲種会員 | 乙種会員 |") == ["甲種会員", "乙種会員"]


def test_sentences_are_prose() -> None:
    text = (
        "# 見出しは文ではない\n- **保存**は[端末管理](x.md)で行います。次の文もここにあります。\n"
        "| 表 | は文ではない、長くてもそうである |\n\n"
        "The battery remains\nin circuit. It lasts 70 hours.\n"
    )
    assert list(sentences(text)) == [
        "保存は端末管理で行います。",
        "次の文もここにあります。",
        "The battery remains in circuit.",
        "It lasts 70 hours.",
    ]


def test_known_items_are_the_same_every_time(workspace: Path, tmp_path: Path) -> None:
    """Whatever the order in which the files came to be, and wherever they stand."""
    for file in sorted(SAMPLES.rglob("*"), reverse=True):
        if file.is_file():
            copy = tmp_path / "manuals" / file.relative_to(SAMPLES)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    for folder in (workspace, tmp_path):
        done = fumishirube("eval", "--known-item", "40", "--out", "known.jsonl", cwd=folder)
        assert (done.code, done.out) == (0, "wrote 40 cases to known.jsonl\n")
    first, second = ((f / "known.jsonl").read_bytes() for f in (workspace, tmp_path))
    assert first == second
    assert not (tmp_path / ".fumishirube" / "index").exists(), "no index is needed for that"


def test_known_items_are_spread_and_ask_for_what_is_there(workspace: Path) -> None:
    application = open_application(workspace, environ={})
    context = application.contexts["manual"]
    cases = known_items([context.manual(name) for name in context.manuals()], 60)
    application.close()
    assert len({one.case_id for one in cases}) == 60
    assert {one.manual_id for one in cases} == set(context.manuals())
    assert {one.facet for one in cases} == {"sentence", "rare", "shared"}
    assert len({one.expected_paths for one in cases}) > 20
    assert all(1 <= len(one.required_terms) <= 2 for one in cases)
    for one in cases:
        assert set(one.required_terms) <= set(words_of(one.query))
        text = (SAMPLES / one.manual_id / one.expected_paths[0]).read_text(encoding="utf-8")
        assert set(one.required_terms) <= set(words_of(text))


def test_known_items_are_found(workspace: Path) -> None:
    done = fumishirube("eval", "--known-item", "60", "--json", cwd=workspace)
    assert done.code == 0
    told = done.json["metrics"]
    assert told["hit_rate@5"] > 0.9
    assert told["sec_hit@5"] > 0.9
    assert told["error_rate"] == 0
    assert 0 < told["p50_latency_ms"] <= told["p95_latency_ms"]
    assert done.json["gate"]["passed"] is True
    assert set(done.json["facets"]) == {"sentence", "rare", "shared"}


def test_sections_that_cannot_be_told_apart_make_no_cases(tmp_path: Path) -> None:
    manual = tmp_path / "manuals" / "m"
    manual.mkdir(parents=True)
    for name in ("a", "b"):
        (manual / f"{name}.md").write_text("# Title\nThe same sentence stands here.\n")
    done = fumishirube("eval", "--known-item", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "differs from all others" in done.err
    (manual / "c.md").write_text("# Title\nAnother sentence altogether, quite unlike.\n")
    done = fumishirube("eval", "--known-item", "--gate", "none", cwd=tmp_path)
    assert done.code == 0
    assert done.out.startswith("1 case; ")
    assert "note: only 1 section could be made a case of" in done.err


# --- the command ----------------------------------------------------------------------------


def test_a_gate_that_fails_sets_the_exit_code(workspace: Path) -> None:
    wrong = RAW | {"case_id": "c2", "expected_paths": ["absent.md"]}
    file = written(workspace / "wrong.jsonl", RAW, wrong)
    done = fumishirube("eval", file.name, cwd=workspace)
    assert (done.code, done.err) == (1, "")
    assert "gate default: not passed\n  hit_rate@5 is 0.5000; it has to be at least 0.9" in done.out
    assert fumishirube("eval", file.name, "--gate", "none", cwd=workspace).code == 0
    gate = gate_file(workspace, '[at_least]\n"hit_rate@5" = 0.5\n[at_most]\nerror_rate = 0\n')
    done = fumishirube("eval", file.name, "--gate", Path(gate).name, "--json", cwd=workspace)
    assert done.code == 0
    assert [one["passed"] for one in done.json["gate"]["thresholds"]] == [True, True]


def test_failed_searches_are_named(workspace: Path) -> None:
    file = written(workspace / "failing.jsonl", RAW | {"manual_id": "absent"})
    done = fumishirube("eval", file.name, cwd=workspace)
    assert done.code == 1
    assert "failed searches with the defaults: not_found (1)" in done.out
    assert "error_rate is 1.0000; it has to be at most 0" in done.out


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


def shape(output: str) -> list[str]:
    """Return lines with numbers and widths made alike: figures change, what is told does not."""
    return [" ".join(_NUMBER.sub("0", line).split()) for line in output.strip().splitlines()]


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
        assert (done.code, done.err) == (0, ""), first
        commands += 1
        if os.environ.get("FUMISHIRUBE_REWRITE"):
            text = text.replace(block["text"], f"{first}\n{done.out}")
        else:
            assert shape(done.out) == shape(shown), first
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
