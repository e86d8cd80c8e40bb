"""The journal of writes: the content of a note before each write, within limits."""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from fumishirube import Conflict, InvalidPath, NotFound, ToolError
from fumishirube.disk import WritableRoot, clean_path, content_hash
from fumishirube_vault.rules import JOURNAL, may_write
from fumishirube_vault.surface import VaultSurface

Action = Literal["create", "replace", "append", "undo", "redo"]

LOCKS = f"{JOURNAL}/locks"
HEADER_BYTES = 8192
"""More than the header of an entry has, which comes before the content of the note."""

_INTENT, _DONE = ".intent", ".done"
_FORM = re.compile(r"(\d{20})-([0-9a-f]+)-([0-9a-f]{2})-(\d{1,12})(\.intent|\.done)", re.ASCII)
_DAY_NS = 24 * 60 * 60 * 1_000_000_000
_AHEAD_NS = 100 * 365 * _DAY_NS
"""How far a clock may have been ahead: a later entry is none, as all after it would be later."""


def _unchanged(path: str) -> str:
    """Return a path in its one spelling; others were never written, and are not looked at."""
    try:
        clean = clean_path(path)
    except InvalidPath as error:
        raise ValueError(str(error)) from error
    if clean != path:
        raise ValueError("a path has one spelling")
    return path


class Write(BaseModel):
    """A write: time, action, note; ``before`` and ``after`` are hashes of its content.

    It is the header of an entry; the content before the write follows. A hash of ``None`` is a
    missing note. ``of`` is the write that an undo or redo refers to.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: Literal[1] = 1
    id: str
    time: Annotated[float, Field(ge=0, le=1e11, allow_inf_nan=False)]
    """Seconds since 1970; later ones have no date."""
    action: Action
    path: Annotated[str, AfterValidator(_unchanged)]
    before: str | None
    after: str | None
    of: str | None = None


class _Name(NamedTuple):
    """The file name of an entry: start time, id, lock number of the note, size, and state."""

    stamp: int
    id: str
    lock: int
    size: int
    state: str

    def __str__(self) -> str:
        return f"{self.stamp:020d}-{self.id}-{self.lock:02x}-{self.size}{self.state}"

    @property
    def path(self) -> str:
        """The path of the entry in the vault."""
        return f"{JOURNAL}/{self}"


class NoteJournal:
    """Entries in the vault's reserved folder: an intent before a write, a record after it.

    An intent is on disk before its note changes. A process that gets the lock of a remaining
    intent knows that the writer has died. All writes are recorded; those to ``visible`` paths are
    shown.
    """

    def __init__(
        self, writable: WritableRoot, settings: VaultSurface, visible: Callable[[str], bool]
    ) -> None:
        self._writable = writable
        self._settings = settings
        self._visible = visible

    def writes(self) -> list[Write]:
        """Return the visible writes in the journal, oldest first; skip damaged entries."""
        remembered = []
        for name in self._names(_DONE):
            with suppress(ToolError):  # pruned meanwhile, or no permission
                read = self._read(name)
                if read and _whole(*read) and self._visible(read[0].path):
                    remembered.append(read[0])
        return remembered

    def before(self, write: Write) -> bytes | None:
        """Return the content before a write; ``None`` when there was no note.

        Raises:
            NotFound: when the entry was pruned.
        """
        for name in self._names(_DONE):
            if name.id == write.id:
                read = self._read(name)
                if read and _whole(*read):
                    return None if write.before is None else read[1]
        raise NotFound("this write is no longer in the journal")

    @contextmanager
    def recorded(
        self,
        path: str,
        action: Action,
        before: bytes | None,
        after: bytes | None,
        of: str | None = None,
    ) -> Iterator[Write]:
        """Record a write that the body performs; the caller has the note's lock.

        After an exception, the write is recorded only if it changed the note.
        """
        names = self._names(_DONE)
        now = time.time_ns()
        stamp = max([now, *(name.stamp + 1 for name in names[-1:])])
        lock = self._writable.lock_of(path)
        name = _Name(stamp, secrets.token_hex(5), lock, len(before or b""), _INTENT)
        write = Write(
            id=name.id,
            time=now / 1e9,
            action=action,
            path=path,
            before=None if before is None else content_hash(before),
            after=None if after is None else content_hash(after),
            of=of,
        )
        header = json.dumps(write.model_dump(mode="json"), ensure_ascii=False).encode()
        self._writable.create(name.path, header + b"\n" + (before or b""))
        try:
            yield write
        except BaseException:
            self._settle(name, crashed=False)
            raise
        self._finish(name)
        self._prune([*names, name._replace(state=_DONE)])

    def recover(self, lock: int | None = None) -> int:
        """Finish or roll back interrupted writes, and return their number.

        With ``lock``, a lock of the caller, only the writes under it; else those whose lock is
        free.
        """
        left = self._names(_INTENT)
        if lock is not None:
            mine = [name for name in left if name.lock == lock]
            for name in mine:
                self._settle(name, crashed=True)
            return len(mine)
        settled = 0
        for number in {name.lock for name in left}:
            with suppress(Conflict), self._writable.locked(number, seconds=0):
                settled += self.recover(number)
        return settled

    def _settle(self, name: _Name, *, crashed: bool) -> None:
        """Compare the note of an intent with its hashes, and complete or drop its record.

        After a crash, the record stays when the note has changed, since it has the old content.
        One that is damaged is dropped: nothing can be restored from it.
        """
        try:
            read = self._read(name)
        except ToolError:
            return  # another process settled it, or no permission
        if read is not None:
            write, before = read
            current = self._cleared(write)
            changed = current == write.after or (crashed and current != write.before)
            if changed and _whole(write, before):
                self._finish(name)
                return
        self._writable.remove(name.path)

    def _cleared(self, write: Write) -> str | None:
        """Remove what an unfinished write left, and return the hash of the note's content."""
        try:
            may_write(write.path, self._settings.allow_hidden)
            self._writable.discard(write.path, write.id)
            current = self._writable.read(write.path)
        except ToolError:
            return "unknown"  # a link, no permission, or not a path that is written
        return None if current is None else content_hash(current)

    def _finish(self, name: _Name) -> None:
        self._writable.rename(name.path, str(name._replace(state=_DONE)))

    def _prune(self, names: Sequence[_Name]) -> None:
        """Delete the oldest entries beyond the limits, but never the last entry."""
        oldest = time.time_ns() - self._settings.journal_days * _DAY_NS
        space = self._settings.journal_bytes
        for number, name in enumerate(reversed(names)):
            space -= name.size
            over = number >= self._settings.journal_writes or space < 0 or name.stamp < oldest
            if number and over:
                with suppress(ToolError):  # the write is done; the next one tries again
                    self._writable.remove(name.path)

    def _names(self, state: str) -> list[_Name]:
        """Return the names of the entries in a state, oldest first."""
        try:
            with self._writable.root.opened(JOURNAL) as folder:
                names = sorted(name for name in folder.names() if name.endswith(state))
        except NotFound:
            return []
        return [name for name in map(_parsed, names) if name is not None]

    def _read(self, name: _Name) -> tuple[Write, bytes] | None:
        """Return an entry and the content before it; ``None`` when its header is incomplete.

        Raises:
            ToolError: when it cannot be read.
        """
        header, newline, before = self._writable.root.read_bytes(name.path).partition(b"\n")
        try:
            write = Write.model_validate_json(header)
        except ValidationError:
            return None
        return (write, before) if newline and write.id == name.id else None


def _whole(write: Write, before: bytes) -> bool:
    """Tell whether an entry has the content before its write, which changed something."""
    known = None if write.before is None else content_hash(before)
    return known == write.before != write.after


def _parsed(name: str) -> _Name | None:
    match = _FORM.fullmatch(name)
    if match is None:
        return None
    stamp, identity, lock, size, state = match.groups()
    if int(stamp) > time.time_ns() + _AHEAD_NS:
        return None
    return _Name(int(stamp), identity, int(lock, 16), int(size), state)
