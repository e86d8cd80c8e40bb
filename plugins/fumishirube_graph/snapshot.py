"""One generation of the documents as a corpus: pages, edges and sections."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from rapidfuzz import fuzz, process

from fumishirube import IndexMatch, Neighbour, Passage, SequenceCorpus, TextMatches, Tokenizer
from fumishirube.text import fold, nfc
from fumishirube.tools import SectionVectors
from fumishirube_graph.records import Doc
from fumishirube_graph.resolution import EXTENSIONS, Issue, LinkEdge, LinkTargets
from fumishirube_graph.section_texts import SectionTexts

_NEAR, _NEAR_ENOUGH = 5, 60
_FIELDS = ("title", "headings", "path", "body")


class GraphSnapshot(SequenceCorpus):
    """All documents at one moment, which stages search as a corpus.

    ``skipped`` maps each file that could not be read to its reason. ``behind`` are warnings for an
    answer that may not show the folder's newest state. ``tokenizer`` splits sections for stages
    that search for terms.
    """

    def __init__(
        self,
        name: str,
        docs: Mapping[str, Doc],
        vectors: SectionVectors,
        skipped: Mapping[str, str],
        tokenizer: Tokenizer | None = None,
    ) -> None:
        super().__init__((), tokenizer.terms if tokenizer else None, name, tokenizer)
        self.behind: tuple[str, ...] = ()
        self.skipped = skipped
        self.docs = dict(sorted(docs.items()))
        self.by_id = {doc.id: doc for doc in self.docs.values()}
        self._vectors = vectors
        catalogue = LinkTargets(self.docs)
        self.out: dict[str, tuple[LinkEdge, ...]] = {}
        self.back: defaultdict[str, list[LinkEdge]] = defaultdict(list)
        self.issues: dict[str, tuple[Issue, ...]] = {}
        for path in self.docs:
            resolved = catalogue.resolved(path)
            self.out[path] = resolved.edges
            self.issues[path] = resolved.issues
            for edge in resolved.edges:
                self.back[edge.target].append(edge)

    @cached_property
    def generation(self) -> str:
        """An identifier that changes with every change of a document."""
        rows = [(path, doc.record.sha) for path, doc in self.docs.items()]
        return hashlib.sha256(repr(rows).encode()).hexdigest()[:12]

    @cached_property
    def section_texts(self) -> SectionTexts:
        """The folded texts of all sections."""
        return SectionTexts(list(self.docs.values()))

    def prepare(self) -> None:
        """Compute now what the first search would wait for."""
        _ = self.section_texts.everything
        for doc in self.docs.values():
            _ = doc.section_ids

    def named(self, name: str, root: str) -> Doc | None:
        """Return the page that a caller names: by id, or by path with or without extension."""
        paths = _candidates(name, root)
        doc = next((self.docs[path] for path in paths if path in self.docs), None)
        return doc or self.by_id.get(paths[0])

    def named_skipped(self, name: str, root: str) -> str | None:
        """Return the skipped file that a caller names."""
        return next((path for path in _candidates(name, root) if path in self.skipped), None)

    def near(self, name: str) -> list[str]:
        """Return the paths with the most similar spelling, case and extension aside."""
        similar = process.extract(
            name,
            self.docs.keys(),
            scorer=fuzz.ratio,
            processor=_spelling,
            limit=_NEAR,
            score_cutoff=_NEAR_ENOUGH,
        )
        return [path for path, _, _ in sorted(similar, key=lambda row: (-row[1], row[0]))]

    @property
    def sections(self) -> int:
        """The number of sections of all documents."""
        return sum(len(doc.record.parts) for doc in self.docs.values())

    # --- the corpus --------------------------------------------------------------------------

    @property
    def vectors(self) -> bool:
        """Whether any section has a vector."""
        return self._vectors.present

    @property
    def size(self) -> int:
        """The number of sections with a text of their own."""
        return self.section_texts.with_text

    def neighbours(self, path: str) -> Sequence[Neighbour]:
        """Return all links of a page, in both directions, except links to itself."""
        out = (Neighbour(e.target, e.kind, "outlink") for e in self.out.get(path, ()))
        back = (Neighbour(e.source, e.kind, "backlink") for e in self.back.get(path, ()))
        return [neighbour for neighbour in (*out, *back) if neighbour.path != path]

    def search_texts(
        self,
        texts: Sequence[str],
        limit: int | None,
        within: frozenset[str] | None = None,
        share: float = 1.0,
    ) -> TextMatches:
        """Return the best sections that contain the texts, and the total."""
        scored = self.section_texts.search_texts(texts, within, share)
        chosen = [
            IndexMatch(self.passage(section.place.doc, section.place.number), section.score)
            for section in scored.best(limit)
        ]
        return TextMatches(chosen, scored.total)

    def nearest(
        self,
        text: str,
        limit: int,
        within: frozenset[str] | None = None,
        per_file: int | None = None,
    ) -> Sequence[IndexMatch]:
        """Return the sections most similar to a text."""
        return [
            IndexMatch(self.passage(self.docs[path], number), similarity)
            for path, number, similarity in self._vectors.nearest(
                text, self.stamps, limit, within, per_file
            )
        ]

    @cached_property
    def stamps(self) -> Mapping[str, str]:
        """The hash of each page's content, by path."""
        return {path: doc.record.sha for path, doc in self.docs.items()}

    def section_texts_of(self, path: str) -> Sequence[tuple[str, str]]:
        """Return the heading and the text of each section; a page without one has its title."""
        doc = self.docs[path]
        sections = [(part.heading or doc.title, doc.text(part)) for part in doc.record.parts]
        return sections or [(doc.title, "")]

    def page(self, path: str) -> Sequence[Passage]:
        """Return the sections of one document, in order."""
        doc = self.docs.get(path)
        if doc is None:
            return []
        return [self.passage(doc, number) for number in range(len(doc.searched.lengths))]

    @cached_property
    def passages(self) -> Sequence[Passage]:
        """Every section, by path and line."""
        return [passage for path in self.docs for passage in self.page(path)]

    def passage(self, doc: Doc, number: int) -> Passage:
        """Return a section as a passage; a document without sections has one empty section."""
        fields = _SectionFields(doc, number)
        if not doc.record.parts:
            return Passage(doc.path, 1, 1, "", (), 0, "", fields)
        part = doc.record.parts[number]
        mark = doc.section_ids[number].partition(".")[2]
        return Passage(
            path=doc.path,
            start_line=part.line_start,
            end_line=part.line_end,
            title=part.heading or "",
            ancestors=part.heading_path[:-1],
            level=part.level,
            digest=mark,
            fields=fields,
        )

    def number_of(self, doc: Doc, line: int) -> int:
        """Return the number of the section that begins at a line."""
        starts = [part.line_start for part in doc.record.parts]
        return starts.index(line) if line in starts else 0


class _SectionFields(Mapping[str, str]):
    """The folded texts of a section by field; each is decoded when it is read.

    Of many sections that a search compares, only the texts of the best are read.
    """

    __slots__ = ("_doc", "_number")

    def __init__(self, doc: Doc, number: int) -> None:
        self._doc = doc
        self._number = number

    def __getitem__(self, name: str) -> str:
        match name:
            case "title":
                return self._doc.searched.heading(self._number)
            case "headings":
                return self._doc.searched.title
            case "path":
                return fold(self._doc.path)
            case "body":
                return self._doc.searched.content(self._number)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_FIELDS)

    def __len__(self) -> int:
        return len(_FIELDS)


def _spelling(path: str) -> str:
    stem, dot, extension = nfc(path).casefold().rpartition(".")
    return stem if dot + extension in EXTENSIONS else stem + dot + extension


def _candidates(name: str, root: str) -> list[str]:
    """Return the files that a name may mean, likeliest first."""
    return [place + extension for place in named_places(name, root) for extension in EXTENSIONS]


def named_places(name: str, root: str) -> tuple[str, str]:
    """Return a normalised path, and the same path without the documents' folder or its name."""
    path = nfc(name.replace("\\", "/"))
    while path.startswith("./"):
        path = path[2:]
    for folder in (f"{root}/", f"{root.rpartition('/')[2]}/"):
        if path.startswith(folder):
            return path, path.removeprefix(folder)
    return path, path
