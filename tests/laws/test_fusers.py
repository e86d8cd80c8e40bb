"""How rankings are merged, and how a query is split into runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fumishirube import (
    Corpus,
    Hit,
    Holds,
    Outcome,
    Passage,
    Query,
    Ranking,
    Run,
    Span,
    merge_rankings,
)
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.model import FrequencyReport, SearchReport
from fumishirube.testing import MemoryCorpus, passage
from fumishirube.text import fold
from fumishirube_stages.fusers.decompose import Decompose
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.fusers.rrf import Rrf
from fumishirube_stages.refiners.cutoff import Cutoff
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.tokenizers.bigram import Bigram

POOL = tuple(passage(f"{name}.md", 1, body=name) for name in "abcdefgh")
EMPTY = MemoryCorpus()
QUERY = Query("x")
STRONG = {"phrase", "exact"}

# --- rankings to merge ----------------------------------------------------------------------


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    chosen = draw(st.lists(st.sampled_from(POOL), unique_by=lambda one: one.key, max_size=8))
    scores = sorted(draw(st.lists(_positive, min_size=len(chosen), max_size=len(chosen))))[::-1]
    hits = [
        Hit(one, score, draw(_marks), draw(_shares), draw(_matches))
        for one, score in zip(chosen, scores, strict=True)
    ]
    return Ranking(tuple(sorted(hits, key=Hit.sort_key)))


_positive = st.floats(0.01, 100, allow_nan=False)
_shares = st.sampled_from([0.0, 0.3, 0.5, 1.0])
_marks = st.frozensets(st.sampled_from(["phrase", "exact", "anchor"]))
_matches = st.lists(st.sampled_from(["p", "q", "r"]), unique=True, max_size=3).map(tuple)
_weights = st.floats(0.1, 10)


@st.composite
def outcomes(draw: st.DrawFn, least: int = 1, most: int = 4) -> list[Outcome]:
    brought = draw(st.lists(st.tuples(rankings(), _weights), min_size=least, max_size=most))
    return [
        Outcome(Run(f"run {n}", QUERY, weight), ranking)
        for n, (ranking, weight) in enumerate(brought)
    ]


def keys(hits: Sequence[Hit]) -> list[str]:
    return [hit.passage.path for hit in hits]


def scores(merged: Sequence[Hit]) -> dict[str, float]:
    return {hit.passage.path: hit.score for hit in merged}


def fused(stage: Any, brought: Sequence[Outcome], query: Query = QUERY) -> Ranking:
    ranking: Ranking = stage.fuse(query, brought, EMPTY)
    return ranking


# --- rrf ------------------------------------------------------------------------------------


@given(rankings(), _weights)
def test_a_single_ranking_stays_as_it_is(ranking: Ranking, weight: float) -> None:
    assert fused(Rrf(), [Outcome(Run("only", QUERY, weight), ranking)]) is ranking


@given(outcomes(2), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(brought: list[Outcome], random: Any) -> None:
    other = list(brought)
    random.shuffle(other)
    one, two = fused(Rrf(), brought), fused(Rrf(), other)
    assert scores(two.hits) == pytest.approx(scores(one.hits))
    for hit, twin in zip(_by_key(one), _by_key(two), strict=True):
        assert hit.labels == twin.labels
        assert hit.coverage == twin.coverage
        assert set(hit.matched) == set(twin.matched)


def _by_key(ranking: Ranking) -> list[Hit]:
    return sorted(ranking.hits, key=lambda hit: hit.passage.key)


@given(outcomes(2))
def test_every_hit_of_every_run_is_there_once_with_a_positive_score(brought: list[Outcome]) -> None:
    hits = fused(Rrf(), brought).hits
    assert len(set(keys(hits))) == len(hits)
    assert set(keys(hits)) == {path for o in brought for path in keys(o.ranking.hits)}
    assert all(hit.score > 0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@given(outcomes(2), st.data(), st.floats(1.01, 10))
def test_a_heavier_run_lifts_its_hits_over_the_others(
    brought: list[Outcome], data: st.DataObject, factor: float
) -> None:
    place = data.draw(st.integers(0, len(brought) - 1))
    run, ranking = brought[place]
    heavier = [*brought]
    heavier[place] = Outcome(Run(run.name, run.query, run.weight * factor), ranking)
    before, after = scores(fused(Rrf(), brought).hits), scores(fused(Rrf(), heavier).hits)
    mine = set(keys(ranking.hits))
    for path, score in after.items():
        assert score > before[path] if path in mine else score == before[path]
    for other in set(before) - mine:
        for one in mine:
            assert before[one] <= before[other] or after[one] > after[other]


@given(rankings(), rankings(), st.integers(1, 500))
def test_a_better_rank_in_all_runs_is_a_better_rank(one: Ranking, other: Ranking, k: int) -> None:
    brought = [Outcome(Run("one", QUERY), one), Outcome(Run("other", QUERY), other)]
    places = [{path: n for n, path in enumerate(keys(r.hits))} for r in (one, other)]
    merged = keys([m.hit for m in merge_rankings(brought, k)])
    for first in set(places[0]) & set(places[1]):
        for second in set(places[0]) & set(places[1]) - {first}:
            if all(place[first] < place[second] for place in places):
                assert merged.index(first) < merged.index(second)


def test_a_rank_is_worth_its_weight_over_k_and_rank() -> None:
    brought = [
        Outcome(Run("one", QUERY, 2.0), Ranking((Hit(POOL[0], 9.0), Hit(POOL[1], 1.0)))),
        Outcome(Run("two", QUERY, 1.0), Ranking((Hit(POOL[1], 5.0),))),
    ]
    expected = {"a.md": 2 / 61, "b.md": 2 / 62 + 1 / 61}
    assert scores(fused(Rrf(), brought).hits) == pytest.approx(expected)


@given(outcomes(2))
def test_marks_matches_and_coverage_of_all_runs_are_kept(brought: list[Outcome]) -> None:
    for hit in fused(Rrf(), brought).hits:
        same = [h for o in brought for h in o.ranking.hits if h.passage == hit.passage]
        assert hit.labels == frozenset[str]().union(*(h.labels for h in same))
        assert set(hit.matched) == {m for h in same for m in h.matched}
        assert hit.coverage == max(h.coverage for h in same)


# --- a small manual, searched for real ------------------------------------------------------

BENEFITS = [
    passage("給付.md", 1, "入院給付", "入院給付は1日5,000円を支払う。請求書を添える。"),
    passage("給付.md", 5, "通院給付", "通院給付は1日3,000円を支払う。診断書を添える。"),
    passage("給付.md", 9, "例外", "入院給付と通院給付は同時に支払わない。"),
    passage("手当.md", 1, "ひとり親の手当", "ひとり親の世帯に支払う手当。まとめて払うことはない。"),
    passage("手当.md", 5, "おとな", "おとなの料金は別に定める。"),
    passage("手当.md", 9, "こども", "こどもの料金は半額とする。"),
    passage("guide.md", 1, "Inpatient benefit", "The inpatient benefit is paid per day."),
    passage("guide.md", 5, "Outpatient benefit", "The outpatient benefit needs a certificate."),
    passage("guide.md", 9, "Travel", "A certificate is not needed for travel."),
]
MANUAL = MemoryCorpus(BENEFITS, Bigram())
PIPELINE = Pipeline(
    [NamedStage("lexical", Lexical())],
    [NamedStage("required-terms", RequiredTerms()), NamedStage("decompose", Decompose())],
    [NamedStage("cutoff", Cutoff())],
)


def reported(query: Query, corpus: Corpus = MANUAL) -> SearchReport:
    """Return what the engine counted."""
    return PIPELINE.run(query, corpus).report


def searched(query: Query, corpus: Corpus = MANUAL) -> tuple[Ranking, dict[str, Span]]:
    """Return the ranking, and the spans of the outermost runs by name."""
    ranking, span, *_ = PIPELINE.run(query, corpus)
    return ranking, {child.name: child for child in span.children if child.kind == "run"}


def holds(one: Passage, term: str) -> bool:
    return any(fold(term) in text for text in one.fields.values())


def by_key(path: str, line: int) -> Passage:
    return next(one for one in BENEFITS if one.key == (path, line))


# --- required terms: gates ------------------------------------------------------------------


def test_two_terms_make_a_run_of_both_and_of_each() -> None:
    plan = RequiredTerms().plan(Query("給付", required=("入院", "請求書")), MANUAL)
    assert [(run.name, run.query.must) for run in plan] == [
        ("g0", ()),
        ("g_req:A+B", ("入院", "請求書")),
        ("g_req:A", ("入院",)),
        ("g_req:B", ("請求書",)),
    ]


def test_a_term_that_stands_nowhere_has_no_run_and_keeps_its_letter() -> None:
    plan = RequiredTerms().plan(Query("給付", required=("absent", "請求書")), MANUAL)
    assert [run.name for run in plan] == ["g0", "g_req:B"]


@given(st.lists(st.sampled_from(["入院", "通院", "給付", "absent", "円"]), max_size=5))
def test_runs_have_names_of_their_own_whatever_is_required(required: list[str]) -> None:
    names = [r.name for r in RequiredTerms().plan(Query("給付", required=tuple(required)), MANUAL)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("required", [("入院",), ("入院", "診断書"), ("paid", "1日"), ("円",)])
def test_every_hit_of_a_gate_holds_its_terms(required: tuple[str, ...]) -> None:
    _, gates = searched(Query("給付はいくら", required=required))
    gated = {name: span for name, span in gates.items() if name != "g0"}
    assert gated
    for name, span in gated.items():
        letters = name.removeprefix("g_req:").split("+")
        terms = [required[ord(letter) - ord("A")] for letter in letters]
        for row in span.rows:
            assert all(holds(by_key(row.path, row.start_line), term) for term in terms)


def test_a_required_term_lifts_what_holds_it() -> None:
    free, _ = searched(Query("給付は支払う", required=("absent",)))
    asked, _ = searched(Query("給付は支払う", required=("診断書",)))
    assert asked.hits[0].passage.key == ("給付.md", 5)
    assert asked.hits[0].labels >= {"required_term", "gate_rrf", "pinned"}
    place = [hit.passage.key for hit in free.hits].index(("給付.md", 5))
    assert place > 0, "without the term something else is first, so that the lift shows"


def test_a_section_that_holds_all_terms_says_so() -> None:
    ranking, _ = searched(Query("給付", required=("入院", "請求書")))
    marked = {h.passage.key for h in ranking.hits if "required_term_and" in h.labels}
    assert marked == {("給付.md", 1)}


def test_a_query_without_terms_gets_its_rarest_words() -> None:
    _, gates = searched(Query("通院の診断書はどこ"))
    assert reported(Query("通院の診断書はどこ")).picked == ("診断書", "通院")
    assert "g_req:A+B" in gates


def test_the_report_counts_the_terms() -> None:
    query = Query("給付", required=("入院", "absent"))
    ranking, _, report, _ = PIPELINE.run(query, MANUAL)
    assert [(row.term, row.sections) for row in report.terms] == [("入院", 2), ("absent", 0)]
    assert report.gated is True
    assert report.strict == sum(holds(hit.passage, "入院") for hit in ranking.hits)


def _numbered(number: int, every: int) -> MemoryCorpus:
    """Return sections, of which every so-many-th says 特別."""
    return MemoryCorpus(
        [
            passage(f"{n:03}.md", 1, f"第{n}条", "給付の定め。" + ("特別。" * (n % every == 0)))
            for n in range(number)
        ],
        Bigram(),
    )


def test_a_term_that_nearly_every_section_holds_is_dropped() -> None:
    query = Query("給付の特別", required=("給付", "特別"))
    _, gates = searched(query, _numbered(30, 10))
    assert list(gates) == ["g0", "g_req:A"]
    report = reported(query, _numbered(30, 10))
    assert report.effective == ("特別",)
    assert report.filtered == (FrequencyReport("給付", 30, 1.0, "too_common", dropped=True),)


def test_in_a_small_manual_no_term_is_too_common() -> None:
    report = reported(Query("給付", required=("給付",)), _numbered(19, 5))
    assert report.effective == ("給付",)
    assert report.filtered == ()


def test_a_rare_term_is_flagged_and_kept() -> None:
    query = Query("給付の特別", required=("特別",))
    _, gates = searched(query, _numbered(101, 101))
    report = reported(query, _numbered(101, 101))
    assert report.effective == ("特別",)
    assert [(f.term, f.reason, f.dropped) for f in report.filtered] == [("特別", "too_rare", False)]
    assert "g_req:A" in gates


def test_when_no_section_holds_a_term_weak_hits_are_left_out_but_for_whole_concepts() -> None:
    """Where nothing else is there, what holds a whole concept of the question still comes."""
    query = Query("入院給付の請求書と領収証と印鑑", required=("印鑑証明",))
    ranking, gates = searched(query)
    assert list(gates) == ["g0"]
    assert reported(query).gated is False
    weak = {
        (left.path, left.start_line) for left in ranking.left_out if left.reason == "weak_match"
    }
    low = {(r.path, r.start_line) for r in gates["g0"].rows if r.coverage < 0.5}
    returned = {hit.passage.key for hit in ranking.hits}
    assert weak
    assert weak == low - returned
    words = ("入院給付", "請求書", "領収証", "印鑑")
    assert all(any(holds(by_key(*key), word) for word in words) for key in returned)
    assert not any(holds(by_key(*key), word) for key in weak for word in words)


@given(outcomes(4, 4))
def test_a_strong_hit_is_no_noise(brought: list[Outcome]) -> None:
    """With a plan of one gate: what remains is covered by half, or matches strongly."""
    query = Query("x", required=("nowhere",))
    free = [Outcome(Run("g0", query), brought[0].ranking)]
    ranking = RequiredTerms().fuse(query, free, EMPTY)
    strong = [h for h in brought[0].ranking.hits if h.coverage >= 0.5 or h.labels & STRONG]
    assert keys(ranking.hits) == keys(strong)
    left = {row.path for row in ranking.left_out}
    assert left == set(keys(brought[0].ranking.hits)) - set(keys(strong))


@given(outcomes(4, 4))
def test_gates_lose_nothing_and_pin_the_best_of_each(brought: list[Outcome]) -> None:
    query = Query("x", required=("a", "b"))
    corpus = MemoryCorpus(POOL)
    plan = RequiredTerms().plan(query, corpus)
    runs = [Outcome(run, o.ranking) for run, o in zip(plan, brought, strict=True)]
    ranking = RequiredTerms().fuse(query, runs, corpus)
    pinned = {hit.passage.path for hit in ranking.hits if "pinned" in hit.labels}
    if any(o.ranking.hits for o in runs[1:]):
        assert set(keys(ranking.hits)) == {p for o in runs for p in keys(o.ranking.hits)}
        assert set(keys(runs[0].ranking.hits)[:1]) <= pinned
        assert 1 <= len(pinned) <= 2
        best = max(hit.score for o in runs for hit in o.ranking.hits)
        assert all(0 < hit.score <= best * 1.000001 for hit in ranking.hits)
    else:
        assert not pinned


# --- decompose: comparisons -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("入院給付と通院給付の違いは？", "入院給付", "通院給付"),
        ("入院と通院を比較して", "入院", "通院"),
        ("入院と通院はどちらが高いですか", "入院", "通院"),
        ("入院と通院はどう違いますか", "入院", "通院"),
        ("入院と通院との違い", "入院", "通院"),
        ("契約社員と正社員では何が違うの", "契約社員", "正社員"),
        ("「入院」と「通院」の違いは", "入院", "通院"),
        ("ＡとＢの違い", "a", "b"),
        ("おとなとこどもの違い", "おとな", "こども"),
        ("ひとり親とふたり親の違い", "ひとり親", "ふたり親"),
        ("まとめて払う場合と分割払いの違い", "まとめて払う場合", "分割払い"),
        ("申請のことと届出のことの違い", "申請のこと", "届出のこと"),
        ("教えてください。入院と通院の違い", "入院", "通院"),
        ("difference between inpatient and outpatient", "inpatient", "outpatient"),
        ("What are the differences between REST and GraphQL?", "rest", "graphql"),
        ("Compare the handbook with the guide.", "the handbook", "the guide"),
        ("comparison of A to B", "a", "b"),
        ("TCP vs. UDP", "tcp", "udp"),
        ("tcp versus udp, which is faster?", "tcp", "udp"),
    ],
)
def test_a_comparison_is_searched_side_by_side(text: str, one: str, other: str) -> None:
    plan = Decompose().plan(Query(text), MANUAL)
    assert [run.name for run in plan] == ["base", f"side:{one}", f"side:{other}"]
    assert [run.query.text for run in plan] == [text, one, other]


@pytest.mark.parametrize(
    "text",
    [
        "ひとり親の違い",
        "ひとり親の手当の違いは？",
        "まとめて申請する場合の違い",
        "もともとの違い",
        "入院給付との違い",
        "休暇と休暇の違い",
        "おとなとこねこの違い",
        "入院と通院",
        "入院とは",
        "どのように違う",
        "how does compare work",
        "the difference between them",
        "salt and pepper",
        "",
        "と",
        "との違い",
    ],
)
def test_what_compares_nothing_is_one_run(text: str) -> None:
    assert [run.name for run in Decompose().plan(Query(text), MANUAL)] == ["base"]


@given(st.text(alphabet="入院通給とのは違いひとり親、 ?ab") | st.text())
def test_any_text_makes_a_plan_with_names_of_its_own(text: str) -> None:
    plan = Decompose().plan(Query(text), MANUAL)
    names = [run.name for run in plan]
    assert len(set(names)) == len(names) in {1, 3}
    assert plan[0].query.text == text
    for run in plan[1:]:
        assert run.query.text.strip()
        assert run.query.text in fold(text)


def test_comparisons_can_be_switched_off_and_bounded() -> None:
    query = Query("入院と通院の違い")
    assert len(Decompose(enabled=False).plan(query, MANUAL)) == 1
    assert len(Decompose(max_sub_queries=2).plan(Query(query.text), MANUAL)) == 2


def test_a_comparison_inside_a_gate_keeps_to_its_terms() -> None:
    _, gates = searched(Query("入院給付と通院給付の違い", required=("診断書",)))
    inner = [span for span in gates["g_req:A"].children if span.kind == "run"]
    assert [span.name for span in inner] == ["base", "side:入院給付", "side:通院給付"]
    rows = [row for span in inner for row in span.rows]
    assert rows
    assert all(holds(by_key(row.path, row.start_line), "診断書") for row in rows)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("入院給付と通院給付の違いは？", {("給付.md", 1), ("給付.md", 5)}),
        ("difference between inpatient and outpatient benefit", {("guide.md", 1), ("guide.md", 5)}),
    ],
)
def test_the_best_section_of_each_side_is_among_the_first(
    text: str, sides: set[tuple[str, int]]
) -> None:
    ranking, _ = searched(Query(text))
    assert sides <= {hit.passage.key for hit in ranking.hits[:5]}


@given(outcomes(3, 3))
def test_sides_lose_nothing_and_both_stay_among_the_first_five(brought: list[Outcome]) -> None:
    ranking = fused(Decompose(), brought)
    assert set(keys(ranking.hits)) >= set(keys(brought[0].ranking.hits))
    refined = Cutoff().refine(ranking, QUERY, EMPTY)
    if any(outcome.ranking.hits for outcome in brought[1:]):
        assert set(keys(ranking.hits)) == {p for o in brought for p in keys(o.ranking.hits)}
        best = {p for o in brought[1:] for p in keys(o.ranking.hits)[:1]}
        assert best <= set(keys(refined.hits)[:5])
    else:
        assert ranking == brought[0].ranking


def test_the_best_of_one_side_does_not_push_out_that_of_the_other() -> None:
    labels = {"e.md": {"pinned_top"}, "g.md": {"pinned_top"}}
    hits = tuple(
        Hit(one, 9.0 - place, frozenset(labels.get(one.path, ())), coverage=1.0)
        for place, one in enumerate(POOL)
    )
    refined = Cutoff().refine(Ranking(hits), QUERY, EMPTY)
    assert keys(refined.hits) == [f"{name}.md" for name in "abcegdfh"]


@given(outcomes(3, 3))
def test_scores_of_a_comparison_are_on_the_scale_of_the_question(brought: list[Outcome]) -> None:
    ranking = fused(Decompose(), brought)
    best = max((h.score for o in brought for h in o.ranking.hits), default=0.0)
    assert all(0 <= hit.score <= best * 1.000001 for hit in ranking.hits)


def test_a_side_that_finds_nothing_does_not_hurt() -> None:
    hits = Ranking((Hit(POOL[0], 2.0), Hit(POOL[1], 1.0)))
    none = [Outcome(Run(name, QUERY), Ranking()) for name in ("side:a", "side:b")]
    assert fused(Decompose(), [Outcome(Run("base", QUERY), hits), *none]) == hits


def test_counting_a_text_is_what_decides_inside_hiragana() -> None:
    """Both sides stand in the manual, as the corpus counts them."""
    assert MANUAL.count(Holds("おとな")).number == MANUAL.count(Holds("こども")).number == 1
    without = MemoryCorpus([one for one in BENEFITS if one.title != "こども"], Bigram())
    assert len(Decompose().plan(Query("おとなとこどもの違い"), without)) == 1
