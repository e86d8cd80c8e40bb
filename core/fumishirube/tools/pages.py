"""Long answers in pages: lists, and texts, of which each character is once on a page."""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, create_model

from fumishirube.errors import InvalidParameter
from fumishirube.text.folding import Lines
from fumishirube.tools.definitions import (
    ANSWER_CHARS,
    Answer,
    Call,
    OrAbsent,
    Params,
    Tool,
    fitting,
)

M = TypeVar("M", bound=BaseModel)
_NextCursor: TypeAlias = OrAbsent[str]

_CURSOR = re.compile(r"([0-9]{1,9})\.([0-9a-f]{8})", re.ASCII)


def listed(tools: Sequence[Tool[Any, Any]], extras: Sequence[str]) -> Sequence[Tool[Any, Any]]:
    """Return a surface's tools; without ``cursor`` among its extras, their lists are not paged."""
    return tools if "cursor" in extras else [replace(tool, pages=None) for tool in tools]


def paged(tool: Tool[Any, Any]) -> Tool[Any, Any]:
    """Return a tool that pages the list named by ``tool.pages``; any other tool unchanged.

    Following the cursors yields every item once. A cursor is refused if the items before it have
    changed.
    """
    if tool.pages is None:
        return tool
    params = _with(tool.params, cursor=(str | None, None))
    answer = _with(tool.answer, next_cursor=(_NextCursor, None))
    return replace(tool, pages=None, params=params, answer=answer, run=_run(tool, answer))


def _run(tool: Tool[Any, Any], answer: type[Answer]) -> Callable[[Any, Call], Answer]:
    name = tool.pages or ""

    def run(params: Any, call: Call) -> Answer:
        whole = tool.run(params, call)
        items: Sequence[Any] = getattr(whole, name)
        arguments = params.model_dump(exclude={"cursor"})
        start = _start(params.cursor, arguments, items)
        page = (*fitting(items[start:], ANSWER_CHARS),)
        end = start + len(page)
        values = {key: getattr(whole, key) for key in whole.model_fields_set} | {name: page}
        if end < len(items):
            values["next_cursor"] = f"{end}.{_fingerprint(arguments, items[:end])}"
        return answer.model_construct(**values)

    return run


def _with(model: type[M], **fields: Any) -> type[M]:
    return create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)


def _start(cursor: str | None, arguments: object, items: Sequence[Any]) -> int:
    """Return the start of a page; refuse a cursor that does not fit the current list."""
    if cursor is None:
        return 0
    match = _CURSOR.fullmatch(cursor)
    end = int(match[1]) if match else 0
    if match is None or match[2] != _fingerprint(arguments, items[:end]):
        raise InvalidParameter(
            "cursor is not of this list as it is now; pass next_cursor as it was given, or list "
            "again without it",
            parameter="cursor",
        )
    return end


def _fingerprint(arguments: object, items: Sequence[Any]) -> str:
    """Return a fingerprint of the arguments and of the items before the cursor."""
    plain = [item.model_dump() if isinstance(item, BaseModel) else item for item in items]
    text = json.dumps([arguments, plain], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


# --- texts ----------------------------------------------------------------------------------

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
    def of(cls, text: str, start: int, end: int) -> Self:
        """Return the characters from ``start`` to before ``end``, or to the text's end."""
        lines = Lines(text)
        end = min(end, len(text))
        last = lines.at(max(start, end - 1)) if text else 1
        first = min(lines.at(start), lines.total)
        span = LineRange(start_line=first, end_line=min(max(last, first), lines.total))
        return cls(text[start:end], span, end, eof=end >= len(text))

    @staticmethod
    def start_offset(text: str, start_line: int | None, cursor: Cursor | None) -> int:
        """Return the start offset: that line, else the cursor's character, else its line, else 0.

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
