"""The tools of the surface ``vault``, and recovery at its start."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fumishirube import SurfaceContext, Tool, ToolError
from fumishirube_vault.append import append_tool
from fumishirube_vault.create import create_tool
from fumishirube_vault.history import history_tool, show_tool
from fumishirube_vault.ls import ls_tool
from fumishirube_vault.notes import NoteStore
from fumishirube_vault.read import read_tool
from fumishirube_vault.replace import preview_tool, replace_tool
from fumishirube_vault.scan import scan_tool, text_tool
from fumishirube_vault.surface import VaultSurface
from fumishirube_vault.undo import redo_tool, undo_tool

_log = logging.getLogger("fumishirube")


def tools(context: SurfaceContext, settings: VaultSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools, in the order in which clients list them."""
    notes = NoteStore(context.root, settings)
    extra = (history_tool(notes), undo_tool(notes)) if settings.history else ()
    return (
        ls_tool(notes),
        create_tool(notes),
        read_tool(notes),
        scan_tool(notes),
        replace_tool(notes),
        *((append_tool(notes),) if "append" in settings.extras else ()),
        *extra,
    )


def commands(context: SurfaceContext, settings: VaultSurface) -> Sequence[Tool[Any, Any]]:
    """Return the tools of the journal, and those that preview, append and read to the end."""
    notes = NoteStore(context.root, settings)
    made = (history_tool, show_tool, undo_tool, redo_tool, preview_tool, append_tool, text_tool)
    return tuple(make(notes) for make in made)


@contextmanager
def recovered(context: SurfaceContext, settings: VaultSurface) -> Iterator[None]:
    """Finish or roll back the writes that a crash interrupted, before any call."""
    try:
        settled = NoteStore(context.root, settings).journal.recover()
        if settled:
            _log.warning("unfinished writes to the vault, now settled: %d", settled)
    except ToolError as error:
        _log.warning("the vault's journal cannot be read: %s", error)
    yield
