"""The same question of the same manual is answered once, and any change of either asks anew."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stdio import Fumishirube
from torture import examples

from fumishirube import Budget, ConfigError, Query, SearchAssessment, Stage, Trace, Vectors
from fumishirube.engine.cache import CachedSearch, CacheGuards, CacheKey, SearchCache
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.plugins.registry import RegisteredStage
from fumishirube.traces.records import CacheOutcome, Span, Thresholds
from fumishirube.traces.store import StoredTrace
from fumishirube_manual.adaptive import FindStatistics
from fumishirube_stages.embedders.hashing import Hashing
from fumishirube_stages.embedders.none import NullEmbedder

Opened = Callable[..., Application]

RULES = "# 総則\n対象です。\n## 例外\nこの場合は対象外です。\n### 参照\n別表を参照。\n"
OTHER = "# 旅費\n日当は千円です。\n# 休暇\n年休は十日です。対象外の日もあります。\n"
QUESTION = "対象外になる場合"
SIMILAR = {"SEM_CACHE_EMBEDDING_PROVIDER": "hashing", "SEM_CACHE_SIM_THRESHOLD": "0.6"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for path, text in {"m1/rules.md": RULES, "m1/other.md": OTHER, "m2/rules.md": RULES}.items():
        file = tmp_path / "manuals" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def opened(workspace: Path) -> Iterator[Opened]:
    with ExitStack() as stack:

        def opening(yaml: str = "", **environ: str) -> Application:
            (workspace / "fumishirube.yaml").write_text(yaml, encoding="utf-8")
            application = open_application(workspace, strangers=False, environ=environ)
            stack.callback(application.close)
            return application

        yield opening


def trace_of(
    application: Application,
    text: str = QUESTION,
    required: tuple[str, ...] = ("対象外",),
    manual: str = "m1",
    **more: Any,
) -> Trace:
    return application.contexts["manual"].find(manual, Query(text, required, **more)).trace


def modes(application: Application, *questions: dict[str, Any]) -> list[str]:
    return [trace_of(application, **question).cache.mode for question in questions]


def answer(trace: Trace) -> Trace:
    """What a trace answers, without its identity, what it took, and where it comes from."""
    return replace(trace, id="", created=0.0, search=_timeless(trace.search), cache=CacheOutcome())


def _timeless(span: Span) -> Span:
    children = tuple(map(_timeless, span.children))
    return replace(span, started_ms=0.0, ms=0.0, children=children)


def same(one: Trace, other: Trace) -> bool:
    return answer(one) == answer(other)


# --- exact hits -----------------------------------------------------------------------------


def test_the_same_question_is_answered_from_the_cache(opened: Opened) -> None:
    application = opened()
    first, second = trace_of(application), trace_of(application)
    assert first.cache == ("miss", None, None)
    assert second.cache.mode == "exact"
    assert second.cache.hit
    assert second.cache.score is None
    assert second.cache.saved_ms is not None
    assert second.cache.saved_ms >= 0
    assert first.id != second.id
    assert second.created >= first.created
    assert same(first, second)


def test_both_traces_can_be_asked_for(opened: Opened) -> None:
    application = opened()
    for trace in (trace_of(application), trace_of(application)):
        assert application.contexts["manual"].trace(trace.id) == trace


def test_a_cached_finding_has_its_ranking_with_the_texts(opened: Opened) -> None:
    context = opened().contexts["manual"]
    first, second = (context.find("m1", Query(QUESTION, ("対象外",))) for _ in range(2))
    assert second.trace.cache.hit
    assert first.ranking.hits
    assert second.ranking.hits == first.ranking.hits
    assert second.ranking.left_out == first.ranking.left_out


def test_spelling_does_not_matter(opened: Opened) -> None:
    application = opened()
    for first, *others in (
        ("対象外 API", "　対象外\n ａｐｉ ", "対象外  Ａpi"),
        ("対象外になる場合", "対象外に なる　場合", "対象外になる\n場合 "),
    ):
        questions = [{"text": text} for text in (first, *others)]
        assert modes(application, *questions) == ["miss", "exact", "exact"]


def test_what_a_stage_can_tell_apart_is_another_question(opened: Opened) -> None:
    application = opened()
    for one, other in (("対象外 場合", "対象外場合"), ("日当 休暇", "日当・休暇")):
        assert modes(application, {"text": one}, {"text": other}) == ["miss", "miss"]
        reworded = [{"text": "別表", "alternatives": (text,)} for text in (one, other)]
        assert modes(application, *reworded) == ["miss", "miss"]


def test_a_pattern_is_the_same_question_only_as_written(opened: Opened) -> None:
    application = opened("pipelines: {manual: {scorers: [regex], fusers: []}}")
    patterns = [r"\w\d", r"\W\d", r"\w\d"]
    questions: list[dict[str, Any]] = [{"text": text, "required": ()} for text in patterns]
    assert modes(application, *questions) == ["miss", "miss", "exact"]


def test_the_order_of_the_terms_does_not_matter(opened: Opened) -> None:
    both = {"required": ("対象外", "場合")}, {"required": ("場合", "対象外")}
    assert modes(opened(), *both) == ["miss", "exact"]


def test_a_kept_report_has_the_terms_in_the_order_asked(opened: Opened) -> None:
    terms = ("対象外", "参照", "ない語")
    application = opened()
    trace_of(application, required=terms)
    again = trace_of(application, required=terms[::-1])
    assert again.cache.mode == "exact"
    assert tuple(counted.term for counted in again.report.terms) == terms[::-1]
    assert again.report.missing == again.report.effective[:1] == ("ない語",)


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "対象外になる日"},
        {"manual": "m2"},
        {"required": ("場合",)},
        {"required": ("対象外", "場合")},
        {"required": ()},
        {"limit": 1},
        {"budget": Budget.of(59_999)},
    ],
)
def test_another_question_is_another_answer(opened: Opened, changed: dict[str, Any]) -> None:
    asking = {"limit": 200, "budget": Budget.of(60_000)}
    assert modes(opened(**SIMILAR), asking, asking | changed)[1] == (
        "semantic" if "text" in changed else "miss"
    )


def test_a_query_may_refuse_the_cache(opened: Opened) -> None:
    application = opened()
    assert modes(application, {}, {"cache": False}, {}) == ["miss", "bypass", "exact"]


def test_what_is_left_out_is_never_cached(opened: Opened) -> None:
    application = opened()
    seen = trace_of(application).seen
    assert modes(application, {"exclude": seen}, {"exclude": seen}) == ["bypass", "bypass"]


def test_the_configuration_may_turn_the_cache_off_and_a_query_on(opened: Opened) -> None:
    application = opened(SEM_CACHE_ENABLED="false")
    asking = [{}, {"cache": True}, {"cache": True}, {}]
    assert modes(application, *asking) == ["bypass", "miss", "exact", "bypass"]


def test_thresholds_are_part_of_the_question(opened: Opened) -> None:
    application = opened()
    trace_of(application)
    statistics = application.memory.statistics.of(application.surfaces[0].surface)
    assert isinstance(statistics, FindStatistics)
    statistics._base = (4, 0.77)
    statistics._tuning = False
    trace = trace_of(application)
    assert trace.cache.mode == "miss"
    assert trace.thresholds == (4, 0.77)


def test_two_pipelines_over_one_manual_do_not_share_answers(opened: Opened) -> None:
    application = opened(
        "surfaces: [{use: manual}, {use: manual, as: plain}]\n"
        "pipelines: {plain: {fusers: [], refiners: []}}\n"
    )
    query = Query(QUESTION, ("対象外",))
    found = [application.contexts[name].find("m1", query).trace for name in ("manual", "plain")]
    assert [trace.cache.mode for trace in found] == ["miss", "miss"]


# --- any edit misses ------------------------------------------------------------------------


def test_an_answer_is_asked_for_anew_after_any_edit(opened: Opened, workspace: Path) -> None:
    application = opened()
    folder = workspace / "manuals" / "m1"
    trace_of(application)
    (folder / "rules.md").write_text(RULES.replace("対象外", "適用外"), "utf-8")
    changed = trace_of(application)
    assert changed.cache.mode == "miss"
    (folder / "rules.md").rename(folder / "renamed.md")
    assert {row.path for row in trace_of(application).search.rows} <= {"renamed.md", "other.md"}
    (folder / "new.md").write_text("# 新\n対象外。\n", "utf-8")
    assert "new.md" in {row.path for row in trace_of(application).search.rows}
    (folder / "new.md").unlink()
    assert "new.md" not in {row.path for row in trace_of(application).search.rows}


def test_an_edit_of_the_same_size_in_the_same_moment_is_seen(
    opened: Opened, workspace: Path
) -> None:
    application = opened()
    file = workspace / "manuals" / "m1" / "rules.md"
    trace_of(application)
    before = file.stat()
    file.write_text(RULES.replace("この場合", "その場合"), "utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert trace_of(application).cache.mode == "miss"


def test_another_manual_s_edit_changes_nothing(opened: Opened, workspace: Path) -> None:
    application = opened()
    trace_of(application)
    (workspace / "manuals" / "m2" / "rules.md").write_text("# 別\n対象外。\n", "utf-8")
    assert trace_of(application).cache.mode == "exact"


STEPS = st.lists(
    st.sampled_from(["edit", "add", "remove", "touch", "other", "ask", "reword"]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_a_cached_answer_is_the_answer(tmp_path_factory: Any, steps: list[str]) -> None:
    """Whatever was done to the manual, with and without the cache the same comes back."""
    root = tmp_path_factory.mktemp("law")
    folder = root / "manuals" / "m"
    folder.mkdir(parents=True)
    (folder / "rules.md").write_text(RULES, "utf-8")
    application = open_application(root, strangers=False, environ={})
    try:
        for number, step in enumerate(steps):
            _do(step, folder, number)
            for text in (QUESTION, "年休は何日ですか"):
                cached = trace_of(application, text, manual="m")
                plain = trace_of(application, text, manual="m", cache=False)
                assert same(cached, plain)
                assert cached.cache.mode in ("miss", "exact")
                assert not (cached.cache.hit and step in ("edit", "add", "touch"))
    finally:
        application.close()


def _do(step: str, folder: Path, number: int) -> None:
    rules, more = folder / "rules.md", folder / f"more-{number}.md"
    match step:
        case "edit":
            rules.write_text(f"{RULES}# 追加{number}\n年休と対象外。\n", "utf-8")
        case "add":
            more.write_text(OTHER, "utf-8")
        case "remove":
            for file in sorted(folder.glob("more-*.md"))[:1]:
                file.unlink()
        case "touch":
            now = time.time_ns() - 10**10 * (number + 1)
            os.utime(rules, ns=(now, now))
        case "other":
            (folder / "picture.png").write_bytes(bytes([number]))
        case _:
            pass


# --- what is not kept -----------------------------------------------------------------------


def test_an_answer_that_ran_out_of_time_is_not_kept(opened: Opened) -> None:
    application = opened()
    trace_of(application, "warm", ("up",))
    late = {"budget": Budget(deadline=0.0)}
    assert trace_of(application, **late).report.out_of_time
    assert modes(application, late, late) == ["miss", "miss"]


class Failing(Stage):
    """Fails."""

    def refine(self, ranking: object, query: Query, corpus: object) -> None:
        """Fail."""
        raise RuntimeError("no")


def test_a_degraded_answer_is_not_kept(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    application = opened()
    pipeline = application.contexts["manual"]._pipeline
    broken = pipeline.refiners[0]._replace(stage=Failing())
    monkeypatch.setitem(pipeline.__dict__, "refiners", [broken])
    assert trace_of(application).degraded
    assert modes(application, {}) == ["miss"]


# --- how many, how long ---------------------------------------------------------------------


def cache(embedder: Any = None, **settings: Any) -> SearchCache:
    defaults = {"keep": 3, "seconds": 60, "similarity": 0.9, "guards": CacheGuards()}
    return SearchCache(embedder or NullEmbedder(), **{**defaults, **settings})


def question(text: str, manual: str = "m") -> CacheKey:
    return CacheKey.of(Query(text, limit=1, budget=Budget.of(1)), manual, "c", "p", Thresholds())


def cached_search(name: str) -> CachedSearch:
    search = Span(name, "search", 0.0, 0.0)
    return CachedSearch(StoredTrace(Trace(name, "m", 0.0, search, files=1, sections=1)), 1.0)


def test_the_one_not_asked_for_the_longest_goes_first() -> None:
    store = cache()
    for name in "abc":
        store.keep(question(name), cached_search(name))
    assert store.look_up(question("a")).mode == "exact"
    store.keep(question("d"), cached_search("d"))
    assert {n: store.look_up(question(n)).mode for n in "abcd"} == {
        "a": "exact",
        "b": "miss",
        "c": "exact",
        "d": "exact",
    }


def test_an_answer_lives_from_when_it_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    store = cache(Hashing(), seconds=60)
    now = time.monotonic()
    monkeypatch.setattr(SearchCache, "_now", staticmethod(lambda: now))
    store.keep(question("abc"), cached_search("x"))
    now += 59
    assert store.look_up(question("abc")).mode == "exact"
    now += 1
    assert store.look_up(question("abc abc")).mode == "miss"
    assert store.look_up(question("abc")).mode == "miss"


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcdef")), max_size=40))
def test_it_never_keeps_more_than_it_may(does: list[tuple[bool, str]]) -> None:
    store = cache(keep=2)
    for number, (keeps, name) in enumerate(does):
        if keeps:
            store.keep(question(name), cached_search(f"{name}{number}"))
        else:
            found = store.look_up(question(name)).cached_search
            assert found is None or found.stored.id.startswith(name)
    assert len(store._entries) == len(store._questions) <= 2


# --- similar questions ----------------------------------------------------------------------


def test_a_similar_question_is_answered_when_an_embedder_is_named(opened: Opened) -> None:
    application = opened(**SIMILAR)
    first, second = trace_of(application), trace_of(application, "対象外になる場合は")
    assert second.cache.mode == "semantic"
    assert second.cache.score is not None
    assert 0.6 <= second.cache.score < 1
    assert second.search == first.search
    assert second.text == "対象外になる場合は"


def test_without_one_only_the_same_question_is(opened: Opened) -> None:
    assert modes(opened(), {}, {"text": f"{QUESTION}は"}) == ["miss", "miss"]


@pytest.mark.parametrize("least", ["0.95", "1"])
def test_a_question_that_is_not_similar_enough_is_asked(opened: Opened, least: str) -> None:
    application = opened(**SIMILAR | {"SEM_CACHE_SIM_THRESHOLD": least})
    assert modes(application, {}, {"text": f"{QUESTION}は"}) == ["miss", "miss"]


def test_the_most_similar_of_the_same_scope_answers() -> None:
    store = cache(Hashing(), similarity=0.3)
    store.keep(question("alpha beta gamma delta"), cached_search("far"))
    store.keep(question("alpha beta gamma"), cached_search("near"))
    store.keep(question("alpha beta", manual="other"), cached_search("other"))
    surveyed = store.look_up(question("alpha beta"))
    assert surveyed.mode == "semantic"
    assert surveyed.cached_search is not None
    assert surveyed.cached_search.stored.id == "near"
    assert surveyed.score == pytest.approx((2 / 3) ** 0.5, abs=0.01)


def test_an_unknown_embedder_stops_the_start_and_is_named(opened: Opened) -> None:
    with pytest.raises(ConfigError) as caught:
        opened(SEM_CACHE_EMBEDDING_PROVIDER="hashin")
    said = "SEM_CACHE_EMBEDDING_PROVIDER: no embedder is called 'hashin'; did you mean 'hashing'?"
    assert str(caught.value) == said
    with pytest.raises(ConfigError, match=r"^cache\.embedder: no embedder is called 'x'"):
        opened("cache: {embedder: x}")


class Broken(Stage):
    """Fails."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Fail."""
        raise RuntimeError("no model")


def test_a_failing_embedder_costs_the_similar_hits_only() -> None:
    store = cache(Broken(), similarity=0.0)
    store.keep(question("a"), cached_search("a"))
    assert store.look_up(question("a")).mode == "exact"
    assert store.look_up(question("b")).mode == "miss"


def test_a_stranger_s_embedder_serves_as_well(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = opened()
    application.plugins.registry["embedders"].put(RegisteredStage("mine", Hashing, "mine"))
    monkeypatch.setattr("fumishirube.host.startup.load_plugins", lambda **_: application.plugins)
    again = opened("cache: {embedder: mine, similarity: 0.6}")
    assert modes(again, {}, {"text": f"{QUESTION}は"}) == ["miss", "semantic"]


# --- guards ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "exact"),
        ({"SEM_CACHE_MAX_SUMMARY_GAP": "1", "SEM_CACHE_MAX_SUMMARY_CONFLICT": "2"}, "exact"),
        ({"SEM_CACHE_MAX_SUMMARY_GAP": "0"}, "guard_revalidate"),
        ({"SEM_CACHE_MAX_SUMMARY_CONFLICT": "1"}, "guard_revalidate"),
    ],
)
def test_an_answer_with_too_many_gaps_is_asked_for_anew(
    opened: Opened, environ: dict[str, str], expected: str
) -> None:
    application = opened(**environ)
    context = application.contexts["manual"]
    first = trace_of(application)
    context.conclude(first.id, SearchAssessment(status="required_effective", gaps=1, conflicts=2))
    again = trace_of(application)
    assert again.cache.mode == expected
    assert again.cache.hit == (expected == "exact")
    assert same(first, again)
    assert trace_of(application).cache.mode == "exact"


def test_the_guards_hold_for_similar_answers_too() -> None:
    store = cache(Hashing(), similarity=0.3, guards=CacheGuards(gaps=0))
    store.keep(question("alpha beta"), cached_search("a"))
    store.judge("a", SearchAssessment(status="", gaps=1))
    surveyed = store.look_up(question("alpha"))
    assert surveyed.mode == "guard_revalidate"
    assert surveyed.cached_search is None


def test_a_verdict_on_what_is_not_kept_is_dropped() -> None:
    cache().judge("nobody", SearchAssessment(status="x", gaps=9))


# --- through the front door -----------------------------------------------------------------


def test_a_repeated_call_answers_the_same_with_a_trace_of_its_own(workspace: Path) -> None:
    call = {"query": QUESTION, "manual_id": "m1", "required_terms": ["対象外"]}
    with Fumishirube(workspace) as server:
        server.ok("manual_ls")
        first, second = (server.ok("manual_find", **call) for _ in range(2))
        plain = server.ok("manual_find", **call, use_cache=False)
        ids = [one.pop("trace_id") for one in (first, second, plain)]
        for one in (first, second, plain):
            one["inline_hits"].pop("trace_id")
        assert first == second == plain
        assert len(set(ids)) == 3
        pages = [server.ok("manual_hits", trace_id=one, kind="fusion_debug") for one in ids]
        assert pages[0]["items"] == pages[1]["items"] == pages[2]["items"]


def test_a_real_answer_with_gaps_is_asked_for_anew(workspace: Path) -> None:
    call = {"query": "存在しない語", "manual_id": "m1", "required_terms": ["存在しない"]}
    (workspace / "vault").mkdir(exist_ok=True)  # where the statistics are
    with Fumishirube(workspace, SEM_CACHE_MAX_SUMMARY_GAP="0") as server:
        server.ok("manual_ls")
        for _ in range(2):
            server.ok("manual_find", **call)
    file = workspace / "vault" / ".system" / "adaptive_stats.jsonl"
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["sem_cache_mode"] for line in lines] == ["miss", "guard_revalidate"]
    assert [line["sem_cache_hit"] for line in lines] == [False, False]
