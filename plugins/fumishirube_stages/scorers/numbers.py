"""Numbers with the same neighbouring words as in the query, codes such as E-104, and figures."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Env, Hit, Passage, Query, Stage
from fumishirube.text import concepts, fold, occurs
from fumishirube_stages.scorers import Candidates

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TOKEN = re.compile(r"(?<![a-z0-9])[a-z0-9]+(?:[-_][a-z0-9]+)*")
_DIGIT, _LETTER = re.compile("[0-9]"), re.compile("[a-z]")
_WORD = re.compile(r"\D{2,}")
_MOST = 2
_LOOKED_UP = 32
"""The most numbers of a query, and the most codes, that are looked up."""
_DIGITS = "0123456789"
_SHORT = 100
"""The least length that the share of digits refers to: a date alone is no table."""


class Numbers(Stage):
    """Adds ``context`` for each number of the query whose neighbour in the section is the same.

    At most two numbers count. ``code`` is added once for a code of letters and digits.

    For a query with a number and more than ``few_concepts`` concepts of letters, two or more each,
    ``figures`` is multiplied by the share of digits in the section's text, which is divided by
    ``figure_share``, at most 1. Long questions with a year or an amount often ask for figures, and
    these are in tables, which have few words.
    """

    generates: ClassVar[bool] = False

    context: Annotated[float, Field(ge=0), Env("LEXICAL_NUMBER_CONTEXT_BONUS")] = 0.8
    code: Annotated[float, Field(ge=0)] = 1.6
    figures: Annotated[float, Field(ge=0)] = 6.0
    figure_share: Annotated[float, Field(gt=0, le=1)] = 0.3
    few_concepts: Annotated[int, Field(ge=0)] = 3

    def score(self, query: Query, corpus: Corpus, candidates: Candidates) -> Iterable[Hit]:
        """Score the passages that contain the query's numbers or codes, or figures."""
        query_numbers = _query_numbers(query.text)
        figures = self.figures * (query_numbers.words > self.few_concepts)
        if not (query_numbers.contexts or query_numbers.codes or figures):
            return
        counts = query.state.shared(
            dict[tuple[str, int], tuple[int, bool, float]], "numbers", query.text
        )
        for key, passage in candidates.items():
            if key not in counts:
                counts[key] = query_numbers.count_in(passage)
            contexts, code, digits = counts[key]
            score = self.context * contexts + self.code * code
            score += figures * min(1.0, digits / self.figure_share)
            if contexts or code or score:
                labels = {"number_context"} if contexts else set()
                labels |= {"code_exact"} if code else set()
                yield Hit(passage, score, frozenset(labels))


class _QueryNumbers(NamedTuple):
    """The numbers of a query with their neighbours, its codes, and the number of its words.

    Words are its concepts of two letters or more; 0 for a query without a number.
    """

    contexts: tuple[re.Pattern[str], ...]
    codes: tuple[str, ...]
    words: int

    def count_in(self, passage: Passage) -> tuple[int, bool, float]:
        """Return how many numbers and whether a code occur, and the share of digits in the body."""
        title, headings, body = (passage.fields[name] for name in ("title", "headings", "body"))
        text = f"{title}\n{headings}\n{body}"
        present = (pattern for pattern in self.contexts if pattern.search(text))
        contexts = len([*islice(present, _MOST)])
        digits = sum(map(body.count, _DIGITS)) / max(_SHORT, len(body)) if self.words else 0.0
        return contexts, any(occurs(text, code) for code in self.codes), digits


@lru_cache(maxsize=32)
def _query_numbers(text: str) -> _QueryNumbers:
    folded = fold(text)
    tokens = dict.fromkeys(_TOKEN.findall(folded))
    codes = [token for token in tokens if _DIGIT.search(token) and _LETTER.search(token)]
    contexts: dict[str, None] = {}
    numbers = [*_NUMBER.finditer(folded)]
    for match in numbers:
        before = folded[: match.start()].rstrip()[-1:]
        after = folded[match.end() :].lstrip()[:1]
        number = rf"(?<!\d)(?<!\d[.,]){re.escape(match.group())}(?![.,]?\d)"
        if after.isalpha():
            contexts[f"{number} ?{re.escape(after)}"] = None
        elif before.isalpha():
            contexts[f"{re.escape(before)} ?{number}"] = None
    patterns = tuple(re.compile(context) for context in islice(contexts, _LOOKED_UP))
    words = sum(_WORD.fullmatch(concept.text) is not None for concept in concepts(text))
    return _QueryNumbers(patterns, tuple(codes[:_LOOKED_UP]), words if numbers else 0)
