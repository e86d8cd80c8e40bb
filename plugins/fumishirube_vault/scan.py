"""``vault_scan``: reads a note page by page."""

from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Params, Tool
from fumishirube.text import unify_line_ends
from fumishirube.tools import PAGE_CHARS, Cursor, LineRange, NextChar, TextPage
from fumishirube_vault.notes import NoteStore, short_hash
from fumishirube_vault.rules import NotePath

_WHOLE = 2**31
"""More characters than a note has."""


class VaultScanParams(Params):
    """The note, and where to start."""

    path: NotePath
    start_line: Annotated[int | None, Field(ge=1, description="Wins over the cursor.")] = None
    cursor: Annotated[Cursor | None, Field(description="next_cursor of the last page.")] = None


class VaultScanApplied(Answer):
    """The arguments in effect."""

    max_chars: int


class VaultScanAnswer(Answer):
    """One page of a note, with LF for every line end."""

    text: str
    applied_range: LineRange
    next_cursor: NextChar
    eof: bool
    truncated: bool
    truncated_reason: Literal["none", "max_chars"]
    applied: VaultScanApplied
    content_hash: str


def scan_tool(notes: NoteStore) -> Tool[VaultScanParams, VaultScanAnswer]:
    """Return the tool."""

    def run(params: VaultScanParams, _: Call) -> VaultScanAnswer:
        return _scanned(notes, params, PAGE_CHARS)

    return Tool(
        name="vault_scan",
        title="Read a note on, page by page",
        summary=(
            "Returns a note from a line or a cursor on, 12000 characters a page, until eof; "
            "line ends as LF."
        ),
        params=VaultScanParams,
        answer=VaultScanAnswer,
        run=run,
        examples=(
            {"path": "projects/plan.md"},
            {"path": "projects/plan.md", "cursor": {"char_offset": 12000}},
        ),
    )


def text_tool(notes: NoteStore) -> Tool[VaultScanParams, VaultScanAnswer]:
    """Return the tool that reads a note to its end."""

    def run(params: VaultScanParams, _: Call) -> VaultScanAnswer:
        return _scanned(notes, params, _WHOLE)

    return Tool(
        name="vault_text",
        title="Read a note to its end",
        summary="Return a note from a line or a cursor on, however long it is; line ends as LF.",
        params=VaultScanParams,
        answer=VaultScanAnswer,
        run=run,
        examples=({"path": "projects/plan.md"},),
    )


def _scanned(notes: NoteStore, params: VaultScanParams, most: int) -> VaultScanAnswer:
    read, data = notes.text(params.path)
    text = unify_line_ends(read.text)
    start = TextPage.start_offset(text, params.start_line, params.cursor)
    got = TextPage.of(text, start, start + most)
    return VaultScanAnswer(
        text=got.text,
        applied_range=got.lines,
        next_cursor=got.next_cursor,
        eof=got.eof,
        truncated=not got.eof,
        truncated_reason="none" if got.eof else "max_chars",
        applied=VaultScanApplied(max_chars=most),
        content_hash=short_hash(data),
    )
