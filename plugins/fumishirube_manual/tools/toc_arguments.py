"""The arguments of ``manual_toc``."""

from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model

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
TocCursor = Annotated[Offset, _FROM_OFFSET, _cursor_schema()]
HeadingCursor = Annotated[HeadingOffset, _FROM_OFFSET, _cursor_schema(heading={"type": "integer"})]
_ContractCursor = Annotated[TocCursor | None, Field(description="next_cursor of the last page.")]
_ContractPrefix = Annotated[
    str | None, FailsWith(InvalidPath), Field(description="File or folder.")
]


def _lowered(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class TocParams(Params):
    """The files, also by a pattern, and from which heading of the first."""

    manual_id: ManualId
    path_prefix: Annotated[
        str | None, FailsWith(InvalidPath), Field(description="File, folder, a*b.")
    ] = None
    max_files: Annotated[
        int | None, Field(ge=1, le=MOST_FILES, description="Default 20; deep at most 50.")
    ] = None
    cursor: Annotated[HeadingCursor | None, Field(description="A next_cursor.")] = None
    depth: Annotated[
        Annotated[Literal["shallow", "deep"], BeforeValidator(_lowered)] | None,
        Field(description="Default 'shallow'."),
    ] = None
    max_headings_per_file: Annotated[int | None, Field(ge=1, le=MOST_FILES)] = None


def offered_toc_arguments(settings: ManualSurface) -> type[TocParams]:
    """Return the parameters; a path and a cursor without its extra are those of the contract."""
    of_contract = {"path_prefix": (_ContractPrefix, None), "cursor": (_ContractCursor, None)}
    fields: dict[str, Any] = {n: f for n, f in of_contract.items() if n not in settings.extras}
    return create_model("TocParams", __base__=TocParams, **fields) if fields else TocParams
