"""What one find needs, from the query to the record of its search."""

from __future__ import annotations

import time
from dataclasses import dataclass

from fumishirube.engine.folder_index import IndexState, SearchExtent
from fumishirube.engine.pipeline import failures
from fumishirube.query import Query, recorded
from fumishirube.report import SearchReport
from fumishirube.traces.records import (
    CacheOutcome,
    Origin,
    PipelineSnapshot,
    Span,
    Thresholds,
    Trace,
)
from fumishirube.traces.store import new_trace_id


@dataclass(frozen=True)
class FindRequest:
    """One find: the query, the state of the manual, the thresholds, and the surface."""

    manual_id: str
    query: Query
    state: IndexState
    thresholds: Thresholds
    recipe: PipelineSnapshot
    extent: SearchExtent

    def trace(self, search: Span, report: SearchReport, cached: CacheOutcome) -> Trace:
        """Return the record of the search that answers the find."""
        state = self.state
        extent = self.extent
        return Trace(
            id=new_trace_id(),
            manual_id=self.manual_id,
            created=time.time(),
            search=search,
            files=extent.files,
            sections=extent.sections,
            skipped=extent.skipped,
            aside=extent.aside,
            degraded="; ".join(filter(None, (state.degraded, *failures(search)))) or None,
            cache=cached,
            thresholds=self.thresholds,
            origin=Origin(self.recipe, state.fingerprint, recorded(self.query)),
            report=report,
            manuals=state.manuals,
        )
