"""Traces that several servers share, in an index outside all of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from fumishirube.traces.files import DAMAGED, decode_trace, encode_trace
from fumishirube.traces.records import Trace

_HEX = frozenset("0123456789abcdef")
_DIGITS = 32


class TraceArchive(Protocol):
    """Traces of all servers as JSON. A ``scope`` is a text of ASCII letters and digits, or empty.

    Nothing is found by the id alone: the scope is that of a person with some rights.
    """

    def put(self, scope: str, trace_id: str, created: float, encode: Callable[[], bytes]) -> None:
        """Store a trace soon, beside the call; replace an earlier one of the same id."""
        ...

    def get(self, scope: str, trace_id: str) -> bytes | None:
        """Return a trace, or ``None`` if it is unknown.

        Raises:
            Forbidden: when the archive does not answer.
        """
        ...

    def close(self) -> None:
        """Write what waits, within some seconds."""
        ...


@runtime_checkable
class ArchivesTraces(Protocol):
    """An index that also has an archive of traces."""

    def open_archive(self, seconds: float) -> TraceArchive:
        """Return the archive, which drops traces some time after these seconds."""
        ...


class ScopedArchive(NamedTuple):
    """The part of an archive that one store of traces may see."""

    archive: TraceArchive
    scope: str = ""

    def put(self, trace: Trace) -> None:
        """Store a trace soon."""
        self.archive.put(self.scope, trace.id, trace.created, lambda: encode_trace(trace))

    def get(self, trace_id: str, seconds: float) -> Trace | None:
        """Return a trace that is not older than some seconds, or ``None``."""
        if len(trace_id) != _DIGITS or not _HEX.issuperset(trace_id):
            return None
        data = self.archive.get(self.scope, trace_id)
        try:
            trace = None if data is None else decode_trace(data)
        except DAMAGED:
            return None
        fresh = trace is not None and trace.created >= time.time() - seconds
        return trace if fresh and trace and trace.id == trace_id else None
