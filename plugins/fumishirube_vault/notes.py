"""Reads and changes the notes of a vault; every change can be undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Annotated, NamedTuple

from pydantic import Field

from fumishirube import Conflict, Forbidden, NotFound, Root, ToolError, Unreadable
from fumishirube.disk import WritableRoot, content_hash
from fumishirube.text import DecodedText, decode_with_encoding
from fumishirube_vault.journal import HEADER_BYTES, LOCKS, Action, NoteJournal, Write
from fumishirube_vault.rules import is_hidden, may_replace
from fumishirube_vault.surface import VaultSurface

ExpectedHash = Annotated[str | None, Field(description="content_hash of vault_read.")]

HASH_DIGITS = 12
"""How many digits of a hash the tools show."""


class ChangedNote(NamedTuple):
    """The new bytes of a note, ``None`` if deleted; and the write, ``None`` if nothing changed."""

    data: bytes | None
    write: Write | None


class MissingNote(NotFound):
    """There is no such note."""


class NoteStore:
    """The notes of a vault, as the tools use them."""

    def __init__(self, root: Root, settings: VaultSurface) -> None:
        self.root = root
        self.largest = min(settings.note_bytes, root.limits.file_bytes)
        self.allow_hidden = settings.allow_hidden
        self._writable = WritableRoot(root, LOCKS)
        entry_bytes = root.limits.file_bytes + HEADER_BYTES
        limits = replace(root.limits, file_bytes=entry_bytes)
        whole = WritableRoot(replace(root.whole, limits=limits), LOCKS)
        self.journal = NoteJournal(whole, settings, root.visible)

    def read(self, path: str) -> bytes:
        """Return a note's bytes.

        Raises:
            MissingNote: when there is no such note.
            NotFound: for the journal.
            Forbidden: when the path has a link in it, or permission is denied.
            Unreadable: when it is larger than the root's limit.
        """
        if is_hidden(path):
            raise NotFound("the journal of the vault is not read", path=path)
        try:
            return self.root.read_bytes(path)
        except NotFound as error:
            raise MissingNote("there is no such note; vault_ls lists them", path=path) from error

    def text(self, path: str) -> tuple[DecodedText, bytes]:
        """Return the text and the bytes of a note.

        Raises:
            Unreadable: when its encoding is unknown; and as :meth:`read` does.
        """
        data = self.read(path)
        with self.naming(path):
            return decode_with_encoding(data), data

    def change(
        self,
        path: str,
        action: Action,
        made: Callable[[bytes | None], bytes | None],
        of: str | None = None,
    ) -> ChangedNote:
        """Change a note: ``made`` gets its content and returns the new content.

        ``None`` is a missing note. The note is locked meanwhile; on return, the change is on disk.

        Raises:
            Conflict: when another program changed the note meanwhile; nothing is written.
            Forbidden: when the path cannot be written, or has a link in it.
        """
        self.root.check_writable(path)
        writable = self._writable
        lock = writable.lock_of(path)
        with _instead_of_the_journal(path), writable.locked(lock):
            self.journal.recover(lock)
            before = writable.read(path)
            after = made(before)
            if after == before:
                return ChangedNote(before, None)
            new = before is None
            folder = writable.needing_folder(path.rpartition("/")[0]) if new else nullcontext()
            with folder, self.journal.recorded(path, action, before, after, of) as write:
                writable.swap(path, before, after, write.id)
            return ChangedNote(after, write)

    def rewrite(self, path: str, action: Action, made: Callable[[bytes | None], bytes]) -> bytes:
        """Change a note that exists, and return its new content.

        Raises:
            NotFound: when it does not exist; no journal is created then.
            Forbidden: when notes of its kind are never changed, or the note would be, and may not.
            Conflict: when another program changed it meanwhile; nothing is written.
        """
        may_replace(path, self.allow_hidden)
        before = self.read(path)
        self.root.check_writable(path)
        try:
            return self.change(path, action, made).data or b""
        except Forbidden:
            if made(before) != before:
                raise
            return before  # where nothing can be locked, nothing need be

    def changeable(self, path: str, before: bytes | None, expected_hash: str | None) -> bytes:
        """Return the content of a note that may be changed now.

        Raises:
            NotFound: when it was deleted meanwhile.
            Conflict: when it is not the one with the expected hash.
            Unreadable: when it is larger than a note may be.
        """
        if before is None:
            raise NotFound("the note was deleted meanwhile", path=path)
        if expected_hash is not None and expected_hash != short_hash(before):
            raise Conflict("the note is not the one that was read; read it again", path=path)
        if len(before) > self.largest:
            raise Unreadable(
                f"the note has {len(before)} bytes; up to {self.largest} can be changed",
                reason="too_large",
                path=path,
            )
        return before

    @contextmanager
    def naming(self, path: str) -> Iterator[None]:
        """Name the note in the error of a body that cannot decode it."""
        try:
            yield
        except Unreadable as error:
            raise Unreadable(str(error), error.reason, path=path) from error

    def absent(self, path: str) -> Sequence[str]:
        """Check that no file or folder has this path; return the path segments to create.

        Raises:
            Conflict: when the path exists, or a parent of it is a file.
            Forbidden: when the path has a link in it.
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


@contextmanager
def _instead_of_the_journal(path: str) -> Iterator[None]:
    """Name the note in errors of the files that record and lock its changes."""
    try:
        yield
    except ToolError as error:
        if is_hidden(str(error.details.get("path", ""))):
            error.details["path"] = path
        raise


def short_hash(data: bytes) -> str:
    """Return the hash of a note's bytes, in the tools' format."""
    return content_hash(data)[:HASH_DIGITS]
