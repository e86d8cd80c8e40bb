"""``manual_read``: reads a section with its sub-sections, or ranges of lines."""

from functools import partial
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field

from fumishirube import (
    Answer,
    Call,
    Document,
    InvalidParameter,
    InvalidScope,
    NotFound,
    Params,
    Section,
    SurfaceContext,
    Tool,
)
from fumishirube.tools import (
    PAGE_CHARS,
    LineRange,
    MaxChars,
    NextChar,
    OrAbsent,
    TextPage,
    narrowed_params,
)
from fumishirube_manual.addressed_passages import Tags, tags_of
from fumishirube_manual.arguments import (
    FilePath,
    LineRanges,
    ManualId,
    after_discovery,
    manual_file,
)
from fumishirube_manual.deliveries import record
from fumishirube_manual.plain_texts import read_text
from fumishirube_manual.ranges import RANGES_CHARS, RangeAnswer, read_ranges
from fumishirube_manual.surface import ManualSurface


class ReadRef(Params):
    """A section; accepts the ref of a hit."""

    model_config = ConfigDict(extra="ignore")

    manual_id: ManualId
    path: FilePath
    start_line: Annotated[
        int | None, Field(ge=1, description="Line of its heading; default the first.")
    ] = None


def _no_citation(value: Any) -> Any:
    if isinstance(value, str):
        raise InvalidParameter(
            'ref must be an object; pass a citation in refs: ["manual://ID/PATH#L1-L9"]',
            parameter="ref",
        )
    return value


class ManualReadParams(Params):
    """The section and how much of it, or the ranges of lines."""

    ref: Annotated[ReadRef | None, BeforeValidator(_no_citation)] = None
    refs: LineRanges | None = None
    code: Annotated[bool | None, Field(description="With refs: false leaves code out.")] = None
    max_chars: Annotated[MaxChars | None, Field(description="12000; refs 8000.")] = None
    scope: Literal["section"] | None = None


class SectionReadParams(ManualReadParams):
    """The section and how much of it."""

    max_chars: Annotated[MaxChars | None, Field(description=f"Default {PAGE_CHARS}.")] = None


class ManualReadApplied(Answer):
    """What was applied; ``scan_fallback`` when the section had been read before."""

    scope: Literal["section"]
    max_sections: None
    max_chars: int
    mode: Literal["read", "scan_fallback"]


class ManualReadAnswer(Answer):
    """The text, its lines, and where the file continues."""

    text: str
    truncated: bool
    applied: ManualReadApplied
    applied_range: LineRange
    next_cursor: NextChar
    eof: bool
    addressed: OrAbsent[Tags] = None


class RangesAnswer(Answer):
    """The ranges in ``refs``, in order; or, for a ``ref``, the members of its answer."""

    items: OrAbsent[tuple[RangeAnswer, ...]] = None
    text: OrAbsent[str] = None
    truncated: OrAbsent[bool] = None
    applied: OrAbsent[ManualReadApplied] = None
    applied_range: OrAbsent[LineRange] = None
    next_cursor: OrAbsent[NextChar] = None
    eof: OrAbsent[bool] = None
    addressed: OrAbsent[Tags] = None


def read_tool(
    context: SurfaceContext, settings: ManualSurface
) -> Tool[ManualReadParams, ManualReadAnswer] | Tool[ManualReadParams, RangesAnswer]:
    """Return the tool; with the setting, it also reads ranges of lines."""

    def read(params: ManualReadParams, call: Call) -> ManualReadAnswer:
        if params.ref is None:
            raise InvalidParameter("ref is required", parameter="ref")
        return _read_section(context, settings, params.ref, params.max_chars or PAGE_CHARS, call)

    def read_either(params: ManualReadParams, call: Call) -> RangesAnswer:
        if (params.ref is None) == (not params.refs):
            raise InvalidParameter("give either ref or refs", parameter="ref")
        if not params.refs:
            if params.code is False:
                raise InvalidParameter("code may be false with refs only", parameter="code")
            return RangesAnswer(**dict(read(params, call)))
        most = params.max_chars or RANGES_CHARS
        items = read_ranges(context, params.refs, call, most, code=params.code is not False)
        return RangesAnswer(items=tuple(items))

    described = partial(
        Tool,
        name="manual_read",
        title="Read a section",
        before=after_discovery,
        text=read_text if "plain" in settings.extras else None,
        examples=({"ref": {"manual_id": "handbook", "path": "leave.md", "start_line": 12}},),
    )
    if "refs" not in settings.extras:
        params: type[ManualReadParams] = narrowed_params(
            SectionReadParams, {"refs", "code"}, {"ref": ReadRef}
        )
        return described(summary=_SUMMARY, params=params, answer=ManualReadAnswer, run=read)
    return described(
        summary=_SUMMARY + _RANGES, params=ManualReadParams, answer=RangesAnswer, run=read_either
    )


class _Reading(NamedTuple):
    """The last section that a session read of a file, how far, and in which text."""

    start_line: int
    next_offset: int
    text_hash: int


class _Readings(dict[tuple[str, str], _Reading]):
    """What a session read last of each file, by manual and path."""


_SUMMARY = (
    "Returns one section with its sub-sections, by a hit's ref or a heading's line; the same again "
    "goes on after it. Not JSON: see manual_scan. Costs up to max_chars."
)
_RANGES = " With refs: up to 8 ranges of numbered lines, JSON too; 40 cost 1,000 tokens."


def _read_section(
    context: SurfaceContext, settings: ManualSurface, ref: ReadRef, most: int, call: Call
) -> ManualReadAnswer:
    manual, path = manual_file(context, ref.manual_id, ref.path, "ref.path")
    document = manual.document(path)
    if document.scan_only:
        raise InvalidScope(
            "manual_read serves markdown sections; use manual_scan for "
            f"{document.file_type.upper()}",
            path=path,
        )
    section = _section(document, ref.start_line, settings)
    place = (manual.id, path)
    mode: Literal["read", "scan_fallback"]
    readings = call.session.keep(_Readings) if call.session else _Readings()
    last, text_hash = readings.get(place), hash(document.text)
    again = last and (last.start_line, last.text_hash) == (section.start_line, text_hash)
    if last and again and last.next_offset < len(document.text):
        read = TextPage.of(document.text, last.next_offset, last.next_offset + most)
        truncated, mode = not read.eof, "scan_fallback"
    else:
        start = section.start if ref.start_line else _top(document, section)
        read = TextPage.of(document.text, start, min(section.extent, start + most))
        truncated, mode = read.next_offset < section.extent, "read"
    readings[place] = _Reading(section.start_line, read.next_offset, text_hash)
    record(call.session, manual.id, document, read)
    return ManualReadAnswer(
        text=read.text,
        truncated=truncated,
        applied=ManualReadApplied(scope="section", max_sections=None, max_chars=most, mode=mode),
        applied_range=read.lines,
        next_cursor=read.next_cursor,
        eof=read.eof,
        addressed=tags_of(context, document.text, read, settings, call.budget),
    )


def _section(document: Document, start_line: int | None, settings: ManualSurface) -> Section:
    """Return the section that starts on a line; without a line the first, with extras with text."""
    if start_line is None and document.sections:
        first = document.sections[0]
        with_text = filter(document.holds_text, document.sections if settings.extras else ())
        return next(with_text, first)
    for section in document.sections:
        if section.start_line == start_line:
            return section
    raise NotFound(
        "no section starts on this line; take line_start from manual_toc(depth='deep')",
        path=document.path,
        start_line=start_line,
    )


def _top(document: Document, section: Section) -> int:
    """Return the start of the first section, including front matter."""
    first = document.sections[0]
    return first.start if first.start < document.content else section.start
