"""Running a recorded search again, and saying what is to blame when the answer is another."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeAlias

from pydantic import JsonValue

from fumishirube import __version__
from fumishirube.budget import Budget
from fumishirube.config.configuration import Loaded
from fumishirube.config.trials import with_pipeline, without_marks
from fumishirube.engine.library import Manual
from fumishirube.engine.pipeline import ran_out
from fumishirube.errors import ConfigError, InvalidScope
from fumishirube.host.application import Application
from fumishirube.host.context import WorkDesk
from fumishirube.model import Progress, Query, Trace
from fumishirube.plugins.discovery import Plugins
from fumishirube.traces.differences import Difference
from fumishirube.traces.exports import WITHHELD, Exported, programs, withheld_in

Cause: TypeAlias = Literal["corpus", "configuration", "plugins", "program", "time"]

TIME_MS = 600_000
"""How long a replay may take: it may have to index the manual first."""

_NAMED = 5


class Change(NamedTuple):
    """Something that is not as it was when the search was recorded."""

    cause: Cause
    told: str


@dataclass(frozen=True)
class Replay:
    """A recorded search, and the same search now."""

    before: Exported
    after: Exported

    @cached_property
    def difference(self) -> Difference:
        """The two rankings side by side."""
        return Difference(self.before.trace, self.after.trace)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What is not as it was, and may have changed the ranking."""
        return (
            *self._corpus(),
            *self._configuration(),
            *_versions("plugins", self._makers(self.before), self._makers(self.after)),
            *_versions("program", self.before.program, self.after.program),
            *self._time(),
        )

    def _corpus(self) -> Iterator[Change]:
        before, after = self.before, self.after
        stamps = (before.trace.origin.corpus, after.trace.origin.corpus)
        if stamps[0] == stamps[1] or (before.content and before.content == after.content):
            return
        lost = [one for one in self.difference.rows if one.rewritten]
        names = [f"{one.row.path}#L{one.row.start_line}" for one in lost[:_NAMED]]
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        sizes = (before.trace.sections, after.trace.sections)
        told = "the files of the manual are not what they were"
        told += f": {sizes[0]} sections then, {sizes[1]} now" if sizes[0] != sizes[1] else ""
        told += f"; other text: {', '.join(names)}{more}" if names else ""
        yield Change("corpus", told)

    def _configuration(self) -> Iterator[Change]:
        ours, theirs = (one.trace.origin.recipe for one in (self.before, self.after))
        for one in self.difference.settings:
            if [*withheld_in(one.before)]:
                told = f"{one.name} holds a path, which was not exported; the value here counts"
            else:
                told = f"{one.name}: {_said(one.before)} then, {_said(one.after)} now"
            yield Change("configuration", told)
        same = ours.stages == theirs.stages
        if same and ours.fingerprint != theirs.fingerprint and not [*withheld_in(ours.stages)]:
            yield Change("plugins", "the classes behind the same stages are others")

    def _time(self) -> Iterator[Change]:
        trace = self.before.trace
        if ran_out(trace.search):
            yield Change("time", "the recorded search had run out of time")
        if trace.degraded:
            yield Change("time", f"the recorded search was degraded: {trace.degraded}")

    @staticmethod
    def _makers(one: Exported) -> Mapping[str, str]:
        return one.trace.origin.recipe.makers


@contextmanager
def rehearsing(
    application: Application, plugins: Plugins, given: Trace | None = None
) -> Iterator[Application]:
    """Open an application like another one, with the pipeline of a trace if one is ``given``.

    Raises:
        ConfigError: when that pipeline cannot be built here.
    """
    loaded = application.loaded
    if given is not None:
        recipe = given.origin.recipe
        stages = {**recipe.stages}
        if [*withheld_in(stages)]:
            ours = [one for one in application.surfaces if one.pipeline_name == recipe.name]
            stages = _restored(stages, {**ours[0].uses} if ours else {})
        loaded = with_pipeline(loaded, recipe.name, stages)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(rehearsal(loaded, plugins))
        except ConfigError as error:
            if given is None:
                raise
            raise ConfigError(
                f"{error}{_missing(given, plugins)}; "
                "replay with --current to search as configured here"
            ) from error
        yield opened


def _missing(trace: Trace, plugins: Plugins) -> str:
    """Name the plugins that the stages of a trace came from, as far as they are not here."""
    here = {one.plugin for one in plugins.reports if one.status == "loaded"}
    makers = trace.origin.recipe.makers
    names = [f"{name} ({version})" for name, version in makers.items() if name not in here]
    return f"; the trace was made with {', '.join(names)}, which is not loaded" if names else ""


@contextmanager
def rehearsal(loaded: Loaded, plugins: Plugins) -> Iterator[Application]:
    """Open an application that leaves no marks.

    The plugins are its own: what is registered with them observes its searches.

    Raises:
        ConfigError: when the configuration asks for what is not there.
    """
    with (
        TemporaryDirectory(prefix="fumishirube-") as scratch,
        closing(Application(without_marks(loaded, Path(scratch)), plugins)) as application,
    ):
        yield application


def replayed(application: Application, trace: Trace, progress: Progress | None = None) -> Exported:
    """Ask what a trace was asked, of the manual as it is now, past the cache.

    Raises:
        InvalidScope: when its question was not recorded in full, or no surface can be asked it.
        NotFound: when there is no such manual any more.
    """
    origin = trace.origin
    if trace.own or origin.more or not origin.recipe.surface:
        raise InvalidScope(
            "this search cannot be run again: only its own surface knows all that it was asked"
            if origin.recipe.surface
            else "this search cannot be run again: an earlier version of Fumishirube recorded it"
        )
    desk = application.desks.get(origin.recipe.surface)
    if desk is None:
        raise InvalidScope(
            f"no surface is called {origin.recipe.surface!r} here; add it to 'surfaces'"
        )
    query = Query(
        trace.text,
        trace.required,
        must=origin.must,
        limit=origin.limit,
        exclude=trace.excluded,
        case_sensitive=origin.case_sensitive,
        budget=Budget.of(TIME_MS),
        cache=False,
    )
    after = desk.find(trace.manual_id, query, progress).trace
    return Exported(after, content_of(desk.manual(trace.manual_id)), programs(__version__))


def recorded(application: Application, trace: Trace) -> Exported:
    """Return a trace with what there is to know of its files, while they are as it saw them."""
    desk = application.desks.get(trace.origin.recipe.surface)
    content = None if desk is None or trace.own else _content(desk, trace)
    return Exported(trace, content, programs(__version__))


def content_of(manual: Manual) -> str:
    """Return a fingerprint of what a manual's files hold, whenever and wherever written."""
    content = hashlib.sha256()
    for path, spoken in sorted(manual.sweep().items()):
        content.update(f"{path}\0{manual.content_hash(spoken)}\n".encode("utf-8", "surrogatepass"))
    return content.hexdigest()[:16]


def _content(desk: WorkDesk, trace: Trace) -> str | None:
    """Return the fingerprint of the content that a trace saw, if that is still there."""
    if trace.manual_id not in desk.manuals():
        return None
    state = desk.prepare(trace.manual_id, Query("", budget=Budget.of(TIME_MS)))
    if state.fingerprint != trace.origin.corpus:
        return None
    return content_of(desk.manual(trace.manual_id))


def _versions(
    cause: Cause, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        ours, theirs = before.get(name, "none"), after.get(name, "none")
        if ours != theirs:
            yield Change(cause, f"{name}: {ours} then, {theirs} now")


def _said(value: JsonValue) -> str:
    if value is None:
        return "nothing"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _restored(
    given: Mapping[str, JsonValue], current: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return settings with those that were not exported as they are configured here."""
    found: dict[str, JsonValue] = {}
    for name, value in given.items():
        here = current.get(name)
        if value == WITHHELD and here is None:
            continue  # the stage's default counts
        found[name] = _one_restored(value, here)
    return found


def _one_restored(value: JsonValue, here: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return _restored(value, here if isinstance(here, Mapping) else {})
    if isinstance(value, list):
        beside = here if isinstance(here, list) and len(here) == len(value) else [None] * len(value)
        kept = [pair for pair in zip(value, beside, strict=True) if pair != (WITHHELD, None)]
        return [_one_restored(*pair) for pair in kept]
    return here if value == WITHHELD else value
