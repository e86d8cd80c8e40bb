"""Replays of recorded searches, and the changes that may explain a different ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from pydantic import JsonValue

from fumishirube import Budget, ConfigError, InvalidScope, Query, Trace, __version__
from fumishirube.commands import Application
from fumishirube.serving import Plugins, open_scratch_application
from fumishirube.tools import Progress
from fumishirube_inspect.differences import TraceDifference
from fumishirube_inspect.exports import WITHHELD, ExportedTrace, programs, withheld_coordinates

Cause: TypeAlias = Literal["corpus", "configuration", "plugins", "program", "time"]

TIME_MS = 600_000
"""The time budget of a replay in milliseconds; the manual may have to be indexed first."""

_NAMED = 5


class ReplayChange(NamedTuple):
    """One change since the search was recorded."""

    cause: Cause
    explanation: str


@dataclass(frozen=True)
class Replay:
    """A recorded search, and the same search now."""

    before: ExportedTrace
    after: ExportedTrace

    @cached_property
    def difference(self) -> TraceDifference:
        """The difference between the two rankings."""
        return TraceDifference(self.before.trace, self.after.trace)

    @cached_property
    def changes(self) -> tuple[ReplayChange, ...]:
        """The changes that may have changed the ranking."""
        recorded, current = (item.trace.origin.recipe for item in (self.before, self.after))
        return (
            *self._corpus(),
            *self._configuration(),
            *_versions("plugins", recorded.makers, current.makers),
            *_versions("program", self.before.program, self.after.program),
            *self._time(),
        )

    def _corpus(self) -> Iterator[ReplayChange]:
        before, after = self.before, self.after
        stamps = (before.trace.origin.corpus, after.trace.origin.corpus)
        if stamps[0] == stamps[1] or (before.content and before.content == after.content):
            return
        lost = [change for change in self.difference.rows if change.rewritten]
        names = [f"{change.row.path}#L{change.row.start_line}" for change in lost[:_NAMED]]
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        sizes = (before.trace.sections, after.trace.sections)
        message = "the files of the manual have changed"
        message += f": {sizes[0]} sections then, {sizes[1]} now" if sizes[0] != sizes[1] else ""
        message += f"; other text: {', '.join(names)}{more}" if names else ""
        yield ReplayChange("corpus", message)

    def _configuration(self) -> Iterator[ReplayChange]:
        recorded, current = (item.trace.origin.recipe for item in (self.before, self.after))
        for item in self.difference.settings:
            if [*withheld_coordinates(item.before)]:
                message = (
                    f"{item.name} contains a path, which was not exported; the value here is used"
                )
            else:
                message = f"{item.name}: {_shown(item.before)} then, {_shown(item.after)} now"
            yield ReplayChange("configuration", message)
        words = [_synonyms(item.trace) for item in (self.before, self.after)]
        if words[0] != words[1]:
            message = f"glossary: {_shown(words[0])} then, {_shown(words[1])} now"
            yield ReplayChange("configuration", message)
        same = recorded.stages == current.stages
        if same and recorded.fingerprint != current.fingerprint:
            yield ReplayChange("plugins", "the classes of the same stages have changed")

    def _time(self) -> Iterator[ReplayChange]:
        trace = self.before.trace
        if trace.report.out_of_time:
            yield ReplayChange("time", "the recorded search ran out of time")
        if trace.degraded:
            yield ReplayChange("time", f"the recorded search was degraded: {trace.degraded}")


@contextmanager
def open_replay_application(
    application: Application, plugins: Plugins, recorded_trace: Trace | None = None
) -> Iterator[Application]:
    """Open an application like another one, or with the pipeline of a ``recorded_trace``.

    Raises:
        ConfigError: when that pipeline cannot be built here.
    """
    loaded = application.loaded
    if recorded_trace is not None:
        recipe = recorded_trace.origin.recipe
        stages = {**recipe.stages}
        if [*withheld_coordinates(stages)]:
            recorded = [
                surface for surface in application.surfaces if surface.pipeline_name == recipe.name
            ]
            stages = _restored(stages, {**recorded[0].uses} if recorded else {})
        loaded = loaded.with_pipeline(recipe.name, stages)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(open_scratch_application(loaded, plugins))
        except ConfigError as error:
            if recorded_trace is None:
                raise
            raise ConfigError(
                f"{error}{_missing(recorded_trace, plugins)}; "
                "replay with --current to search as configured here"
            ) from error
        yield opened


def _missing(trace: Trace, plugins: Plugins) -> str:
    """Name the plugins of a trace's stages that are not loaded here."""
    here = {report.plugin for report in plugins.reports if report.status == "loaded"}
    makers = trace.origin.recipe.makers
    names = [f"{name} ({version})" for name, version in makers.items() if name not in here]
    return f"; the trace was made with {', '.join(names)}, which is not loaded" if names else ""


def replay_trace(
    application: Application,
    trace: Trace,
    progress: Progress | None = None,
    *,
    current: bool = False,
) -> ExportedTrace:
    """Repeat the query of a trace on the current manual, without the cache.

    Its synonyms are those of the trace; if ``current``, those of the application's glossary.

    Raises:
        InvalidScope: when the query was not recorded in full, or no surface can run it.
        NotFound: when the manual no longer exists.
    """
    origin = trace.origin
    if trace.own or not origin.recipe.surface:
        raise InvalidScope(
            "this search cannot be run again: only its own surface knows the whole query"
            if origin.recipe.surface
            else "this search cannot be run again: an earlier version of Fumishirube recorded it"
        )
    context = application.contexts.get(origin.recipe.surface)
    if context is None:
        raise InvalidScope(
            f"no surface is called {origin.recipe.surface!r} here; add it to 'surfaces'"
        )
    query = replace(origin.query.recorded(), budget=Budget.of(TIME_MS), cache=False)
    if current:
        query = replace(query, synonyms=())
    after = context.find(trace.manual_id, query, progress).trace
    return ExportedTrace(after, _content(application, after), programs(__version__))


def describe_recorded(application: Application, trace: Trace) -> ExportedTrace:
    """Return a trace with fingerprints of its files, as long as they are unchanged."""
    content = _content(application, trace) if _is_current(application, trace) else None
    return ExportedTrace(trace, content, programs(__version__))


def _is_current(application: Application, trace: Trace) -> bool:
    """Tell whether the files are still those that a trace saw."""
    context = application.contexts.get(trace.origin.recipe.surface)
    if context is None or trace.own or not {*_manuals(trace)} <= {*context.manuals()}:
        return False
    state = context.prepare(trace.manual_id, Query("", budget=Budget.of(TIME_MS)))
    return state.fingerprint == trace.origin.corpus


def _content(application: Application, trace: Trace) -> str:
    """Return a fingerprint of the files of a trace, whatever their times and their folder."""
    context = application.contexts[trace.origin.recipe.surface]
    contents = []
    for name in _manuals(trace):
        manual, content = context.manual(name), hashlib.sha256()
        for path, claimed in sorted(manual.sweep().items()):
            line = f"{path}\0{manual.content_hash(claimed)}\n"
            content.update(line.encode("utf-8", "surrogatepass"))
        contents.append(content.hexdigest()[:16])
    if not trace.manuals:
        return contents[0]
    rows = [f"{name}/{content}" for name, content in zip(trace.manuals, contents, strict=True)]
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _manuals(trace: Trace) -> Sequence[str]:
    return trace.manuals or [trace.manual_id]


def _versions(
    cause: Cause, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[ReplayChange]:
    for name in dict.fromkeys([*before, *after]):
        recorded, current = before.get(name, "none"), after.get(name, "none")
        if recorded != current:
            yield ReplayChange(cause, f"{name}: {recorded} then, {current} now")


def _synonyms(trace: Trace) -> JsonValue:
    """Return the words of a query that had synonyms, with these; ``None`` for no words."""
    rows = trace.origin.query.synonyms
    return [" = ".join((word, *others)) for word, others in rows] or None


def _shown(value: JsonValue) -> str:
    if value is None:
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _restored(
    exported_settings: Mapping[str, JsonValue], current: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return settings, with those that were not exported taken from this configuration."""
    return {
        name: _restored_value(value, current.get(name))
        for name, value in exported_settings.items()
        if (value, current.get(name)) != (WITHHELD, None)  # else the stage's default is used
    }


def _restored_value(value: JsonValue, here: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return _restored(value, here if isinstance(here, Mapping) else {})
    if isinstance(value, list):
        current = (
            here if isinstance(here, list) and len(here) == len(value) else [None] * len(value)
        )
        pairs = [pair for pair in zip(value, current, strict=True) if pair != (WITHHELD, None)]
        return [_restored_value(*pair) for pair in pairs]
    return here if value == WITHHELD else value
