"""The values that a trace stores by name, of the type that their reader expects."""

from __future__ import annotations

from typing import Any, TypeVar

from fumishirube import Trace

T = TypeVar("T", list[Any], dict[str, Any])


def stored(trace: Trace, name: str, kind: type[T]) -> T | None:
    """Return the value of a trace under a name; ``None`` without one, or for one of another type.

    A trace that was read from a file may have any value.
    """
    value: Any = trace.annotations.get(name)
    return value if isinstance(value, kind) else None
