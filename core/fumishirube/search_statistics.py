"""Statistics of searches, which a surface may keep and draw thresholds from."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from fumishirube.disk.roots import Root
from fumishirube.traces.records import SearchAssessment, Trace


class SearchStatistics(Protocol):
    """The statistics of a surface's searches."""

    @property
    def thresholds(self) -> tuple[int, float]:
        """``candidate_low`` and ``file_bias`` for the next search, as its trace records them.

        A cached answer is for searches with the same ones.
        """
        ...

    def search_finished(self, trace: Trace) -> None:
        """Observe a search of the surface; also one that is not assessed."""
        ...

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Add the surface's assessment of a search."""
        ...

    def close(self) -> None:
        """Write what waits."""
        ...


@runtime_checkable
class HasStatistics(Protocol):
    """A surface that keeps statistics of its searches, as ``adaptive`` configures them."""

    def search_statistics(
        self,
        base: tuple[int, float],
        file: Path,
        *,
        tuning: bool,
        min_recall: float,
        vault: Path | None,
        folder: Root | None,
    ) -> SearchStatistics:
        """Return the statistics, which a reload hands on unless settings or plugins change.

        ``base`` are the configured thresholds, and ``folder`` is that of the file, if the program
        made it. With a ``vault``, the file is written only while that folder exists.
        """
        ...
