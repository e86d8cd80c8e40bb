"""A stage that hangs, lies or fails costs its own part of the answer, and is named."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest
from manuals import write

from fumishirube import (
    Budget,
    Clause,
    Corpus,
    Count,
    Hit,
    Outcome,
    Passage,
    Query,
    Ranking,
    Run,
    Stage,
)
from fumishirube.engine import stage_calls
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.errors import Cancelled, PluginError
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.query import SearchState
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.traces.records import failures
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.tokenizers.bigram import Bigram

CORPUS = MemoryCorpus([passage(f"{n}.md", 1, body="旅費の日当") for n in range(3)], Bigram())
SKIPPED = "stage 'slow' of plugin 'strangers' failed and was skipped"
RELEASED = threading.Event()
CALLS: list[str] = []


@pytest.fixture(autouse=True)
def _released() -> Iterator[None]:
    RELEASED.clear()
    CALLS.clear()
    yield
    RELEASED.set()


class Sleeping(Stage):
    """Sleeps until the test is over, in the verb that is named."""

    verb: str

    def _sleep(self, verb: str) -> None:
        CALLS.append(verb)
        if verb == self.verb:
            RELEASED.wait(30)

    def score(self, query: Query, corpus: Corpus, candidates: object) -> Iterable[Hit]:
        self._sleep("score")
        return ()

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        self._sleep("plan")
        return [Run("only", query)]

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        self._sleep("fuse")
        return outcomes[0].ranking

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        self._sleep("refine")
        return ranking


class Scoring(Stage):
    """Gives every passage a score of the test's choice."""

    generates: ClassVar[bool] = True
    value: float

    model_config: ClassVar[Any] = {"frozen": True, "allow_inf_nan": True}

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        return [Hit(item, self.value) for item in candidates.values()]

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=tuple(hit.scored(self.value) for hit in ranking.hits))


def pipeline(verb: str, stage: Any, *, strict: bool = False) -> Pipeline:
    lexical, named = NamedStage("lexical", Lexical()), NamedStage("slow", stage, "strangers")
    return Pipeline(
        [lexical, named] if verb == "score" else [lexical],
        [named] if verb in ("plan", "fuse") else [],
        [named] if verb == "refine" else [],
        strict,
    )


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


@pytest.mark.slow
@pytest.mark.many_cases
@pytest.mark.parametrize("verb", ["score", "plan", "fuse", "refine"])
def test_a_stage_that_sleeps_is_abandoned_and_named_with_its_seconds(
    verb: str, caplog: pytest.LogCaptureFixture
) -> None:
    query = Query("旅費", budget=Budget.of(300))
    with within(5), caplog.at_level(logging.ERROR):
        ranking, span, *_ = pipeline(verb, Sleeping(verb=verb)).run(query, CORPUS)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md", "2.md"]
    (message,) = failures(span)
    assert message.startswith("stage 'slow' of plugin 'strangers' was abandoned after ")
    seconds = float(message.removesuffix(" s").rpartition(" ")[2])
    assert 0.3 <= seconds < 5
    assert message in caplog.text
    assert CALLS.count(verb) == 1, "it is not called again"


def test_what_matches_is_returned_though_the_stage_that_finds_it_is_abandoned() -> None:
    stages = Pipeline([NamedStage("slow", Sleeping(verb="score"))], [], [])
    query = Query("旅費", required=("旅費",), budget=Budget.of(1))
    ranking, _, report, _ = stages.run(query, CORPUS)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md", "2.md"]
    assert (report.out_of_time, report.strict) == (True, 3)


class Uncounted(MemoryCorpus):
    """Does not count the sections with a text until the test is over."""

    text = ""

    def count(self, clause: Clause, cap: int | None = None, *, searched: bool = False) -> Count:
        if f"Holds(text={self.text!r})" in repr(clause):
            CALLS.append("count")
            RELEASED.wait(30)
        return super().count(clause, cap, searched=searched)


class Claiming(Stage):
    """Claims that every hit has the whole query."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=tuple(hit._replace(matched=("x",)) for hit in ranking.hits))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "terms"), [("旅費", [("日当", 3), ("宿泊", 0)]), ("宿泊", [("日当", 3)])]
)
def test_a_count_that_does_not_end_costs_the_count_and_no_hit(
    text: str, terms: list[tuple[str, int]], caplog: pytest.LogCaptureFixture
) -> None:
    corpus = Uncounted([passage(f"{n}.md", 1, body="旅費の日当") for n in range(3)], Bigram())
    corpus.text = text
    refiners = [NamedStage("claiming", Claiming())]
    stages = Pipeline([NamedStage("lexical", Lexical())], [], refiners)
    query = Query("旅費", required=("日当", "宿泊"), limit=2, budget=Budget.of(300))
    with caplog.at_level(logging.ERROR):
        ranking, span, report, _ = stages.run(query, corpus)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md"]
    assert [hit.matched for hit in ranking.hits] == [("旅費",)] * 2, "not as a stage claims"
    assert CALLS == ["count"]
    (message,) = failures(span)
    assert message.startswith("the count of further matches was abandoned after ")
    assert all(0 <= each.started_ms <= span.ms for each, _ in span.walk())
    assert message in caplog.text
    assert (report.returned, report.matched, report.at_least) == (2, 3, True)
    assert [(term.term, term.sections) for term in report.terms] == terms
    again = replace(query, state=SearchState(), budget=Budget.of(300))
    with pytest.raises(TimeoutError, match="the count of further matches was abandoned"):
        replace(stages, strict=True).run(again, corpus)


@pytest.mark.slow
def test_a_search_that_was_left_behind_goes_no_further() -> None:
    scorers = [NamedStage(n, Sleeping(verb=v)) for n, v in (("slow", "score"), ("next", "none"))]
    stages = Pipeline([NamedStage("lexical", Lexical()), *scorers], [], [])
    stages.run(Query("旅費", budget=Budget.of(200)), CORPUS)
    before = len(CALLS)
    RELEASED.set()
    time.sleep(0.5)
    assert len(CALLS) == before


@pytest.mark.many_cases
@pytest.mark.parametrize("verb", ["score", "plan", "fuse", "refine"])
def test_a_strict_pipeline_abandons_nothing_silently(verb: str) -> None:
    stages = pipeline(verb, Sleeping(verb=verb), strict=True)
    with pytest.raises(TimeoutError, match="stage 'slow' of plugin 'strangers'"):
        stages.run(Query("旅費", budget=Budget.of(200)), CORPUS)


def test_a_stage_that_begins_behind_the_deadline_may_run_past_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage_calls, "GRACE_SECONDS", 10.0)
    threading.Timer(0.3, RELEASED.set).start()
    query = Query("旅費", budget=Budget(deadline=time.monotonic() - 60))
    _, span, *_ = pipeline("refine", Sleeping(verb="refine")).run(query, CORPUS)
    assert failures(span) == []
    assert CALLS[-1] == "refine"


def test_a_caller_who_leaves_does_not_wait_for_a_stage_that_sleeps() -> None:
    query = Query("旅費", budget=Budget.of(60_000))
    threading.Timer(0.2, query.budget.cancelled.set).start()
    with within(5), pytest.raises(Cancelled):
        pipeline("score", Sleeping(verb="score")).run(query, CORPUS)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("verb", ["score", "refine"])
def test_scores_that_are_no_finite_numbers_count_as_a_failure(verb: str, value: float) -> None:
    ranking, span, *_ = pipeline(verb, Scoring(value=value)).run(Query("旅費"), CORPUS)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md", "2.md"]
    assert all(math.isfinite(hit.score) for hit in ranking.hits)
    assert failures(span) == [f"{SKIPPED}: a score is not a finite number"]


class Returning(Stage):
    """Returns what a function makes of the right result."""

    generates: ClassVar[bool] = True
    change: Callable[[Any], Any]

    def score(self, query: Query, corpus: Corpus, candidates: Mapping[Any, Passage]) -> Any:
        return self.change(tuple(Hit(item, 1.0) for item in candidates.values()))

    def plan(self, query: Query, corpus: Corpus) -> Any:
        return self.change((Run("only", query),))

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Any:
        return self.change(outcomes[0].ranking)

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Any:
        return self.change(ranking)


class Fusing(Returning):
    """Plans as it should."""

    def plan(self, query: Query, corpus: Corpus) -> Any:
        return (Run("only", query),)


def twice(ranking: Any) -> Any:
    return ranking._replace(hits=(*ranking.hits, *ranking.hits))


def many(ranking: Any) -> Any:
    return ranking._replace(hits=ranking.hits * 400_000)


def scored(score: Any) -> Callable[[Any], Any]:
    return lambda ranking: ranking._replace(hits=[hit.scored(score) for hit in ranking.hits])


def numbers(ranking: Any) -> Any:
    return ranking._replace(hits=(1, 2))


@pytest.mark.parametrize(
    ("verb", "change", "reason"),
    [
        ("score", lambda _: None, "it returned NoneType"),
        ("score", lambda hits: [*hits, "hit"], "it returned something else than a Hit"),
        ("plan", lambda _: None, "it returned NoneType"),
        ("plan", lambda _: [], "a plan has one run or more"),
        ("plan", lambda _: ["run"], "it returned something else than a Run"),
        ("fuse", lambda _: None, "it returned NoneType"),
        ("fuse", numbers, "a ranking contains hits, and nothing else"),
        ("fuse", twice, "a section is in the ranking twice"),
        ("refine", lambda _: 1, "it returned int"),
        ("refine", twice, "a section is in the ranking twice"),
        ("refine", scored(Decimal(1)), "a score is a decimal.Decimal, and no int or float"),
        ("refine", scored("1"), "a score is a str, and no int or float"),
        ("refine", scored(10**400), "a score is not a finite number"),
        ("score", lambda hits: hits * 400_000, "it returned more than 1000000 items"),
        ("refine", many, "it returned more than 1000000 items"),
    ],
)
def test_a_wrong_result_counts_as_a_failure_and_is_named(
    verb: str, change: Callable[[Any], Any], reason: str
) -> None:
    stage = (Fusing if verb == "fuse" else Returning)(change=change)
    ranking, span, *_ = pipeline(verb, stage).run(Query("旅費"), CORPUS)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md", "2.md"]
    assert failures(span) == [f"{SKIPPED}: {reason}"]


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    workspace = write(tmp_path, {"m/a.md": "# 旅費\n旅費の日当。\n"})
    opened = open_application(workspace, strangers=False, environ={})
    yield opened
    opened.close()


def test_a_find_with_a_stage_that_sleeps_is_degraded_and_not_kept(
    application: Application,
) -> None:
    context = application.contexts["manual"]
    context.find("m", Query("旅費", budget=Budget.of(60_000)))
    slow = NamedStage("slow", Sleeping(verb="refine"), "strangers")
    context._pipeline.__dict__["refiners"] = [slow]
    for _ in range(2):
        trace = context.find("m", Query("日当", cache=True, budget=Budget.of(300))).trace
        assert trace.cache.mode == "miss"
        assert [row.path for row in trace.search.rows] == ["a.md"]
        assert trace.degraded is not None
        assert "stage 'slow' of plugin 'strangers' was abandoned after" in trace.degraded
        assert trace.report.out_of_time


class Inventing(Stage):
    """Ranks a section of another file first."""

    generates: ClassVar[bool] = True

    def _hit(self) -> Hit:
        return Hit(passage("../../etc/passwd", 1, body="旅費"), 99.0)

    def score(self, query: Query, corpus: Corpus, candidates: object) -> Iterable[Hit]:
        return [self._hit()]

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        return ranking._replace(hits=(self._hit(), *ranking.hits))


@pytest.mark.parametrize("verb", ["score", "refine"])
def test_sections_that_the_manual_lacks_are_dropped_and_counted(verb: str) -> None:
    ranking, span, report, failed = pipeline(verb, Inventing()).run(Query("旅費"), CORPUS)
    assert [hit.passage.path for hit in ranking.hits] == ["0.md", "1.md", "2.md"]
    told = "sections that the manual lacks were dropped: 1"
    assert failures(span) == [f"stage 'slow' of plugin 'strangers': {told}"]
    assert [failure.problem for failure in failed] == [told]
    assert report.returned == 3
    with pytest.raises(PluginError, match=f"failed: {told}"):
        pipeline(verb, Inventing(), strict=True).run(Query("旅費"), CORPUS)
