"""The data of the pages: past searches in stores and files, and new ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from fumishirube import (
    Budget,
    ConfigError,
    Document,
    InvalidParameter,
    Manual,
    NotFound,
    Query,
    SurfaceContext,
    ToolError,
    Trace,
    TraceRow,
)
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.commands import Application, search_context, section_at, suggest
from fumishirube.serving import HasEvidence
from fumishirube.text import fold
from fumishirube_inspect.configurations import Configurations, Version
from fumishirube_inspect.reports import Report

T = TypeVar("T")

TIME_MS = 60_000
LONGEST = 10_000
"""The most characters of a query."""

_SHOWN = 1_200
"""The most characters of a section shown."""
_EVIDENCE = 400
"""The most characters of the best lines of a hit."""
_OTHERS = 100
"""The most remembered searches with other configurations."""


class SearchForm(NamedTuple):
    """The fields of the search form: query, manuals, and one or two configurations."""

    text: str
    manual_ids: tuple[str, ...]
    required: tuple[str, ...]
    configuration: str
    against: str


class InspectorSession:
    """An open application, and others with configurations to compare.

    ``against`` is the first configuration to compare with. ``reports`` are charted. ``strangers``
    is whether plugins that are not built in may run.
    """

    def __init__(
        self,
        application: Application,
        against: Path | None = None,
        reports: Sequence[Report] = (),
        *,
        strangers: bool = True,
    ) -> None:
        self.application = application
        self.reports = reports
        self.configurations = Configurations(application, against, strangers=strangers)
        self._others: dict[str, tuple[Version, Trace]] = {}
        self._lock = Lock()

    def close(self) -> None:
        """Close the applications that this session opened."""
        self.configurations.close()

    def traces(self) -> tuple[Sequence[Trace], Sequence[str]]:
        """Return all traces, newest first, and the names of unreadable files."""
        stored, damaged = self.application.traces.all_traces()
        others = [*self._others.values()]  # in one step, because other threads search
        traces = [*stored, *(other for _, other in others)]
        return sorted(traces, key=lambda trace: trace.created, reverse=True), damaged

    def trace(self, trace_id: str) -> Trace:
        """Return one trace.

        Raises:
            NotFound: when it does not exist or has expired.
        """
        other = self._others.get(trace_id)
        return other[1] if other else self.application.traces.get(trace_id)

    def configuration_of(self, trace: Trace) -> str | None:
        """Return the configuration file of a trace, if it is not that of the session."""
        other = self._others.get(trace.id)
        return other[0].name if other else None

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals; empty where no surface searches any."""
        try:
            return search_context(self.application).manuals()
        except (ConfigError, ToolError):
            return ()

    def find(self, form: SearchForm) -> Sequence[Trace]:
        """Search with one configuration or two, without the cache.

        Raises:
            InvalidParameter: when the query or a term is blank or too long, or the manual does not
                exist.
            ConfigError: when a configuration cannot be used.
        """
        if not fold(form.text):
            raise InvalidParameter("the question is blank; type some words")
        if len(form.text) + sum(map(len, form.required)) > LONGEST:
            message = f"at most {LONGEST} characters, with the required terms"
            raise InvalidParameter(f"the question is too long; {message}")
        names = [form.configuration or self.configurations.current]
        names += [form.against] if form.against else []
        return [self._find(form, name) for name in names]

    def evidence(self, trace: Trace, row: TraceRow) -> Sequence[tuple[int, str]]:
        """Return the best lines of a hit for the query, with their numbers, where available."""
        with self.application_of(trace) as application:
            context = _context(application, trace)
            shows = self._shows_evidence(application, trace)
            if shows is None or context is None:
                return ()
            return shows.evidence(context, trace, row, _EVIDENCE)

    def passage(self, trace: Trace, row: TraceRow) -> str | None:
        """Return the beginning of a hit's present text; ``None`` when it no longer exists."""
        document = self.read(trace, row.path, lambda manual, path: manual.document(path))
        if document is None:
            return None
        for section in document.sections:
            if section.start_line == row.start_line:
                text = document.text[section.start : section.end].strip("\n")
                return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        return None

    def read(self, trace: Trace, path: str, read: Callable[[Manual, str], T]) -> T | None:
        """Return what is read of a file, of its manual and its path there; ``None`` without one."""
        with self.searched_by(trace) as context, suppress(ToolError):
            if context is not None:
                manual_id, inner = trace.file(path)
                return read(context.manual(manual_id), inner)
        return None

    def section(self, trace: Trace, path: str, line: int) -> int:
        """Return the first line of the section that contains a line.

        Raises:
            NotFound: when neither the manual nor the trace has the file.
        """
        places = [(row.path, row.start_line) for row in trace.search.rows]
        places += [(out.path, out.start_line or 0) for out in trace.search.left_out]
        if (path, line) in places:
            return line
        with self.searched_by(trace) as context:
            if context is None:
                return line
            try:
                return section_at(_document(context, trace, path), line)
            except ToolError:
                if path not in dict(places):
                    raise suggest("file", path, [*self.paths(trace)]) from None
                return line

    def sections(self, trace: Trace, path: str) -> Sequence[tuple[int, str]]:
        """Return the first line and the headings of each section of a file.

        Raises:
            NotFound: when the manual has no such file, with the nearest name.
        """
        with self.searched_by(trace) as context:
            if context is None:
                return ()
            try:
                document = _document(context, trace, path)
            except NotFound as error:
                raise suggest("file", path, [*self.paths(trace)]) from error
        return [
            (section.start_line, " > ".join((*section.ancestors, section.title)))
            for section in document.sections
        ]

    def paths(self, trace: Trace) -> Sequence[str]:
        """Return the files of a trace's manuals that still exist, as the trace names them."""
        paths: list[str] = []
        with self.searched_by(trace) as context:
            if context is None:
                return ()
            for name in trace.manuals or (trace.manual_id,):
                prefix = f"{name}/" if trace.manuals else ""
                with suppress(ToolError):
                    paths += [prefix + path for path in context.manual(name).paths()]
        return paths

    @contextmanager
    def application_of(self, trace: Trace) -> Iterator[Application]:
        """Yield the application that made a trace; that of the session, if it is closed."""
        other = self._others.get(trace.id)
        if other is None:
            yield self.application
            return
        with self.configurations.still_open(other[0]) as application:
            yield application or self.application

    @contextmanager
    def searched_by(self, trace: Trace) -> Iterator[SurfaceContext | None]:
        """Yield the context of a trace's surface; what it returns is used before this is left."""
        with self.application_of(trace) as application:
            yield _context(application, trace)

    def _find(self, form: SearchForm, name: str) -> Trace:
        query = Query(form.text, form.required, budget=Budget.of(TIME_MS), cache=False)
        if self.configurations.is_current(name):
            return self._searched(self.application, self._scope(form), query)
        with self._lock, self.configurations.application(name) as (version, application):
            trace = self._searched(application, self._scope(form), query)
            self._others[trace.id] = (version, trace)
            while len(self._others) > _OTHERS:
                del self._others[next(iter(self._others))]
        return trace

    def _scope(self, form: SearchForm) -> str:
        """Return the id of the manuals of a form; no manual, or ``*``, means all of them.

        Raises:
            NotFound: when there is no such manual, with the nearest name.
        """
        known = self.manuals()
        named = sorted({*form.manual_ids}) or [EVERY_MANUAL]
        if EVERY_MANUAL in named:
            return known[0] if len(known) == 1 else EVERY_MANUAL
        for name in named:
            if name not in known:
                raise suggest("manual", name, [*known])
        return "/".join(named)

    def _searched(self, application: Application, manual_id: str, query: Query) -> Trace:
        context = search_context(application)
        result = context.find(manual_id, query)
        shows = self._shows_evidence(application, result.trace)
        if shows is None:
            return result.trace
        return result.extended(
            result.trace, lambda trace: shows.with_evidence(context, trace, result.corpus)
        )

    @staticmethod
    def _shows_evidence(application: Application, trace: Trace) -> HasEvidence | None:
        """Return the surface of a trace, if it can show evidence."""
        named = {configured.name: configured.surface for configured in application.surfaces}
        surface = named.get(trace.origin.recipe.surface)
        return surface if isinstance(surface, HasEvidence) else None


def _context(application: Application, trace: Trace) -> SurfaceContext | None:
    """Return the context of a trace's surface, unless it searched a corpus of its own."""
    return None if trace.own else application.contexts.get(trace.origin.recipe.surface)


def _document(context: SurfaceContext, trace: Trace, path: str) -> Document:
    manual_id, inner = trace.file(path)
    return context.manual(manual_id).document(inner)
