"""Sections as documents of the cluster: their terms by field, and what a hit returns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import to_json

from fumishirube import Fields, Passage
from fumishirube.text import written_terms

BESIDE = "beside"
"""The field of the terms of a section that do not stand in its last field, the longest."""

CHARACTERS = "characters"
"""The field of the single characters of a section that are other than ASCII."""

PARTS = "parts"
"""The field of a section's ASCII terms that are only parts of its words, such as stems."""

_LONGEST = 254
"""UTF-16 units of a term: the analyzer, which every cluster has, divides longer ones."""
EMPTY = "\ue001"
"""The only term of a field without any, and what pads the fields of pages.

BM25 compares with the documents that have terms in a field. With this term they are all documents,
of which it makes up a fixed share, so that the mean length of the others is known; see `Weights`.
"""

_FILLER = "\ue000"
"""What takes the place of a longer term, so that its neighbours do not follow each other."""


def index_body(fields: Fields, shards: int, replicas: int) -> Mapping[str, Any]:
    """Return the settings and fields of an index."""
    keyword = {"type": "keyword"}
    places = {"type": "text", "analyzer": "whitespace"}
    properties: dict[str, Any] = {
        "kind": {"type": "keyword", "doc_values": False},
        "of": keyword,
        "line": {"type": "integer"},
        "version": {"type": "keyword", "doc_values": False},
        "born": {"type": "long"},
        "data": {"type": "object", "enabled": False},
    }
    for name in (BESIDE, PARTS):
        properties[name] = {**places, "index_options": "docs"}
    for name in weights(fields.names):
        properties[name] = {**places, "similarity": name}
    properties[CHARACTERS]["index_options"] = "freqs"
    return {
        "settings": {
            "number_of_shards": shards,
            "number_of_replicas": replicas,
            "refresh_interval": "-1",
            "similarity": {n: each.similarity for n, each in weights(fields.names).items()},
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"includes": ["data"]},
            "properties": properties,
        },
    }


class Weights(NamedTuple):
    """BM25 with k1 = 1.2 and b = 0.75 for a field whose documents are padded.

    For each term there is a ``share`` of a padding one, so that the mean length is 1 + ``share``
    times that of the terms themselves. With k1' = k1 (1 - b) + k1 b (1 + share) and
    b' = k1 b (1 + share) / k1', the score of Robertson and Zaragoza (2009) is what it would be
    without the padding, but for the factor k1' + 1.
    """

    share: float

    @property
    def k1(self) -> float:
        """Return k1' of the engine."""
        return _K1 * (1 - _B) + _K1 * _B * (1 + self.share)

    @property
    def similarity(self) -> dict[str, Any]:
        """Return the engine's settings."""
        return {"type": "BM25", "k1": self.k1, "b": _K1 * _B * (1 + self.share) / self.k1}

    def boost(self, *, multiplies: bool) -> float:
        """Return the boost that makes the factor k1 + 1; engines before 3 have their own."""
        return (_K1 + 1) / (self.k1 + 1) if multiplies else _K1 + 1


_K1, _B = 1.2, 0.75
_LAST, _OTHERS = Weights(1 / 16), Weights(1.0)


def weights(names: Sequence[str]) -> Mapping[str, Weights]:
    """Return the weights of the engine's fields; the long ones are padded less."""
    made = {f"in_{name}": _OTHERS for name in names[:-1]}
    return made | {f"in_{names[-1]}": _LAST, CHARACTERS: _LAST}


class SectionDocument(NamedTuple):
    """A section as a document.

    ``document`` is JSON that lacks its end, ``sizes`` are the numbers of terms of the fields that
    are padded, and ``lengths`` the characters of each field of a section with a text of its own.
    """

    document: bytes
    sizes: Sequence[int]
    lengths: Sequence[int]


class Sections:
    """Makes a document of each section."""

    def __init__(self, fields: Fields) -> None:
        self.names = fields.names
        self._fields = fields
        self._weights = weights(fields.names)
        self._due: dict[str, float] = dict.fromkeys(self._weights, 0.0)

    def __reduce__(self) -> tuple[type[Sections], tuple[Fields]]:
        """Leave what is due in this process."""
        return Sections, (self._fields,)

    def page(self, path: str, data: Any) -> dict[str, Any]:
        """Return the record of a page as a document, padded for the sections before it."""
        made = {"kind": "page", "of": path, "data": data}
        for name, due in self._due.items():
            number = max(1, round(due))
            self._due[name] = due - number
            made[name] = " ".join([EMPTY] * number)
        return made

    def prepare(self, passage: Passage) -> tuple[Any, ...]:
        """Return the values of a :class:`SectionDocument`, which other processes can send."""
        texts = [passage.fields[name] for name in self.names]
        written = [written_terms(self._fields.tokenizer, text) for text in texts]
        terms = [each.split() for each, _, _ in written]
        *first, last = terms
        weighed = [*terms, _characters(texts, "".join(each for _, each, _ in written))]
        beside = {term for each in first for term in each}.difference(last)
        made: dict[str, Any] = {
            "kind": "section" if passage.fields["body"] else "blank",
            "of": passage.path,
            "line": passage.start_line,
            "data": passage[1:],
            **{n: _joined(each) or EMPTY for n, each in zip(self._weights, weighed, strict=True)},
        }
        if beside:
            made[BESIDE] = _joined(sorted(beside))
        if parts := _mere_parts([*zip(terms, (each for _, _, each in written), strict=True)]):
            made[PARTS] = _joined(sorted(parts))
        lengths = [*map(len, texts)] if passage.fields["body"] else []
        return to_json(made)[:-1], [*map(len, weighed)], lengths

    def prepared(self, section: Any) -> SectionDocument:
        """Return a passage, or what another process has prepared, and note its padding."""
        row = self.prepare(section) if isinstance(section, Passage) else section
        made = SectionDocument(*row)
        for (name, weight), size in zip(self._weights.items(), made.sizes, strict=True):
            self._due[name] += weight.share * size - (not size)
        return made


def section_of(path: str, data: Sequence[Any]) -> Passage:
    """Return the section of a document."""
    start, end, title, ancestors, level, digest, fields = data
    return Passage(path, start, end, title, tuple(ancestors), level, digest, fields)


def _joined(terms: Collection[str]) -> str:
    """Join terms; look at each of them only where one may be too long."""
    if max(map(len, terms), default=0) <= _LONGEST // 2:
        return " ".join(terms)
    return " ".join(term if fits(term) else _FILLER for term in terms)


def fits(term: str) -> bool:
    """Tell whether a term is short enough to be indexed."""
    return len(term) <= _LONGEST // 2 or len(term.encode("utf-16-le")) <= 2 * _LONGEST


def _mere_parts(texts: Sequence[tuple[Sequence[str], Collection[str]]]) -> Collection[str]:
    """Return the ASCII terms that are parts of words in some text, and a word in none.

    Each text has its terms, and those of them that are only parts of its words.
    """
    parts = {part for _, mere in texts for part in mere}
    for terms, mere in texts if parts else ():
        parts -= parts.intersection(terms).difference(mere)
    return parts


def _characters(texts: Sequence[str], known: str) -> Sequence[str]:
    """Return the characters of terms, each once, unless the texts are all ASCII.

    Padding makes up for the other characters, which count for the section's length.
    """
    if all(text.isascii() for text in texts):
        return ()
    single = [*dict.fromkeys(known)]
    number = sum(len(part) for text in texts for part in text.split())
    return single + [_FILLER] * (number - len(single))
