"""What the engine is given: the schema, and sections as documents of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import tantivy
from pydantic_core import to_json

from fumishirube import Fields, Passage
from fumishirube.text import words
from fumishirube_stages.indexes.tantivy_queries import BESIDE, CHARACTERS, PARTS, LookupCache

TERMS = "terms"
"""The engine's analyzer for what is in terms already, one after the other with spaces."""

ORDER = "order"
"""The field of a number by which sections that tie are ordered, whatever segment they are in."""

_CACHED_TEXTS, _SHORT = 1024, 200
"""How many texts are remembered, and of how many characters at most."""
# What `words` finds in folded ASCII; the pattern for all scripts made a fourth of this work more.
_WORDS = re.compile(r"[0-9a-z]+")


class _Text(NamedTuple):
    """A text of a section: its terms as they are written, each once, and the mere parts of words.

    Of the parts only those in ASCII are told.
    """

    written: str
    terms: frozenset[str]
    parts: Collection[str]


class Documents:
    """Makes a document of each section; what many share, such as a path, is taken apart once."""

    def __init__(self, fields: Fields) -> None:
        *self._names, self._last = fields.names
        self._tokenizer = fields.tokenizer
        self._known = LookupCache[str, _Text](_CACHED_TEXTS)

    def section(self, passage: Passage) -> tantivy.Document:
        """Return a section, its own text among its terms, as a document."""
        fields = passage.fields
        made = document("section" if fields["body"] else "blank", passage, passage.path)
        key = f"{passage.path}\n{passage.start_line}"
        made.add_text("key", key)
        made.add_unsigned(ORDER, int.from_bytes(blake2b(key.encode(), digest_size=6).digest()))
        beside: set[str] = set()
        texts = [self._named(fields[name]) for name in self._names]
        for name, text in zip(self._names, texts, strict=True):
            made.add_text(f"in_{name}", text.written)
            beside |= text.terms
        last = self._text(fields[self._last])
        made.add_text(f"in_{self._last}", last.written)
        made.add_text(BESIDE, " ".join(beside - last.terms))
        made.add_text(PARTS, " ".join(_mere_parts([*texts, last])))
        made.add_text(CHARACTERS, _characters(passage, beside | last.terms))
        return made

    def _named(self, text: str) -> _Text:
        return self._known.of(text, self._text) if len(text) <= _SHORT else self._text(text)

    def _text(self, text: str) -> _Text:
        terms = self._tokenizer.terms(text)
        distinct = frozenset(terms)
        return _Text(" ".join(terms), distinct, _parts(text, distinct))


def document(kind: str, data: Any, path: str | None = None) -> tantivy.Document:
    """Return a document of a kind that carries some data, and the file that it is of."""
    made = tantivy.Document()
    made.add_text("kind", kind)
    made.add_bytes("data", to_json(data))
    if path is not None:
        made.add_text("of", path)
    return made


def schema(fields: Fields) -> tantivy.Schema:
    """Return the fields of the engine's documents, for those of sections."""
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


def _parts(text: str, terms: frozenset[str]) -> Collection[str]:
    """Return the ASCII terms of a text that do not occur in it, except as parts of words.

    What is not made of letters and digits is no part of a word, and looked up by nobody as such.
    """
    latin = _WORDS.findall(text) if text.isascii() else [word for word, _ in words(text)]
    return [term for term in terms.difference(latin) if term.isascii() and term.isalnum()]


def _mere_parts(texts: Sequence[_Text]) -> set[str]:
    """Return the ASCII terms that are parts of words in some text, and occur in none."""
    parts = {part for text in texts for part in text.parts}
    for text in texts:
        parts -= text.terms.difference(text.parts)
    return parts


def _characters(passage: Passage, terms: Collection[str]) -> str:
    """Return each character that is in some term and not ASCII, once.

    Dashes fill up the number of all characters, by which the engine knows the section's length.
    """
    text = "".join(passage.fields.values())
    if text.isascii():
        return ""
    known = [c for c in set(text).intersection("".join(terms)) if not c.isascii()]
    return " ".join(known) + " -" * (len(text) - text.count(" ") - len(known))
