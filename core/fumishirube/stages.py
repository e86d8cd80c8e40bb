"""The verbs: what each kind of stage can do, and what it may ask for in return."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, JsonValue

from fumishirube.corpus import Clause, Corpus
from fumishirube.disk.roots import Root
from fumishirube.documents import Document, Source
from fumishirube.model import Hit, Passage, Ranking
from fumishirube.query import Budget, Outcome, Query, Run

Running_co = TypeVar("Running_co", covariant=True)


class Stage(BaseModel):
    """A unit that can be swapped. Its fields are its settings; it has no other state."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    @cached_property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that change with the class or any setting."""
        kind = type(self)
        settings = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        name = f"{kind.__module__}.{kind.__qualname__}"
        return hashlib.sha256(f"{name}{settings}".encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Env:
    """Names, beside a setting, the environment variable that overrides it.

    ::

    coverage_weight: Annotated[float, Env("LEXICAL_COVERAGE_WEIGHT")] = 0.5
    """

    name: str
    shared: bool = False
    """Whether other stages take values of it that this one does not know, and passes over."""


@dataclass(frozen=True)
class ClassicKey:
    """Names, beside a setting, the key of the classic sections that decides it too."""

    name: str


# --- the verbs, in the order in which a pipeline uses them -----------------------------------


@runtime_checkable
class Loader(Protocol):
    """A manual folder -> documents made of sections."""

    def sources(self, root: Root) -> Iterable[Source]:
        """Tell which files this loader speaks for; a pure function of the folder's content."""
        ...

    def load(self, root: Root, source: Source) -> Document:
        """Read one of them.

        Raises:
            Unreadable: when its text cannot be had; the file is then listed as skipped.
        """
        ...


@runtime_checkable
class LinkLoader(Loader, Protocol):
    """A loader that can also tell what a file says of itself and of other files."""

    def load_with_links(self, root: Root, source: Source) -> Document:
        """Read a file with its links, facts and remarks; nothing of it is left out.

        Raises:
            Unreadable: when its text cannot be had.
        """
        ...


class Chapter(NamedTuple):
    """An entry of a table of contents, repaired.

    ``file`` is as written; ``path`` is where that is inside the manual's folder, and ``None`` when
    it may not be read.
    """

    id: str
    title: str
    file: str
    children: list[JsonValue] | None = None
    path: str | None = None


class Contents(NamedTuple):
    """The chapters of a manual in order, and a sentence for each thing that was repaired."""

    chapters: tuple[Chapter, ...]
    warnings: tuple[str, ...] = ()


@runtime_checkable
class ContentsLoader(Protocol):
    """A loader whose manuals have a table of contents."""

    def contents(self, root: Root, path: str) -> Contents:
        """Return what the table of contents at a path says, and what was repaired in it.

        Raises:
            Unreadable: when it cannot be used; the message says why.
            NotFound: when there is no such file.
        """
        ...

    def chapter(self, root: Root, path: str) -> Document:
        """Read a chapter whatever its bytes, with its encoding.

        Raises:
            Unreadable: when it is too large.
            NotFound: when there is no such file.
        """
        ...


@runtime_checkable
class Tokenizer(Protocol):
    """Text -> terms.

    One whose terms are not all found by their letters, such as stems, may also have
    ``query_terms(text)``, the terms by which a text of a query is scored, and
    ``form_finder(term)``: a function that returns the words of a folded text that stand for the
    term, each as often as it stands there; or no function for one found by its letters.
    """

    def terms(self, text: str) -> Sequence[str]:
        """Return the terms of a folded text, in order; no term holds white space."""
        ...

    def narrow(self, text: str) -> tuple[Clause, bool]:
        """Return a clause that holds wherever the folded text occurs, and whether nowhere else.

        Where it may hold elsewhere too, the index looks at the texts themselves.
        """
        ...


@runtime_checkable
class NeedsOfSurface(Protocol):
    """A stage that needs something else of its surface than that it uses its kind."""

    needs: ClassVar[Collection[str]]


@runtime_checkable
class NeedsOfPipeline(Protocol):
    """A stage that works on what other stages of its pipeline find."""

    def lacking(self, stages: Mapping[str, Sequence[object]]) -> str | None:
        """Return what it lacks to do anything, given the stages by their key, such as 'scorers'."""
        ...


Vectors: TypeAlias = Sequence[Sequence[float]]


@runtime_checkable
class Embedder(Protocol):
    """Texts -> vectors."""

    def embed(self, texts: Sequence[str], role: Literal["query", "passage"]) -> Vectors:
        """Return one vector of unit length a text, all of one dimension."""
        ...


class ClaimedFile(NamedTuple):
    """A file, the loader that speaks for it, and a stamp that changes whenever it may read anew.

    ``modified_ns`` is the youngest time of change of the files that decide what it says; ``size``
    is its own, in bytes.
    """

    source: Source
    loader: Loader
    stamp: str
    modified_ns: int
    size: int


IndexChanges: TypeAlias = tuple[list[str], list[ClaimedFile]]
"""The pages that are gone, and the files that are new or other than they were, by path."""


class IndexedFile(NamedTuple):
    """What an index remembers of one file: enough to tell whether it has changed.

    ``stamp`` is opaque to the index. ``skipped`` says why a file has no passages. ``about`` is
    what else is to be kept with the file, in the same commit.
    """

    path: str
    stamp: str
    skipped: str | None = None
    sections: int = 0
    blank: int = 0
    about: JsonValue = None


@dataclass(frozen=True)
class Fields:
    """The searchable fields of a passage, and the tokenizer of them all."""

    names: tuple[str, ...]
    tokenizer: Tokenizer


@runtime_checkable
class OpenIndex(Protocol):
    """An index at work: one writer at a time, any number of readers.

    Each verb, and each verb of its corpora, may raise :class:`fumishirube.IndexDamaged`; the index
    is then closed, and its folder opened anew.
    """

    def pages(self) -> Mapping[str, IndexedFile]:
        """Return what the last commit holds, by path: the same object until that changes."""
        ...

    def refresh(self) -> None:
        """Take in what other processes have committed.

        Raises:
            IndexDamaged: when the last commit is gone from the disk, or no longer what it was.
        """
        ...

    def writing(self, budget: Budget) -> AbstractContextManager[bool]:
        """Become the writer; gives ``False`` when another one stays busy until the deadline."""
        ...

    def sync(
        self, gone: Collection[str], pages: Iterable[tuple[IndexedFile, Sequence[Passage]]]
    ) -> None:
        """Replace the named pages and commit, all or nothing. Only inside :meth:`writing`."""
        ...

    def corpus(self, manual_id: str) -> Corpus:
        """Return a view of the last commit that later commits do not change."""
        ...

    def close(self) -> None:
        """Let go of files and memory."""
        ...


@runtime_checkable
class Index(Protocol):
    """Keeps sections; answers weighted-term queries fast."""

    def open(self, folder: Root, fields: Fields) -> OpenIndex:
        """Open the index in a folder of its own, making or remaking it when it is not usable."""
        ...


@runtime_checkable
class ResourceStage(Protocol[Running_co]):
    """A stage of a pipeline, other than the index, that needs a resource such as a process."""

    def open(self) -> AbstractContextManager[Running_co]:
        """Give the running form, with the verbs of the kind; the application leaves the context.

        Raises:
            ConfigError: when the resource is not there; that stops the start.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """Query -> hits. Only scorers with ``generates = True`` may bring in new passages."""

    def score(
        self, query: Query, corpus: Corpus, candidates: Mapping[tuple[str, int], Passage]
    ) -> Iterable[Hit] | Ranking:
        """Score passages; ``candidates`` holds, by key, what earlier scorers of this run nominated.

        A nominating scorer keeps to passages that hold all of ``query.must``. A scorer that has
        something to note, or had to leave something out, returns a ranking.
        """
        ...


@runtime_checkable
class Fuser(Protocol):
    """Splits a query into runs, and folds their rankings into one."""

    def plan(self, query: Query, corpus: Corpus) -> Sequence[Run]:
        """Return the runs that answer the query; often the query itself as the only one."""
        ...

    def fuse(self, query: Query, outcomes: Sequence[Outcome], corpus: Corpus) -> Ranking:
        """Merge what came of the runs, in the order of the plan.

        When time runs out there are fewer outcomes than runs, but always the first one. Hits that
        the fuser drops it names as left out.
        """
        ...


@runtime_checkable
class ConditionalFuser(Fuser, Protocol):
    """A fuser that is passed over where it has nothing to do."""

    def applies(self, query: Query) -> bool:
        """Tell whether there is more than one run to plan for a query."""
        ...


@runtime_checkable
class Refiner(Protocol):
    """Reorders or shortens a ranking."""

    def refine(self, ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
        """Return the ranking in its new order; what it drops it names as left out."""
        ...
