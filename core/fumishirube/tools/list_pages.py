"""Long lists in pages: the argument ``cursor`` and the key ``next_cursor``."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, create_model

from fumishirube.errors import InvalidParameter
from fumishirube.tools.definitions import ANSWER_CHARS, Answer, Call, OrAbsent, Tool, fitting

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
