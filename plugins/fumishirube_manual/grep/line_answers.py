"""The answers of ``manual_grep``: lines by section, what remains, and what was not searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from fumishirube import Answer
from fumishirube.tools import OrAbsent
from fumishirube_manual.coverage import NEVER_SEARCHED
from fumishirube_manual.grep.line_accounts import (
    LineCount,
    SearchAccount,
    Searched,
    SearchScope,
    UnsearchedFiles,
    counted_paths,
)
from fumishirube_manual.grep.line_pages import Entry, LinePage
from fumishirube_manual.grep.matched_texts import MatchedText, MatchedTexts

_LISTED_SHARE, _LISTED_LEAST = 0.2, 400
"""The share of an answer for the list of remaining files, and its least characters."""


class LineGroup(Answer):
    """Lines of one section, with neighbouring lines, and other places of equal lines."""

    manual_id: OrAbsent[str] = None
    path: str
    section: OrAbsent[str] = None
    place: Annotated[OrAbsent[str], Field(description="As p12, s3, Sheet1!R5.")] = None
    lines: tuple[tuple[int, str], ...]
    also: Annotated[
        OrAbsent[dict[str, tuple[str, ...]]],
        Field(description="By line number: where else the same line stands; another heading."),
    ] = None


class TextCount(Answer):
    """How many lines contain one of several texts, and how many of them are on further pages."""

    text: str
    count: int
    left: OrAbsent[int] = None


_Text: TypeAlias = tuple[int, int, str]
_TextWithin: TypeAlias = tuple[int, int, str, str]
_TextAlso: TypeAlias = tuple[int, int, str, str, tuple[str, ...]]


class MatchGroup(Answer):
    """Matching texts, below the file of their first match."""

    manual_id: OrAbsent[str] = None
    path: str
    texts: Annotated[
        tuple[_Text | _TextWithin | _TextAlso, ...],
        Field(description="Line, how often, text; if few or asked, headings and line, others."),
    ]


class GrepAnswer(Answer):
    """Every matching line, page by page; ``total`` is exact for what was searched."""

    total: Annotated[int, Field(description="Lines that match.")]
    different: Annotated[int, Field(description="Lines that differ.")]
    files: Annotated[int, Field(description="Files with such lines.")]
    left_out: Annotated[
        OrAbsent[int], Field(description="Further lines, left out by the pattern without.")
    ] = None
    case_counts: Annotated[
        OrAbsent[bool], Field(description="The pattern names a case; exact false ignores it.")
    ] = None
    complete: Annotated[
        OrAbsent[bool],
        Field(description="Nothing is on further pages, and nothing was unreadable."),
    ] = None
    manuals: OrAbsent[tuple[str, ...]] = None
    texts: OrAbsent[tuple[TextCount, ...]] = None
    groups: OrAbsent[tuple[LineGroup, ...]] = None
    counts: OrAbsent[tuple[LineCount, ...]] = None
    matches: Annotated[
        OrAbsent[tuple[MatchGroup, ...]],
        Field(description="Each different text that matched, by the file where it does first."),
    ] = None
    different_matches: Annotated[OrAbsent[int], Field(description="Texts that matched.")] = None
    more_matches: OrAbsent[int] = None
    next_cursor: OrAbsent[str] = None
    remaining: OrAbsent[tuple[LineCount, ...]] = None
    searched: Searched
    files_without: Annotated[
        OrAbsent[tuple[str, ...]], Field(description="The searched files without a match, if few.")
    ] = None
    not_searched: OrAbsent[tuple[UnsearchedFiles, ...]] = None
    degraded: OrAbsent[str] = None


def grep_answer(
    texts: Sequence[str],
    max_chars: int,
    fingerprint: str,
    scope: SearchScope,
    page: LinePage,
    account: SearchAccount,
    *,
    counting: bool,
) -> GrepAnswer:
    """Return a page of the lines, or only their number."""
    counted = counted_paths(page.counts, max_chars, scope) if counting else None
    listed = max(_LISTED_LEAST, listed_chars(max_chars))
    remaining = counted_paths(page.remaining, listed, scope) if not counting else ()
    left = Counter[int]() if counting else page.remaining_texts
    several = tuple(
        TextCount(text=text, count=page.texts[number], left=left[number] or None)
        for number, text in enumerate(texts)
    )
    return GrepAnswer(
        total=page.total,
        different=page.different,
        files=len(page.counts),
        manuals=scope.ids if scope.every else None,
        texts=several if len(several) > 1 else None,
        groups=None if counting else tuple(_groups(page.entries, scope)),
        counts=counted,
        next_cursor=f"{page.end}.{fingerprint}" if remaining else None,
        remaining=remaining or None,
        searched=Searched(files=account.files, sections=account.sections),
        not_searched=account.rows(scope),
        degraded="; ".join(account.degraded) or None,
    )


def completed(answer: GrepAnswer, offset: int) -> GrepAnswer:
    """Return the answer with ``complete``, if it is a first page that leaves nothing out."""
    unsearched = any(row.reason not in NEVER_SEARCHED for row in answer.not_searched or ())
    left = answer.next_cursor or answer.counts or answer.degraded or unsearched
    return answer if offset or left else answer.model_copy(update={"complete": True})


def tally_answer(
    counted: GrepAnswer,
    max_chars: int,
    cursor: tuple[int, str],
    scope: SearchScope,
    tally: MatchedTexts,
) -> GrepAnswer:
    """Return the distinct matches instead of lines; ``more_matches`` counts the later ones."""
    offset, fingerprint = cursor
    rows, more = tally.page(offset, max_chars)
    matches = tuple(
        MatchGroup(
            manual_id=scope.named(manual_id),
            path=path,
            texts=tuple(_listed(text) for _, text in group),
        )
        for (manual_id, path), group in groupby(rows, key=lambda row: row[0][:2])
    )
    paging = {"next_cursor": f"{len(tally) - more}.{fingerprint}"} if more else {}
    tallied = {"counts": None, "matches": matches, "more_matches": more or None}
    tallied["different_matches"] = len(tally)
    return counted.model_copy(update=tallied | paging)


def _listed(text: MatchedText) -> _Text | _TextWithin | _TextAlso:
    if text.also:
        return (*text,)
    return (*text[:4],) if text.within else (*text[:3],)


def listed_chars(chars: int) -> int:
    """Return the characters of an answer for the list of remaining files."""
    return int(_LISTED_SHARE * chars)


def _groups(entries: Sequence[Entry], scope: SearchScope) -> Iterable[LineGroup]:
    """Yield the entries by section; a line next to several matches is included once."""
    key = attrgetter("place.manual_id", "place.path", "section")
    for (manual_id, path, section), run in groupby(entries, key):
        group = [*run]
        lines: dict[int, str] = {}
        for entry in group:
            for number, line in entry.lines:
                if number == entry.place.line or number not in lines:
                    lines[number] = line
        also: dict[str, Any] = {
            str(entry.place.line): (*entry.also, *([f"+{entry.more}"] if entry.more else []))
            for entry in group
            if entry.also
        }
        yield LineGroup(
            manual_id=scope.named(manual_id),
            path=path,
            section=section or None,
            lines=tuple(sorted(lines.items())),
            also=also or None,
        )
