"""How often the detector of passages that address an agent is right, by language.

    python benchmarks/addressed.py [--split dev|test|all] [--wrong]

The passages and their labels stand in ``addressed_en.jsonl`` and ``addressed_ja.jsonl``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fumishirube_addressed.addressed import AddressedScorer
from fumishirube_manual.addressed_passages import addressed

LANGUAGES = ("en", "ja")
SPLITS = ("dev", "test")
HERE = Path(__file__).parent
DETECTOR = AddressedScorer()


class Passage(NamedTuple):
    """A passage, whether it addresses an agent, and what kind of text it is."""

    split: str
    addressed: bool
    kind: str
    text: str


class Rates(NamedTuple):
    """How many passages there are, and how many were tagged, rightly and wrongly."""

    passages: int
    positive: int
    right: int
    wrong: int

    @property
    def precision(self) -> float:
        """The share of the tagged that address an agent."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of those that address an agent that are tagged."""
        return self.right / self.positive


def passages(language: str) -> Iterator[Passage]:
    """Yield the labelled passages of a language."""
    for line in (HERE / f"addressed_{language}.jsonl").read_text(encoding="utf-8").splitlines():
        yield Passage(**json.loads(line))


def measured(chosen: Sequence[Passage]) -> Rates:
    """Run the detector on each passage."""
    tagged = [one for one in chosen if addressed(DETECTOR, one.text)]
    right = sum(one.addressed for one in tagged)
    positive = sum(one.addressed for one in chosen)
    return Rates(len(chosen), positive, right, len(tagged) - right)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="all")
    parser.add_argument("--wrong", action="store_true", help="list what the detector got wrong")
    asked = parser.parse_args()
    print("language  split  passages  positive  precision  recall")
    for language in LANGUAGES:
        for split in SPLITS if asked.split == "all" else (asked.split,):
            chosen = [one for one in passages(language) if one.split == split]
            rates = measured(chosen)
            print(
                f"{language:8}  {split:5}  {rates.passages:8}  {rates.positive:8}  "
                f"{rates.precision:9.2f}  {rates.recall:6.2f}"
            )
            for one in chosen if asked.wrong else ():
                if bool(addressed(DETECTOR, one.text)) != one.addressed:
                    print(f"  {'missed' if one.addressed else 'wrongly tagged'}: {one.text!r}")


if __name__ == "__main__":
    main()
