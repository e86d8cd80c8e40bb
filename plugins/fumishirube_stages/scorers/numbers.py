"""Numbers with the same neighbouring words as in the query, and codes such as E-104."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Annotated, ClassVar, NamedTuple

from pydantic import Field

from fumishirube import Corpus, Env, Hit, Passage, Query, Stage
from fumishirube.text import fold, occurs

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CODE = re.compile(
    r"(?<![a-z0-9])(?=[a-z0-9_-]*\d)(?=[a-z0-9_-]*[a-z])[a-z0-9]+(?:[-_][a-z0-9]+)*(?![a-z0-9])"
)
_MOST = 2


class Numbers(Stage):
    """Adds ``context`` for each number of the query whose neighbour in the section is the same.

    At most two numbers count. ``code`` is added once for a code of letters and digits.
    """

    generates: ClassVar[bool] = False

    context: Annotated[float, Field(ge=0), Env("LEXICAL_NUMBER_CONTEXT_BONUS")] = 0.8
    code: Annotated[float, Field(ge=0)] = 1.6

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit]:
        """Score the passages that contain the query's numbers or codes."""
        query_numbers = _query_numbers(query.text)
        if not query_numbers.contexts and not query_numbers.codes:
            return
        counts = query.state.shared(dict[tuple[str, int], tuple[int, bool]], "numbers", query.text)
        for key, passage in candidates.items():
            if key not in counts:
                counts[key] = query_numbers.count_in(passage)
            contexts, code = counts[key]
            if contexts or code:
                labels = {"number_context"} if contexts else set()
                labels |= {"code_exact"} if code else set()
                score = self.context * contexts + self.code * code
                yield Hit(passage, score, frozenset(labels))


class _QueryNumbers(NamedTuple):
    contexts: tuple[re.Pattern[str], ...]
    codes: tuple[str, ...]

    def count_in(self, passage: Passage) -> tuple[int, bool]:
        text = f"{passage.fields['title']}\n{passage.fields['headings']}\n{passage.fields['body']}"
        contexts = sum(pattern.search(text) is not None for pattern in self.contexts)
        return min(_MOST, contexts), any(occurs(text, code) for code in self.codes)


@lru_cache(maxsize=32)
def _query_numbers(text: str) -> _QueryNumbers:
    folded = fold(text)
    codes = tuple(dict.fromkeys(_CODE.findall(folded)))
    contexts = []
    for match in _NUMBER.finditer(folded):
        before = folded[: match.start()].rstrip()[-1:]
        after = folded[match.end() :].lstrip()[:1]
        number = rf"(?<!\d){re.escape(match.group())}(?!\d)"
        if after.isalpha():
            contexts.append(re.compile(rf"{number} ?{re.escape(after)}"))
        elif before.isalpha():
            contexts.append(re.compile(rf"{re.escape(before)} ?{number}"))
    return _QueryNumbers(tuple(contexts), codes)
