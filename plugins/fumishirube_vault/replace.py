"""``vault_replace``: replaces a text in a note, or previews that."""

from typing import Annotated

from pydantic import Field

from fumishirube import Answer, Call, Params, Tool
from fumishirube_vault.differences import difference
from fumishirube_vault.notes import ExpectedHash, NoteStore, short_hash
from fumishirube_vault.replacement import Replacement, replace_text
from fumishirube_vault.rules import NotePath, may_replace


class ReplaceParams(Params):
    """The note, the two texts, and the number of replacements."""

    path: NotePath
    find: Annotated[str, Field(min_length=1, description="LF is any line end.")]
    replace: Annotated[str, Field(description="May be empty.")]
    max_replacements: Annotated[int, Field(ge=0, description="From the start.")] = 1
    expected_hash: ExpectedHash = None


class ReplaceAnswer(Answer):
    """The result; without a match the note is unchanged."""

    written_path: str
    replacements: int
    content_hash: str


class PreviewAnswer(Answer):
    """What would be written, as a unified diff."""

    path: str
    replacements: int
    diff: str


def replace_tool(notes: NoteStore) -> Tool[ReplaceParams, ReplaceAnswer]:
    """Return the tool."""

    def run(params: ReplaceParams, _: Call) -> ReplaceAnswer:
        count = 0

        def made(before: bytes | None) -> bytes:
            nonlocal count
            data, count = _replaced(notes, params, before)
            return data

        data = notes.rewrite(params.path, "replace", made)
        return ReplaceAnswer(
            written_path=params.path, replacements=count, content_hash=short_hash(data)
        )

    return Tool(
        name="vault_replace",
        title="Replace words in a note",
        summary=(
            "Replaces a literal text in a note, at the first max_replacements places. With "
            "expected_hash a note changed meanwhile is a conflict. Daily notes cannot be changed."
        ),
        params=ReplaceParams,
        answer=ReplaceAnswer,
        run=run,
        read_only=False,
        quotes=False,
        destructive=True,
        idempotent=False,
        examples=({"path": "projects/plan.md", "find": "draft", "replace": "final"},),
    )


def preview_tool(notes: NoteStore) -> Tool[ReplaceParams, PreviewAnswer]:
    """Return the tool that shows what ``vault_replace`` would write."""

    def run(params: ReplaceParams, _: Call) -> PreviewAnswer:
        may_replace(params.path, notes.allow_hidden)
        before = notes.read(params.path)
        after, count = _replaced(notes, params, before)
        diff = difference(params.path, before, after)
        return PreviewAnswer(path=params.path, replacements=count, diff=diff)

    return Tool(
        name="vault_preview",
        title="Preview a replacement",
        summary="Show as a unified diff what vault_replace would write; nothing is written.",
        params=ReplaceParams,
        answer=PreviewAnswer,
        run=run,
        examples=({"path": "projects/plan.md", "find": "draft", "replace": "final"},),
    )


def _replaced(notes: NoteStore, params: ReplaceParams, before: bytes | None) -> Replacement:
    known = notes.changeable(params.path, before, params.expected_hash)
    with notes.naming(params.path):
        return replace_text(
            known, params.find, params.replace, params.max_replacements, notes.largest
        )
