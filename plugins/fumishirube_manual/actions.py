"""The next actions after a search: read everything, page through the hits, or search again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import JsonValue

from fumishirube import Answer, CoverageReport, Trace
from fumishirube.text import concepts, fold
from fumishirube_manual.diagnosis import Diagnosis
from fumishirube_manual.evidence.names import NOWHERE, absent_of

_JAPANESE = re.compile(
    r"網羅|漏れなく|もれなく|漏れがない|残らず|洗いざらい|隅々まで|くまなく|余さず"
    r"|(?:全て|すべて|全部|一つ一つ|全件)[^。、]{0,12}(?:参照|確認|読|列挙|挙げ|洗い出|調べ|探|抽出|教え|示)"
)
_ENGLISH = re.compile(
    r"\b(?:exhaustive(?:ly)?|comprehensive(?:ly)?|thorough(?:ly)?|without (?:omission|exception)"
    r"|(?:complete|full) list|nothing (?:is )?(?:missed|left out)"
    r"|(?:list|read|check|find|show|give|name|review|enumerate|collect)\b[^.,;]{0,30}"
    r"\b(?:all|every|each|everything)|every (?:single|mention|occurrence))\b"
)

_SURE, _LIKELY, _UNSURE, _DOUBTFUL = 0.9, 0.8, 0.6, 0.4
_TERMS = 2


class Action(Answer):
    """A call that may come next; ``params`` is null if the caller must choose the arguments."""

    type: Literal["manual_hits", "manual_read", "manual_find", "manual_scan"]
    confidence: float | None
    params: dict[str, JsonValue] | None


def is_exhaustive(query: str) -> bool:
    """Return whether a query asks for everything, in Japanese or English."""
    folded = fold(query)
    return bool(_JAPANESE.search(folded) or _ENGLISH.search(folded))


def marginal_gain(trace: Trace) -> float | None:
    """Return the share of new rows among all rows of this search and of those it follows up."""
    new, before = len(trace.search.rows), len(trace.excluded)
    return round(new / (new + before), 4) if before else None


def next_actions(
    trace: Trace,
    diagnosis: Diagnosis,
    account: CoverageReport,
    paths: Sequence[str],
    least_gain: float,
) -> tuple[Action, ...]:
    """Return the next actions, the most useful first; ``paths`` are the manual's files."""
    actions = [_read_action(trace, diagnosis, paths)]
    gain = marginal_gain(trace)
    weak = diagnosis.status in ("term_dropped_or_weakened", "required_none_matched")
    if weak and (gain is None or gain >= least_gain):
        actions.append(_search_action(trace, account))
    return tuple(actions)


def _read_action(trace: Trace, diagnosis: Diagnosis, paths: Sequence[str]) -> Action:
    rows = trace.search.rows
    if is_exhaustive(trace.text) and (rows or paths):
        place: dict[str, JsonValue] = (
            {"path": rows[0].path, "start_line": rows[0].start_line} if rows else {"path": paths[0]}
        )
        params: dict[str, JsonValue] = {"manual_id": trace.manual_id, **place}
        return Action(type="manual_scan", confidence=_SURE if rows else _UNSURE, params=params)
    sure = bool(rows) and diagnosis.status == "required_effective"
    return Action(
        type="manual_hits",
        confidence=_LIKELY if sure else _UNSURE if rows else _DOUBTFUL,
        params={"trace_id": trace.id, "kind": "integrated_top"},
    )


def _search_action(trace: Trace, account: CoverageReport) -> Action:
    """Propose other terms: near spellings first, then terms that occur, then the query's.

    Words of the query that are known to be in no section are not among them.
    """
    required = {fold(item.term) for item in account.terms}
    near = [item.near[0] for item in account.terms if item.near]
    present = [item.term for item in account.terms if item.sections]
    words = [item.text for item in concepts(trace.text) if item.text not in required]
    nowhere = absent_of(trace, NOWHERE, words)
    others = [word for word in words if word not in nowhere]
    terms = list(dict.fromkeys([*near, *present, *others]))[:_TERMS]
    if not terms or {fold(term) for term in terms} == required:
        return Action(type="manual_find", confidence=_DOUBTFUL, params=None)
    params: dict[str, JsonValue] = {
        "query": trace.text,
        "manual_id": trace.manual_id,
        "required_terms": [*terms],
    }
    return Action(type="manual_find", confidence=_UNSURE if near else _DOUBTFUL, params=params)
