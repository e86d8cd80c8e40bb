"""Stages of plugins, each method guarded: marked, and its failures recorded and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.engine.claiming_loaders import goes_by_name
from fumishirube.engine.stage_calls import AbandonedWork, threaded
from fumishirube.engine.stage_results import MOST_ITEMS, document_fault
from fumishirube.engine.vectors.embedding import vector_fault
from fumishirube.errors import Cancelled, FumishirubeError, PluginError, ToolError, Unreadable
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import described
from fumishirube.host.offered_types import (
    all_of,
    check_texts,
    check_toc,
    check_writing,
    is_source,
    require_clause,
)
from fumishirube.host.plugin_guard import PluginGuard, RecordedFault
from fumishirube.host.watched_updates import listing_seconds
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins.source_digests import source_digest
from fumishirube.stages import Embedder, Loader, Tokenizer, Vectors

_MOST_TERMS = 10
"""So many terms may begin at each character of a text; an iterator without an end has more."""
_SENT = frozenset({"preparation"})
"""Other processes call these; if one fails there, the work is repeated in this process."""

S = TypeVar("S")
G = TypeVar("G", bound="GuardedStage[Any]")


class GuardedStage(Generic[S]):
    """A stage of a plugin; its methods run marked and watched, and may raise ``_answers``."""

    _answers: ClassVar[tuple[type[FumishirubeError], ...]] = ()
    _named: ClassVar[bool] = False
    _methods: ClassVar[frozenset[str]] = frozenset({"applies"})
    """What a stage may have in addition and is then called, also if it cannot be; or ``None``."""

    def __init__(self, stage: S, work: ForeignWork, guard: PluginGuard) -> None:
        self._stage = stage
        self.foreign_work = self._work = work
        self._guard = guard

    def guarded_by(self, kind: type[G]) -> G:
        """Return the stage guarded by another class."""
        return kind(self._stage, self._work, self._guard)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Send the stage alone to other processes; what fails there is repeated here."""
        return self._stage.__reduce_ex__(protocol)

    @property  # type: ignore[misc]  # a class is no property elsewhere
    def __class__(self) -> type:
        """The class of the stage, so that ``isinstance`` checks pass."""
        return type(self._stage)

    def __getattr__(self, name: str) -> Any:
        guarded = partial(self._call, name)
        try:
            value = getattr(self._stage, name)
        except BaseException as error:
            if isinstance(error, AttributeError) or is_interrupt(error):
                raise
            return guarded  # which looks it up again, where a failure is recorded
        is_method = callable(value) or (name in self._methods and value is not None)
        if not is_method or name.startswith("_") or name in _SENT:
            return value
        self.__dict__[name] = guarded
        return guarded

    def _call(self, method: str, /, *arguments: Any, **named: Any) -> Any:
        with self._watched(method):
            return self._checked(method, getattr(self._stage, method)(*arguments, **named))

    def _checked(self, method: str, result: Any) -> Any:
        """Return the result of a method in the form that callers get; raise if it is wrong."""
        if method == "applies":
            return bool(result)  # here, as this may raise too
        return all_of(result) if isinstance(result, Iterator) else result

    def _watched(self, method: str) -> AbstractContextManager[None]:
        return self._guard.watched(self._work, method, self._answers, named=self._named)


class NamedInErrors(GuardedStage[S]):
    """A stage of a plugin whose failure is an error, or a note of the answer, which names it."""

    _named = True


class GuardedEmbedder(NamedInErrors[Embedder]):
    """An embedder of a plugin; without it words alone decide."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return one vector for each text."""
        with self._watched("embed"):
            made = [[*map(float, vector)] for vector in self._stage.embed(texts, role)]
            if fault := vector_fault(self._work.stage, made, len(texts)):
                raise ValueError(fault)
            if not all(made):
                raise ValueError("it made a vector without dimensions")
            if made and self.__dict__.setdefault("_length", len(made[0])) != len(made[0]):
                raise ValueError("one call gives vectors of other dimensions than another one")
            return made


class GuardedTokenizer(NamedInErrors[Tokenizer]):
    """A tokenizer of a plugin; no search works without it."""

    _methods = frozenset({"query_terms", "form_finder", "written_terms", "written_beside"})

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text."""
        with self._watched("terms"):
            most = max(MOST_ITEMS, _MOST_TERMS * len(text))  # a file may be one section
            return check_texts(self._stage.terms(text), most)

    def _checked(self, method: str, result: Any) -> Any:
        match method:
            case "narrow":
                clause, exact = result
                require_clause(clause)
                return clause, bool(exact)
            case "query_terms":
                return check_texts(result)
            case "form_finder" if result is not None:
                if not callable(result):
                    raise TypeError(f"it returned a {type(result).__name__} and no function")
                return partial(self._words, result)
            case "written_terms":
                return check_writing(result)
            case "written_beside":
                written, lacking = result
                return check_writing(written), {*check_texts(lacking)}
            case _:
                return super()._checked(method, result)

    def _words(self, finder: Callable[[str], Sequence[str]], text: str) -> Sequence[str]:
        with self._watched("form_finder"):
            return check_texts(finder(text))


class GuardedLoader(NamedInErrors[Loader]):
    """A loader of a plugin: a file on which it fails is skipped; its last listing stays."""

    _answers = (ToolError,)
    _methods = frozenset({"caching"})

    def __init__(
        self, stage: Loader, work: ForeignWork, guard: PluginGuard, *, strict: bool
    ) -> None:
        super().__init__(stage, work, guard)
        self._strict = strict
        self._claims: dict[Path, tuple[Source, ...]] = {}
        self._late: dict[Path, tuple[Future[tuple[Source, ...]], object]] = {}
        self._failing: set[Path] = set()
        self._by_name = False

    @cached_property
    def source_code(self) -> str:
        """A digest of the code and its version, part of the stamps of the claimed files."""
        return source_digest(type(self._stage), self._work.distribution)

    @property
    def by_name(self) -> bool:
        """Whether the names of the files alone decide; never while its last listing stands in."""
        return self._by_name and not self._failing

    def sources(self, root: Root) -> tuple[Source, ...]:
        """Return the claimed files, or those of the last listing if it fails or takes too long."""
        work = self._work._replace(file=root.path.name)
        try:
            listed = self._listed(root, work)
            inside = tuple(source for source in listed if _is_plain(source.path))
            self._claims[root.path] = inside
        except (Cancelled, KeyboardInterrupt):
            raise
        except BaseException as error:
            if isinstance(error, FumishirubeError) and not isinstance(error, RecordedFault):
                late = isinstance(error, AbandonedWork)
                problem = str(error) if late else described(error)
                self._guard.log.record(work, problem, problem if late else type(error).__name__)
            self._check(error, root.path.name)
            self._failing.add(root.path)
        else:
            if outside := len(listed) - len(self._claims[root.path]):
                problem = f"paths that no file of the manual has: {outside}"
                self._guard.log.record(work, problem)
                self._check(PluginError(problem), root.path.name)
                self._failing.add(root.path)
        return self._claims.get(root.path, ())

    def _listed(self, root: Root, work: ForeignWork) -> tuple[Source, ...]:
        """List the claimed files on a thread of its own; one that was late serves a later call."""

        def listed() -> tuple[Source, ...]:
            with self._guard.watched(work, "sources"):
                self._by_name = goes_by_name(self._stage)
                claimed = all_of(self._stage.sources(root))
                if not all(map(is_source, claimed)):
                    raise TypeError("it listed something else than sources")
                return claimed

        late = self._late.pop(root.path, None)
        listing, files = late or (threaded(listed), root.listed)
        with self._guard.working(work):
            done = wait([listing], 0.0 if late else listing_seconds()).done
        if not done:
            self._late[root.path] = listing, files
            raise AbandonedWork("it has not listed its files in time")
        if late and files != root.listed:  # the next call lists the files of now
            self._failing.add(root.path)
        else:
            self._failing.discard(root.path)
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

    def _checked(self, method: str, result: Any) -> Any:
        if method == "caching" and not isinstance(result, Loader):
            raise TypeError(f"it returned a {type(result).__name__} and no loader")
        return check_toc(method, super()._checked(method, result))

    def load(self, root: Root, source: Source) -> Document:
        """Return the document of a file; it is :class:`Unreadable` if the loader fails."""
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
