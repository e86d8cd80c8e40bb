"""Reading exact ranges of lines, numbered, each with the headings around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from fumishirube import (
    Call,
    Citation,
    Document,
    InvalidParameter,
    Params,
    Section,
    SurfaceContext,
    ToolError,
)
from fumishirube.disk import clean_path
from fumishirube.text import Lines
from fumishirube.tools import LeanAnswer, TextPage
from fumishirube_manual.arguments import ManualId, manual_by_id
from fumishirube_manual.deliveries import record

MOST_RANGES = 8

_FENCE = re.compile(r"\s*(```|~~~)")
_SENTENCE_END = re.compile(r"[。！？][」』）】]*|[.!?](?=\s)")


class LineRangeRef(Params):
    """Lines of a file; without ``end_line`` all of the section that holds the first."""

    manual_id: ManualId
    path: Annotated[str, AfterValidator(clean_path)]
    start_line: Annotated[int | None, Field(ge=1)] = None
    end_line: Annotated[int | None, Field(ge=1)] = None


def _of_citation(value: Any) -> Any:
    """Take a citation for the lines that it names; leave anything else."""
    if not isinstance(value, str):
        return value
    cited = Citation.parse(value)
    lines = {"start_line": cited.start_line, "end_line": cited.end_line}
    return {"manual_id": cited.manual_id, "path": cited.path, **lines}


_RANGE = Annotated[LineRangeRef, BeforeValidator(_of_citation)]

LineRanges = Annotated[
    tuple[_RANGE, ...],
    Field(min_length=1, max_length=MOST_RANGES),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MOST_RANGES,
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "manual_id": {"type": "string"},
                            "path": {"type": "string"},
                            "start_line": {"type": "integer"},
                            "end_line": {"type": "integer"},
                        },
                        "required": ["manual_id", "path"],
                    },
                    {"type": "string"},
                ]
            },
            "description": "Instead of ref: ranges of lines, or citations.",
        }
    ),
]


class RangeAnswer(LeanAnswer):
    """The lines of one range, each with its number; or why it cannot be read.

    ``before`` is the heading that the first line stands under, ``after`` the next one below, each
    with its line. ``left`` is the first line that did not fit, and the last that was wanted.
    """

    omitted: ClassVar[frozenset[str]] = frozenset(
        {"lines", "before", "after", "left", "code_left_out", "error"}
    )

    manual_id: str
    path: str
    lines: tuple[tuple[int, str], ...] | None = None
    before: tuple[int, str] | None = None
    after: tuple[int, str] | None = None
    left: tuple[int, int] | None = None
    code_left_out: Annotated[
        int | None, Field(description="How many lines of code were left out.")
    ] = None
    error: dict[str, JsonValue] | None = None


class _Part(NamedTuple):
    """What is shown of one range: lines, where the rest begins, and how much code is not shown."""

    lines: tuple[tuple[int, str], ...]
    next_line: int | None = None
    code: int = 0


def read_ranges(
    context: SurfaceContext,
    ranges: Sequence[LineRangeRef],
    call: Call,
    most: int,
    *,
    code: bool,
) -> Iterator[RangeAnswer]:
    """Yield each range in the order in which it is wanted; all together have ``most`` characters.

    What cannot be read says so in its place, if others can.

    Raises:
        ToolError: when the only range cannot be read.
    """
    left = most
    for number, wanted in enumerate(ranges):
        # What is left is shared by what is still to come, so that the first takes nothing away.
        share = max(left // (len(ranges) - number), 1)
        try:
            answer, used = _read(context, wanted, call, share, code=code)
        except ToolError as error:
            if len(ranges) == 1:
                raise
            payload = error.payload()
            answer = RangeAnswer(manual_id=wanted.manual_id, path=wanted.path, error=payload)
            used = 0
        left -= used
        yield answer


def _read(
    context: SurfaceContext, wanted: LineRangeRef, call: Call, most: int, *, code: bool
) -> tuple[RangeAnswer, int]:
    manual = manual_by_id(context, wanted.manual_id)
    document = manual.document(wanted.path)
    lines = Lines(document.text)
    first, last = _bounds(document, lines, wanted)
    part = _part(document.text, lines, first, last, most, code=code)
    end = max(first, part.next_line - 1) if part.next_line else last
    shown = TextPage.of(document.text, lines.start(first), lines.start(min(end, lines.total) + 1))
    record(call.session, manual.id, document, shown)
    answer = RangeAnswer(
        manual_id=manual.id,
        path=wanted.path,
        lines=part.lines,
        before=_heading(_enclosing(document, first), first),
        after=_heading(_following(document, end), None),
        left=(part.next_line, last) if part.next_line else None,
        code_left_out=part.code or None,
    )
    return answer, sum(len(text) for _, text in part.lines)


def _bounds(document: Document, lines: Lines, wanted: LineRangeRef) -> tuple[int, int]:
    first = wanted.start_line or 1
    InvalidParameter.unless_within("start_line", first, 1, lines.total)
    if wanted.end_line is not None:
        last = min(wanted.end_line, lines.total)
        InvalidParameter.unless_within("end_line", last, first, lines.total)
        return first, last
    section = _enclosing(document, first)
    if section is None:
        return first, lines.total
    return first, max(first, lines.at(max(section.extent - 1, section.start)))


def _part(text: str, lines: Lines, first: int, last: int, most: int, *, code: bool) -> _Part:
    """Return the lines that fit; the last of them ends with a sentence where it has to be cut."""
    shown: list[tuple[int, str]] = []
    fenced, left, hidden = False, most, 0
    for number in range(first, last + 1):
        line = text[lines.start(number) : lines.start(number + 1)].rstrip("\r\n")
        fence = bool(_FENCE.match(line))
        fenced = fenced != fence
        if not code and (fenced or fence):
            hidden += 1
            continue
        if len(line) > left:
            if not shown:
                shown.append((number, _cut(line, most)))
            return _Part(tuple(shown), number, hidden)
        if line.strip():
            shown.append((number, line))
            left -= len(line)
    return _Part(tuple(shown), code=hidden)


def _cut(line: str, most: int) -> str:
    """Return the beginning of a line that is too long by itself, up to the end of a sentence."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line, 0, most)]
    return line[: ends[-1] if ends else most] + "…"


def _enclosing(document: Document, line: int) -> Section | None:
    """Return the section that holds a line: the last one that begins above it, or with it."""
    return next((s for s in reversed(document.sections) if s.start_line <= line), None)


def _following(document: Document, line: int) -> Section | None:
    return next((s for s in document.sections if s.start_line > line), None)


def _heading(section: Section | None, first: int | None) -> tuple[int, str] | None:
    """Return a heading with its line; nothing when it is the first line that is shown."""
    if section is None or section.start_line == first or not section.title:
        return None
    return section.start_line, section.title
