"""The sentences of a Markdown text, unchanged, and what each is: a definition, a step, a denial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Literal, get_args

from fumishirube.text import fold, is_cjk, occurs
from fumishirube_manual.evidence.code_blocks import code_lines

_NO_PROSE = re.compile(
    r"[ \t]*(?:\||<|\[[^\]]+\]:|(?:[-*_=][ \t]*){3,}$)|.*\S(?:\u3000{2,}|[ \t]{3,})\S"
)
_MARKER = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)]|>|#{1,6})(?:[ \t]+|$)"
    r"|[（(][0-9０-９一-十]{1,3}[)）]\s*|[・○●◎■□◆①-⑳]\s*)+"
)
_WRAPPED = 40
"""A line with fewer columns is not wrapped: a sentence ends with it."""
_SENTENCE = re.compile(
    r".+?(?:[。！？][。！？」』）】]*|(?<!\b[A-Za-z])[.!?][)\"'\u201d]*(?=\s+[^\sa-z]|\s*\Z)|\Z)",
    re.DOTALL,
)

Facet = Literal["definition", "procedure", "eligibility", "exceptions", "compare", "unknown"]

FACETS: tuple[Facet, ...] = get_args(Facet)

# The first facet with a cue decides: exclusions often also name who is eligible.
_CUES: Mapping[Facet, str] = {
    "exceptions": (
        "ただし|但し|例外|除く|除き|除外|対象外|限りでない|限りではない|にかかわらず|except|exception|"
        "exceptions|unless|excluding|excluded|excludes|exempt|does not apply|do not apply"
    ),
    "compare": (
        "よりも|比べて|比較|違い|異なる|異なり|一方で|than|versus|vs|whereas|unlike|compared|"
        "difference|differs|differ"
    ),
    "definition": (
        "とは、|とは何|をいう|を指す|のことである|のことです|定義|means|"
        "is defined as|are defined as|definition|stands for|is called|are called"
    ),
    "procedure": (
        "手順|手続き|手続|方法|まず|次に|最後に|のあと|の後に|first|then|next|finally|step|steps|"
        "procedure|how to|before you|after you"
    ),
    "eligibility": (
        "対象|要件|条件|資格|に限る|に限り|場合に|できる者|eligible|eligibility|entitled|qualify|"
        "qualifies|only if|provided that|requirement|requirements|condition|conditions"
    ),
}
_WHAT_IT_IS = re.compile(r"とは[?。]?$|^(?:what (?:is|are)|define)\b")
_ELSEWHERE = (
    "参照|別表|別紙|別に定める|別途定める|準用する|see also|see section|see chapter|see appendix|"
    "see annex|see table|see the|refer to|as described in|as defined in"
)
_NO_DENIAL = re.compile(
    "なければなら(?:ない|ず|なかった)|なくてはなら(?:ない|なかった)|なければなりません|なくてはなりません|"
    "かもしれ(?:ない|ません)|(?:に|間)違い(?:ない|ありません)|少ない|少なくとも|だけでなく|のみならず|"
    r"\bnot only\b|\bno (?:later|earlier|more|less|fewer) than\b"
)
_DENIAL = re.compile(
    r"ない|なかった|ません|対象外|不可|禁止|\b(?:not|no|never|cannot|neither|nor|without)\b|n['\u2019]t\b"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences in order, without code, tables, rules and line markup.

    A sentence may span several long lines, and then contains their line ends.
    """
    for block in _blocks(text):
        for match in _SENTENCE.finditer(block):
            sentence = match.group().strip()
            if sentence:
                yield sentence


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs and list items, without their markers."""
    place = start = end = 0
    lines = [*StringIO(text)]  # lines end at LF only
    for line, in_code in zip(lines, code_lines(lines), strict=True):
        marker = _MARKER.match(line)
        apart = in_code or _NO_PROSE.match(line) or not line.strip()
        if apart or marker:
            yield text[start:end]
            start = place + (len(line) if apart else marker.end() if marker else 0)
        place += len(line)
        end = place
        shown = line.strip()
        if len(shown) + sum(map(is_cjk, shown)) < _WRAPPED:
            yield text[start:end]
            start = end
    yield text[start:end]


def facet_of(folded: str, title: str) -> Facet:
    """Return the facet of a folded sentence by its own words, else by its section's title."""
    for text in (folded, fold(title)):
        for facet, cues in _CUES.items():
            if _any(text, cues):
                return facet
    return "unknown"


def defines(folded: str) -> bool:
    """Return whether a folded title or query is about what something is."""
    return _any(folded, _CUES["definition"]) or _WHAT_IT_IS.search(folded) is not None


def excepts(folded: str) -> bool:
    """Return whether a folded sentence has a word of exceptions."""
    return _any(folded, _CUES["exceptions"])


def denies(folded: str) -> bool:
    """Return whether a folded sentence contains a negation."""
    return _DENIAL.search(_NO_DENIAL.sub("", folded)) is not None


def defers(folded: str) -> bool:
    """Return whether a folded sentence refers to another place."""
    return _any(folded, _ELSEWHERE)


def _any(folded: str, cues: str) -> bool:
    return any(occurs(folded, cue) for cue in cues.split("|"))
