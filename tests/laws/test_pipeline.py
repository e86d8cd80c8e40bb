"""One search: the recursion, the tree it leaves, and what happens when a stage misbehaves."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torture import examples

from fumishirube import (
    Budget,
    Corpus,
    Everything,
    Hit,
    LeftOut,
    Outcome,
    Passage,
    Query,
    Ranking,
    Run,
    Span,
    Stage,
    TermUse,
)
from fumishirube.config.pipelines import PipelineSpec, Use
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.errors import Cancelled, PluginError
from fumishirube.plugins.discovery import load_plugins
from fumishirube.query import SearchState
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.testing.samples import PASSAGES, QUERIES
from fumishirube.text.synonyms import Synonyms
from fumishirube.traces.records import failures
from fumishirube_manual.surface import ManualSurface
from fumishirube_stages.fusers.rrf import Rrf
from fumishirube_stages.tokenizers.bigram import Bigram

Found = Mapping[tuple[str, int], Passage]
CORPUS = MemoryCorpus([passage(f"{name}.md", 1, body=name) for name in "abc"])


class All(Stage):
    """Nominates everything, the first by path best."""

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        held = corpus.search(Everything(), 10)
        return [Hit(one.passage, 3.0 - place, frozenset({"all"})) for place, one in enumerate(held)]


class Lifting(Stage):
    """Adds to what was found, and to one passage that nobody nominated."""

    by: float = 10.0

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        yield Hit(passage("stray.md", 1, body="stray"), 99.0)
        for one in found.values():
            if one.path == "c.md":
                yield Hit(one, self.by, frozenset({"lifted"}), 0.5, ("c",))


class Calling(Stage):
    """Does what the test says, in the place of any stage."""

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        return WHAT["score"]()  # type: ignore[no-any-return]

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return WHAT["plan"](query)  # type: ignore[no-any-return]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        return WHAT["fuse"](outcomes)  # type: ignore[no-any-return]

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return WHAT["refine"](ranking)  # type: ignore[no-any-return]


WHAT: dict[str, Callable[..., Any]] = {}


@pytest.fixture(autouse=True)
def _nothing_said() -> None:
    WHAT.clear()


class Splitting(Stage):
    """Runs the query so many times, and takes the first ranking."""

    runs: int = 2

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        return [Run(f"run {n}", query, weight=1.0 + n) for n in range(self.runs)]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        return outcomes[0].ranking


class Reversing(Stage):
    """Turns the ranking round and leaves the first of it out."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        first, *rest = ranking.hits
        left = LeftOut(first.passage.path, first.passage.start_line, "turned away")
        return Ranking(tuple(rest[::-1]), (*ranking.left_out, left), {"turned": True})


def pipeline(
    scorers: Sequence[Any] = (All(),),
    fusers: Sequence[Any] = (),
    refiners: Sequence[Any] = (),
    *,
    strict: bool = False,
) -> Pipeline:
    named = [
        [NamedStage(f"{type(stage).__name__.lower()}-{n}", stage) for n, stage in enumerate(stages)]
        for stages in (scorers, fusers, refiners)
    ]
    return Pipeline(*named, strict=strict)


def paths(ranking: Ranking) -> list[str]:
    return [hit.passage.path for hit in ranking.hits]


def walk(span: Span) -> Iterator[Span]:
    yield span
    for child in span.children:
        yield from walk(child)


# --- scoring --------------------------------------------------------------------------------


def test_scores_add_up_and_signals_are_kept_by_scorer() -> None:
    ranking, *_ = pipeline([All(), Lifting()]).run(Query("c"), CORPUS)
    assert paths(ranking) == ["c.md", "a.md", "b.md"]
    first = ranking.hits[0]
    assert first.score == 11.0
    assert first.signals == {"all-0": 1.0, "lifting-1": 10.0}
    assert first.labels == {"all", "lifted"}
    assert (first.coverage, first.matched) == (1.0, ("c",)), "counted, not as a scorer says"


def test_only_who_nominates_brings_in_passages() -> None:
    ranking, *_ = pipeline([All(), Lifting()]).run(Query("x"), CORPUS)
    assert "stray.md" not in paths(ranking)
    nothing, span, *_ = pipeline([Lifting()]).run(Query("x"), CORPUS)
    assert nothing.hits == ()
    assert failures(span) == [
        "stage 'lifting-0': sections that the manual lacks were dropped: 1"
    ], "also of a scorer that may nominate nothing"


def test_the_order_of_scorers_is_the_order_of_the_configuration() -> None:
    """Who lifts before anything was nominated finds nothing to lift."""
    ranking, *_ = pipeline([Lifting(), All()]).run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]


def test_what_scores_nothing_is_no_hit() -> None:
    ranking, *_ = pipeline([All(), Lifting(by=-1.0)]).run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md"]


def test_a_pipeline_without_scorers_finds_nothing() -> None:
    ranking, span, *_ = pipeline([]).run(Query("x"), CORPUS)
    assert ranking == Ranking()
    assert span.children == ()


@given(st.frozensets(st.sampled_from([("a.md", 1), ("b.md", 1), ("c.md", 1), ("d.md", 1)])))
def test_what_is_excluded_is_in_no_ranking(exclude: frozenset[tuple[str, int]]) -> None:
    stages = pipeline([All(), Lifting()], [Splitting(), Rrf()])
    ranking, span, *_ = stages.run(Query("x", exclude=exclude), CORPUS)
    returned = {hit.passage.key for hit in ranking.hits}
    assert returned == {one.key for one in CORPUS.passages} - exclude
    for each in walk(span):
        assert exclude.isdisjoint((row.path, row.start_line) for row in each.rows)


# --- the tree -------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3), max_size=3), st.integers(0, 2), st.integers(0, 2))
def test_the_tree_of_spans_is_the_recursion(widths: list[int], scorers: int, refiners: int) -> None:
    stages = pipeline(
        [All()] * scorers,
        [Splitting(runs=width) for width in widths],
        [Rounding()] * refiners,
    )
    _, span, *_ = stages.run(Query("x"), CORPUS)
    assert (span.kind, span.name) == ("search", "search")
    assert [child.kind for child in span.children[len(span.children) - refiners :]] == [
        "refiner"
    ] * refiners
    _check_shape(span.children[: len(span.children) - refiners], widths, scorers)


class Rounding(Stage):
    """Changes nothing."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking


def _check_shape(spans: Sequence[Span], widths: list[int], scorers: int) -> None:
    if not widths:
        assert [span.kind for span in spans] == ["scorer"] * scorers
        return
    *runs, fuser = spans
    assert [span.name for span in runs] == [f"run {n}" for n in range(widths[0])]
    assert [span.weight for span in runs] == [1.0 + n for n in range(widths[0])]
    assert fuser.kind == "fuser"
    for run in runs:
        assert run.kind == "run"
        _check_shape(run.children, widths[1:], scorers)


def test_spans_tell_times_and_rankings() -> None:
    stages = pipeline([All(), Lifting()], [Splitting()], [Reversing()])
    ranking, span, *_ = stages.run(Query("x"), CORPUS)
    assert [row.path for row in span.rows] == paths(ranking) == ["b.md", "a.md"]
    for each in walk(span):
        for child in each.children:
            assert child.started_ms >= each.started_ms
            assert child.started_ms + child.ms <= each.started_ms + each.ms + 0.01
    turned = span.children[-1]
    assert turned.left_out == (LeftOut("c.md", 1, "turned away"),)
    assert turned.diagnostics == {"turned": True}
    rows = {each.name: [row.path for row in each.rows] for each in walk(span)}
    assert rows["splitting-0"] == rows["run 0"] == ["c.md", "a.md", "b.md"]
    assert rows["all-0"] == [], "what a scorer gave is in the signals of the run's rows"


def test_a_row_is_its_hit_without_the_text() -> None:
    ranking, span, *_ = pipeline([All(), Lifting()]).run(Query("x"), CORPUS)
    hit, row = ranking.hits[0], span.rows[0]
    assert (row.path, row.start_line) == hit.passage.key
    assert (row.score, row.coverage, row.matched) == (hit.score, hit.coverage, hit.matched)
    assert set(row.labels) == hit.labels
    assert row.digest == hit.passage.digest


class Raising(Stage):
    """Makes each hit again, with a score that is higher by something, and perhaps other texts."""

    by: float = 0.0
    matched: tuple[str, ...] = ()

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        raised = (
            Hit(*hit)._replace(score=hit.score + self.by, matched=self.matched)
            for hit in ranking.hits
        )
        return ranking._replace(hits=tuple(raised))


def test_equal_hits_have_one_row_and_one_that_differs_has_its_own() -> None:
    refiners = [Raising(), Raising(by=1.0), Raising(matched=("x",))]
    stages = pipeline([All()], [Splitting()], refiners)
    _, span, *_ = stages.run(Query("x"), CORPUS)
    first, second = (each.rows for each in span.children if each.kind == "run")
    repeated, raised, matched = (each.rows for each in span.children[-3:])
    assert [*map(id, first)] == [*map(id, second)] == [*map(id, repeated)]
    assert [row.score for row in raised] == [row.score + 1.0 for row in first]
    assert [(row.score, row.matched) for row in matched] == [(row.score, ("x",)) for row in raised]


# --- failures -------------------------------------------------------------------------------


def _fail(*_: object) -> Any:
    raise ZeroDivisionError("the stage divides by zero")


def _half(*_: object) -> Iterator[Hit]:
    yield Hit(CORPUS.passages[0], 1.0)
    _fail()


def _twice(*_: object) -> Sequence[Hit]:
    return [Hit(CORPUS.passages[0], 1.0)] * 2


@pytest.mark.parametrize("failing", [_fail, _half, _twice, lambda: None, lambda: [None]])
def test_a_failing_scorer_is_skipped_and_named(
    failing: Callable[[], Any], caplog: pytest.LogCaptureFixture
) -> None:
    WHAT["score"] = failing
    with caplog.at_level(logging.CRITICAL):
        ranking, span, *_ = pipeline([All(), Calling(), Lifting()]).run(Query("x"), CORPUS)
    assert paths(ranking) == ["c.md", "a.md", "b.md"]
    assert [text.partition(": ")[0] for text in failures(span)] == [
        "stage 'calling-1' failed and was skipped",
        "stage 'lifting-2'",
    ]
    assert all("calling-1" not in hit.signals for hit in ranking.hits)


class Changing(Stage):
    """Changes the query that it is given, in all verbs."""

    generates: ClassVar[bool] = True

    def score(self, query: Query, corpus: Corpus, found: Found) -> Iterable[Hit]:
        object.__setattr__(query, "required", ("zzz",))
        return ()

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        runs = [Run("own", replace(query))]
        self.score(query, corpus, {})
        return runs

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        self.score(query, corpus, {})
        return outcomes[0].ranking

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        self.score(query, corpus, {})
        return ranking


def test_a_stage_that_changes_its_query_changes_nobody_else_s() -> None:
    query = Query("a", required=("b",))
    stages = pipeline([Changing(), All()], [Changing(), Changing()], [Changing()])
    report = stages.run(query, CORPUS).report
    assert query.required == ("b",)
    assert [(term.term, term.sections) for term in report.terms] == [("b", 1)]


def test_what_the_refiners_drop_is_not_returned_as_a_sure_match() -> None:
    WHAT["refine"] = lambda _ranking: Ranking()
    result = pipeline([All()], [], [Calling()]).run(Query("a"), CORPUS)
    assert result.ranking.hits == ()
    assert result.report.left_out == {"not_returned": 3}


@pytest.mark.parametrize("failing", [_fail, lambda _ranking: None])
def test_a_failing_refiner_is_skipped_and_named(failing: Callable[..., Any]) -> None:
    WHAT["refine"] = failing
    stages = pipeline([All()], [], [Reversing(), Calling(), Reversing()])
    ranking, span, *_ = stages.run(Query("x"), CORPUS)
    assert paths(ranking) == ["b.md"], "the others have refined"
    assert [text.partition(": ")[0] for text in failures(span)] == [
        "stage 'calling-1' failed and was skipped"
    ]
    named = [each for each in walk(span) if each.error]
    assert [(each.kind, each.name) for each in named] == [("refiner", "calling-1")]


def test_what_fails_in_every_run_is_told_once() -> None:
    WHAT["score"] = _fail
    _, span, *_ = pipeline([All(), Calling()], [Splitting(runs=3)]).run(Query("x"), CORPUS)
    assert sum(each.error is not None for each in walk(span)) == 3
    assert len(failures(span)) == 1


@pytest.mark.parametrize("kind", ["score", "refine"])
def test_a_strict_pipeline_skips_nothing(kind: str) -> None:
    WHAT[kind] = _fail
    scorers, refiners = ([Calling()], []) if kind == "score" else ([All()], [Calling()])
    with pytest.raises(ZeroDivisionError):
        pipeline(scorers, [], refiners, strict=True).run(Query("x"), CORPUS)


def _endless(*_: object) -> Ranking:
    return Ranking((Hit(CORPUS.passages[0], float("inf")),))


@pytest.mark.parametrize(
    ("verb", "failing"),
    [
        ("plan", _fail),
        ("plan", lambda _query: None),
        ("plan", lambda _query: []),
        ("plan", lambda _query: ["only"]),
        ("fuse", _fail),
        ("fuse", lambda _outcomes: None),
        ("fuse", lambda _outcomes: [None]),
        ("fuse", _endless),
    ],
)
def test_the_runs_of_a_failing_fuser_are_merged_by_rank(
    verb: str, failing: Callable[..., Any]
) -> None:
    WHAT["plan"] = lambda query: [Run("only", query), Run("again", query)]
    WHAT["fuse"] = lambda outcomes: outcomes[0].ranking
    stages = pipeline([All()], [Calling(), Splitting()])
    assert paths(stages.run(Query("x"), CORPUS)[0]) == ["a.md", "b.md", "c.md"]
    WHAT[verb] = failing
    ranking, span, *_ = stages.run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    assert [text.partition(": ")[0] for text in failures(span)] == [
        "stage 'calling-0' failed and was skipped"
    ]
    named = [each for each in walk(span) if each.error]
    assert [(each.kind, each.name) for each in named] == [("fuser", "calling-0")]
    with pytest.raises((ZeroDivisionError, PluginError)):
        replace(stages, strict=True).run(Query("x"), CORPUS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "\ud800"},
        {"alternatives": ("\ud800",)},
        {"within": frozenset({1, 2})},
        {"exclude": frozenset({"a.md"})},
        {"exclude": frozenset({(1, "a.md")})},
        {"synonyms": None},
        {"synonyms": (("word", "other"),)},
        {"synonyms": (Synonyms("word", "other"),)},  # type: ignore[arg-type]
        {"stage_arguments": None},
        {"case_sensitive": None},
    ],
)
def test_a_run_whose_query_no_stage_can_use_is_a_fault_of_the_fuser(wrong: dict[str, Any]) -> None:
    WHAT["plan"] = lambda query: [Run("only", replace(query, **wrong))]
    WHAT["fuse"] = lambda outcomes: outcomes[0].ranking
    stages = pipeline([All()], [Calling()])
    ranking, span, *_ = stages.run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    assert [text.partition(": ")[0] for text in failures(span)] == [
        "stage 'calling-0' failed and was skipped"
    ]
    with pytest.raises(PluginError, match="stage 'calling-0' failed: "):
        replace(stages, strict=True).run(Query("x"), CORPUS)


@pytest.mark.parametrize("error", [Cancelled("gone"), KeyboardInterrupt()])
@pytest.mark.parametrize("kind", ["score", "refine"])
def test_who_has_gone_is_not_searched_for(kind: str, error: BaseException) -> None:
    query = Query("x")

    def leave(*_: object) -> Any:
        query.budget.cancelled.set()
        raise error

    WHAT[kind] = leave
    scorers, refiners = ([Calling()], []) if kind == "score" else ([All()], [Calling()])
    with pytest.raises(type(error)):
        pipeline(scorers, [], refiners).run(query, CORPUS)


@pytest.mark.parametrize("error", [Cancelled("gone"), KeyboardInterrupt()])
def test_a_stage_ends_no_search_that_nobody_has_left(error: BaseException) -> None:
    def leave(*_: object) -> Any:
        raise error

    WHAT["refine"] = leave
    stages = pipeline([All()], [], [Calling()])
    # With a time limit the stages run on a thread of their own, which no interrupt reaches.
    ranking, span, *_ = stages.run(Query("x", budget=Budget.of(60_000)), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    assert failures(span) == ["stage 'calling-0' failed and was skipped"]


HIT = Hit(CORPUS.passages[0], 1.0)


@pytest.mark.parametrize(
    "result",
    [
        [HIT._replace(passage=None)],
        [HIT._replace(score=Decimal(1))],
        [HIT._replace(labels=["label"])],
        [HIT._replace(labels=frozenset({1}))],
        [HIT._replace(coverage=None)],
        [HIT._replace(coverage=math.nan)],
        [HIT._replace(matched=(1,))],
        [HIT._replace(signals=None)],
        [HIT._replace(signals={"a": "high"})],
        [HIT._replace(places=(1,))],
        Ranking(None),  # type: ignore[arg-type]
        Ranking((HIT,), None),  # type: ignore[arg-type]
        Ranking((HIT,), (LeftOut("a.md", "1", "x"),)),  # type: ignore[arg-type]
        Ranking((HIT,), (), None),  # type: ignore[arg-type]
        Ranking((HIT,), (), {}, 3),  # type: ignore[arg-type]
        Ranking((HIT,), (), {}, None, TermUse((1,))),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("kind", ["score", "fuse", "refine"])
def test_what_a_result_contains_is_checked(kind: str, result: Any) -> None:
    WHAT["plan"] = lambda query: [Run("one", query)]
    WHAT[kind] = lambda *_: result
    calling = [Calling()]
    stages = {
        "score": pipeline([*calling, All()]),
        "fuse": pipeline([All()], calling),
        "refine": pipeline([All()], [], calling),
    }[kind]
    ranking, span, *_ = stages.run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    (failure,) = failures(span)
    assert failure.startswith("stage 'calling-0' failed and was skipped: ")


@pytest.mark.parametrize(
    "change",
    [
        {"name": None},
        {"query": "x"},
        {"weight": None},
        {"query": Query("x", required=(1,))},  # type: ignore[arg-type]
        {"query": Query("x", budget=None)},  # type: ignore[arg-type]
        {"query": Query("x", limit="5")},  # type: ignore[arg-type]
        {"query": Query("x", within=5)},  # type: ignore[arg-type]
        {"query": Query("x", state=None)},  # type: ignore[arg-type]
    ],
)
def test_what_a_plan_contains_is_checked(change: dict[str, Any]) -> None:
    WHAT["plan"] = lambda query: [replace(Run("one", query), **change)]
    WHAT["fuse"] = lambda outcomes: outcomes[0].ranking
    ranking, span, *_ = pipeline([All()], [Calling()]).run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    (failure,) = failures(span)
    assert failure.startswith("stage 'calling-0' failed and was skipped: ")


def test_a_run_cannot_leave_the_scope_of_its_search() -> None:
    query = Query("x", within=frozenset({"b.md"}), exclude=frozenset({("c.md", 1)}))
    WHAT["plan"] = lambda query: [Run("all", replace(query, within=None, exclude=frozenset()))]
    WHAT["fuse"] = lambda outcomes: outcomes[0].ranking
    WHAT["refine"] = lambda ranking: Ranking(tuple(Hit(p, 1.0) for p in CORPUS.passages))
    assert paths(pipeline([All()], [Calling()]).run(query, CORPUS)[0]) == ["b.md"]
    assert paths(pipeline([All()], [], [Calling()]).run(query, CORPUS)[0]) == ["b.md"]


class Asking(Splitting):
    """A fuser that cannot tell whether it applies."""

    def applies(self, query: Query) -> bool:
        raise ZeroDivisionError(query.text)


def test_a_fuser_that_cannot_tell_whether_it_applies_is_left_out() -> None:
    ranking, span, *_ = pipeline([All()], [Asking(), Splitting()]).run(Query("x"), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    assert failures(span) == ["stage 'asking-0' failed and was skipped"]
    assert [each.name for each in span.children if not each.error][-1] == "splitting-1"


# --- time -----------------------------------------------------------------------------------


def test_a_spent_budget_leaves_the_first_run_and_the_first_scorer() -> None:
    stages = pipeline([All(), Lifting()], [Splitting(runs=3)], [Rounding()])
    ranking, span, *_ = stages.run(Query("x", budget=Budget.of(0)), CORPUS)
    assert paths(ranking) == ["a.md", "b.md", "c.md"]
    assert span.out_of_time is True
    run, _fuser, refiner = span.children
    assert [each.name for each in run.children] == ["all-0"]
    assert refiner.kind == "refiner", "what there is, is refined"


def test_a_budget_that_suffices_is_not_spoken_of() -> None:
    query = Query("x", budget=Budget.of(60_000))
    _, span, *_ = pipeline([All()], [Splitting()]).run(query, CORPUS)
    assert not span.out_of_time


def test_a_cancelled_search_ends_before_the_next_stage() -> None:
    query, scored = Query("x"), []

    def leave() -> list[Hit]:
        scored.append(1)
        query.budget.cancelled.set()
        return [Hit(CORPUS.passages[0], 1.0)]

    WHAT["score"] = leave
    with pytest.raises(Cancelled):
        pipeline([Calling(), Calling()], [Splitting(runs=3)]).run(query, CORPUS)
    assert scored == [1]


def test_a_search_that_is_cancelled_already_does_nothing() -> None:
    budget = Budget()
    budget.cancelled.set()
    with pytest.raises(Cancelled):
        pipeline().run(Query("x", budget=budget), CORPUS)


# --- the manual pipeline as a whole ---------------------------------------------------------


def _furnished(kind_name: str, key: str) -> list[NamedStage[Any]]:
    spec = PipelineSpec.model_validate(dict(ManualSurface.pipeline))
    uses: Sequence[Use] = getattr(spec, key)
    registry = load_plugins(strangers=False).registry
    return [NamedStage(use.name, registry[kind_name].take(use.use, key).stage()) for use in uses]


MANUAL = Pipeline(
    _furnished("scorers", "scorers"),
    _furnished("fusers", "fusers"),
    _furnished("refiners", "refiners"),
    strict=True,
)
MANY = [
    passage(
        f"章{n % 7}.md", 1 + n, f"第{n}条 休暇", f"有給休暇の{n}日目は給付{n % 3}を支払う。" * 3
    )
    for n in range(40)
]
LIBRARY = MemoryCorpus([*PASSAGES, *MANY], Bigram())

questions = st.sampled_from(
    [query.text for query in QUERIES]
    + ["有給休暇の給付", "給付1と給付2の違い", "休暇はいくつ", "第12条の休暇"]
)


@settings(max_examples=examples(25))
@given(questions, st.sampled_from([(), ("休暇",), ("給付1", "password"), ("absent",)]))
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(
    text: str, required: tuple[str, ...]
) -> None:
    query = Query(text, required)
    whole = MANUAL.run(query, LIBRARY)[0].hits
    for limit in (1, 2, 3, 5, 10, 49, 50):
        part = MANUAL.run(replace(query, limit=limit, state=SearchState()), LIBRARY)[0].hits
        assert part == whole[:limit]


@given(questions, st.sampled_from([(), ("休暇",), ("給付1", "日目"), ("absent",)]), st.data())
def test_a_search_returns_what_it_may_once_and_best_first(
    text: str, required: tuple[str, ...], data: st.DataObject
) -> None:
    exclude = data.draw(st.frozensets(st.sampled_from([one.key for one in MANY]), max_size=10))
    ranking, span, *_ = MANUAL.run(Query(text, required, exclude=exclude), LIBRARY)
    keys = [hit.passage.key for hit in ranking.hits]
    assert len(set(keys)) == len(keys)
    assert exclude.isdisjoint(keys)
    assert [hit.score for hit in ranking.hits] == sorted(h.score for h in ranking.hits)[::-1]
    assert [(row.path, row.start_line) for row in span.rows] == keys
    assert failures(span) == []


@given(questions)
def test_the_same_question_has_the_same_answer(text: str) -> None:
    first, second = (MANUAL.run(Query(text), LIBRARY)[0] for _ in range(2))
    assert first == second


@given(questions, st.randoms(use_true_random=False))
def test_the_order_of_passages_does_not_matter(text: str, random: Any) -> None:
    other = [*LIBRARY.passages]
    random.shuffle(other)
    assert (
        MANUAL.run(Query(text), MemoryCorpus(other, Bigram()))[0]
        == (MANUAL.run(Query(text), LIBRARY)[0])
    )
