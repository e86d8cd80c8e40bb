"""Stages of plugins, each method guarded: marked, and its failures recorded and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.engine.stage_calls import threaded
from fumishirube.engine.stage_results import document_fault
from fumishirube.engine.vectors.embedding import vector_fault
from fumishirube.errors import (
    Cancelled,
    FumishirubeError,
    PluginError,
    ToolError,
    Unreadable,
)
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import PluginGuard, RecordedFault, described
from fumishirube.host.offered_types import all_of
from fumishirube.host.watched_updates import AbandonedUpdate, listing_seconds
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins.source_digests import source_digest
from fumishirube.stages import Embedder, Loader, Vectors

_SENT = frozenset({"preparation"})
"""Other processes call these; if one fails there, the work is repeated in this process."""


S = TypeVar("S")


class GuardedStage(Generic[S]):
    """A stage of a plugin; its methods run marked and watched, and may raise ``_answers``."""

    _answers: ClassVar[tuple[type[FumishirubeError], ...]] = ()

    def __init__(self, stage: S, work: ForeignWork, guard: PluginGuard) -> None:
        self._stage = stage
        self._work = work
        self._guard = guard

    @property
    def foreign_work(self) -> ForeignWork:
        """What the stage is in crash marks and faults."""
        return self._work

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Send the stage alone to other processes; what fails there is repeated here."""
        return self._stage.__reduce_ex__(protocol)

    @property  # type: ignore[misc]  # a class is no property elsewhere
    def __class__(self) -> type:
        """The class of the stage, so that ``isinstance`` checks pass."""
        return type(self._stage)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._stage, name)
        if not callable(value) or name.startswith("_") or name in _SENT:
            return value

        def guarded(*arguments: Any, **named: Any) -> Any:
            with self._watched(name):
                result = value(*arguments, **named)
                return all_of(result) if isinstance(result, Iterator) else result

        self.__dict__[name] = guarded
        return guarded

    def _watched(self, method: str) -> AbstractContextManager[None]:
        return self._guard.watched(self._work, method, self._answers)


class NamedInErrors(GuardedStage[S]):
    """A stage of a plugin whose failure is an error or a note of the answer, which names it.

    Raises:
        PluginError: when it raises, or returns something unusable.
    """

    @contextmanager
    def _watched(self, method: str) -> Iterator[None]:
        try:
            with self._guard.watched(self._work, method, self._answers):
                yield
        except BaseException as error:
            if isinstance(error, FumishirubeError | GeneratorExit) or is_interrupt(error):
                raise
            raise PluginError(f"{self._work.label} failed: {type(error).__name__}") from error


class GuardedEmbedder(NamedInErrors[Embedder]):
    """An embedder of a plugin; without it words alone decide."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return one vector for each text."""
        with self._watched("embed"):
            embed = self._stage.embed
            made = [[*map(float, vector)] for vector in embed(texts, role)]
            if fault := vector_fault(self._work.stage, made, len(texts)):
                raise ValueError(fault)
            if not all(made):
                raise ValueError("it made a vector without dimensions")
            if made and self.__dict__.setdefault("_length", len(made[0])) != len(made[0]):
                raise ValueError("one call gives vectors of other dimensions than another one")
            return made


class GuardedLoader(GuardedStage[Loader]):
    """A loader of a plugin: a file on which it fails is skipped.

    If it fails to list its files, the files of the last listing are used.
    """

    _answers = (ToolError,)

    def __init__(
        self, stage: Loader, work: ForeignWork, guard: PluginGuard, *, strict: bool
    ) -> None:
        super().__init__(stage, work, guard)
        self._strict = strict
        self._claims: dict[Path, tuple[Source, ...]] = {}
        self._late: dict[Path, Future[tuple[Source, ...]]] = {}
        self._failing: set[Path] = set()

    @cached_property
    def source_code(self) -> str:
        """A digest of the code and its version, part of the stamps of the claimed files."""
        return source_digest(type(self._stage), self._work.distribution)

    def sources(self, root: Root) -> tuple[Source, ...]:
        """Return the claimed files, or those of the last listing if it fails or takes too long."""
        work = self._work._replace(file=root.path.name)
        try:
            self._claims[root.path] = self._listed(root, work)
        except (Cancelled, KeyboardInterrupt):
            raise
        except BaseException as error:
            if isinstance(error, FumishirubeError) and not isinstance(error, RecordedFault):
                late = isinstance(error, AbandonedUpdate)
                problem = str(error) if late else described(error)
                self._guard.log.record(work, problem, problem if late else type(error).__name__)
            self._check(error, root.path.name)
            self._failing.add(root.path)
        else:
            self._failing.discard(root.path)
            self._drop_outside(root, work)
        return self._claims.get(root.path, ())

    def _drop_outside(self, root: Root, work: ForeignWork) -> None:
        """Drop what no file of the manual is called; that is a failure too, whatever else it lists.

        Raises:
            PluginError: when there is any, and the configuration is strict.
        """
        listed = self._claims[root.path]
        inside = tuple(source for source in listed if _is_plain(source.path))
        if len(inside) < len(listed):
            number = len(listed) - len(inside)
            problem = f"paths that no file of the manual has: {number}"
            self._claims[root.path] = inside
            self._guard.log.record(work, problem)
            self._check(PluginError(problem), root.path.name)
            self._failing.add(root.path)

    def _listed(self, root: Root, work: ForeignWork) -> tuple[Source, ...]:
        """List the claimed files on a thread of its own; one that was late serves a later call.

        Raises:
            AbandonedUpdate: when it takes too long.
        """

        def listed() -> tuple[Source, ...]:
            with self._guard.watched(work, "sources"):
                claimed = all_of(self._stage.sources(root))
                if not all(map(is_source, claimed)):
                    raise TypeError("it listed something else than sources")
                return claimed

        late = self._late.pop(root.path, None)
        listing = late or threaded(listed)
        if not wait([listing], 0.0 if late else listing_seconds()).done:
            self._late[root.path] = listing
            raise AbandonedUpdate("it has not listed its files in time")
        return listing.result()

    def problem_of(self, root: Root) -> str | None:
        """Return a sentence if it failed to list the files of this folder."""
        if root.path not in self._failing:
            return None
        return f"{self._work.label} failed; files that it reads may be missing"

    def __getattr__(self, name: str) -> Any:
        if name != "load_with_links":
            return super().__getattr__(name)
        return partial(self._loaded, getattr(self._stage, name))

    def load(self, root: Root, source: Source) -> Document:
        """Return the document of a file.

        Raises:
            Unreadable: when the loader fails, or its document is unusable.
        """
        return self._loaded(self._stage.load, root, source)

    def _loaded(
        self, load: Callable[[Root, Source], Document], root: Root, source: Source
    ) -> Document:
        file = f"{root.path.name}/{source.path}"
        try:
            with self._guard.watched(self._work._replace(file=file), "load", self._answers):
                document = load(root, source)
                if fault := document_fault(document, source.path):
                    raise TypeError(fault)
                return document
        except (ToolError, Cancelled, KeyboardInterrupt):
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
        file = f"{root.path.name}/{source.path}"
        self._guard.log.worked(self._work._replace(file=file), "load")

    def _check(self, error: BaseException, file: str) -> None:
        if self._strict:
            message = f"{self._work.label} failed on {file}"
            raise PluginError(f"{message}: {described(error)}") from error


def _is_plain(path: str) -> bool:
    return path[:1] != "\\" and {"", ".", ".."}.isdisjoint(path.split("/"))


def is_source(source: object) -> bool:
    """Tell whether something is a source, with values of the right types."""
    return (
        isinstance(source, Source)
        and isinstance(source.path, str)
        and isinstance(source.governed_by, tuple | list)
        and all(isinstance(path, str) for path in source.governed_by)
    )
