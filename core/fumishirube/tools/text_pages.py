"""Pages of a text: each character once, however long the lines."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from fumishirube.errors import InvalidParameter
from fumishirube.text.folding import Lines
from fumishirube.tools.definitions import Answer, Params

PAGE_CHARS = 12_000
"""The length of a page in characters, unless the caller sets another."""

MaxChars = Annotated[int, Field(ge=256, le=50_000)]
"""The most characters that a caller may request."""


class LineRange(Answer):
    """The lines that were returned, numbered from 1."""

    start_line: int
    end_line: int


class NextChar(Answer):
    """Where to go on: the first character not yet returned; null at the end."""

    char_offset: int | None


class Cursor(Params):
    """Where to start: a line, or a character of the text."""

    start_line: Annotated[int | None, Field(ge=1)] = None
    char_offset: Annotated[int | None, Field(ge=0)] = None

    @staticmethod
    def at(name: str, value: Any) -> Any:
        """Turn a whole number, or its digits, into a cursor with that member."""
        if isinstance(value, str):
            if not (value.isascii() and value.isdigit()):
                raise InvalidParameter(
                    "cursor must be an object, a number, or a string of digits", parameter="cursor"
                )
            # No text is that long, and Python refuses to parse thousands of digits.
            value = int(value.lstrip("0")[:20] or "0")
        return {name: value} if type(value) is int else value


class _CursorSchema:
    """The schema of a cursor, made when a tool is listed: a start need not wait for it."""

    def __get_pydantic_json_schema__(self, _schema: Any, _handler: Any) -> dict[str, Any]:
        return {
            "anyOf": [
                Cursor.model_json_schema() | {"title": "Cursor"},
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": "^[0-9]+$"},
            ]
        }


ScanCursor = Annotated[Cursor, BeforeValidator(partial(Cursor.at, "char_offset")), _CursorSchema()]


class TextPage(NamedTuple):
    """A page of a text. ``next_offset`` is its end; ``eof`` means that nothing follows."""

    text: str
    lines: LineRange
    next_offset: int
    eof: bool

    @property
    def next_cursor(self) -> NextChar:
        """The cursor of the next page, as tools return it."""
        return NextChar(char_offset=None if self.eof else self.next_offset)

    @classmethod
    def of(cls, text: str, start: int, end: int) -> TextPage:
        """Return the characters from ``start`` to before ``end``, or to the text's end."""
        lines = Lines(text)
        end = min(end, len(text))
        last = lines.at(max(start, end - 1)) if text else 1
        first = min(lines.at(start), lines.total)
        span = LineRange(start_line=first, end_line=min(max(last, first), lines.total))
        return cls(text[start:end], span, end, eof=end >= len(text))

    @staticmethod
    def start_offset(text: str, start_line: int | None, cursor: Cursor | None) -> int:
        """Return the start offset: ``line``, else the cursor's character, else its line, else 0.

        Raises:
            InvalidParameter: beyond the text.
        """
        lines = Lines(text)
        line, parameter = start_line, "start_line"
        if line is None and cursor is not None:
            if cursor.char_offset is not None:
                InvalidParameter.unless_within(
                    "cursor.char_offset", cursor.char_offset, 0, len(text)
                )
                return cursor.char_offset
            line, parameter = cursor.start_line, "cursor.start_line"
        if line is None:
            return 0
        InvalidParameter.unless_within(parameter, line, 1, lines.total)
        return lines.start(line)
