"""What the configuration may say of a vault and its journal."""

from __future__ import annotations

from typing import NamedTuple


class JournalBounds(NamedTuple):
    """How many writes are remembered, in how many bytes, and for how many days."""

    writes: int
    bytes: int
    days: int


class VaultBounds(NamedTuple):
    """How many bytes a note may have, which dot-names may hold notes, what is remembered."""

    note_bytes: int
    allow_hidden: tuple[str, ...]
    journal: JournalBounds
