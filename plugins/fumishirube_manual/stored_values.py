"""The values that a trace stores by name, of the type that their reader expects."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import JsonValue

from fumishirube import Trace, TraceRow

LOOKED_AT = 50
"""The number of the best hits for which a trace stores values."""

T = TypeVar("T", list[Any], dict[str, Any])


def stored(trace: Trace, name: str, kind: type[T]) -> T | None:
    """Return the value of a trace under a name; ``None`` without one, or for one of another type.

    A trace that was read from a file may have any value.
    """
    value: Any = trace.annotations.get(name)
    return value if isinstance(value, kind) else None


def key_of(path: str, line: int) -> str:
    """Return the key under which the values of a section are stored."""
    return f"{path}#L{line}"


def stored_of(trace: Trace, name: str, row: TraceRow) -> list[JsonValue]:
    """Return the list that a trace stores for a hit; empty without one."""
    values = (stored(trace, name, dict) or {}).get(key_of(row.path, row.start_line))
    return values if isinstance(values, list) else []
