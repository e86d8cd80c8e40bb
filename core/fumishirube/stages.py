"""The protocols of all kinds of stages."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, JsonValue

from fumishirube.budget import Budget
from fumishirube.corpus import Clause, Corpus
from fumishirube.disk.roots import Root
from fumishirube.disk.stored import StoredFile
from fumishirube.documents import Document, Source
from fumishirube.model import Hit, Passage, Ranking
from fumishirube.query import Outcome, Query, Run

Running_co = TypeVar("Running_co", covariant=True)


class Stage(BaseModel):
    """A unit that can be swapped. Its fields are its settings; it has no other state.

    Indexes are built again when ``revision`` is raised. That is for stages of large packages and
    for remembered documents; otherwise a plugin's changed code is noticed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    revision: ClassVar[int] = 1

    @cached_property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with the class or any setting; the revision."""
        return self.fingerprint_with("")

    def fingerprint_with(self, more: str, without: frozenset[str] = frozenset()) -> str:
        """Return a fingerprint of the settings but some, and of ``more`` that decides the same."""
        kind = type(self)
        settings = json.dumps(self.model_dump(mode="json", exclude=set(without)), sort_keys=True)
        identity = f"{kind.__module__}.{kind.__qualname__}{settings}{more}".encode()
        return hashlib.sha256(identity).hexdigest()[:8] + f"r{kind.revision}" * (kind.revision > 1)


@dataclass(frozen=True)
class Env:
    """Names, beside a setting, the environment variable that overrides it.

    ::

        coverage_weight: Annotated[float, Env("LEXICAL_COVERAGE_WEIGHT")] = 0.5
    """

    name: str
    shared: bool = False
    """Whether other stages accept values that this one does not know and ignores."""
    others: tuple[str, ...] = ()
    """Values of other stages that this one ignores; it refuses any other unknown value."""
    paths: bool = False
    """Whether the value is a list of paths, separated as in ``PATH``, instead of by commas."""


@dataclass(frozen=True)
class ClassicKey:
    """Names, beside a setting, the key of the classic sections that decides it too."""

    name: str


# --- the verbs, in the order in which a pipeline uses them -----------------------------------


@runtime_checkable
class Loader(Protocol):
    """Turns a manual folder into documents made of sections."""

    def sources(self, root: Root) -> Iterable[Source]:
        """Return the files that this loader claims; the result depends on the folder alone."""
        ...

    def load(self, root: Root, source: Source) -> Document:
        """Read one of them.

        Raises:
            Unreadable: when its text cannot be read; the file is then listed as skipped.
        """
        ...


@runtime_checkable
class LinkLoader(Loader, Protocol):
    """A loader that also finds links and front matter.

    Surfaces over linked files, such as ``graph``, call it instead of ``load``; manuals do not.
    """

    def load_with_links(self, root: Root, source: Source) -> Document:
        """Read a file with its links, facts and remarks.

        Raises:
            Unreadable: when its text cannot be read.
        """
        ...


class Chapter(NamedTuple):
    """An entry of a table of contents, repaired.

    ``file`` is as written, ``path`` its place in the manual's folder: ``None`` if not to be read.
    """

    id: str
    title: str
    file: str
    children: list[JsonValue] | None = None
    path: str | None = None


class Contents(NamedTuple):
    """The chapters of a manual in order, and a sentence for each repair."""

    chapters: tuple[Chapter, ...]
    warnings: tuple[str, ...] = ()


@runtime_checkable
class ContentsLoader(Protocol):
    """A loader whose manuals have a table of contents."""

    def contents(self, root: Root, path: str) -> Contents:
        """Return the table of contents at a path, and its repairs.

        Raises:
            Unreadable: when it cannot be used; the message says why.
            NotFound: when there is no such file.
        """
        ...

    def chapter(self, root: Root, path: str) -> Document:
        """Read a chapter, whatever its bytes, with its encoding.

        Raises:
            Unreadable: when it is too large.
            NotFound: when there is no such file.
        """
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Turns a text into terms."""

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text, in order; no term contains white space.

        Their order is their position in phrases. Folding leaves no upper case: words that only
        case parts, as in ``camelCase``, are parted by a loader, in ``Section.searched``.
        """
        ...

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that matches wherever the folded text occurs, and whether only there.

        If it may match elsewhere too, the index checks the texts themselves. Some terms of a long
        text are enough: for each term of a phrase an index reads all places of the term.
        """
        ...


Vectors: TypeAlias = Sequence[Sequence[float]]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return one vector of unit length for each text, all of one dimension."""
        ...


class ClaimedFile(NamedTuple):
    """A file, the loader that claims it, and a stamp that changes if its content may differ.

    ``modified_ns`` is the latest time of change of the files that affect its content; ``size`` is
    its own, in bytes.
    """

    source: Source
    loader: Loader
    stamp: str
    modified_ns: int
    size: int


IndexChanges: TypeAlias = tuple[list[str], list[ClaimedFile]]
"""The paths of removed pages, and the new or changed files by path."""


class IndexedFile(NamedTuple):
    """What an index stores about one file, to detect changes.

    ``stamp`` is opaque to the index. ``skipped`` says why a file has no passages. ``about`` is
    further data, stored in the same commit.
    """

    path: str
    stamp: str
    skipped: str | None = None
    sections: int = 0
    blank: int = 0
    about: JsonValue = None


@dataclass(frozen=True)
class Fields:
    """The searchable fields of a passage, and their common tokenizer."""

    names: tuple[str, ...]
    tokenizer: Tokenizer


@runtime_checkable
class OpenIndex(Protocol):
    """An open index: one writer at a time, any number of readers.

    Each method, and each method of its corpora, may raise :class:`fumishirube.IndexDamaged`; the
    index is then closed, and its folder opened again.
    """

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return the files of the last commit, by path: the same object until that changes."""
        ...

    def refresh(self) -> None:
        """Read what other processes have committed.

        Raises:
            IndexDamaged: when the files of the last commit are missing or changed.
        """
        ...

    def writing(self, budget: Budget) -> AbstractContextManager[bool]:
        """Become the writer; yield ``False`` if another one stays busy until the deadline."""
        ...

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        """Replace the named pages and commit, all or nothing. Only inside :meth:`writing`."""
        ...

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit that later commits do not change.

        That is the last one that was read or made here: until :meth:`refresh`, those of other
        processes are not seen.
        """
        ...

    def close(self) -> None:
        """Close files and free memory."""
        ...


FileContents: TypeAlias = Callable[[IndexedFile], Sequence[tuple[StoredFile, bytes]]]
"""Returns the files of a page with their bytes: its own, and those that affect its content."""


@runtime_checkable
class StoresFiles(Protocol):
    """An open index that also stores the files, for servers on machines without them."""

    def sync_with_files(
        self,
        gone: Collection[str],
        pages: Iterable[tuple[IndexedFile, Sequence[Passage]]],
        contents: FileContents,
    ) -> None:
        """Do what ``sync`` does, and store the files of the pages in the same commit."""
        ...

    def files(self) -> Mapping[str, StoredFile]:
        """Return the stored files of the last commit, by path: the same object until it changes."""
        ...

    def read_file(self, path: str) -> bytes:
        """Return the bytes of a stored file, which have the stored SHA-256.

        Raises:
            NotFound: when it is not stored, or no longer.
            Unreadable: when other bytes are stored than it says.
        """
        ...


@runtime_checkable
class ListsStoredManuals(Protocol):
    """An index with files of manuals that need no folder on this machine.

    Such a manual is not indexed here: its pages and files are those of the last commit, made by a
    process that has the folder.
    """

    def stored_manuals(self, fields: Fields) -> Sequence[str]:
        """Return the ids of these manuals, sorted.

        Raises:
            Forbidden: when the index does not answer.
        """
        ...


@runtime_checkable
class Index(Protocol):
    """Stores sections, and answers weighted-term queries fast."""

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        """Open the index in a folder of its own; create or rebuild it if it is unusable."""
        ...


@runtime_checkable
class ResourceStage(Protocol[Running_co]):
    """A stage, other than the index, that needs a resource such as a process."""

    def open(self) -> AbstractContextManager[Running_co]:
        """Return a context manager that yields the running form, with the methods of the kind.

        Raises:
            ConfigError: when the resource is missing; that stops the start.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """Turns a query into hits. Only scorers with ``generates = True`` may add candidates."""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit] | Ranking:
        """Score passages; ``candidates`` contains, by key, those of earlier scorers of this run.

        Candidate generation is limited to passages that contain all of ``query.must``. A scorer
        with diagnostics, or with something left out, returns a ranking.
        """
        ...


@runtime_checkable
class Fuser(Protocol):
    """Splits a query into runs, and merges their rankings."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the runs that answer the query; often the query itself as the only one."""
        ...

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge the outcomes of the runs, in the order of the plan.

        When time runs out there are fewer outcomes than runs, but always the first one. Hits that
        the fuser drops go into ``left_out``.
        """
        ...


@runtime_checkable
class Refiner(Protocol):
    """Reorders or shortens a ranking."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the ranking in its new order; dropped hits go into ``left_out``.

        The order alone counts: scores are shown, and read by the refiners that follow.
        """
        ...
