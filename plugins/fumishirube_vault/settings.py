"""The limits of a vault and its journal."""

from __future__ import annotations

from typing import NamedTuple


class JournalBounds(NamedTuple):
    """The most writes in the journal, the most bytes, and the most days."""

    writes: int
    bytes: int
    days: int


class VaultBounds(NamedTuple):
    """The most bytes of a note, the dot-names that may hold notes, and the journal's limits."""

    note_bytes: int
    allow_hidden: tuple[str, ...]
    journal: JournalBounds
