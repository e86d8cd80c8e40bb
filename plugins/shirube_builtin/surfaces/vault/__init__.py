"""The surface over notes: list, create, read, scan, replace, and take back."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

from pydantic import Field

from shirube import Desk, Stage, Tool, ToolError
from shirube_builtin.surfaces.vault.create import create_tool
from shirube_builtin.surfaces.vault.history import history_tool, show_tool
from shirube_builtin.surfaces.vault.journal import Bounds
from shirube_builtin.surfaces.vault.ls import ls_tool
from shirube_builtin.surfaces.vault.notes import Notes
from shirube_builtin.surfaces.vault.read import read_tool
from shirube_builtin.surfaces.vault.replace import preview_tool, replace_tool
from shirube_builtin.surfaces.vault.scan import scan_tool
from shirube_builtin.surfaces.vault.undo import redo_tool, undo_tool

_MIB = 1024 * 1024

_log = logging.getLogger("shirube")


class VaultSurface(Stage):
    """Offers the five ``vault_*`` tools, and with ``history`` two more, which list and undo writes.

    A note holds at most ``note_bytes``. What notes held before is remembered for as many writes,
    bytes and days as the ``journal_*`` settings say.
    """

    root: ClassVar[str] = "vault"
    instructions: ClassVar[str] = (
        "Vault: notes that outlast the conversation. vault_create writes a new one, vault_replace "
        "changes one; vault_ls, vault_read and vault_scan show what was written before."
    )
    pipeline: ClassVar[Mapping[str, Any]] = {}

    history: bool = False
    note_bytes: Annotated[int, Field(ge=1)] = 10 * _MIB
    journal_writes: Annotated[int, Field(ge=1)] = 1000
    journal_bytes: Annotated[int, Field(ge=1)] = 64 * _MIB
    journal_days: Annotated[int, Field(ge=1)] = 90

    def tools(self, desk: Desk) -> Sequence[Tool[Any, Any]]:
        """Return the tools, in the order in which an agent meets them."""
        notes = self._notes(desk)
        extra = (history_tool(notes), undo_tool(notes)) if self.history else ()
        return (
            ls_tool(notes),
            create_tool(notes),
            read_tool(notes),
            scan_tool(notes),
            replace_tool(notes),
            *extra,
        )

    def commands(self, desk: Desk) -> Sequence[Tool[Any, Any]]:
        """Return the tools of the journal, and the one that shows what would be replaced."""
        notes = self._notes(desk)
        made = (history_tool, show_tool, undo_tool, redo_tool, preview_tool)
        return tuple(make(notes) for make in made)

    @contextmanager
    def lifespan(self, desk: Desk) -> Iterator[None]:
        """Finish or roll back, at the start, what a crash left."""
        try:
            settled = self._notes(desk).journal.recover()
            if settled:
                _log.warning("unfinished writes to the vault, now settled: %d", settled)
        except ToolError as error:
            _log.warning("the vault's journal cannot be looked at: %s", error)
        yield

    def _notes(self, desk: Desk) -> Notes:
        bounds = Bounds(self.journal_writes, self.journal_bytes, self.journal_days)
        return Notes(desk.root, bounds, self.note_bytes)
