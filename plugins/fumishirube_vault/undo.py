"""``vault_undo`` and ``vault_redo``: take a write back, or do it again."""

from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, Conflict, NotFound, Params, Tool
from fumishirube.disk import content_hash
from fumishirube_vault.history import UndoableWrite, WriteId, undoable_writes, write_by_id
from fumishirube_vault.notes import NoteStore, short_hash
from fumishirube_vault.rules import NotePath, may_write

Turn = Literal["undo", "redo"]


class UndoParams(Params):
    """The write, by id; else the last one, of the vault or of one note."""

    id: WriteId | None = None
    path: Annotated[NotePath | None, Field(description="Only writes to this note.")] = None


class UndoAnswer(Answer):
    """What was done to the note; ``content_hash`` is null when it was deleted."""

    path: str
    action: Turn
    id: str
    of: str
    content_hash: str | None


def undo_tool(notes: NoteStore) -> Tool[UndoParams, UndoAnswer]:
    """Return the tool."""
    summary = (
        "Take back the last write to the vault, or to one note, or the one with an id from "
        "vault_history: the note is again what it was before. A note that was changed since "
        "is a conflict. Taking back is a write too, and stays in the history."
    )
    return _tool(notes, "undo", "Take a write back", summary)


def redo_tool(notes: NoteStore) -> Tool[UndoParams, UndoAnswer]:
    """Return the tool that redoes an undone write."""
    summary = "Do again what was taken back: the last of it, or the write with this id."
    return _tool(notes, "redo", "Do a write again", summary)


def _tool(notes: NoteStore, action: Turn, title: str, summary: str) -> Tool[UndoParams, UndoAnswer]:
    def run(params: UndoParams, _: Call) -> UndoAnswer:
        return _turned(notes, _chosen(notes, params, undone=action == "redo"), action)

    return Tool(
        name=f"vault_{action}",
        title=title,
        summary=summary,
        params=UndoParams,
        answer=UndoAnswer,
        run=run,
        read_only=False,
        destructive=True,
        idempotent=False,
        examples=({}, {"path": "projects/plan.md"}),
    )


def _chosen(notes: NoteStore, params: UndoParams, *, undone: bool) -> UndoableWrite:
    """Return the write to undo or redo; to redo, the one undone last."""
    notes.journal.recover()
    writes = notes.journal.writes()
    candidates = [
        past for past in undoable_writes(writes) if params.path in (None, past.write.path)
    ]
    if params.id is not None:
        write = write_by_id(writes, params.id)
        candidates = [past for past in candidates if past.write.id == (write.of or write.id)]
    fitting = [past for past in candidates if past.undone == undone]
    if candidates and params.id is not None and not fitting:
        why = "this write is not taken back" if undone else "this write is taken back already"
        raise Conflict(why, path=candidates[0].write.path)
    if not fitting:
        missing = "there is no write to do again" if undone else "there is no write to take back"
        raise NotFound(missing)
    return fitting[-1]


def _turned(notes: NoteStore, past: UndoableWrite, action: Turn) -> UndoAnswer:
    """Restore the content before the last turn of a write, if the note is unchanged since.

    The journal may come with a stranger's vault: paths are checked like those of any write.
    """
    write, last = past
    path = write.path
    may_write(path, notes.allow_hidden)
    restored = notes.journal.before(last)

    def made(current: bytes | None) -> bytes | None:
        if (None if current is None else content_hash(current)) == last.after:
            return restored
        if current is None:
            raise Conflict(f"{path!r} was deleted since; name another note or write", path=path)
        raise Conflict(f"{path!r} was changed since; name another note or write", path=path)

    changed = notes.change(path, action, made, write.id)
    assert changed.write is not None
    new_hash = None if changed.data is None else short_hash(changed.data)
    return UndoAnswer(
        path=path, action=action, id=changed.write.id, of=write.id, content_hash=new_hash
    )
