"""What a surface may use: the manuals of its root, its pipeline, and the traces."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from shirube.errors import ConfigError
from shirube.indexing import Indexed, State
from shirube.library import FIELDS, Library, Manual
from shirube.model import Progress, Query, Trace
from shirube.paths import Root
from shirube.pipeline import Named, Pipeline, failures
from shirube.stages import Fields, Finding, Index, Surface, Tokenizer
from shirube.trace import TraceStore, new_trace_id

RESERVED_MANUALS = ("manuals",)
"""Folder names that cannot be manuals: a tool uses the word as the id of the root."""


@dataclass(frozen=True)
class Furnished:
    """A surface and its stages, as the configuration chose them: by shelf, in order."""

    name: str
    surface: Surface
    stages: Mapping[str, Sequence[Named[Any]]]

    @property
    def fingerprint(self) -> str:
        """What an index depends on: loaders, tokenizer and index, with their settings."""
        return "-".join(
            named.stage.fingerprint
            for shelf in ("loaders", "tokenizers", "indexes")
            for named in self.stages[shelf]
        )


class WorkDesk:
    """The desk of one surface, with everything on it; see :class:`shirube.Desk`."""

    def __init__(
        self,
        furnished: Furnished,
        root: Root,
        state: Root,
        traces: TraceStore,
        observe: Callable[[Trace], None],
        *,
        strict: bool = False,
    ) -> None:
        stages = furnished.stages
        self._furnished = furnished
        self._state = state
        self._traces = traces
        self._observe = observe
        self._library = Library(root, [n.stage for n in stages["loaders"]], RESERVED_MANUALS)
        self._pipeline = Pipeline(stages["scorers"], stages["fusers"], stages["refiners"], strict)
        self._indexed: dict[str, Indexed] = {}
        self._lock = Lock()

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted."""
        return self._library.manuals()

    def manual(self, manual_id: str) -> Manual:
        """Return one manual."""
        return self._library.manual(manual_id)

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> Finding:
        """Bring the manual's index up to date, run the pipeline, and keep the trace."""
        state = self.prepare(manual_id, query, progress)
        ranking, span = self._pipeline.search(query, state.corpus)
        reasons = [state.degraded] if state.degraded else []
        trace = Trace(
            id=new_trace_id(),
            manual_id=manual_id,
            text=query.text,
            required=query.required,
            created=time.time(),
            search=span,
            files=state.files,
            sections=state.corpus.size,
            skipped=state.skipped,
            excluded=query.exclude,
            degraded="; ".join([*reasons, *failures(span)]) or None,
        )
        self._traces.put(trace)
        self._observe(trace)
        return Finding(trace, ranking)

    def prepare(self, manual_id: str, query: Query, progress: Progress | None = None) -> State:
        """Bring one manual's index up to date, and tell how it stands."""
        manual = self._library.manual(manual_id)
        with self._lock:
            if manual.id not in self._indexed:
                self._indexed[manual.id] = self._open(manual)
            indexed = self._indexed[manual.id]
        return indexed.bring_up_to_date(query.budget, progress)

    def trace(self, trace_id: str) -> Trace:
        """Return a kept trace."""
        return self._traces.get(trace_id)

    def close(self) -> None:
        """Close the indexes that were opened."""
        for indexed in self._indexed.values():
            indexed.close()
        self._indexed.clear()

    def _open(self, manual: Manual) -> Indexed:
        index: Index = self._only("indexes")
        tokenizer: Tokenizer = self._only("tokenizers")
        folder = self._state.make(f"index/{manual.id}/{self._furnished.fingerprint}")
        return Indexed(manual, index.open(folder, Fields(FIELDS, tokenizer)))

    def _only(self, shelf: str) -> Any:
        stages = self._furnished.stages[shelf]
        if not stages:
            raise ConfigError(f"pipelines.{self._furnished.name}: searching needs one of {shelf}")
        return stages[0].stage
