"""What the configuration may say of the journal of a vault."""

from __future__ import annotations

from typing import NamedTuple


class JournalBounds(NamedTuple):
    """How many writes are remembered, in how many bytes, and for how many days."""

    writes: int
    bytes: int
    days: int
