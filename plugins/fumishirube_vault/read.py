"""``vault_read``: reads lines of a note, with their own line ends."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fumishirube import Answer, Call, InvalidParameter, Params, Tool
from fumishirube.text import Lines
from fumishirube.tools import PAGE_CHARS, LineRange, NextChar
from fumishirube_vault.note_texts import CRLF, LineEnds
from fumishirube_vault.notes import NoteStore, short_hash
from fumishirube_vault.rules import NotePath


class Range(Params):
    """Lines from 1 to the last, inclusive; all lines by default."""

    start_line: Annotated[int | None, Field(ge=1)] = None
    end_line: Annotated[int | None, Field(ge=1)] = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end_line is not None and (self.start_line or 1) > self.end_line:
            raise InvalidParameter(
                "range.end_line must not be smaller than range.start_line",
                parameter="range.end_line",
                min=self.start_line,
            )
        return self


class VaultReadParams(Params):
    """The note and its lines."""

    path: NotePath
    full: Annotated[bool, Field(description="All of it; needs no range.")] = False
    range: Annotated[Range | None, Field(description="Lines to read; {} is the whole note.")] = None

    @model_validator(mode="after")
    def _range_or_full(self) -> Self:
        if self.range is None and not self.full:
            raise InvalidParameter("range is required unless full is true", parameter="range")
        return self


class VaultReadApplied(Answer):
    """The arguments in effect."""

    full: bool
    max_chars: int


class VaultReadAnswer(Answer):
    """The text, its lines, and where to continue."""

    text: str
    truncated: bool
    returned_chars: int
    applied_range: LineRange
    next_cursor: NextChar
    truncated_reason: Literal["none", "range_end", "max_chars"]
    applied: VaultReadApplied
    content_hash: str


def read_tool(notes: NoteStore) -> Tool[VaultReadParams, VaultReadAnswer]:
    """Return the tool."""

    def run(params: VaultReadParams, _: Call) -> VaultReadAnswer:
        read, data = notes.text(params.path)
        ends = LineEnds(read.text)
        lines = Lines(ends.text)
        first, last = _lines(params.range or Range(), lines.total)
        if params.full:
            first, last = 1, lines.total
        start, end = lines.start(first), lines.start(last + 1)
        text = _piece(ends, start, end)
        after = ends.offset(ends.place(start) + len(text))
        reason: Literal["none", "range_end", "max_chars"] = "none"
        if after < lines.length:
            reason = "range_end" if after == end else "max_chars"
        return VaultReadAnswer(
            text=text,
            truncated=reason != "none",
            returned_chars=len(text),
            applied_range=LineRange(start_line=first, end_line=lines.at(max(start, after - 1))),
            next_cursor=NextChar(char_offset=after if after < lines.length else None),
            truncated_reason=reason,
            applied=VaultReadApplied(full=params.full, max_chars=PAGE_CHARS),
            content_hash=short_hash(data),
        )

    return Tool(
        name="vault_read",
        title="Read a note",
        summary=(
            "Returns a range of lines of a note, or with full=true all, at most 12000 "
            "characters, and its content_hash."
        ),
        params=VaultReadParams,
        answer=VaultReadAnswer,
        run=run,
        examples=(
            {"path": "projects/plan.md", "full": True},
            {"path": "projects/plan.md", "range": {"start_line": 1, "end_line": 40}},
        ),
    )


def _lines(requested: Range, total: int) -> tuple[int, int]:
    first = requested.start_line or 1
    InvalidParameter.unless_within("range.start_line", first, 1, total)
    return first, min(requested.end_line or total, total)


def _piece(ends: LineEnds, start: int, end: int) -> str:
    """Return the original text between two offsets, up to one page."""
    begin, finish = ends.place(start), ends.place(end)
    text = ends.own[begin : min(finish, begin + PAGE_CHARS)]
    cut = ends.own[begin + len(text) - 1 : begin + len(text) + 1] == CRLF
    return text[:-1] if text and cut else text
