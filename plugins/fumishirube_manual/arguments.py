"""Arguments that several manual tools share, and their checks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from fumishirube import Call, InvalidParameter, InvalidPath, Manual, SurfaceContext
from fumishirube.disk import clean_name, clean_path
from fumishirube.tools import FailsWith, Session

ROOT_ID = "manuals"

MOST_LISTED = 20
"""The most ids listed in an error."""


def _checked_folder(value: str) -> str:
    return clean_name(value, "manual_id")


ManualId = Annotated[
    str,
    AfterValidator(_checked_folder),
    Field(description="From manual_ls.", min_length=1),
]

FilePath = Annotated[
    str,
    AfterValidator(clean_path),
    FailsWith(InvalidPath),
    Field(description="A file of the manual."),
]


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
            "call manual_ls first, then use the ids it returns",
            required_first_call="manual_ls",
        )


def manual_by_id(context: SurfaceContext, manual_id: str) -> Manual:
    """Return a manual by its id; for the root's own id raise an error that lists valid ids."""
    if manual_id == ROOT_ID:
        candidates: Any = list(context.manuals()[:MOST_LISTED])
        raise InvalidParameter(
            "manual_id must be one manual: use manual_ls(id='manuals').items[].id",
            parameter="manual_id",
            candidate_ids=candidates,
        )
    return context.manual(manual_id)
