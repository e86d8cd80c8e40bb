"""Surfaces, and the capability that they receive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, runtime_checkable

from pydantic import JsonValue

from fumishirube.budget import Budget
from fumishirube.corpus import Corpus
from fumishirube.corpus_kinds import SectionVectors
from fumishirube.disk.folders import FolderEntry
from fumishirube.disk.roots import Root
from fumishirube.documents import Document
from fumishirube.model import Ranking, UnreadFiles
from fumishirube.places import Place
from fumishirube.query import Query
from fumishirube.stages import (
    ClaimedFile,
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
from fumishirube.tools.resources import Prompt, Resources
from fumishirube.traces.records import SearchAssessment, Trace, TraceRow

if TYPE_CHECKING:  # surfaces without files to parse need none of its processes
    from fumishirube.parsing.pictures import PagePictures

T = TypeVar("T")


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: its trace, its ranking, and the searched corpus.

    The ranking of a cached answer is read from the index on first use. ``extended`` returns what a
    function makes of a trace with the corpus; if a plugin's stage is still at work in it when the
    call's time is over, it is left behind, and the trace names that stage as ``degraded``.
    """

    trace: Trace
    rank: Callable[[], Ranking]
    corpus: Corpus
    extended: Callable[[Trace, Callable[[Trace], Trace]], Trace] = lambda trace, make: make(trace)

    @cached_property
    def ranking(self) -> Ranking:
        """The hits, with their passages."""
        return self.rank()


class Manual(Protocol):
    """One manual, as a surface may use it."""

    @property
    def id(self) -> str:
        """The manual's id: usually its folder's name, composed."""
        ...

    @property
    def root(self) -> Root:
        """The manual's folder."""
        ...

    def entries(self, path: str = "") -> Sequence[FolderEntry]:
        """Return the folders and claimed files of a folder, by name; raise NotFound without it."""
        ...

    def paths(self) -> Sequence[str]:
        """Return every file that a loader claims, sorted."""
        ...

    def document(self, path: str) -> Document:
        """Read one of those files.

        Raises:
            NotFound: when no loader claims it.
            Unreadable: when its text cannot be read.
        """
        ...

    def places(self, path: str) -> Sequence[Place]:
        """Return the pages, slides or rows of a file's lines; raise as ``document`` does."""
        ...

    def pictures(self, path: str) -> PagePictures | None:
        """Return what draws the pages of a file; ``None`` if nothing does."""
        ...


class SurfaceIndex(OpenIndex, Protocol):
    """An index of a surface's own. ``refresh`` replaces an unusable index by an empty one.

    ``rebuilt`` is then a sentence for an answer, until the surface empties it.
    """

    rebuilt: str


class SurfaceFiles(Protocol):
    """The claimed files of a surface's root, compared with the pages of an index."""

    def sweep(self) -> Mapping[str, ClaimedFile]:
        """Survey the folder now, and return every claimed file by path."""
        ...

    def changes(
        self, pages: Mapping[str, IndexedFile], claimed: Mapping[str, ClaimedFile]
    ) -> IndexChanges:
        """Return the removed pages, and the new or changed files."""
        ...

    def stamp(self, file: ClaimedFile) -> str:
        """Return the stamp for the page of a file that is about to be read."""
        ...

    def load(self, file: ClaimedFile, *, links: bool = False) -> Document:
        """Read a file; with its links if its loader finds them.

        Raises:
            Unreadable: when its text cannot be read, or its loader fails.
        """
        ...


class SurfaceContext(Protocol):
    """The capability of a surface: its root, the manuals there, its pipeline, the traces."""

    @property
    def root(self) -> Root:
        """The folder that the surface reads, and the only one that it may use."""
        ...

    def manuals(self) -> Sequence[str]:
        """Return the ids of the manuals, sorted."""
        ...

    def manual(self, manual_id: str) -> Manual:
        """Return one manual.

        Raises:
            NotFound: when no manual has this id.
            Forbidden: when it is a symlink.
        """
        ...

    def loose_files(self) -> Sequence[str]:
        """Return the names of files beside the manuals, which belong to none of them."""
        ...

    def unread_files(self, manual_id: str) -> Sequence[UnreadFiles]:
        """Count the files of a manual that no loader reads, by suffix, with a loader that would.

        Raises:
            NotFound: when no manual has this id.
        """
        ...

    def find(self, manual_id: str, query: Query, progress: Progress | None = None) -> SearchResult:
        """Update the manual's index, run the pipeline, and store the trace.

        ``*`` searches all manuals as one, and ids joined by slashes those; paths then begin with
        the id of their manual, in the query and in the trace, whose ``file`` separates them.
        Features that do not support several manuals are named in the trace as ``degraded``.

        The answer to the same query may come from the cache, if the query allows it; it has a trace
        of its own.
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
        """Return the files of a manual in which a reading may match; all, without readings.

        The index is updated first. The result is of ``below``, as ``disk.is_below`` has it.

        Raises:
            NotFound: when no manual has this id.
        """
        ...

    def conclude(self, trace_id: str, assessment: SearchAssessment) -> None:
        """Pass an assessment, once a find, to the cache's guards and the statistics."""
        ...

    def annotate(self, trace: Trace, name: str, value: JsonValue) -> Trace:
        """Add a value of the surface to a trace, once a name, and return the new trace.

        It is stored as long as the trace, and in its file for other processes.
        """
        ...

    def loaders(self) -> Sequence[Loader]:
        """Return the pipeline's loaders, in order."""
        ...

    def tokenizer(self) -> Tokenizer | None:
        """Return the pipeline's tokenizer, if it has one."""
        ...

    def scorer(self, name: str, settings: Mapping[str, JsonValue] | None = None) -> Scorer:
        """Return a running scorer of the pipeline, by its name there.

        With ``settings`` it is one of the surface's own, made with them, for any pipeline.

        Raises:
            ConfigError: when there is none of this name.
        """
        ...

    def vectors(self, embedder: str | None = None) -> SectionVectors:
        """Return stored vectors of the pipeline's embedder, or of one with default settings."""
        ...

    def claimed_files(self) -> SurfaceFiles:
        """Return the claimed files of the whole root, for an index of the surface's own."""
        ...

    def store(self, name: str) -> SurfaceIndex:
        """Open an index of the surface's own, which the surface itself updates.

        It is derived state: it begins empty whenever the settings of its stage or a loader change.
        """
        ...

    def stored(self, name: str) -> bool:
        """Tell whether such an index exists."""
        ...

    def keep(self, name: str, make: Callable[[], T]) -> T:
        """Return the surface's object of a name; make it on first use.

        With a method ``close`` it ends with the context; each process, person and reload has one.
        """
        ...

    def search(
        self, corpus: Corpus, files: int, query: Query, *, written: bool = True
    ) -> SearchResult:
        """Run the pipeline over a corpus of the surface's own, and store the trace.

        The trace stays in memory unless it may be ``written``.
        """
        ...

    def folder(self, name: str) -> Root:
        """Return a root of the configuration, or the ``workspace``; raise ValueError for others."""
        ...

    def trace(self, trace_id: str) -> Trace:
        """Return a stored trace; raise NotFound if it is unknown or has expired."""
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
class HasDefaultLoaders(Protocol):
    """A surface whose loaders depend on its settings, and on what is installed."""

    def default_loaders(self, registered: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Return the loaders that read its files when the configuration names none, in order.

        ``registered`` are the names of the default loaders of plugins.
        """
        ...


@runtime_checkable
class HasCommands(Protocol):
    """A surface that offers further tools to the command line and to callers in the process."""

    def commands(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return tools that clients do not see; their names may be those of offered ones."""
        ...


@runtime_checkable
class HasResources(Protocol):
    """A surface whose documents clients may also read by URI."""

    def resources(self, context: SurfaceContext) -> Resources:
        """Return the resources, under a scheme that no other surface has."""
        ...


@runtime_checkable
class HasEvidence(Protocol):
    """A surface that selects the lines of a hit that matter most for the query."""

    def with_evidence(self, context: SurfaceContext, trace: Trace, corpus: Corpus) -> Trace:
        """Return the trace of a search with a note of how to select the lines."""
        ...

    def evidence(
        self, context: SurfaceContext, trace: Trace, row: TraceRow, characters: int
    ) -> Sequence[tuple[int, str]]:
        """Return such lines of a hit with their numbers, in about so many characters.

        There are none for a trace without that note, or when the text has changed.
        """
        ...


@runtime_checkable
class HasPrompts(Protocol):
    """A surface that also offers prompts: instructions that a person may choose."""

    def prompts(self, context: SurfaceContext) -> Sequence[Prompt]:
        """Return the prompts, in the order in which they are listed."""
        ...


@runtime_checkable
class HasLifespan(Protocol):
    """A surface with background work while its tools are served."""

    def lifespan(self, context: SurfaceContext) -> AbstractContextManager[None]:
        """Return a context manager that starts the background work, and ends it.

        Each process of a server enters it, and a reload enters another one.

        Raises:
            AlreadyServed: when another process does it; the tools then only read.
        """
        ...


class Diagnostic(NamedTuple):
    """A fault in files of a surface that their author should repair.

    A ``serious`` one hides text from searches.
    """

    subject: str
    finding: str
    remedy: str
    serious: bool = False


@runtime_checkable
class HasDiagnostics(Protocol):
    """A surface that can check the files it reads."""

    def diagnostics(self, context: SurfaceContext) -> Sequence[Diagnostic]:
        """Check everything, and return the faults."""
        ...


class ClassicSettings(NamedTuple):
    """The configuration of another program: folders by root, stages by pipeline, settings.

    ``source`` is its file below the workspace, existing or not; errors name it.
    """

    source: str
    roots: Mapping[str, str] = {}
    pipelines: Mapping[str, Mapping[str, Any]] = {}
    settings: Mapping[str, Any] = {}


@runtime_checkable
class HasClassicSettings(Protocol):
    """A surface that adopts the configuration of another program in the workspace."""

    @classmethod
    def adopted(cls, workspace: Root, settings: Mapping[str, Any]) -> ClassicSettings:
        """Return that configuration, given the surface's own settings.

        Raises:
            ConfigError: when it cannot be read.
        """
        ...
