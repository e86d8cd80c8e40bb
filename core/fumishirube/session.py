"""What one connection has done so far: discovery, and what it has already read."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock


@dataclass
class ReadPosition:
    """The last section that a session read of one file, how far it got, and in which text."""

    start_line: int
    next_offset: int
    text_hash: int


@dataclass
class DeliveredRanges:
    """What a session has been given of one file: ranges of characters of one text, merged."""

    text_hash: int
    ranges: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start: int, end: int) -> None:
        """Add a range, and merge it with those that it touches."""
        apart = [(a, b) for a, b in self.ranges if b < start or a > end]
        joined = [(a, b) for a, b in self.ranges if (a, b) not in apart]
        whole = (min([start, *(a for a, _ in joined)]), max([end, *(b for _, b in joined)]))
        self.ranges = sorted([*apart, whole])

    def holds(self, start: int, end: int) -> bool:
        """Tell whether every character of a range has been given."""
        return any(a <= start and end <= b for a, b in self.ranges)


@dataclass
class Session:
    """The memory of one connection. Calls of one session may run in several threads."""

    discovered: bool = False
    readings: dict[tuple[str, str], ReadPosition] = field(default_factory=dict)
    deliveries: dict[tuple[str, str], DeliveredRanges] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)
