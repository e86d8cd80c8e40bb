"""Where the names and the words of a query are: in few sections, or in none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Bool, Clause, Corpus, Holds, Part, Passage, SurfaceContext, Trace, TraceRow
from fumishirube.text import concepts, fold, mentions
from fumishirube_manual.evidence.annotations import stored, weights_of_each
from fumishirube_manual.evidence.concept_weights import ConceptWeight
from fumishirube_manual.evidence.excerpts import line_weight

_NAMES = "names"

_TOKEN = re.compile(r"(?<![\w-])-{0,2}[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+|_+)*", re.ASCII)
_NAME = re.compile(
    r"-|.*[a-z][A-Z]|.*[A-Za-z0-9][._-]+[A-Za-z0-9]|[A-Z]{4,}|[A-Za-z]+\d|\d+[A-Za-z]"
)
_MARKS = re.compile(r"[._-]+")
_LETTERS = re.compile(r"[A-Za-z]{2}")
_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_]+$)")
_MOST_NAMES, _LONGEST = 8, 100
"""The most names that are looked up, and their most characters: a part of a word is looked for in
every term."""
_FEW = 6
"""A name in more sections than this is not named: its sections would have to be chosen."""
_ABSENT = "absent"
NOWHERE, APART = "nowhere", "apart"
_MOST = 12


class NamePlaces(NamedTuple):
    """A name, the number of sections that contain it, and the most relevant one, if any."""

    name: str
    sections: int
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    digest: str = ""

    @property
    def row(self) -> TraceRow:
        """The section as a row of a trace, without a score."""
        place = self.path, self.start_line, self.end_line
        return TraceRow(*place, "", self.digest, 0.0, 0.0, frozenset(), (), {})


def names(texts: Iterable[str]) -> Sequence[str]:
    """Return the options, identifiers and codes in some texts, each once, in order.

    These are tokens with a hyphen, a full stop or an underscore inside, with a capital or a digit
    after a letter, or in capitals.
    """
    tokens = (match.group() for text in texts for match in _TOKEN.finditer(text))
    short = (token for token in tokens if len(token) <= _LONGEST)
    each = {fold(token): token for token in short if _NAME.match(token) and _LETTERS.search(token)}
    return [*each.values()]


def spaced_unit(text: str) -> str:
    """Return a number and its unit with a space between them, as in 10 MB; any other text as is."""
    return _UNIT.sub(" ", text)


def with_names(context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
    """Store in a trace the names of its wordings that are in few sections, or in none."""
    if _NAMES in trace.annotations:
        return trace
    wordings = (trace.text, *trace.origin.query.alternatives)
    weights = [concept for wording in weights_of_each(trace) for concept in wording]
    places = (_place(name, corpus, weights) for name in names(wordings)[:_MOST_NAMES])
    proven = (
        place for place in places if place and (place.sections or not trace.report.incomplete)
    )
    rows: list[JsonValue] = [[*place] for place in proven]
    return context.annotate(trace, _NAMES, rows) if rows else trace


def names_of(trace: Trace) -> Sequence[NamePlaces]:
    """Return the stored names of a search."""
    return [NamePlaces(*row) for row in stored(trace, _NAMES, list) or ()]


def _place(name: str, corpus: Corpus, weights: Sequence[ConceptWeight]) -> NamePlaces | None:
    """Return where a name is.

    ``None`` if it is in many sections, only inside other words, or only with spaces for its marks
    or before its unit.
    """
    count = corpus.count(Holds(name), _FEW + 1).number
    folded = fold(name)
    if not count:
        forms = {_MARKS.sub(" ", name).strip(), spaced_unit(name)} - {name}
        spaced = any(corpus.count(Holds(form), 1).number for form in forms)
        return None if spaced or _is_part(folded, corpus) else NamePlaces(name, 0)
    if count > _FEW:
        return None
    passages = (match.passage for match in corpus.search(Holds(name), _FEW))
    best = max(passages, key=lambda passage: _worth(passage, folded, weights), default=None)
    if best is None:
        return NamePlaces(name, count)
    return NamePlaces(name, count, *best.key, best.end_line, best.digest)


def _is_part(folded: str, corpus: Corpus) -> bool:
    """Tell whether a name occurs inside a longer term; this takes a look at every term."""
    marks = {character for character in folded if not character.isalnum()}
    # Most tokenizers divide a text at its marks, so that no term has any.
    if marks.isdisjoint("".join(corpus.terms(folded))) and marks:
        return False
    return corpus.count(Part(folded), 1).number > 0


def _worth(passage: Passage, folded: str, weights: Sequence[ConceptWeight]) -> float:
    """Return the weight of the concepts in the best line of a passage that contains a name."""
    lines = passage.fields.get("body", "").split("\n")
    return max((line_weight(line, weights) for line in lines if mentions(line, folded)), default=0)


def with_absent_words(context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
    """Store the words of a query that are in no section, or in none with all required terms.

    Plural and singular are one word, and so are synonyms, and 10MB and 10 MB. Required terms in no
    section do not count. Words of the first hit are not looked for, nor any in an incomplete index.
    """
    if _ABSENT in trace.annotations or trace.report.incomplete:
        return trace
    required = [report.term for report in trace.report.terms if report.sections]
    known = fold("\n".join(required))
    common = tuple(_holds(term, trace) for term in required)
    nowhere: list[JsonValue] = []
    apart: list[JsonValue] = []
    present = _spans(trace.search.rows[:1])
    words = [concept.text for concept in concepts(trace.text) if len(concept.text) > 1]
    in_hits = _spans(trace.search.rows)  # most words are in one, which saves a search for each
    for word in [word for word in words[:_MOST] if word not in present]:
        holds = _holds(word, trace)
        if word not in in_hits and not _together(corpus, holds):
            nowhere.append(word)
        elif common and word not in known and not _together(corpus, holds, *common):
            apart.append(word)
    return context.annotate(trace, _ABSENT, {NOWHERE: nowhere, APART: apart})


def _spans(rows: Iterable[TraceRow]) -> Collection[str]:
    """Return the spans of the query that the sections of some rows contain."""
    return {span for row in rows for span in row.matched}


def absent_of(trace: Trace, kind: str, missing: Collection[str]) -> tuple[str, ...]:
    """Return the words of a kind among the missing ones."""
    words = (stored(trace, _ABSENT, dict) or {}).get(kind, ())
    return tuple(word for word in missing if word in words)


def nowhere_of(trace: Trace) -> Sequence[str]:
    """Return the names and the words of the query that are in no section; no word of a name."""
    unknown = [row.name for row in names_of(trace) if not row.sections]
    words = (stored(trace, _ABSENT, dict) or {}).get(NOWHERE, ())
    named = {concept.text for name in unknown for concept in concepts(name)}
    return [*unknown, *(word for word in words if word not in named)]


def _together(corpus: Corpus, *clauses: Clause) -> bool:
    return corpus.count(Bool(must=clauses), 1).number > 0


def _holds(text: str, trace: Trace) -> Clause:
    others = dict.fromkeys((*trace.origin.query.forms(text), spaced_unit(text)))
    forms = tuple(map(Holds, others))
    return forms[0] if len(forms) == 1 else Bool(should=forms)
