"""Other wordings by hand: all as one text, and each for itself at a part of its weight."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fumishirube import Hit, Outcome, Query, Ranking
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.fusers.alternatives import Alternatives
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.tokenizers.bigram import Bigram

A, B = (passage(f"{name}.md", body=name) for name in "ab")
CORPUS = MemoryCorpus([A, B], Bigram())
STAGE = Alternatives(each_weight=0.5, agreement=0.5, k=60)
QUERY = Query("red car", ("car",), alternatives=("scarlet vehicle", "auto"))


def test_all_wordings_are_one_text_and_each_is_one_for_itself() -> None:
    planned = STAGE.plan(QUERY, CORPUS)
    assert [(run.name, run.query.text, run.weight) for run in planned] == [
        ("together", "red car scarlet vehicle auto", 1.0),
        ("query", "red car", 0.5),
        ("alternative-1", "scarlet vehicle", 0.5),
        ("alternative-2", "auto", 0.5),
    ]
    assert not any(run.query.required or run.query.alternatives for run in planned)


def fused(*rankings: Ranking) -> Sequence[Hit]:
    outcomes = [
        Outcome(run, ranking)
        for run, ranking in zip(STAGE.plan(QUERY, CORPUS), rankings, strict=True)
    ]
    return STAGE.fuse(QUERY, outcomes, CORPUS).hits


def test_a_section_scores_by_its_best_run_and_half_of_the_others() -> None:
    first, second = fused(
        Ranking((Hit(A, 8.0), Hit(B, 4.0))), Ranking(), Ranking((Hit(B, 2.0),)), Ranking()
    )
    # A: 1. B: 1/2 as the second of 60 + 1, and 1/2 as the first of a run at half its weight.
    assert (first.passage, first.score) == (A, pytest.approx(8 * 1 / 1.5))
    assert second.score == pytest.approx(8 * (0.5 + 0.5 * (0.5 * 60 / 61)) / 1.5)
    assert first.labels == {"pinned_top"}
    assert second.labels == {"alternative-1", "pinned_top"}


def test_the_two_best_of_each_wording_are_pinned_and_versions_of_a_section_are_one() -> None:
    old, new, other, third = (
        passage("v.md", line, title=title, body=title)
        for line, title in ((1, "Limits"), (9, "Limits"), (20, "Costs"), (30, "Rest"))
    )
    hits = fused(
        Ranking(), Ranking(tuple(Hit(p, 9.0 - n) for n, p in enumerate((old, new, other, third)))),
        Ranking(), Ranking((Hit(third, 1.0),)),
    )  # fmt: skip
    assert {hit.passage.start_line: hit.labels for hit in hits} == {
        1: {"pinned_top"},
        9: frozenset(),
        20: {"pinned_top", "second"},
        30: {"alternative-2", "pinned_top"},
    }


def test_equal_titles_below_other_headings_are_other_sections() -> None:
    tls, pki = (
        passage("o.md", line, title="ratio", ancestors=("Options", above), body="ratio")
        for line, above in ((1, "TLS"), (9, "PKI"))
    )
    hits = fused(Ranking(), Ranking((Hit(pki, 2.0), Hit(tls, 1.9))), Ranking(), Ranking())
    assert {hit.passage.start_line: hit.labels for hit in hits} == {
        1: {"pinned_top", "second"},
        9: {"pinned_top"},
    }


@pytest.mark.parametrize(
    ("lines", "pinned"),
    [
        ([(1, 8), (9, 19)], {1: {"pinned_top"}, 9: {"pinned_top", "second"}}),
        ([(9, 19), (1, 8)], {9: {"pinned_top"}, 1: {"pinned_top", "second"}}),
        ([(1, 7), (9, 19)], {1: {"pinned_top"}}),  # versions: a line is between them
        ([(1, 9), (9, 19)], {1: {"pinned_top"}}),
        ([(1, 8), (9, 19), (20, 30)], {1: {"pinned_top"}, 9: {"pinned_top", "second"}}),
    ],
)
def test_a_section_that_goes_on_below_the_same_heading_is_no_version(
    lines: list[tuple[int, int]], pinned: dict[int, set[str]]
) -> None:
    hits = fused(
        Ranking(),
        Ranking(
            tuple(
                Hit(passage("v.md", start, title="Limits")._replace(end_line=end), 9.0 - 0.1 * n)
                for n, (start, end) in enumerate(lines)
            )
        ),
        Ranking(),
        Ranking(),
    )
    assert {hit.passage.start_line: hit.labels for hit in hits if hit.labels} == pinned


@pytest.mark.parametrize(("score", "pinned"), [(9.0, 1), (8.9, 9)])
def test_of_near_versions_of_a_section_the_first_is_pinned(score: float, pinned: int) -> None:
    new, old, other = (
        passage("v.md", line, title=title, body=title)
        for line, title in ((1, "Limits"), (9, "Limits"), (20, "Costs"))
    )
    ranking = Ranking((Hit(old, 10.0), Hit(new, score), Hit(other, 1.0)))
    hits = fused(Ranking(), ranking, Ranking(), Ranking())
    assert [h.passage.start_line for h in hits if h.labels == {"pinned_top"}] == [pinned]


def test_the_gate_of_the_own_words_weighs_less_beside_alternatives() -> None:
    stage = RequiredTerms(too_common=1.0, required_weight=1.0, beside_alternatives=0.25)
    query = Query("a", ("a",), alternatives=("b",))
    hit = Hit(A, 1.0, coverage=1.0)
    rankings = (Ranking((hit,)), Ranking((hit,)))
    outcomes = [Outcome(r, k) for r, k in zip(stage.plan(query, CORPUS), rankings, strict=True)]
    assert stage.fuse(query, outcomes, CORPUS).diagnostics["weights"] == {"g0": 1.0, "g_req": 0.25}


def test_it_applies_to_alternatives_outside_of_runs_with_required_terms() -> None:
    assert STAGE.applies(QUERY) is True
    assert STAGE.applies(Query("red")) is False
    assert STAGE.applies(Query("red", alternatives=("car",), must=("red",))) is False
    assert STAGE.applies(Query("red", must=("red",))) is False


def test_its_settings() -> None:
    settings = {"each_weight": 0.3, "each_pool": 10, "agreement": 0.5, "near": 0.9, "k": 60}
    assert Alternatives().model_dump() == settings
    for wrong in ({"each_weight": 0}, {"agreement": 1.5}, {"k": 0}):
        with pytest.raises(ValueError, match="Input should be"):
            Alternatives.model_validate(wrong)


def test_a_hit_names_the_one_alternative_that_ranks_it_best() -> None:
    (hit,) = fused(Ranking(), Ranking(), Ranking((Hit(A, 4.0),)), Ranking((Hit(A, 4.0),)))
    assert len([label for label in hit.labels if label.startswith("alternative-")]) == 1


def test_only_the_two_best_sections_of_a_wording_are_pinned() -> None:
    pages = [passage(f"{name}.md", title=name, body=name) for name in "abcd"]
    hits = fused(
        Ranking(tuple(Hit(item, 9.0 - n) for n, item in enumerate(pages))),
        Ranking(), Ranking(), Ranking(),
    )  # fmt: skip
    pinned = [hit.passage.path for hit in hits if "pinned_top" in hit.labels]
    assert pinned == ["a.md", "b.md"]
