"""Fences around plugin code: contain its exceptions, its output, and the end of the process.

Built-ins run without fences: their failures are faults of the project.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.engine.embedding import vector_fault
from fumishirube.engine.file_loads import SlowFile
from fumishirube.engine.pipeline import SKIPPED, NamedStage
from fumishirube.errors import ConfigError, FumishirubeError, PluginError, Unreadable
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import PluginGuard, described
from fumishirube.plugins.discovery import PluginReport, Plugins
from fumishirube.plugins.registry import KINDS
from fumishirube.stages import Fields, Loader, Vectors
from fumishirube.tools.definitions import Tool
from fumishirube.tools.prompts import Prompt
from fumishirube.tools.resources import Resource, Resources
from fumishirube.traces.records import Span, Trace

_log = logging.getLogger("fumishirube")

Q = ParamSpec("Q")
T = TypeVar("T")

_NOUNS = {kind.kind_name: kind.noun for kind in KINDS}
_SENT = frozenset({"preparation"})
"""Functions that other processes call; what fails there is repeated in a fence."""
_NOISE = 0.01
"""Seconds by which the clock of a trace may differ."""


class Fences:
    """Wraps stages and tools of plugins in fences; those of built-ins are returned unchanged."""

    def __init__(self, plugins: Plugins, guard: PluginGuard, *, strict: bool = False) -> None:
        self._plugins = plugins
        self._guard = guard
        self._strict = strict

    def work(self, kind_name: str, stage: type[object], name: str) -> ForeignWork | None:
        """Return the crash mark for a stage's class, or ``None`` for a built-in."""
        maker = self._maker(kind_name, stage)
        if maker is None or maker.builtin:
            return None
        return ForeignWork(maker.plugin, maker.distribution, f"{_NOUNS[kind_name]} {name!r}")

    def stage(self, kind_name: str, named: NamedStage[Any], running: Any) -> NamedStage[Any]:
        """Return the running form of a stage, fenced if it is a plugin's."""
        work = self.work(kind_name, type(named.stage), named.name)
        if work is None:
            return named._replace(stage=running)
        kind = _KINDS.get(kind_name, _FencedStage)
        return named._replace(stage=kind(running, work, self._guard, strict=self._strict))

    @contextmanager
    def building(self, work: ForeignWork | None) -> Iterator[None]:
        """Run plugin code that makes or opens something.

        Raises:
            PluginError: for an unexpected exception; it names the plugin.
        """
        if work is None:
            yield
            return
        try:
            with self._guard.marked(work):
                yield
        except (FumishirubeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            message = f"{work.stage} of plugin {work.plugin}: {described(error)}"
            raise PluginError(message) from error

    def leave_out(self, problem: str, work: ForeignWork | None, problems: list[str]) -> None:
        """Report that a part of a plugin is left out.

        Raises:
            ConfigError: when the configuration is strict.
        """
        if self._strict:
            raise ConfigError(problem)
        problems.append(problem)
        if work is not None:
            self._plugins.left_out.append((work.plugin, problem))
        _log.error("%s", problem, extra={"fault": problem, "left_out": True})

    def tool(self, tool: Tool[Any, Any], work: ForeignWork | None) -> Tool[Any, Any]:
        """Return a tool of a surface, fenced if the surface is a plugin's."""
        if work is None:
            return tool
        work = work._replace(stage=f"tool {tool.name!r}")
        before = None if tool.before is None else self._watched(work, tool.before)
        return replace(tool, run=self._watched(work, tool.run), before=before)

    def resources(self, resources: Resources, work: ForeignWork | None) -> Resources:
        """Return resources of a surface, fenced if the surface is a plugin's."""
        if work is None:
            return resources
        work = work._replace(stage=f"resources {resources.scheme!r}")

        def listed() -> list[Resource]:
            return [*resources.listed()]

        read, complete, stamp = resources.read, resources.complete, resources.stamp
        return replace(
            resources,
            listed=self._watched(work, listed),
            read=self._watched(work, read),
            complete=self._watched(work, complete),
            stamp=self._watched(work, stamp) if stamp else None,
        )

    def prompt(self, prompt: Prompt, work: ForeignWork | None) -> Prompt:
        """Return a prompt of a surface, fenced if the surface is a plugin's."""
        if work is None:
            return prompt
        work = work._replace(stage=f"prompt {prompt.name!r}")
        write, complete = prompt.write, prompt.complete
        return replace(
            prompt, write=self._watched(work, write), complete=self._watched(work, complete)
        )

    def observer(self, plugin: str, observe: Callable[[Trace], T]) -> Callable[[Trace], T]:
        """Return an observer of searches; a plugin's is fenced."""
        maker = next((r for r in self._plugins.reports if r.plugin == plugin), None)
        if maker is None or maker.builtin:
            return observe
        work = ForeignWork(plugin, maker.distribution, "its search_finished")
        return self._watched(work, observe)

    def note_failures(self, trace: Trace, stages: dict[tuple[str, str], type[object]]) -> None:
        """Record which stages of plugins failed in a search without raising.

        ``stages`` are the classes of the pipeline's stages, by kind and name.
        """
        began = trace.created - trace.search.ms / 1000 - _NOISE
        for span in _failed(trace.search):
            kind_name = f"{span.kind}s"
            stage = stages.get((kind_name, span.name))
            work = self.work(kind_name, stage, span.name) if stage else None
            if work is not None and not self._guard.log.recorded_since(work, began):
                self._guard.log.record(work, (span.error or "").rpartition(f"{SKIPPED}: ")[2])

    def slow_files(
        self,
        manual_id: str,
        slow: Iterable[SlowFile],
        loaders: Sequence[tuple[NamedStage[Any], Loader]],
    ) -> Iterator[str]:
        """Record files that are still being loaded; yield a sentence about each.

        ``loaders`` are the loaders as configured, each with its running form.
        """
        for file in slow:
            named = next(named for named, running in loaders if running is file.loader)
            path = f"{manual_id}/{file.path}"
            problem = f"it was abandoned after {file.seconds:.1f} s"
            work = self.work("loaders", type(named.stage), named.name)
            began = time.time() - file.seconds
            if work is not None and not self._guard.log.recorded_since(work, began):
                self._guard.log.record(work._replace(file=path), problem)
            origin = f" of plugin {work.plugin}" if work else ""
            read = f" ({file.pages.done} of {file.pages.total} pages)" if file.pages else ""
            yield (
                f"loader {named.name!r}{origin} has been reading {path} for {file.seconds:.1f} s"
                f"{read}; the file will be searched when it is read"
            )

    def _maker(self, kind_name: str, stage: type[object]) -> PluginReport | None:
        offers = (o.plugin for o in self._plugins.registry[kind_name] if o.stage is stage)
        plugin = next(offers, None)
        return next((r for r in self._plugins.reports if r.plugin == plugin), None)

    def _watched(self, work: ForeignWork, function: Callable[Q, T]) -> Callable[Q, T]:
        def watched(*arguments: Q.args, **named: Q.kwargs) -> T:
            with self._guard.watched(work):
                return function(*arguments, **named)

        return watched


class _FencedStage:
    """A stage of a plugin; each of its methods runs marked and watched."""

    def __init__(
        self, stage: object, work: ForeignWork, guard: PluginGuard, *, strict: bool
    ) -> None:
        self._stage = stage
        self._work = work
        self._guard = guard
        self._strict = strict

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Send the stage alone to other processes; what fails there is repeated in its fence."""
        return self._stage.__reduce_ex__(protocol)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the stage, so that ``isinstance`` checks pass."""
        return type(self._stage)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._stage, name)
        if not callable(value) or name.startswith("_") or name in _SENT:
            return value

        def fenced(*arguments: Any, **named: Any) -> Any:
            with self._watched():
                result = value(*arguments, **named)
                return tuple(result) if isinstance(result, Iterator) else result

        self.__dict__[name] = fenced
        return fenced

    def _watched(self) -> AbstractContextManager[None]:
        return self._guard.watched(self._work)


class _NamedInErrors(_FencedStage):
    """A stage of a plugin whose failure is an error or a note of the answer, which names it.

    Raises:
        PluginError: when it raises, or returns something unusable.
    """

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            with self._guard.watched(self._work):
                yield
        except (FumishirubeError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            message = f"{self._work.stage} of plugin {self._work.plugin} failed"
            raise PluginError(f"{message}: {type(error).__name__}") from error


class _FencedTokenizer(_NamedInErrors):
    """A tokenizer of a plugin; no search works without it."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text."""
        with self._watched():
            terms = tuple(self._stage.terms(text))  # type: ignore[attr-defined]
            if not all(isinstance(term, str) for term in terms):
                raise TypeError("it returned a term that is no text")
            return terms


class _FencedEmbedder(_NamedInErrors):
    """An embedder of a plugin; without it words alone decide."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return one vector for each text."""
        with self._watched():
            embed = self._stage.embed  # type: ignore[attr-defined]
            made = [[*map(float, vector)] for vector in embed(texts, role)]
            if fault := vector_fault(self._work.stage, made, len(texts)):
                raise ValueError(fault)
            return made


class _FencedIndex(_FencedStage):
    """An index of a plugin; its open indexes and corpora are fenced too."""

    def open(self, folder: Root, fields: Fields) -> _FencedStage:
        """Open the index of one manual."""
        with self._watched():
            opened = self._stage.open(folder, fields)  # type: ignore[attr-defined]
        return _FencedOpenIndex(opened, self._work, self._guard, strict=self._strict)


class _FencedOpenIndex(_FencedStage):
    """An open index of a plugin."""

    def corpus(self, manual_id: str) -> _FencedStage:
        """Return the corpus of a manual."""
        with self._watched():
            corpus = self._stage.corpus(manual_id)  # type: ignore[attr-defined]
        return _FencedStage(corpus, self._work, self._guard, strict=self._strict)


class _FencedLoader(_FencedStage):
    """A loader of a plugin: a file on which it fails is skipped.

    If it fails to list its files, the files of the last listing are used.
    """

    def __init__(
        self, stage: object, work: ForeignWork, guard: PluginGuard, *, strict: bool
    ) -> None:
        super().__init__(stage, work, guard, strict=strict)
        self._claims: dict[Path, tuple[Source, ...]] = {}
        self.failing: set[Path] = set()

    def sources(self, root: Root) -> tuple[Source, ...]:
        """Return the claimed files, or those of the last listing."""
        try:
            with self._guard.watched(self._work._replace(file=root.path.name)):
                self._claims[root.path] = tuple(self._stage.sources(root))  # type: ignore[attr-defined]
        except (FumishirubeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._check(error, root.path.name)
            self.failing.add(root.path)
        else:
            self.failing.discard(root.path)
        return self._claims.get(root.path, ())

    def load(self, root: Root, source: Source) -> Document:
        """Return the document of a file.

        Raises:
            Unreadable: when the loader fails.
        """
        file = f"{root.path.name}/{source.path}"
        try:
            with self._guard.watched(self._work._replace(file=file)):
                document: object = self._stage.load(root, source)  # type: ignore[attr-defined]
                if not isinstance(document, Document):
                    raise TypeError(f"it gave a {type(document).__name__} and no document")
                return document
        except (FumishirubeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._check(error, file)
            raise Unreadable(
                f"{self._work.stage} of plugin {self._work.plugin} failed on the file",
                "loader_failed",
                path=source.path,
            ) from error

    def loaded_elsewhere(self, root: Root, source: Source) -> None:
        """Remove the failure of a file that another process has loaded."""
        self._guard.log.worked(self._work._replace(file=f"{root.path.name}/{source.path}"))

    def _check(self, error: BaseException, file: str) -> None:
        if self._strict:
            message = f"{self._work.stage} of plugin {self._work.plugin} failed on {file}"
            raise PluginError(f"{message}: {described(error)}") from error


_KINDS = {
    "loaders": _FencedLoader,
    "tokenizers": _FencedTokenizer,
    "embedders": _FencedEmbedder,
    "indexes": _FencedIndex,
}


def unlisted_by(loaders: Sequence[object], root: Callable[[], Root]) -> Iterator[str]:
    """Return which loaders failed to list the files of a folder."""
    for loader in loaders:
        if type(loader) is _FencedLoader and loader.failing and root().path in loader.failing:
            work = loader._work  # noqa: SLF001 - of the same module
            yield f"{work.stage} of plugin {work.plugin} failed; files that it reads may be missing"


def _failed(span: Span) -> Iterator[Span]:
    if span.error:
        yield span
    for child in span.children:
        yield from _failed(child)
