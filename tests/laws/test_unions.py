"""Several manuals searched as one: what a search of one finds, a union finds as well."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from manuals import fumishirube, opened, write
from torture import examples

from fumishirube import Budget, NotFound, Query, Trace
from fumishirube.engine.unions import JoinedProgress
from fumishirube.traces.files import decode_trace, encode_trace
from fumishirube_inspect.replays import describe_recorded, replay_trace

WORDS = ("有給休暇", "在宅勤務", "手当", "対象外", "申請", "期限", "allowance", "travel", "E-104")

sections = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map("、".join)
files = st.lists(sections, min_size=1, max_size=4).map(
    lambda bodies: "".join(f"# 第{n}章\n{body}。\n" for n, body in enumerate(bodies, 1))
)
manuals = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "c/a.md"]), files, min_size=1, max_size=3
)
queries = st.builds(
    Query,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("の".join),
    st.lists(st.sampled_from(WORDS), max_size=2, unique=True).map(tuple),
)
few = settings(max_examples=examples(12), deadline=None, database=None, phases=[Phase.generate])


def rows(trace: Trace) -> list[tuple[str, str, int, float, Mapping[str, float]]]:
    return [
        (*trace.file(row.path), row.start_line, row.score, row.signals) for row in trace.search.rows
    ]


def workspace(folder: str, of: Mapping[str, Mapping[str, str]]) -> Path:
    return write(
        Path(folder),
        {f"{name}/{path}": text for name, held in of.items() for path, text in held.items()},
    )


@few
@given(manuals, st.lists(queries, min_size=1, max_size=4))
def test_a_union_of_one_manual_is_that_manual(
    held: Mapping[str, str], asked: Sequence[Query]
) -> None:
    with (
        TemporaryDirectory() as folder,
        closing(opened(workspace(folder, {"m": held}))) as application,
    ):
        context = application.contexts["manual"]
        for query in asked:
            alone, union = (context.find(name, query).trace for name in ("m", "*"))
            assert rows(alone) == rows(union)
            assert alone.report == union.report
            assert union.manuals == ("m",)
            assert (alone.files, alone.sections, alone.aside) == (
                union.files,
                union.sections,
                union.aside,
            )


@few
@given(manuals, manuals, queries)
def test_a_union_counts_and_ranks_as_one_manual_that_holds_all_the_files(
    first: Mapping[str, str], second: Mapping[str, str], query: Query
) -> None:
    whole = {
        f"{name}/{p}": text for name, of in (("a", first), ("b", second)) for p, text in of.items()
    }
    with (
        TemporaryDirectory() as parts,
        TemporaryDirectory() as one,
        closing(opened(workspace(parts, {"a": first, "b": second}))) as apart,
        closing(opened(workspace(one, {"whole": whole}))) as together,
    ):
        union = apart.contexts["manual"].find("*", query).trace
        single = together.contexts["manual"].find("whole", query).trace
        assert (union.files, union.sections) == (single.files, single.sections)
        assert [t.sections for t in union.report.terms] == [t.sections for t in single.report.terms]
        assert union.report.matched == single.report.matched
        assert {(row.path, row.start_line) for row in union.search.rows} <= {
            (out.path, out.start_line) for out in single.search.left_out
        } | {(row.path, row.start_line) for row in single.search.rows}


def test_a_trace_of_several_manuals_survives_its_file_and_runs_again(tmp_path: Path) -> None:
    held = {"a": {"a.md": "# 手当\n在宅勤務の手当。\n"}, "b": {"b.md": "# 申請\n手当の申請。\n"}}
    with closing(opened(workspace(str(tmp_path), held))) as application:
        for manual_id in ("*", "a/b"):
            trace = application.contexts["manual"].find(manual_id, Query("手当")).trace
            assert decode_trace(encode_trace(trace)) == trace
            export, again = describe_recorded(application, trace), replay_trace(application, trace)
            assert rows(again.trace) == rows(trace)
            assert export.content == again.content is not None
        (tmp_path / "manuals" / "b" / "b.md").write_text("# 申請\n別の手当の申請。\n")
        assert replay_trace(application, trace).content != export.content


def test_nothing_to_search_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "manuals").mkdir()
    with closing(opened(tmp_path)) as application:
        with pytest.raises(NotFound, match="no manuals"):
            application.contexts["manual"].find("*", Query("手当"))
        with pytest.raises(NotFound):
            application.contexts["manual"].find("a/b", Query("手当"))


def test_a_manual_that_is_not_indexed_in_time_is_named(tmp_path: Path) -> None:
    many = {f"{n}.md": "# 手当\n在宅勤務の手当。\n" * 50 for n in range(300)}
    with closing(opened(workspace(str(tmp_path), {"a": many, "b": many}))) as application:
        late = Query("手当", budget=Budget.of(1))
        trace = application.contexts["manual"].find("*", late).trace
        assert trace.manuals == ("a", "b")
        assert "a: time ran out" in str(trace.degraded)
        assert "b: time ran out" in str(trace.degraded)
        assert {out.path.partition("/")[0] for out in trace.skipped} == {"a", "b"}


def test_progress_goes_on_from_one_manual_to_the_next() -> None:
    passed: list[tuple[int, int, str]] = []
    joined = JoinedProgress(lambda *told: passed.append(told))
    for name in ("a", "b"):
        for done in (1, 2):
            joined(done, 2, name)
        joined.finish_manual()
    assert passed == [(1, 2, "a"), (2, 2, "a"), (3, 4, "b"), (4, 4, "b")]


def test_a_case_asked_everywhere_is_right_in_its_own_manual_only(tmp_path: Path) -> None:
    held = {
        "a": {"rules.md": "# 手当\n在宅勤務の手当。\n"},
        "b": {"rules.md": "# 手当\n出張の手当と在宅勤務の手当。在宅勤務の手当。\n"},
    }
    (workspace(str(tmp_path), held) / "cases.jsonl").write_text(
        '{"case_id": "c1", "facet": "f", "query": "在宅勤務の手当", "manual_id": "a",'
        ' "required_terms": ["在宅勤務"], "expected_paths": ["rules.md"]}\n',
        encoding="utf-8",
    )
    words = ("eval", "cases.jsonl", "--gate", "none", "--rows", "rows.jsonl")
    rankings = []
    for more in ((), ("--everywhere",)):
        done = fumishirube(*words, *more, cwd=tmp_path)
        assert done.code == 0, done.err
        rankings.append(
            json.loads((tmp_path / "rows.jsonl").read_text(encoding="utf-8"))["ranking"]
        )
    assert rankings[0] == [["rules.md", 1]]
    assert sorted(rankings[1]) == [["b/rules.md", 1], ["rules.md", 1]]
