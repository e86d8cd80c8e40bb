"""The manual's own words for a query: words of the headings of the best hits."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from fumishirube import Corpus, SurfaceContext, Trace, TraceRow
from fumishirube.text import fold, is_function, occurs
from fumishirube_manual.diagnosis import answerable
from fumishirube_manual.evidence.annotations import stored
from fumishirube_manual.surface import ManualSurface

ANNOTATION = "vocabulary"

_HAN = "\u3400-\u4dbf\u4e00-\u9fff々〆ヶ"
# Patterns with many characters are compiled at their first use: that takes milliseconds.
_WORD = f"[0-9A-Za-z{_HAN}ァ-ヺー・]+(?:[._+#'-]+[0-9A-Za-z]+)*"
"""Adjacent letters, kanji and katakana: compounds and names stay whole."""
_NUMBERED = re.compile(r"第?\d")
_CUT = f"[{_HAN}][ぁ-ん](?<![はがをにへとものでやなかまよさしすせだ])"
"""A kanji with the ending of a verb or adjective; a word ends before particles and する."""
_PREFIX = "お"
_LONGEST = 200
"""The most characters of a heading that are used."""
_SHORTEST, _SHORTEST_ENGLISH = 2, 3


def offered_words(
    rows: Sequence[TraceRow], query_text: str, corpus: Corpus, settings: ManualSurface
) -> tuple[str, ...]:
    """Return the words that distinguish the headings of the best hits from the manual, best first.

    The score of a word is ``p(w|R) log(p(w|R) / p(w|C))``, its share of the Kullback-Leibler
    divergence of the hits from the corpus (Carpineto, de Mori, Romano and Bigi, ACM TOIS 19(1),
    2001); ``p(w|R)`` is the relevance model of Lavrenko and Croft (SIGIR 2001), in which each hit
    is weighted by its score. Words of the folded text ``query_text`` are excluded, and so are parts
    of a better word, and words that contain one.
    """
    shares, forms = _relevance_model(rows[: settings.vocabulary_hits])
    new = {
        word: share for word, share in shares.items() if share > 0 and not occurs(query_text, word)
    }
    counts = _sections_with(new, corpus)
    total_words = max(1, corpus.size) * settings.vocabulary_section_words
    scores = {word: p * math.log(p * total_words / max(1, counts[word])) for word, p in new.items()}
    chosen: list[str] = []
    for word in sorted(scores, key=lambda word: (-scores[word], word)):
        if len(chosen) == settings.vocabulary_words or scores[word] <= 0:
            break
        if not any(word in other or other in word for other in chosen):
            chosen.append(word)
    return tuple(forms[word] for word in chosen)


def with_vocabulary(
    context: SurfaceContext, trace: Trace, corpus: Corpus, settings: ManualSurface
) -> Trace:
    """Store in a trace the manual's own words, if the words of the query do not occur together."""
    if ANNOTATION in trace.annotations or answerable(trace) == "yes":
        return trace
    query_text = fold("\n".join((trace.text, *trace.required, *trace.origin.query.alternatives)))
    offered = offered_words(trace.search.rows, query_text, corpus, settings)
    return context.annotate(trace, ANNOTATION, [*offered]) if offered else trace


def vocabulary_of(trace: Trace) -> tuple[str, ...]:
    """Return the words that a search suggests."""
    return tuple(stored(trace, ANNOTATION, list) or ())


def _relevance_model(rows: Sequence[TraceRow]) -> tuple[Mapping[str, float], Mapping[str, str]]:
    """Return the probability of each folded word in the headings of some hits, and its spelling."""
    shares: defaultdict[str, float] = defaultdict(float)
    forms: dict[str, str] = {}
    total = sum(row.score for row in rows) or 1.0
    for row in rows:
        titles = (row.title, *row.ancestors)
        words = {folded: word for title in titles for folded, word in _words(title)}
        for folded, word in words.items():
            shares[folded] += row.score / total / len(words)
            forms.setdefault(folded, word)
    return shares, forms


@lru_cache(maxsize=512)
def _words(title: str) -> Sequence[tuple[str, str]]:
    """Return the words of a heading, folded and as written.

    Numbers, stop words and partial words are left out.
    """
    words = []
    for match in re.compile(_WORD).finditer(title[:_LONGEST]):
        word = match.group().strip("・")
        folded, cut = fold(word), re.compile(_CUT).match(title, match.end() - 1)
        shortest = _SHORTEST_ENGLISH if folded.isascii() else _SHORTEST
        if len(folded) < shortest or _NUMBERED.match(folded) or is_function(folded) or cut:
            continue
        if not title[: match.start()].endswith(_PREFIX):
            words.append((folded, word))
    return words


def _sections_with(words: Collection[str], corpus: Corpus) -> Mapping[str, int]:
    """Return an upper bound of the sections with each word: those with its rarest term."""
    terms = {word: [*corpus.terms(word)] for word in words}
    counts = corpus.frequencies({term for many in terms.values() for term in many})
    return {word: min((counts.get(t, 0) for t in many), default=0) for word, many in terms.items()}
