"""The arguments of ``manual_toc``."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from fumishirube import InvalidPath, Params
from fumishirube.tools import Cursor, FailsWith
from fumishirube_manual.arguments import ManualId
from fumishirube_manual.surface import ManualSurface

MOST_FILES = 200


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
PageCursor = Annotated[HeadingCursor | None, Field(description="A next_cursor.")]


def _lowered(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class TocParams(Params):
    """The files, and whether to list their headings."""

    manual_id: ManualId
    path_prefix: Annotated[
        str | None, FailsWith(InvalidPath), Field(description="File or folder.")
    ] = None
    max_files: Annotated[
        int | None, Field(ge=1, le=MOST_FILES, description="Default 20; deep at most 50.")
    ] = None
    cursor: Annotated[TocCursor | None, Field(description="next_cursor of the last page.")] = None
    depth: Annotated[
        Annotated[Literal["shallow", "deep"], BeforeValidator(_lowered)] | None,
        Field(description="Default 'shallow'."),
    ] = None
    max_headings_per_file: Annotated[int | None, Field(ge=1, le=MOST_FILES)] = None


class PagedTocParams(TocParams):
    """Which files, and from which heading of the first."""

    cursor: PageCursor = None


class PatternTocParams(TocParams):
    """Which files, also by a pattern."""

    path_prefix: Annotated[
        str | None, FailsWith(InvalidPath), Field(description="File, folder, a*b.")
    ] = None


class PagedPatternTocParams(PatternTocParams):
    """Which files, also by a pattern, and from which heading of the first."""

    cursor: PageCursor = None


def offered_toc_arguments(settings: ManualSurface) -> type[TocParams]:
    """Return the parameters with what the settings add."""
    if "path_prefix" not in settings.extras:
        return PagedTocParams if "cursor" in settings.extras else TocParams
    return PagedPatternTocParams if "cursor" in settings.extras else PatternTocParams
