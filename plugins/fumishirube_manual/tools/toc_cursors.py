"""The cursors of ``manual_toc``: how many files to skip, and perhaps headings."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from fumishirube import Params
from fumishirube.tools import Cursor


class Offset(Params):
    """How many files to skip."""

    offset: Annotated[int, Field(ge=0)]


class HeadingOffset(Offset):
    """How many files to skip, and the first heading of the next file."""

    heading: Annotated[int, Field(ge=1)] = 1


def _cursor_schema(**more: object) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"offset": {"type": "integer", "minimum": 0}, **more},
                    "required": ["offset"],
                    "additionalProperties": False,
                },
                {"type": "integer", "minimum": 0},
                {"type": "string", "pattern": "^[0-9]+$"},
            ]
        }
    )


_FROM_OFFSET = BeforeValidator(partial(Cursor.at, "offset"))
_HEADING = {"type": "integer"}
TocCursor = Annotated[Offset, _FROM_OFFSET, _cursor_schema()]
HeadingCursor = Annotated[HeadingOffset, _FROM_OFFSET, _cursor_schema(heading=_HEADING)]
