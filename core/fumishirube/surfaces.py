"""What a surface is, and the desk at which it works."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from pydantic import JsonValue

from fumishirube.corpus import Corpus
from fumishirube.disk.folders import FolderEntry
from fumishirube.disk.roots import Root
from fumishirube.documents import Document
from fumishirube.model import Ranking, UnreadFiles
from fumishirube.places import Place
from fumishirube.query import Budget, Query
from fumishirube.stages import (
    ClaimedFile,
    Embedder,
    IndexChanges,
    IndexedFile,
    Loader,
    OpenIndex,
    Scorer,
    Tokenizer,
)
from fumishirube.text.file_texts import ManualTexts
from fumishirube.text.readings import Reading
from fumishirube.tools.definitions import Progress, Tool
from fumishirube.tools.prompts import Prompt
from fumishirube.tools.resources import Resources
from fumishirube.traces.records import SearchAssessment, Trace, TraceRow

T = TypeVar("T")


@dataclass(frozen=True)
class SearchResult:
    """What a search brought: its trace, the ranking that it ends in, and what was searched.

    A ranking that comes from the cache is read from the index again when it is first asked for.
    """

    trace: Trace
    rank: Callable[[], Ranking]
    corpus: Corpus

    @cached_property
    def ranking(self) -> Ranking:
        """The hits, with their passages."""
        return self.rank()


class NamedEmbedder(NamedTuple):
    """An embedder at work: its name in the configuration, and what changes with its settings."""

    name: str
    fingerprint: str
    embedder: Embedder


class Manual(Protocol):
    """One manual, as a surface may use it."""

    @property
    def id(self) -> str:
        """The manual's id: its folder's name, composed."""
        ...

    def entries(self, path: str = "") -> Sequence[FolderEntry]:
        """Return the folders and the loaders' files of one folder, sorted by name."""
        ...

    def paths(self) -> Sequence[str]:
        """Return every file that a loader speaks for, sorted."""
        ...

    def document(self, path: str) -> Document:
        """Read one of those files.

        Raises:
            NotFound: when no loader speaks for it.
            Unreadable: when its text cannot be had.
        """
        ...

    def places(self, path: str) -> Sequence[Place]:
        """Return where people see the lines of a file, on pages, slides or in rows, if anywhere.

        Raises:
            NotFound: when no loader speaks for it.
            Unreadable: when its text cannot be had.
        """
        ...


class SurfaceIndex(OpenIndex, Protocol):
    """An index of a surface's own. ``refresh`` replaces one that cannot be used by an empty one.

    ``rebuilt`` is then a sentence for an answer, until the surface empties it.
    """

    rebuilt: str


class SurfaceFiles(Protocol):
    """The files of a surface's root that its loaders speak for, against the pages of an index."""

    def sweep(self) -> Mapping[str, ClaimedFile]:
        """Look at the folder now, and return every file that a loader speaks for, by path."""
        ...

    def changes(
        self, pages: Mapping[str, IndexedFile], claimed: Mapping[str, ClaimedFile]
    ) -> IndexChanges:
        """Return which pages are gone, and which files are not in as they are now."""
        ...

    def stamp(self, file: ClaimedFile) -> str:
        """Return the stamp for the page of a file that is about to be read."""
        ...

    def load(self, file: ClaimedFile, *, links: bool = False) -> Document:
        """Read a file; with its links where its loader can tell them.

        Raises:
            Unreadable: when its text cannot be had, or its loader fails.
        """
        ...


class SurfaceContext(Protocol):
    """The capability given to a surface: its root, the manuals there, its pipeline, the traces."""

    @property
    def root(self) -> Root:
        """The folder that the surface reads, and all that it may touch."""
        ...

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted."""
        ...

    def manual(self, manual_id: str) -> Manual:
        """Return one manual.

        Raises:
            NotFound: when there is none of this id.
            Forbidden: when it is a symlink.
        """
        ...

    def loose_files(self) -> Sequence[str]:
        """Return the names of files that lie beside the manuals, and so in none of them."""
        ...

    def unread_files(self, manual_id: str) -> Sequence[UnreadFiles]:
        """Count the files of a manual that no loader reads, by suffix, and say which one would.

        Raises:
            NotFound: when there is no manual of this id.
        """
        ...

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> SearchResult:
        """Bring the manual's index up to date, run the pipeline, and keep the trace.

        ``*`` searches all the manuals as one, and ids joined by slashes those; paths then begin
        with the id of their manual, in the query and in the trace, whose ``file`` divides them.
        What cannot be searched of several is named by the trace as ``degraded``.

        The answer to the same question may come from the cache, if the query allows it; it has a
        trace of its own.
        """
        ...

    def texts(
        self,
        manual_id: str,
        readings: Sequence[Reading],
        budget: Budget,
        progress: Progress | None = None,
        below: str = "",
    ) -> ManualTexts:
        """Return the files of a manual in which a reading may match; all, where there are none.

        The index is brought up to date first. ``below`` is a file or a folder to keep to.

        Raises:
            NotFound: when there is no such manual.
        """
        ...

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Say what came of a search, once a find, for the cache's guards and the statistics."""
        ...

    def annotate(self, trace: Trace, name: str, value: JsonValue) -> Trace:
        """Add a value of the surface's own to a trace, once a name, and return the trace with it.

        It is kept for as long as the trace, and in its file for other processes.
        """
        ...

    def loaders(self) -> Sequence[Loader]:
        """Return the pipeline's loaders, in order."""
        ...

    def tokenizer(self) -> Tokenizer | None:
        """Return the pipeline's tokenizer, if it has one."""
        ...

    def scorer(self, name: str, settings: Mapping[str, JsonValue] | None = None) -> Scorer:
        """Return a scorer of the pipeline, running, by its name there.

        With ``settings`` it is one of the surface's own, made with them, whatever the pipeline has.

        Raises:
            ConfigError: when there is none of this name.
        """
        ...

    def embedder(self, name: str | None = None) -> NamedEmbedder | None:
        """Return the pipeline's embedder, if it has one; or the named one, as it is by default."""
        ...

    def claimed_files(self) -> SurfaceFiles:
        """Return what follows the files of the whole root, for an index of the surface's own."""
        ...

    def store(self, name: str) -> SurfaceIndex:
        """Open an index of the surface's own, which the surface itself brings up to date.

        It is derived state: it begins empty whenever its stage, or a loader, has other settings.
        """
        ...

    def stored(self, name: str) -> bool:
        """Tell whether there is such an index already."""
        ...

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return what the surface keeps at its desk under a name, making it when first asked for.

        What has a method ``close`` is closed with the desk.
        """
        ...

    def search(
        self, corpus: Corpus, files: int, query: Query, *, written: bool = True
    ) -> SearchResult:
        """Run the pipeline over a corpus of the surface's own, and keep the trace.

        It stays in memory alone unless it may be ``written``.
        """
        ...

    def folder(self, name: str) -> Root:
        """Return one of the configuration's folders, such as ``state``, or the ``workspace``."""
        ...

    def trace(self, trace_id: str) -> Trace:
        """Return a kept trace.

        Raises:
            NotFound: when it is unknown or has expired.
        """
        ...


@runtime_checkable
class Surface(Protocol):
    """Offers tools. ``pipeline`` is its default pipeline, ``root`` the root it reads."""

    pipeline: ClassVar[Mapping[str, Any]]
    root: ClassVar[str]

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools, in the order in which they are listed."""
        ...


@runtime_checkable
class UsesStages(Protocol):
    """A surface that says what its stages may count on, so that one in vain stops the start.

    Those are keys of a pipeline, ``links``, ``vectors`` and ``alternatives``.
    """

    uses: ClassVar[Collection[str]]


@runtime_checkable
class ChoosesStages(Protocol):
    """A surface that uses some stages of a kind only, such as those with certain names."""

    def unused(self, key: str, name: str, stage: object) -> str | None:
        """Return why a stage under a key, such as 'scorers', does nothing there, if so."""


@runtime_checkable
class HasDefaultLoaders(Protocol):
    """A surface whose loaders depend on its settings, and on what is installed."""

    def default_loaders(self, registered: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Return the loaders that read its files when the configuration names none, in order.

        ``registered`` are the names of those that plugins offer as defaults.
        """
        ...


@runtime_checkable
class HasCommands(Protocol):
    """A surface that offers further tools to the command line and to callers in the process."""

    def commands(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return tools that no client is offered; their names may be those of offered ones."""
        ...


@runtime_checkable
class HasResources(Protocol):
    """A surface whose documents clients may also read by URI."""

    def resources(self, context: SurfaceContext) -> Resources:
        """Return what can be read, under a scheme that no other surface has."""
        ...


@runtime_checkable
class HasEvidence(Protocol):
    """A surface that can show which lines of a hit bear most on the question."""

    def with_evidence(self, context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
        """Return the trace of a search with a note of what the lines are to be chosen by."""
        ...

    def evidence(
        self, context: SurfaceContext, trace: Trace, row: TraceRow, characters: int
    ) -> Sequence[tuple[int, str]]:
        """Return such lines of a hit with their numbers, in about so many characters.

        There are none of a trace without that note, or when the text has changed.
        """
        ...


@runtime_checkable
class HasPrompts(Protocol):
    """A surface that also offers prompts: ways to use its tools, for a person to choose."""

    def prompts(self, context: SurfaceContext) -> Sequence[Prompt]:
        """Return the prompts, in the order in which they are listed."""
        ...


@runtime_checkable
class HasLifespan(Protocol):
    """A surface with work to do for as long as its tools are served."""

    def lifespan(self, context: SurfaceContext) -> AbstractContextManager[None]:
        """Begin what goes on beside the calls, and end it.

        Raises:
            Held: when another process does it already; the tools then only read.
        """
        ...


class Diagnostic(NamedTuple):
    """Something that a surface reads and its author should mend; the rest is served meanwhile.

    What is ``serious`` keeps text from being found.
    """

    subject: str
    finding: str
    remedy: str
    serious: bool = False


@runtime_checkable
class HasDiagnostics(Protocol):
    """A surface that knows what is wrong with the files it reads."""

    def diagnostics(self, context: SurfaceContext) -> Sequence[Diagnostic]:
        """Look through everything, and return what is wrong with it."""
        ...


class ClassicSettings(NamedTuple):
    """What another program's configuration says: folders by root, stages by pipeline, settings.

    ``source`` is its file below the workspace, there or not; errors name it so.
    """

    source: str
    roots: Mapping[str, str] = {}
    pipelines: Mapping[str, Mapping[str, Any]] = {}
    settings: Mapping[str, Any] = {}


@runtime_checkable
class HasClassicSettings(Protocol):
    """A surface that takes over what another program left in the workspace."""

    @classmethod
    def adopted(cls, workspace: Root, settings: Mapping[str, Any]) -> ClassicSettings:
        """Return it, given the surface's own settings; whatever the file sets goes before it.

        Raises:
            ConfigError: when it cannot be read.
        """
        ...
