"""Reads exact ranges of numbered lines, each with the headings around it."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field, JsonValue

from fumishirube import (
    Answer,
    Call,
    Citation,
    Document,
    InvalidParameter,
    Manual,
    NotFound,
    Section,
    SurfaceContext,
    ToolError,
)
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.parsing import place_range
from fumishirube.text import Lines
from fumishirube.tools import NextChar, OrAbsent, TextPage
from fumishirube_manual.arguments import MOST_LISTED, manual_by_id, name_range
from fumishirube_manual.citations import has_hash
from fumishirube_manual.deliveries import record
from fumishirube_manual.evidence.code_blocks import code_lines

RANGES_CHARS = 8_000
"""The default number of characters of all ranges together."""
_SENTENCE_END = re.compile(r"[。！？][」』）】]*|[.!?](?=\s)")


class RangeAnswer(Answer):
    """The numbered lines of one range, or why it cannot be read.

    ``before`` is the heading above the first line, ``after`` the next heading below, each with its
    line. ``left`` is the first line that did not fit, and the last requested one. If that line is
    shown in part, it goes on at ``next_cursor`` of ``manual_scan``.
    """

    manual_id: str
    path: str
    place: OrAbsent[str] = None
    changed: Annotated[
        OrAbsent[bool], Field(description="Whether the text is another one than was cited.")
    ] = None
    lines: OrAbsent[tuple[tuple[int, str], ...]] = None
    before: OrAbsent[tuple[int, str]] = None
    after: OrAbsent[tuple[int, str]] = None
    goes_on: Annotated[
        OrAbsent[bool], Field(description="Whether the next heading is the same as the last one.")
    ] = None
    left: OrAbsent[tuple[int, int]] = None
    next_cursor: OrAbsent[NextChar] = None
    code_left_out: Annotated[
        OrAbsent[int], Field(description="How many lines of code were left out.")
    ] = None
    error: OrAbsent[dict[str, JsonValue]] = None


def read_ranges(
    context: SurfaceContext, ranges: Sequence[Citation], call: Call, most: int, *, code: bool
) -> Iterator[RangeAnswer]:
    """Yield each range in the requested order; together they have at most ``most`` characters.

    An unreadable range is answered with its error, if there are others.

    Raises:
        ToolError: when the only range cannot be read.
    """
    alone = len(ranges) == 1
    opened = [_opened(context, number, ref, alone=alone) for number, ref in enumerate(ranges)]
    sizes = [0 if isinstance(part, RangeAnswer) else part.chars for part in opened]
    for part, share in zip(opened, _shares(sizes, most), strict=True):
        yield part if isinstance(part, RangeAnswer) else _answer(part, call, share, code=code)


class _Range(NamedTuple):
    """A range of a document, from its first line to its last."""

    manual_id: str
    document: Document
    lines: Lines
    first: int
    last: int
    changed: bool

    @property
    def chars(self) -> int:
        """The number of characters."""
        return self.lines.start(self.last + 1) - self.lines.start(self.first)


def _shares(sizes: Sequence[int], most: int) -> list[int]:
    """Divide the characters: short ranges are whole, long ones share the rest."""
    shares = [0] * len(sizes)
    left, waiting = most, len(sizes)
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        shares[place] = max(1, min(sizes[place], left // waiting))
        left, waiting = max(0, left - shares[place]), waiting - 1
    return shares


def _opened(
    context: SurfaceContext, number: int, requested: Citation, *, alone: bool
) -> _Range | RangeAnswer:
    try:
        manual, path = _file(context, requested)
        requested = requested._replace(manual_id=manual.id, path=path)
        document = manual.document(path)
        requested = requested.within(document)
        first, last = cited_bounds(document, lines := Lines(document.text), requested)
        cited = range(first, (last if requested.end_line else first) + 1)
        text = document.text[lines.start(cited.start) : lines.start(cited.stop)]
        changed = requested.digest is not None and not has_hash(text, requested.digest)
        return _Range(manual.id, document, lines, first, last, changed)
    except ToolError as error:
        name_range(error, number)
        if alone:
            raise
        payload = error.payload()
        return RangeAnswer(manual_id=requested.manual_id, path=requested.path, error=payload)


def _file(context: SurfaceContext, requested: Citation) -> tuple[Manual, str]:
    """Return the manual and the path of a range; without an id, the only manual with the file.

    The path of a range without an id may begin with it.

    Raises:
        NotFound: when no manual has the file.
        InvalidParameter: when several have it.
    """
    if requested.manual_id != EVERY_MANUAL:
        return manual_by_id(context, requested.manual_id), requested.path
    manuals = {manual_id: context.manual(manual_id) for manual_id in context.manuals()}
    manual_id, _, inner = requested.path.partition("/")
    named = [(manuals[manual_id], inner)] if inner and manual_id in manuals else []
    readings = [*((manual, requested.path) for manual in manuals.values()), *named]
    # What the named manual lacks, it refuses itself: a link, or a name that is nearly right.
    places = [(manual, path) for manual, path in readings if path in manual.paths()] or named
    if not places:
        raise NotFound("no manual has this file", path=requested.path)
    if len(places) > 1:
        candidates: Any = [*dict.fromkeys(manual.id for manual, _ in places)][:MOST_LISTED]
        raise InvalidParameter(
            f"several manuals have this file: cite {Citation(candidates[0], places[0][1])}",
            candidate_ids=candidates,
        )
    return places[0]


def _answer(part: _Range, call: Call, most: int, *, code: bool) -> RangeAnswer:
    manual_id, document, lines, first, last, changed = part
    shown = shown_lines(document, lines, range(first, last + 1), most, code=code)
    end = max(first, shown.next_line - 1) if shown.next_line else last
    stop = shown.cut_at or lines.start(min(end, lines.total) + 1)
    page = TextPage.of(document.text, lines.start(first), stop)
    if not shown.code:
        record(call.session, manual_id, document, page)
    place = place_range(document.places, first, min(end, lines.total))
    after = _heading(next((s for s in document.sections if s.start_line > end), None), None)
    above = enclosing_section(document, end)
    return RangeAnswer(
        manual_id=manual_id,
        path=document.path,
        place=None if place is None else str(place),
        changed=changed or None,
        lines=shown.lines,
        before=_heading(enclosing_section(document, first), first),
        after=after,
        goes_on=bool(after and above and after[1] == above.title) or None,
        left=(shown.next_line, last) if shown.next_line else None,
        next_cursor=None if shown.cut_at is None else NextChar(char_offset=shown.cut_at),
        code_left_out=shown.code or None,
    )


def cited_bounds(
    document: Document,
    lines: Lines,
    cited: Citation,
    names: tuple[str, str] = ("start_line", "end_line"),
) -> tuple[int, int]:
    """Return the first and the last line of a citation; of one line, the rest of its section.

    Raises:
        InvalidParameter: with the name of the line that the document does not have.
    """
    first = cited.start_line or 1
    InvalidParameter.unless_within(names[0], first, 1, lines.total)
    section = enclosing_section(document, first)
    rest = lines.at(max(section.extent - 1, section.start)) if section else lines.total
    last = min(cited.end_line or max(first, rest), lines.total)
    InvalidParameter.unless_within(names[1], last, first, lines.total)
    return first, last


def _heading(section: Section | None, first: int | None) -> tuple[int, str] | None:
    """Return a heading with its line; ``None`` when it is the first line shown."""
    if section is None or section.start_line == first or not section.title:
        return None
    return section.start_line, section.title


class ShownLines(NamedTuple):
    """The shown part of a range: numbered lines, the first line of the rest, and omitted code.

    ``cut_at`` is the offset in the document at which a line goes on that is shown in part.
    """

    lines: tuple[tuple[int, str], ...]
    next_line: int | None = None
    cut_at: int | None = None
    code: int = 0


def shown_lines(
    document: Document, lines: Lines, numbers: range, most: int, *, code: bool
) -> ShownLines:
    """Return the lines that fit, without blank ones; of an overlong first one, its beginning."""
    omitted = () if code else _code(document, lines, numbers)
    shown: list[tuple[int, str]] = []
    left, hidden = most, 0
    for number in numbers:
        line = _line(document, lines, number)
        if number in omitted:
            hidden += 1
            continue
        if len(line) > left:
            cut_at = None
            if not shown:
                end = _end(line, most)
                shown.append((number, f"{line[:end]}…"))
                cut_at = lines.start(number) + end
            return ShownLines(tuple(shown), number, cut_at, hidden)
        if line.strip():
            shown.append((number, line))
            left -= len(line)
    return ShownLines(tuple(shown), code=hidden)


def enclosing_section(document: Document, line: int) -> Section | None:
    """Return the section that contains a line: the last one that begins at or above it."""
    return next((s for s in reversed(document.sections) if s.start_line <= line), None)


def _code(document: Document, lines: Lines, numbers: range) -> Collection[int]:
    """Return which lines belong to code, which may begin above the range in its section."""
    section = enclosing_section(document, numbers.start)
    top = section.start_line if section is not None else 1
    texts = [_line(document, lines, number) for number in range(top, numbers.stop)]
    return {number for number, is_code in enumerate(code_lines(texts), top) if is_code}


def _line(document: Document, lines: Lines, number: int) -> str:
    return document.text[lines.start(number) : lines.start(number + 1)].rstrip("\r\n")


def _end(line: str, most: int) -> int:
    """Return where the beginning of an overlong line ends, after a sentence if it has one."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line, 0, most)]
    return ends[-1] if ends else most
