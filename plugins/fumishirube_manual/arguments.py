"""Arguments of the manual tools and their limits: ids, paths, ranges of lines, wordings."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetPydanticSchema,
    WithJsonSchema,
)
from pydantic_core.core_schema import no_info_wrap_validator_function

from fumishirube import (
    Call,
    Citation,
    InvalidParameter,
    InvalidPath,
    Manual,
    Params,
    SurfaceContext,
    ToolError,
)
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.disk import clean_name, clean_path
from fumishirube.text import fold
from fumishirube.tools import FailsWith, Session

ROOT_ID = "manuals"

MOST_LISTED = 20
"""The most ids listed in an error."""
MOST_RANGES = 8

QUERY_CHARS = 100_000
TERM_CHARS = 200
"""The most characters of a required term, or of an alternative."""
TERMS = 2
"""The most required terms."""
MOST_ALTERNATIVES = 8
TIME_MS = 60_000
CANDIDATES = 200
"""How many sections a search returns, unless its caller limits them."""


ManualId = Annotated[
    str,
    AfterValidator(partial(clean_name, parameter="manual_id")),
    Field(description="From manual_ls.", min_length=1),
]

FilePath = Annotated[str, FailsWith(InvalidPath), Field(description="A file of the manual.")]
"""The path as it was given: :func:`manual_file` checks it after all other arguments."""


class _Discovery:
    """Whether a session has been told which manuals there are."""

    done = False


def note_discovery(session: Session | None) -> None:
    """Note that a session has been told which manuals there are."""
    if session is not None:
        session.keep(_Discovery).done = True


def must_discover(session: Session | None) -> bool:
    """Tell whether a session must call ``manual_ls`` first; a call without a session need not."""
    return session is not None and not session.keep(_Discovery).done


def after_discovery(call: Call, arguments: object) -> None:
    """Refuse a call before ``manual_ls`` in its session; calls without a session are allowed."""
    del arguments  # their values do not matter
    if must_discover(call.session):
        raise InvalidParameter(
            "call manual_ls first, then use the ids it returns", required_first_call="manual_ls"
        )


def manual_by_id(context: SurfaceContext, manual_id: str) -> Manual:
    """Return a manual by its id; for the root's own id raise an error that lists valid ids."""
    refuse_root(context, manual_id)
    return context.manual(manual_id)


def manual_file(
    context: SurfaceContext, manual_id: str, path: str, parameter: str
) -> tuple[Manual, str]:
    """Return a manual, and a path in its one spelling; the root's id is refused before the path."""
    refuse_root(context, manual_id)
    cleaned = clean_path(path, parameter)
    return context.manual(manual_id), cleaned


def refuse_root(context: SurfaceContext, manual_id: str) -> None:
    """Refuse the root's own id with a list of valid ids."""
    if manual_id == ROOT_ID:
        candidates: Any = list(context.manuals()[:MOST_LISTED])
        raise InvalidParameter(
            "manual_id must be one manual: use manual_ls(id='manuals').items[].id",
            parameter="manual_id",
            candidate_ids=candidates,
        )


class RangeRef(Params):
    """Lines of a file; without ``end_line``, the section that contains the first.

    Accepts the ref of a hit.
    """

    model_config = ConfigDict(extra="ignore")

    manual_id: ManualId
    path: Annotated[str, AfterValidator(clean_path)]
    start_line: Annotated[int | None, Field(ge=1)] = None
    end_line: Annotated[int | None, Field(ge=1)] = None


def _checked(number: int, value: Any) -> Any:
    """Parse a citation, and check the path of any range; an error names the range.

    Without ``manual://ID/``, as searches of one manual print places, any manual may have the file.
    """
    try:
        if isinstance(value, str):
            cited = Citation.parse(value, EVERY_MANUAL)
            manual_id = clean_name(cited.manual_id, "manual_id")
            return cited._replace(manual_id=manual_id, path=clean_path(cited.path))
        if isinstance(value, dict) and isinstance(path := value.get("path"), str):
            clean_path(path)
    except ToolError as error:
        name_range(error, number)
        raise
    return value


def _cited(value: Any, read: Callable[[Any], RangeRef]) -> Citation:
    return value if isinstance(value, Citation) else Citation(**dict(read(value)))


_AS_CITATION = GetPydanticSchema(
    lambda _, handler: no_info_wrap_validator_function(_cited, handler.generate_schema(RangeRef))
)
"""Makes a citation of the object that names a range, unless it is one."""


def _all_checked(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    return tuple(_checked(number, ref) for number, ref in enumerate(value))


def name_range(error: ToolError, number: int) -> None:
    """Name the range in its error."""
    error.details["parameter"] = f"refs[{number}]"


LineRanges = Annotated[
    tuple[Annotated[Citation, _AS_CITATION], ...],
    BeforeValidator(_all_checked),
    Field(max_length=MOST_RANGES),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MOST_RANGES,
            "items": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "manual_id": {"type": "string"},
                            "path": {"type": "string"},
                            "start_line": {"type": "integer"},
                            "end_line": {"type": "integer"},
                        },
                        "required": ["manual_id", "path"],
                    },
                    {"type": "string"},
                ]
            },
            "description": "Ranges, or ID/PATH#L3-L9.",
        }
    ),
]


def other_wordings(query: str, alternatives: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct alternatives, without blank ones and without the query."""
    texts = {fold(text): text.strip() for text in alternatives}
    known = ("", fold(query))
    return tuple(text for folded, text in texts.items() if folded not in known)
