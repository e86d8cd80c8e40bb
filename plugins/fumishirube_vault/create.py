"""``vault_create``: writes a new note."""

from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Conflict, InvalidParameter, Params, Tool
from fumishirube_vault.notes import NoteStore, short_hash
from fumishirube_vault.replacement import check_reads_back
from fumishirube_vault.rules import NotePath, may_create, may_name

_MARK = "\ufeff"
"""The byte order mark, with which a note may begin."""


class CreateParams(Params):
    """The path and the content."""

    path: NotePath
    content: Annotated[str, Field(min_length=1, description="Its text.")]


class CreateAnswer(Answer):
    """What was written."""

    written_path: str
    written_bytes: int
    content_hash: str


def create_tool(notes: NoteStore) -> Tool[CreateParams, CreateAnswer]:
    """Return the tool."""

    def run(params: CreateParams, _: Call) -> CreateAnswer:
        data = params.content.encode()
        if len(data) > notes.largest:
            raise InvalidParameter(
                f"content has {len(data)} bytes; a note holds at most {notes.largest}",
                parameter="content",
                max=notes.largest,
            )
        may_create(params.path, notes.allow_hidden)
        may_name(notes.absent(params.path), params.path)
        if "\0" not in params.content:  # clients rely on it that such a text is written
            check_reads_back(data, params.content.removeprefix(_MARK), "utf-8", "content")

        def made(before: bytes | None) -> bytes:
            if before is not None:
                raise Conflict("the note exists already", path=params.path)
            return data

        notes.change(params.path, "create", made)
        return CreateAnswer(
            written_path=params.path, written_bytes=len(data), content_hash=short_hash(data)
        )

    return Tool(
        name="vault_create",
        title="Write a new note",
        summary=(
            "Writes a new note, exactly as it is, and makes its folders. A name that exists is "
            "a conflict. Under daily/ only daily/YYYY-MM-DD.md."
        ),
        params=CreateParams,
        answer=CreateAnswer,
        run=run,
        read_only=False,
        quotes=False,
        idempotent=False,
        examples=({"path": "projects/plan.md", "content": "# Plan\n"},),
    )
