"""The notes of a vault: read as they are, and changed so that every change can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fumishirube import Conflict, NotFound, Root, Unreadable
from fumishirube.disk import WritableRoot, content_hash
from fumishirube.text import DecodedText, decode_with_encoding
from fumishirube_vault.journal import LOCKS, Action, NoteJournal, Write
from fumishirube_vault.rules import is_hidden
from fumishirube_vault.settings import VaultBounds

_DIGITS = 12


class ChangedNote(NamedTuple):
    """A note's new bytes, ``None`` if it is gone; and the write, unless nothing changed."""

    data: bytes | None
    write: Write | None


class NoteStore:
    """The door of the tools to the vault."""

    def __init__(self, root: Root, bounds: VaultBounds) -> None:
        self.root = root
        self.largest = bounds.note_bytes
        self.allow_hidden = bounds.allow_hidden
        self._writable = WritableRoot(root, LOCKS)
        self.journal = NoteJournal(self._writable, bounds.journal)

    def read(self, path: str) -> bytes:
        """Return a note's bytes.

        Raises:
            NotFound: when there is no such note.
            Forbidden: when a link stands in the way, or permission is denied.
            Unreadable: when it is larger than the root's limit.
        """
        if is_hidden(path):
            raise NotFound("the journal of the vault is not read", path=path)
        try:
            return self.root.read_bytes(path)
        except NotFound as error:
            raise NotFound("there is no such note; vault_ls lists them", path=path) from error

    def text(self, path: str) -> tuple[DecodedText, bytes]:
        """Return a note's text, and its bytes.

        Raises:
            Unreadable: when it is in no known encoding; and as :meth:`read` does.
        """
        data = self.read(path)
        try:
            return decode_with_encoding(data), data
        except Unreadable as error:
            raise Unreadable(str(error), error.reason, path=path) from error

    def change(
        self,
        path: str,
        action: Action,
        made: Callable[[bytes | None], bytes | None],
        of: str | None = None,
    ) -> ChangedNote:
        """Change a note: ``made`` gets what it holds, and returns what it shall hold.

        ``None`` stands for no note. Nobody else writes the note meanwhile; what is returned when
        this returns is on disk.

        Raises:
            Conflict: when somebody changed the note by other means meanwhile; nothing is written.
            Forbidden: when the place cannot be written, or a link stands in the way.
        """
        writable = self._writable
        lock = writable.lock_of(path)
        with writable.locked(lock):
            self.journal.recover(lock)
            before = writable.read(path)
            after = made(before)
            if after == before:
                return ChangedNote(before, None)
            if before is None:
                writable.make_folder(path.rpartition("/")[0])
            with self.journal.recorded(path, action, before, after, of) as write:
                writable.swap(path, before, after, write.id)
            return ChangedNote(after, write)

    def absent(self, path: str) -> Sequence[str]:
        """Check that nothing of this name is there yet, file or folder; return the new names.

        Raises:
            Conflict: when there is something, or a file has the name of a folder on the way.
            Forbidden: when a link stands in the way.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            above = "/".join(parts[:count])
            try:
                kind = self.root.stat(above).kind
            except NotFound:
                return parts[count - 1 :]
            if kind != "dir":
                problem = "exists already" if above == path else "is a file, and no folder"
                raise Conflict(f"{above.rpartition('/')[2]} {problem}", path=above)
        raise Conflict("a folder of this name exists already", path=path)


def short_hash(data: bytes) -> str:
    """Return the hash of a note as the tools tell it."""
    return content_hash(data)[:_DIGITS]
