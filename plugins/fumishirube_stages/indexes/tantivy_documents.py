"""The schema of a tantivy index, and the documents that store sections in it."""

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
"""The name of the analyzer for texts that consist of terms separated by spaces."""

ORDER = "order"
"""The field with the number by which ties are ordered, in whatever segment they are."""

_CACHED_TEXTS, _SHORT = 1024, 200
"""The most texts in the cache, and the most characters of a cached text."""
# Equals `words` on folded ASCII. The pattern for all scripts would take a quarter more time.
_WORDS = re.compile(r"[0-9a-z]+")


class _Text(NamedTuple):
    """A text of a section: its terms joined by spaces, its distinct terms, and its parts of words.

    ``parts`` are the ASCII terms that occur in the text only as parts of words.
    """

    written: str
    terms: frozenset[str]
    parts: Collection[str]


class Documents:
    """Converts sections to documents; the terms of short texts, such as paths, are cached."""

    def __init__(self, fields: Fields) -> None:
        *self._names, self._last = fields.names
        self._tokenizer = fields.tokenizer
        self._known = LookupCache[str, _Text](_CACHED_TEXTS)

    def section(self, passage: Passage) -> tantivy.Document:
        """Return the document of a section."""
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


def _parts(text: str, terms: frozenset[str]) -> Collection[str]:
    """Return the ASCII terms of a text that occur in it only as parts of words.

    Only terms of letters and digits are looked up as parts, so others are omitted.
    """
    latin = _WORDS.findall(text) if text.isascii() else [word for word, _ in words(text)]
    return [term for term in terms.difference(latin) if term.isascii() and term.isalnum()]


def _mere_parts(texts: Sequence[_Text]) -> set[str]:
    """Return the ASCII terms that are parts of words in some text, and a word in none."""
    parts = {part for text in texts for part in text.parts}
    for text in texts:
        parts -= text.terms.difference(text.parts)
    return parts


def _characters(passage: Passage, terms: Collection[str]) -> str:
    """Return each non-ASCII character of the terms once, and a dash for every other character.

    The dashes make the field as long as the text without spaces: tantivy uses its length as that
    of the section. An ASCII text has no such field.
    """
    text = "".join(passage.fields.values())
    if text.isascii():
        return ""
    known = [c for c in set(text).intersection("".join(terms)) if not c.isascii()]
    return " ".join(known) + " -" * (len(text) - text.count(" ") - len(known))
