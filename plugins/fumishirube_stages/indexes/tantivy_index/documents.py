"""The schema of a tantivy index, and the documents that store sections in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import tantivy
from pydantic_core import to_json

from fumishirube import Fields, Passage
from fumishirube.text import written_beside, written_terms
from fumishirube_stages.indexes.tantivy_index.queries import BESIDE, CHARACTERS, PARTS, LookupCache

TERMS = "terms"
"""The name of the analyzer for texts that consist of terms separated by spaces."""

RECORDS = ["page", "seal"]
"""The kinds of documents that are no sections."""

ORDER = "order"
"""The field with the number by which ties are ordered, in whatever segment they are."""

_FILLING = " \x01"
"""Fills a field up to a length that tantivy stores exactly; no term has this character."""
_EXACT_LENGTHS = 24

_CACHED_TEXTS, _SHORT = 1024, 200
"""The most texts in the cache, and the most characters of a cached text."""


class _Text(NamedTuple):
    """What ``written_terms`` returns for a text, and its length without spaces.

    ``known`` are its terms, of the last field those that another field has too.
    """

    terms: str
    known: Collection[str]
    characters: str
    parts: Collection[str]
    length: int
    ascii: bool


class PreparedSection(NamedTuple):
    """A section with its terms: its document's texts by field, and the lengths of its fields.

    ``lengths`` are those of searched sections, in characters.
    """

    data: bytes
    order: int
    texts: Sequence[tuple[str, str]]
    lengths: Sequence[int]

    def document(self) -> tantivy.Document:
        """Return the document of the section."""
        made = tantivy.Document()
        made.add_bytes("data", self.data)
        made.add_unsigned(ORDER, self.order)
        for name, text in self.texts:
            made.add_text(name, text)
        return made


class Documents:
    """Makes the terms of sections; those of short texts, such as paths, are cached."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        *self._named_fields, self._last = fields.names
        self._indexed_fields = [f"in_{name}" for name in fields.names]
        self._known = LookupCache[str, _Text](_CACHED_TEXTS)

    def __reduce__(self) -> tuple[type[Documents], tuple[Fields]]:
        """Leave the cache in this process."""
        return Documents, (self._fields,)

    def prepare(self, passage: Passage) -> tuple[Any, ...]:
        """Return the values of a :class:`PreparedSection`, which other processes can send."""
        fields = passage.fields
        key = f"{passage.path}\n{passage.start_line}"
        named = [self._named(fields[name]) for name in self._named_fields]
        others: set[str] = set().union(*[text.known for text in named])
        # The longest text has only the terms that the others have; what it lacks is stored beside.
        written_last, beside = written_beside(self._fields.tokenizer, fields[self._last], others)
        last = _stored(fields[self._last], written_last, others.difference(beside))
        texts = [*named, last]
        written = [
            ("kind", "section" if fields["body"] else "blank"),
            ("of", passage.path),
            ("key", key),
            *zip(self._indexed_fields, [_filled(text.terms) for text in texts], strict=True),
            (BESIDE, _filled(" ".join(beside))),
            (PARTS, " ".join(_mere_parts(texts))),
            (CHARACTERS, _characters(texts)),
        ]
        order = int.from_bytes(blake2b(key.encode(), digest_size=6).digest())
        lengths = [len(fields[name]) for name in self._fields.names] if fields["body"] else []
        return to_json(passage), order, written, lengths

    def prepared(self, section: Any) -> PreparedSection:
        """Return a passage with its terms, or what another process has prepared."""
        row = self.prepare(section) if isinstance(section, Passage) else section
        return PreparedSection(*row)

    def _named(self, text: str) -> _Text:
        return self._known.of(text, self._text) if len(text) <= _SHORT else self._text(text)

    def _text(self, text: str) -> _Text:
        written = written_terms(self._fields.tokenizer, text)
        return _stored(text, written, written[0].split())


def _stored(text: str, written: tuple[str, str, Collection[str]], known: Collection[str]) -> _Text:
    terms, characters, parts = written
    return _Text(terms, known, characters, parts, len(text) - text.count(" "), text.isascii())


def document(kind: str, data: Any, path: str | None = None) -> tantivy.Document:
    """Return a document of a kind with stored data, and the path of its file if it has one."""
    made = tantivy.Document()
    made.add_text("kind", kind)
    made.add_bytes("data", to_json(data))
    if path is not None:
        made.add_text("of", path)
    return made


def schema(fields: Fields) -> tantivy.Schema:
    """Return the schema for sections with these fields."""
    builder = tantivy.SchemaBuilder()
    for name in ("kind", "of", "key"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_bytes_field("data", stored=True)
    builder.add_unsigned_field(ORDER, fast=True)
    for name in (BESIDE, CHARACTERS, PARTS):
        builder.add_text_field(name, tokenizer_name=TERMS, index_option="basic")
    for name in fields.names:
        builder.add_text_field(f"in_{name}", tokenizer_name=TERMS, index_option="position")
    return builder.build()


def _mere_parts(texts: Sequence[_Text]) -> Collection[str]:
    """Return the ASCII terms that are parts of words in some text, and a word in none."""
    parts: set[str] = set().union(*[text.parts for text in texts])
    for text in texts if parts else ():
        parts -= parts.intersection(text.known).difference(text.parts)
    return parts


def stored_length(number: int) -> int:
    """Return the next length of a field that tantivy stores exactly.

    It has one byte for the length of a field: above 40 it stores every second one, above 56 every
    fourth, and so on. From these it computes the mean length anew whenever it merges segments with
    deleted documents. Only if they are exact, the scores of an index do not depend on its history.
    """
    above = max(0, number - _EXACT_LENGTHS)
    return number + -above % (1 << max(0, above.bit_length() - 4))


def _filled(terms: str) -> str:
    number = terms.count(" ") + 1 if terms else 0
    return terms + _FILLING * (stored_length(number) - number)


def _characters(texts: Sequence[_Text]) -> str:
    """Return the non-ASCII characters of the terms, and a dash for every other character.

    The dashes make the field as long as the text without spaces: tantivy uses its length as that
    of the section. Repetitions do not matter, as the field has no frequencies. An ASCII text has no
    such field.
    """
    if all(text.ascii for text in texts):
        return ""
    known = "".join(text.characters for text in texts)
    length = stored_length(sum(text.length for text in texts))
    return known.replace("", " ") + "- " * (length - len(known))


def add_all(writer: tantivy.IndexWriter, documents: list[tantivy.Document]) -> None:
    """Add documents to an index, and empty their list."""
    for item in documents:
        writer.add_document(item)
    documents.clear()
