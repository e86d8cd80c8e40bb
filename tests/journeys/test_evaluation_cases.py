"""The cases and gates of a measurement, and cases made from known items."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evaluation_runs import RAW, case, fumishirube, gate_file, samples, written
from hypothesis import given
from hypothesis import strategies as st
from manuals import write

from fumishirube.errors import ConfigError
from fumishirube.host.startup import open_application
from fumishirube_eval import known_item
from fumishirube_eval.cases import load_cases, parsed_cases, save_cases
from fumishirube_eval.files import check_writable
from fumishirube_eval.gates import DEFAULT_GATE, load_gate
from fumishirube_eval.known_item import known_items, sentences, words_of
from fumishirube_eval.metrics import CaseResult

SAMPLES = Path(__file__).parents[2] / "manuals"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return samples(tmp_path_factory.mktemp("workspace"))


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
    ("[1]", "cases.jsonl line 2: expected a JSON object"),
    (RAW, "cases.jsonl line 2: case_id 'c1' is that of line 1 too"),
    ({"case_id": "x"}, "cases.jsonl line 2: query is required"),
    (RAW | {"case_id": 2}, "cases.jsonl line 2: case_id must be a string"),
    (RAW | {"case_id": "x", "expected_paths": []}, "line 2: expected_paths must not be empty"),
    (RAW | {"case_id": "x", "expected_paths": "a"}, "expected_paths must be an array"),
    (
        RAW | {"case_id": "x", "expected_lines": [["a.md", 1]]},
        "line 2: 'a.md' of expected_lines is not in expected_paths",
    ),
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


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give either a file of CASES or --known-item"),
        (["c.jsonl", "--known-item", "3"], "give either"),
        (["c.jsonl", "--out", "x"], "--out goes with --known-item"),
        (["absent.jsonl"], "absent.jsonl: there is no such file"),
        (["manuals"], "manuals: it cannot be read"),
        (["empty.jsonl"], "empty.jsonl: there are no cases in it"),
        (["latin.jsonl"], "latin.jsonl line 1: it is not UTF-8"),
        (["--known-item", "0"], "expected a whole number from 1 on"),
        (["c.jsonl", "--against", "absent.yaml"], "--against: there is no file 'absent.yaml'"),
        (["c.jsonl", "--gate", "absent.toml"], "--gate absent.toml: there is no such file"),
        (["c.jsonl", "--timeout", "5"], "--timeout goes with eval agents"),
        (["--known-item", "--out", "x", "--rows", "r"], "--rows does not go with --out"),
        (["--known-item", "--out", "x", "--gate", "none"], "--gate does not go with --out"),
        (["c.jsonl", "--rows", "absent/r.jsonl"], "r.jsonl: it cannot be written there"),
        (["c.jsonl", "--rows", "."], "configuration error: .: it cannot be written there"),
        (["."], "configuration error: .: it cannot be read; is it a file?"),
        (["c.jsonl", "--gate", "."], "--gate .: it cannot be read; is it a file?"),
        (["c.jsonl", "--rows", "c.jsonl"], "c.jsonl: it is read too; name another file to write"),
        (["c.jsonl", "--rows", "manuals/../c.jsonl"], "c.jsonl: it is read too"),
        (["c.jsonl", "--gate", "g.toml", "--rows", "g.toml"], "g.toml: it is read too"),
        (["--known-item", "--out", "c.jsonl"], "--out c.jsonl: it exists already; name another"),
        (["--known-item", "--out", "absent/k", "--config", "absent.yaml"], "k: it cannot be"),
        (["c.jsonl", "--rows", "new.jsonl", "--config", "absent.yaml"], "absent.yaml"),
    ],
)
def test_wrong_usage_is_told(workspace: Path, words: list[str], told: str) -> None:
    written(workspace / "c.jsonl", RAW)
    written(workspace / "g.toml")
    (workspace / "empty.jsonl").write_bytes(b"\n\n")
    (workspace / "latin.jsonl").write_bytes(b'{"query": "\xe9"}\n')
    before = {file.name for file in workspace.iterdir()}
    done = fumishirube("eval", *words, cwd=workspace)
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert json.loads((workspace / "c.jsonl").read_bytes()) == RAW
    assert {file.name for file in workspace.iterdir()} <= before | {".fumishirube"}


COMM = Path("/proc/self/comm")


@pytest.mark.skipif(not COMM.is_file(), reason="it is a file where no others can be made")
def test_a_file_that_cannot_be_replaced_is_known_before_anything_is_measured() -> None:
    with pytest.raises(ConfigError, match="comm: it cannot be written there"):
        check_writable(COMM)


# --- gates ----------------------------------------------------------------------------------


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
        (f'[at_least]\n"hit_rate@5" = 1{"0" * 400}', "expected a number"),
        (f'[at_least]\n"hit_rate@5" = 1{"0" * 5000}', "gate.toml: it is not valid TOML"),
        (f'[at_least]\n"hit_rate@{"9" * 5000}" = 1', "gate.toml: at_least.hit_rate@9"),
        (f"a = {'[' * 5000}", "gate.toml: it is not valid TOML"),
        ('[at_least]\n"hit_rate@5" = 90', "at_least.hit_rate@5: expected a share, from 0 to 1"),
        ("[at_most]\ngap_rate = 25", "at_most.gap_rate: expected a share, from 0 to 1"),
        ("[at_most]\nerror_rate = -1", "expected a share, from 0 to 1"),
        ("[at_most]\np50_latency_ms = -1", "expected a number from 0 on"),
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


def test_no_more_recall_is_asked_for_than_the_first_rows_allow(tmp_path: Path) -> None:
    cases = [case(expected_paths=("a", "b")), case(expected_paths=("a",))]
    gate = gate_file(tmp_path, '[at_least]\n"recall@1" = 0.9')
    with pytest.raises(ConfigError, match=r"0\.9 is more than 0\.75, the most that these cases"):
        load_gate(gate, cases)
    for threshold in ('"recall@1" = 0.75', '"recall@2" = 1'):
        assert load_gate(gate_file(tmp_path, f"[at_least]\n{threshold}"), cases).thresholds


def test_a_gate_may_ask_for_the_ceiling_itself(tmp_path: Path) -> None:
    cases = [case(expected_paths=("a", "b", "c")), case(expected_paths=("a",))]
    gate = load_gate(gate_file(tmp_path, '[at_least]\n"precision@5" = 0.4'), cases)
    assert [threshold.name for threshold in gate.thresholds] == ["precision@5"]


def test_the_default_gate_is_judged_at_5_whatever_is_shown() -> None:
    rows = ((("x.md", 1),) * 4, ("a.md", 1))
    late = CaseResult(case(), ranking=(*rows[0], rows[1]), returned=5)
    failing = {v.threshold.name for v in DEFAULT_GATE.judge([late]) if not v.passed}
    assert failing == {"mrr@5"}


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


def test_links_are_their_texts_however_many_have_no_end() -> None:
    text = "See [the page](http://a/(b)c) of it, and [that one](<a b> 'c')."
    assert list(sentences(text)) == ["See the page of it, and that one."]
    assert not [*sentences("[a](b " * 200_000)]


def test_a_section_is_divided_into_sentences_once_however_many_words_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"| x{row:04}a | y{row:04}b |\n" for row in range(200))
    write(tmp_path, {"m/a.md": f"# Codes\n\n{rows}", "m/b.md": "# B\n\nA sentence of its own.\n"})
    divided: list[str] = []

    def noted(text: str) -> Iterator[str]:
        divided.append(text)
        return sentences(text)

    monkeypatch.setattr(known_item, "sentences", noted)
    application = open_application(tmp_path, environ={})
    assert len(known_items([application.contexts["manual"].manual("m")], 2)) == 2
    application.close()
    assert len(divided) == len(set(divided))


AS_IT_WAS = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n(?=\s*(?:\n|[-*+>#|（(]|\d+[.)]))")


@given(
    st.lists(st.sampled_from(["a", "。", ".", "\n", " ", "\t", "-", "(", "1", "1."])).map("".join)
)
def test_empty_lines_divide_sentences_as_ever(text: str) -> None:
    assert known_item._SENTENCE_ENDS.split(text) == AS_IT_WAS.split(text)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_empty_lines_and_brackets_are_passed_over_in_linear_time() -> None:
    """A square of them took minutes."""
    text = "A first sentence" + "\n" * 400_000 + "and a second one\n\n" + "[" * 400_000
    assert [*sentences(text)] == ["A first sentence", "and a second one"]


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


@pytest.mark.slow
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


def test_a_manual_that_is_named_twice_makes_each_case_once(workspace: Path, tmp_path: Path) -> None:
    twice, file = ("--manual", "field-guide") * 2, tmp_path / "known.jsonl"
    done = fumishirube("eval", "--known-item", "999", *twice, "--out", str(file), cwd=workspace)
    assert done.code == 0
    assert load_cases(file)


def test_known_items_have_no_word_that_markup_divides(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "m/a.md": "# 申請\n\n**有給休暇**申請書は総務課に提出すること。"
            "期限は前日の正午とする。\n\n"
            "# 経費\n\n[経費](b.md)精算書を月末までに経理課へ送ること。\n\n"
            "# 備品\n\n備品の購入は部長の承認を得ること。\n",
            "e/a.md": "# One\n\nThe **X**ylophone stands in the hall.\n\n"
            "# Two\n\nThe **Z**ither hangs in the attic.\n",
        },
    )
    done = fumishirube("eval", "--known-item", "5", "--rows", "rows.jsonl", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert re.search(r"gap_rate +0\.0000\n", done.out)
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_bytes().splitlines()]
    assert {row["facet"] for row in rows} == {"sentence", "rare"}
    for row in rows:
        file = tmp_path / "manuals" / row["manual_id"] / row["expected_paths"][0]
        assert {*words_of(row["query"])} <= {*words_of(file.read_text(encoding="utf-8"))}


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
