"""Questions with the lines that prove their answers, and the words that a policy may search for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

EVERYWHERE = "*"
"""The manual of a question that does not say where its answer is."""

EXHAUSTIVE = "exhaustive"
"""The kind of question that asks for every place."""

_SPACES = re.compile(r"\s+")
# Runs of katakana, of ideographs, and of Latin letters and digits with what joins them inside.
_WORD = re.compile(r"[ァ-ヴー]{2,}|[一-鿿々]{2,}|[A-Za-z0-9_]+(?:[-.:/'][A-Za-z0-9_]+)*")
_QUOTED = re.compile(r"「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\"|`([^`]+)`")
_PLACEHOLDER = re.compile(r"[…<{].*")
_SHORTEST_LATIN = 3


@dataclass(frozen=True)
class GoldQuestion:
    """A question, and what has to be printed before its answer can be known."""

    id: str
    manual: str
    kind: str
    text: str
    quotes: tuple[str, ...]


class QuestionError(Exception):
    """A file of questions or gold lines that cannot be used; the message says where."""


def folded(text: str) -> str:
    """Return a text with each run of white space, of any kind, as one space."""
    return _SPACES.sub(" ", text)


def load(questions: Path, gold: Path, manuals: Path) -> list[GoldQuestion]:
    """Read questions and their gold lines.

    Raises:
        QuestionError: when a question has no evidence, or a quote is not in its file.
    """
    proofs = {str(row["id"]): row for row in _rows(gold)}
    loaded = []
    for row in _rows(questions):
        name = str(row["id"])
        if not proofs.get(name, {}).get("evidence"):
            raise QuestionError(f"{gold.name}: question {name} has no evidence there")
        quotes = [_quote(name, line, manuals) for line in proofs[name]["evidence"]]
        values = (str(row["manual"]), str(row["kind"]), str(row["question"]))
        loaded.append(GoldQuestion(name, *values, tuple(dict.fromkeys(quotes))))
    if not loaded:
        raise QuestionError(f"{questions.name}: there are no questions in it")
    return loaded


def _rows(file: Path) -> Iterable[Mapping[str, object]]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise QuestionError(f"{file.name}: it cannot be read; is it a file?") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise QuestionError(f"{file.name} line {number}: it is not JSON") from error
        yield row


def _quote(name: str, line: Mapping[str, str], manuals: Path) -> str:
    """Return the quote of a gold line, folded, which has to be in its file."""
    quote = folded(line["quote"]).strip()
    file = manuals / line["manual"] / line["path"]
    if not file.is_file():
        raise QuestionError(f"question {name}: there is no file {line['manual']}/{line['path']}")
    if quote not in folded(file.read_text(encoding="utf-8", errors="replace")):
        raise QuestionError(f"question {name}: {line['path']} does not hold {quote[:60]!r}")
    return quote


class Vocabulary:
    """How often words are in a manual: an agent knows what is rare, and so do both camps."""

    def __init__(self, manuals: Path) -> None:
        self._manuals = manuals
        self._texts: dict[str, str] = {}

    def count(self, word: str, manual: str) -> int:
        """Return how often a word is in a manual, or in all, whatever its case."""
        return self._text(manual).count(word.casefold())

    def _text(self, manual: str) -> str:
        if manual not in self._texts:
            folder = self._manuals if manual == EVERYWHERE else self._manuals / manual
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            contents = (file.read_text(encoding="utf-8", errors="replace") for file in files)
            self._texts[manual] = "\n".join(contents).casefold()
        return self._texts[manual]


def rare_words(question: GoldQuestion, vocabulary: Vocabulary) -> list[str]:
    """Return the question's words that are in the manual, the rarest first."""
    words = dict.fromkeys(match[0] for match in _WORD.finditer(question.text))
    long = [word for word in words if not word.isascii() or len(word) >= _SHORTEST_LATIN]
    counted = [(vocabulary.count(word, question.manual), word) for word in long]
    return [word for number, word in sorted(counted, key=lambda pair: pair[0]) if number]


def quoted_texts(question: GoldQuestion, vocabulary: Vocabulary) -> list[str]:
    """Return what the question puts in quotation marks and the manual holds, placeholders cut."""
    texts: Sequence[str] = [
        _PLACEHOLDER.sub("", next(filter(None, match.groups()))).strip()
        for match in _QUOTED.finditer(question.text)
    ]
    present = [text for text in dict.fromkeys(texts) if text]
    return [text for text in present if vocabulary.count(text, question.manual)]
