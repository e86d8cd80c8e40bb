"""A question of 100,000 characters, the most that is accepted, is answered whatever it repeats."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from manuals import write
from stdio import Fumishirube

MOST = 100_000
PIECES = [
    "a",
    "A",
    "1",
    "-",
    "_",
    "あ",
    "電",
    "a-",
    "a_",
    "a.",
    "a1",
    "aB",
    "1,",
    "5秒",
    "と電",
    "A-1 ",
    "é ",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fumishirube]:
    text = "# Batteries\n\nA battery of type A-1 lasts 5 days at 1,000 mAh. 電池は5秒で切れる。\n"
    folder = write(tmp_path_factory.mktemp("long"), {"guide/battery.md": text})
    with Fumishirube(folder) as server:
        server.ok("manual_ls")
        yield server


@pytest.mark.slow
@pytest.mark.timeout(30)
@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.many_cases
def test_a_long_question_takes_no_longer_than_its_length_asks_for(
    server: Fumishirube, piece: str
) -> None:
    query = (piece * MOST)[:MOST]
    found = server.ok("manual_find", query=query, manual_id="guide", required_terms=["battery"])
    assert found["inline_hits"]["total"] <= 1
