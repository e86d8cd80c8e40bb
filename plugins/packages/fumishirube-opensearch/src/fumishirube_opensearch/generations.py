"""The content of an index at one moment: a record says which documents count.

Documents are written before they count. The record, one small document, says up to which number
they do, and which of them have been replaced since. Only a process that has read its latest
version may replace it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from fumishirube_opensearch.clauses import among

TERM_BITS = 32
"""A number is the writer's term, and below that a count of its commits."""


@dataclass(frozen=True)
class Replaced:
    """A version of a page that no longer counts: since when, and how many documents it has.

    ``since`` is in milliseconds of the Unix epoch, by the clock of the writer.
    """

    since: int
    documents: int


@dataclass(frozen=True)
class Lease:
    """The writer, and until when it may write, in milliseconds of the Unix epoch by its clock.

    ``term`` grows whenever a writer takes over from one that has not released the lease.
    """

    term: int = 0
    holder: str | None = None
    until: int = 0


@dataclass(frozen=True)
class IndexRecord:
    """What counts: documents written within ``ranges``, without the versions in ``replaced``.

    ``index`` is the engine's index that has them; without one there are none. Those in ``retired``
    have been replaced, each at a time like that of :class:`Replaced`. ``next`` is the
    number of the next commit; ``commit`` is another text with every one. ``manual`` is the id of
    a manual whose files are stored, and ``origin`` the workspace that they are from.
    """

    index: str | None = None
    ranges: tuple[tuple[int, int], ...] = ()
    next: int = 1
    replaced: Mapping[str, Replaced] = field(default_factory=dict)
    pages: int = 0
    searched: int = 0
    blank: int = 0
    lengths: Mapping[str, int] = field(default_factory=dict)
    commit: str = ""
    retired: Mapping[str, int] = field(default_factory=dict)
    lease: Lease = Lease()
    manual: str = ""
    origin: str = ""

    @property
    def generation(self) -> int:
        """The number of the last commit; 0 before the first."""
        return self.ranges[-1][1] if self.ranges else 0

    def retiring(self, when: int) -> dict[str, int]:
        """Return the replaced indexes, with the current one since a moment in milliseconds."""
        return {**self.retired, **({self.index: when} if self.index else {})}

    def body(self) -> dict[str, Any]:
        """Return the record as a document."""
        return asdict(self)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> IndexRecord:
        """Return the record of a document.

        Raises:
            TypeError, KeyError, ValueError: when the document is not a record.
        """
        replaced = {key: Replaced(**row) for key, row in body["replaced"].items()}
        ranges = tuple((int(low), int(high)) for low, high in body["ranges"])
        lease = Lease(**body["lease"])
        return cls(**{**body, "replaced": replaced, "ranges": ranges, "lease": lease})

    def committed(self, number: int) -> tuple[tuple[int, int], ...]:
        """Return the ranges with one more number; skipped numbers stay outside."""
        if self.ranges and self.ranges[-1][1] == number - 1:
            return (*self.ranges[:-1], (self.ranges[-1][0], number))
        return (*self.ranges, (number, number))

    def taken(self, holder: str, until: int) -> IndexRecord:
        """Return the record with a new holder of the lease; a new term if the last holder died."""
        term, number = self.lease.term, self.next
        if self.lease.holder is not None or not term:
            # What a writer of an earlier term may still write is outside of all ranges.
            term += 1
            number = (term << TERM_BITS) + 1
        return replace(self, next=number, lease=Lease(term, holder, until))

    def filters(self, kinds: Sequence[str]) -> dict[str, Any]:
        """Return the query of the documents of some kinds that count."""
        born = [{"range": {"born": {"gte": low, "lte": high}}} for low, high in self.ranges]
        alive: dict[str, Any] = {
            "filter": [
                {"terms": {"kind": [*kinds]}},
                born[0] if len(born) == 1 else {"bool": {"should": born}},
            ]
        }
        if self.replaced:
            alive["must_not"] = among("version", [*self.replaced])
        return {"bool": alive}
