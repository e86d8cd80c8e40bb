"""The answers of ``manual_grep``: lines by section, matches, what remains, and their text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, TypeAlias

from pydantic import Field

from fumishirube import Answer
from fumishirube.tools import OrAbsent, compact
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
from fumishirube_manual.rows import HEADING_SEPARATOR
from fumishirube_manual.text_parts import (
    Json,
    below,
    heading_of,
    other_members,
    place_text,
    places_text,
    split_path,
)

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


PlaceOf: TypeAlias = Callable[[str, str, int, int], str | None]
"""Returns where people see some lines of a manual and a path, from the first to the last."""
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
    place_of: PlaceOf | None,
    *,
    counting: bool,
) -> GrepAnswer:
    """Return a page of the lines, with the places of matches, or only their number."""
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
        groups=None if counting else tuple(_groups(page.entries, scope, place_of)),
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


def _groups(
    entries: Sequence[Entry], scope: SearchScope, place_of: PlaceOf | None
) -> Iterable[LineGroup]:
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
        matches = [entry.place.line for entry in group]
        place = place_of(manual_id, path, min(matches), max(matches)) if place_of else None
        yield LineGroup(
            manual_id=scope.named(manual_id),
            path=path,
            section=section or None,
            place=place,
            lines=tuple(sorted(lines.items())),
            also=also or None,
        )


def grep_text(answer: Json) -> str:
    """Format the answer of ``manual_grep``: counts, then lines by file and section."""
    total, different, files = answer["total"], answer["different"], answer["files"]
    head = f"{total} lines in {files} files"
    if "different_matches" in answer:
        head += f" ({answer['different_matches']} different matches)"
    elif different != total:
        head += f" ({different} different lines)"
    head += ", all below" if total and answer.get("complete") else ""
    head += f"; searched {answer['searched']['files']} files"
    without = answer.get("files_without")
    head += f", without a match: {', '.join(without)}" if without else ""
    head += f"; {answer['left_out']} lines left out" if "left_out" in answer else ""
    head += "; case counts" if "case_counts" in answer else ""
    head += "".join(f"; {_count(text)}" for text in answer.get("texts") or ())
    formatted = {"total", "different", "files", "texts", "searched", "left_out"}
    formatted |= {"groups", "counts", "matches", "more_matches", "next_cursor", "remaining"}
    formatted |= {"complete", "different_matches", "case_counts", "files_without"}
    lines = [head, *other_members(answer, formatted), *_group_texts(answer.get("groups") or ())]
    lines += [f"{place_text(row)}: {row['count']}" for row in answer.get("counts") or ()]
    lines += _matches(answer.get("matches") or ())
    if more := answer.get("more_matches"):
        lines.append(f"next_cursor {answer['next_cursor']}; {more} more different texts")
    if remaining := answer.get("remaining"):
        left = ", ".join(f"{place_text(row)}: {row['count']}" for row in remaining)
        lines.append(f"next_cursor {answer['next_cursor']}; not yet shown: {left}")
    return "\n".join(lines)


def _count(row: Any) -> str:
    """Format how many lines contain a text, and how many of them are on further pages."""
    left = f" ({row['left']} not yet shown)" if "left" in row else ""
    return f"{compact(row['text'])} {row['count']}{left}"


def _group_texts(groups: Any) -> Iterator[str]:
    """Yield the lines below their file and section; do not repeat headings of the group above."""
    file, above = None, [""]
    for group in groups:
        if (place := place_text(group)) != file:
            file, above = place, [""]
            yield f"\n{file}"
        if "section" in group or "place" in group:
            headings = split_path(str(group.get("section", "")))
            named = below(headings, above)
            above = headings
            place = f" ({group['place']})" if "place" in group else ""
            if named and named[-1] == heading_of(group["lines"][0][1]):
                named = named[:-1]
            if place or named:
                yield f"# {HEADING_SEPARATOR.join(named)}{place}"
        also = group.get("also") or {}
        for number, line in group["lines"]:
            repeated = also.get(str(number))
            yield f"{number} {line}" + (f"  (also {places_text(repeated)})" if repeated else "")


def _matches(files: Any) -> Iterator[str]:
    """Yield the matches below the file of their first match: line, count, text."""
    for file in files:
        yield f"\n{place_text(file)}"
        for line, count, text, *within in file["texts"]:
            repeated = f" ({count}x)" if count > 1 else ""
            if len(within) > 1:
                repeated = f" ({count}x, also {places_text(within[1])})"
            yield f"{line} {text}{repeated}" + (f" | {within[0]}" if within and within[0] else "")
