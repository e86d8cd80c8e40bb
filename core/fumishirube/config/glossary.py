"""``glossary.yaml``: the words of a house, and the usual words of the same meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fumishirube.config.yaml_file import YamlDocument, read_yaml
from fumishirube.errors import ConfigError
from fumishirube.query import Query
from fumishirube.text.folding import fold
from fumishirube.text.synonyms import synonyms_in

FILE = "glossary.yaml"
_LONGEST = 100
"""The most characters of a word."""


@dataclass(frozen=True)
class Glossary:
    """The words of the same meaning for each folded word, in both directions."""

    meanings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def applied(self, query: Query) -> Query:
        """Return a query with the synonyms of its words; unchanged if it is case-sensitive."""
        if not self.meanings or query.case_sensitive:
            return query
        texts = (query.text, *query.required, *query.must, *query.alternatives)
        rows = synonyms_in("。".join(texts), self.meanings)
        own = {row.word: row for row in (*rows, *query.synonyms)}
        return replace(query, synonyms=tuple(own.values())) if rows else query


def read_glossary(workspace: Path) -> Glossary:
    """Read the glossary of a workspace; without a file it has no words.

    Answers show its words, so that a link could show an agent any other file.
    """
    file = workspace / FILE
    if file.is_symlink():
        raise ConfigError(f"{FILE}: symbolic links are not followed; put the file itself there")
    if not file.is_file():
        return Glossary()
    document = read_yaml(file, "words, each with usual words of the same meaning", texts=True)
    meanings: dict[str, dict[str, str]] = {}
    for word, usual, line in _pairs(document):
        if fold(word) == fold(usual):
            raise ConfigError(f"{line}: {word[:40]!r} has itself as its meaning")
        meanings.setdefault(fold(word), {}).setdefault(fold(usual), usual)
        meanings.setdefault(fold(usual), {}).setdefault(fold(word), word)
    return Glossary({word: tuple(others.values()) for word, others in meanings.items()})


def _pairs(document: YamlDocument) -> Iterator[tuple[str, str, str]]:
    """Yield each word with one of its usual words, and their file and line."""
    known: dict[str, str] = {}
    for word, value in document.values.items():
        line = f"{document.file} line {document.lines.get(str(word), 1)}"
        _check_word(word, line)
        first = known.setdefault(fold(word), word)
        if first != word:
            raise ConfigError(f"{line}: {word[:40]!r} is the same word as {first[:40]!r} above")
        if not value:
            raise ConfigError(f"{line}: {word[:40]!r} has no words; name one, or a list of them")
        for place, usual in enumerate(value if isinstance(value, list) else [value]):
            row = document.lines.get(f"{word}[{place}]")
            here = f"{document.file} line {row}" if row else line
            _check_word(usual, here)
            yield word, usual, here


def _check_word(word: Any, line: str) -> None:
    if not isinstance(word, str):
        raise ConfigError(f"{line}: expected a word or a list of words")
    if not fold(word):
        raise ConfigError(f"{line}: a word is blank")
    if len(word) > _LONGEST:
        raise ConfigError(f"{line}: a word has over {_LONGEST} characters, the most it may have")
