"""What one connection has done so far: discovery, and what it has already read."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock


@dataclass
class Reading:
    """The last section that a session read of one file, how far it got, and in which text."""

    start_line: int
    next_offset: int
    text_hash: int


@dataclass
class Session:
    """The memory of one connection. Calls of one session may run in several threads."""

    discovered: bool = False
    readings: dict[tuple[str, str], Reading] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
