"""``vault_append``: adds a text at the end of a note."""

from typing import Annotated

from pydantic import Field

from fumishirube import Call, Params, Tool
from fumishirube_vault.create import CreateAnswer
from fumishirube_vault.notes import ExpectedHash, NoteStore, short_hash
from fumishirube_vault.replacement import append_text
from fumishirube_vault.rules import NotePath


class AppendParams(Params):
    """The note, and the text to add."""

    path: NotePath
    content: Annotated[str, Field(min_length=1, description="Text to add, from a new line on.")]
    expected_hash: ExpectedHash = None


class AppendAnswer(CreateAnswer):
    """The result; ``written_bytes`` counts the added bytes."""


def append_tool(notes: NoteStore) -> Tool[AppendParams, AppendAnswer]:
    """Return the tool."""

    def run(params: AppendParams, _: Call) -> AppendAnswer:
        size = 0

        def made(before: bytes | None) -> bytes:
            nonlocal size
            known = notes.changeable(params.path, before, params.expected_hash)
            with notes.naming(params.path):
                data = append_text(known, params.content, notes.largest)
            size = len(data) - len(known)
            return data

        data = notes.rewrite(params.path, "append", made)
        return AppendAnswer(
            written_path=params.path, written_bytes=size, content_hash=short_hash(data)
        )

    return Tool(
        name="vault_append",
        title="Add to a note",
        summary=(
            "Adds a text at the end of a note that exists, on a new line. With expected_hash a "
            "note changed meanwhile is a conflict. Daily notes cannot be changed."
        ),
        params=AppendParams,
        answer=AppendAnswer,
        run=run,
        read_only=False,
        quotes=False,
        idempotent=False,
        examples=({"path": "projects/plan.md", "content": "- [ ] next step\n"},),
    )
