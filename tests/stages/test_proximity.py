"""Proximity by hand: the rule is ours, and stands in the docstring of the scorer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fumishirube import Passage, Query
from fumishirube.testing import MemoryCorpus, passage
from fumishirube_stages.scorers.proximity import Proximity

NEAR, FAR = 1.0, 0.5
PROXIMITY = frozenset({"proximity"})


def apart(characters: int) -> str:
    """Return a body in which ``red`` and ``blue`` start so many characters from each other."""
    return f"red{' ' * (characters - 3)}blue"


def scored(
    *bodies: str, text: str = "red blue", stage: Proximity | None = None
) -> Sequence[tuple[str, float]]:
    passages = [
        passage(f"{n}.md", body="x")._replace(fields={"body": b}) for n, b in enumerate(bodies)
    ]
    candidates: dict[tuple[str, int], Passage] = {item.key: item for item in passages}
    hits = list((stage or Proximity()).score(Query(text), MemoryCorpus(), candidates))
    assert all(hit.labels == PROXIMITY for hit in hits)
    return [(hit.passage.path, hit.score) for hit in hits]


@pytest.mark.parametrize(
    ("characters", "bonus"),
    [(4, NEAR), (39, NEAR), (40, NEAR), (41, FAR), (80, FAR), (81, None), (500, None)],
)
def test_near_up_to_40_characters_far_up_to_80_and_nothing_beyond(
    characters: int, bonus: float | None
) -> None:
    assert scored(apart(characters)) == ([] if bonus is None else [("0.md", bonus)])


def test_the_least_distance_counts_in_either_order() -> None:
    assert scored(f"{apart(90)}{' ' * 50}red") == [("0.md", FAR)]
    assert scored(f"blue{' ' * 36}red{' ' * 60}blue") == [("0.md", NEAR)]


def test_a_concept_beside_itself_is_not_near_to_another() -> None:
    assert scored("red red red") == []
    assert scored(f"red red{' ' * 77}blue") == [("0.md", FAR)]


def test_a_word_inside_another_is_none_and_its_plural_is_one() -> None:
    assert scored("the pump: a party may boil", text="pump oil art") == []
    assert scored("the valves and the oils", text="valve oil") == [("0.md", NEAR)]
    assert scored("a policy", text="policy policies") == []
    assert scored("赤pumpと青oil", text="pump oil") == [("0.md", NEAR)]


def test_a_query_of_one_concept_has_no_nearness_and_three_have() -> None:
    assert scored("red blue", text="red") == []
    assert scored("green blue", text="red blue green") == [("0.md", NEAR)]


def test_only_the_first_passages_by_depth_are_looked_at() -> None:
    bodies = [apart(10)] * 22
    assert len(scored(*bodies)) == 20
    assert [path for path, _ in scored(*bodies, stage=Proximity(depth=2))] == ["0.md", "1.md"]
    assert len(scored(*bodies, stage=Proximity(depth=2**64))) == 22


def test_a_passage_without_nearness_does_not_end_the_search() -> None:
    assert scored("nothing", apart(50), apart(5)) == [("1.md", FAR), ("2.md", NEAR)]


def test_thirty_two_places_of_a_concept_are_looked_at() -> None:
    # 100 characters between the reds, and a blue behind one of them.
    spaced = ("red" + " " * 97) * 31
    assert scored(f"{spaced}red blue") == [("0.md", NEAR)]
    assert scored(f"{spaced}red{' ' * 97}red blue") == []


def test_a_concept_that_follows_itself_at_once_is_seen_at_both_places() -> None:
    # The second 年 is 40 characters before 月, the first 41.
    assert scored(f"年年{' ' * 39}月", text="年 月") == [("0.md", NEAR)]


def test_it_nominates_nothing() -> None:
    assert Proximity.generates is False


def test_the_settings_are_the_numbers_of_the_formula() -> None:
    stage = Proximity(near=3.0, far=2.0, near_characters=10, far_characters=20)
    assert scored(apart(10), apart(11), apart(20), apart(21), stage=stage) == [
        ("0.md", 3.0),
        ("1.md", 2.0),
        ("2.md", 2.0),
    ]


def test_the_runs_of_one_search_share_the_distances_and_not_those_of_another_text() -> None:
    item = passage("0.md", body="red blue")
    query = Query("red blue")
    stage, corpus = Proximity(), MemoryCorpus()
    first, again = (list(stage.score(query, corpus, {item.key: item})) for _ in range(2))
    assert first == again
    assert [hit.score for hit in first] == [NEAR]
