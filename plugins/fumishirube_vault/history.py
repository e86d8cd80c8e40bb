"""``vault_history``: lists the last writes; and shows what one of them changed."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, NamedTuple

from pydantic import Field

from fumishirube import Answer, Call, NotFound, Params, Tool, ToolError
from fumishirube.disk import content_hash
from fumishirube_vault.differences import difference
from fumishirube_vault.journal import Action, Write
from fumishirube_vault.notes import HASH_DIGITS, NoteStore
from fumishirube_vault.rules import NotePath

WriteId = Annotated[str, Field(min_length=1, description="Id of a write, from vault_history.")]


class UndoableWrite(NamedTuple):
    """A create, replace or append, and the last undo or redo of it; else the write again."""

    write: Write
    last: Write

    @property
    def undone(self) -> bool:
        """Whether it is taken back."""
        return self.last.action == "undo"


class HistoryParams(Params):
    """The note, and how many writes."""

    path: NotePath | None = None
    limit: Annotated[int, Field(ge=1, le=200, description="The last so many; default 20.")] = 20


class HistoryItem(Answer):
    """A write; ``of`` is the id of the write that an undo or redo refers to."""

    id: str
    time: str
    action: Action
    path: str
    before_hash: str | None
    after_hash: str | None
    of: str | None
    undone: bool


class HistoryAnswer(Answer):
    """The last writes, newest first, and the total in the journal."""

    total: int
    items: tuple[HistoryItem, ...]


class ShowParams(Params):
    """The write."""

    id: WriteId


class ShowAnswer(Answer):
    """A write, and its change as a unified diff, if its result is still available."""

    write: HistoryItem
    diff: str | None


def history_tool(notes: NoteStore) -> Tool[HistoryParams, HistoryAnswer]:
    """Return the tool."""

    def run(params: HistoryParams, _: Call) -> HistoryAnswer:
        writes = _writes(notes)
        undone = _undone(writes)
        chosen = [write for write in reversed(writes) if params.path in (None, write.path)]
        items = tuple(_item(write, undone) for write in chosen[: params.limit])
        return HistoryAnswer(total=len(chosen), items=items)

    return Tool(
        name="vault_history",
        title="List the last writes",
        summary=(
            "List the last writes to the vault, newest first, or those to one note. Each has an "
            "id, by which vault_undo takes it back."
        ),
        params=HistoryParams,
        answer=HistoryAnswer,
        pages="items",
        run=run,
        examples=({}, {"path": "projects/plan.md", "limit": 5}),
    )


def show_tool(notes: NoteStore) -> Tool[ShowParams, ShowAnswer]:
    """Return the tool that shows one write."""

    def run(params: ShowParams, _: Call) -> ShowAnswer:
        writes = _writes(notes)
        write = write_by_id(writes, params.id)
        before = notes.journal.before(write)
        available, after = _result(notes, writes, write)
        diff = difference(write.path, before, after) if available else None
        return ShowAnswer(write=_item(write, _undone(writes)), diff=diff)

    return Tool(
        name="vault_show",
        title="Show a write",
        summary="Show what one write changed, as a unified diff.",
        params=ShowParams,
        answer=ShowAnswer,
        run=run,
        examples=({"id": "0123456789"},),
    )


def undoable_writes(writes: list[Write]) -> list[UndoableWrite]:
    """Return the creates, replaces and appends; the last made, taken back or done again is last."""
    past: dict[str, UndoableWrite] = {}
    for write in writes:
        if write.of is None:
            past[write.id] = UndoableWrite(write, write)
        elif write.of in past:
            past[write.of] = past.pop(write.of)._replace(last=write)
    return [*past.values()]


def write_by_id(writes: list[Write], identity: str) -> Write:
    """Return one write.

    Raises:
        NotFound: when there is no write with this id.
    """
    for write in writes:
        if write.id == identity:
            return write
    raise NotFound("there is no such write; take an id from the list of writes")


def _writes(notes: NoteStore) -> list[Write]:
    """Return the writes, also where an unfinished one cannot be settled: on a read-only disk."""
    with suppress(ToolError):
        notes.journal.recover()
    return notes.journal.writes()


def _undone(writes: list[Write]) -> frozenset[str]:
    return frozenset(past.write.id for past in undoable_writes(writes) if past.undone)


def _result(notes: NoteStore, writes: list[Write], write: Write) -> tuple[bool, bytes | None]:
    """Return whether the result of a write is still available, and the result.

    It is the content before the note's next write, or the present content.
    """
    if write.after is None:
        return True, None
    later = writes[writes.index(write) + 1 :]
    for later_write in later:
        if later_write.path == write.path and later_write.before == write.after:
            return True, notes.journal.before(later_write)
    try:
        now = notes.read(write.path)
    except NotFound:
        return False, None
    return content_hash(now) == write.after, now


def _item(write: Write, undone: frozenset[str]) -> HistoryItem:
    return HistoryItem(
        id=write.id,
        time=datetime.fromtimestamp(write.time, UTC).isoformat(timespec="seconds"),
        action=write.action,
        path=write.path,
        before_hash=write.before and write.before[:HASH_DIGITS],
        after_hash=write.after and write.after[:HASH_DIGITS],
        of=write.of,
        undone=write.id in undone,
    )
