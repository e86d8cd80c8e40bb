"""Words of a query that are absent: from every section, or from those with the required terms."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import JsonValue

from fumishirube import Bool, Clause, Corpus, Holds, SurfaceContext, Trace
from fumishirube.text import concepts, fold
from fumishirube_manual.diagnosis import answerable
from fumishirube_manual.evidence.names import spaced_unit
from fumishirube_manual.stored_values import stored

ANNOTATION = "absent"
NOWHERE, APART = "nowhere", "apart"
_MOST = 12


def with_absent_words(context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
    """Store the words of a query that are in no section, or in none with all required terms.

    Plural and singular are one word, and so are synonyms, and 10MB and 10 MB. Required terms in no
    section do not count. Words are looked for only if those of the query do not occur together, and
    in a complete index.
    """
    if ANNOTATION in trace.annotations or trace.report.incomplete or answerable(trace) == "yes":
        return trace
    required = [report.term for report in trace.report.terms if report.sections]
    known = fold("\n".join(required))
    common = tuple(_holds(term, trace) for term in required)
    nowhere: list[JsonValue] = []
    apart: list[JsonValue] = []
    for word in [c.text for c in concepts(trace.text) if len(c.text) > 1][:_MOST]:
        holds = _holds(word, trace)
        if not _together(corpus, holds):
            nowhere.append(word)
        elif common and word not in known and not _together(corpus, holds, *common):
            apart.append(word)
    return context.annotate(trace, ANNOTATION, {NOWHERE: nowhere, APART: apart})


def absent_of(trace: Trace, kind: str, missing: Collection[str]) -> tuple[str, ...]:
    """Return the words of a kind among the missing ones."""
    words = (stored(trace, ANNOTATION, dict) or {}).get(kind, ())
    return tuple(word for word in missing if word in words)


def _together(corpus: Corpus, *clauses: Clause) -> bool:
    """Tell whether a section matches all clauses."""
    return corpus.count(Bool(must=clauses), 1).number > 0


def _holds(text: str, trace: Trace) -> Clause:
    others = dict.fromkeys((*trace.origin.query.forms(text), spaced_unit(text)))
    forms = tuple(map(Holds, others))
    return forms[0] if len(forms) == 1 else Bool(should=forms)
