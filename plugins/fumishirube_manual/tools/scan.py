"""``manual_scan``: reads a file page by page, from any place."""

from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Params, SurfaceContext, Tool
from fumishirube.tools import LineRange, MaxChars, NextChar, OrAbsent, ScanCursor, TextPage
from fumishirube_manual.addressed_passages import Tags, tags_of
from fumishirube_manual.arguments import FilePath, ManualId, after_discovery, manual_file
from fumishirube_manual.deliveries import record
from fumishirube_manual.surface import ManualSurface


class ManualScanParams(Params):
    """The file, the start, and the size of a page."""

    manual_id: ManualId
    path: FilePath
    start_line: Annotated[int | None, Field(ge=1, description="Wins over the cursor.")] = None
    cursor: Annotated[ScanCursor | None, Field(description="A next_cursor.")] = None
    max_chars: Annotated[MaxChars | None, Field(description="Default 12000.")] = None


class ManualScanApplied(Answer):
    """What was applied."""

    max_chars: int


class ManualScanAnswer(Answer):
    """One page of a file."""

    manual_id: str
    path: str
    text: str
    applied_range: LineRange
    next_cursor: NextChar
    eof: bool
    truncated: bool
    truncated_reason: Literal["none", "max_chars"]
    applied: ManualScanApplied
    addressed: OrAbsent[Tags] = None


def scan_tool(
    context: SurfaceContext, settings: ManualSurface
) -> Tool[ManualScanParams, ManualScanAnswer]:
    """Return the tool."""

    def run(params: ManualScanParams, call: Call) -> ManualScanAnswer:
        manual, path = manual_file(context, params.manual_id, params.path, "path")
        document = manual.document(path)
        text = document.text
        most = params.max_chars or settings.scan_max_chars
        start = TextPage.start_offset(text, params.start_line, params.cursor)
        read = TextPage.of(text, start, start + most)
        record(call.session, manual.id, document, read)
        return ManualScanAnswer(
            manual_id=manual.id,
            path=path,
            text=read.text,
            applied_range=read.lines,
            next_cursor=read.next_cursor,
            eof=read.eof,
            truncated=not read.eof,
            truncated_reason="none" if read.eof else "max_chars",
            applied=ManualScanApplied(max_chars=most),
            addressed=tags_of(context, text, read, settings, call.budget),
        )

    return Tool(
        name="manual_scan",
        title="Read on, page by page",
        summary=(
            "Returns a file as it is, JSON too, from a line or a cursor on; next_cursor leads "
            "through every character once, until eof. Costs up to max_chars."
        ),
        params=ManualScanParams,
        answer=ManualScanAnswer,
        run=run,
        before=after_discovery,
        examples=(
            {"manual_id": "handbook", "path": "leave.md", "start_line": 40},
            {"manual_id": "handbook", "path": "rates.json", "cursor": {"char_offset": 12000}},
        ),
    )
