"""Formats a table in Markdown, one line a row."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPACE = re.compile(r"\s+")


class Table:
    """Collects the cells of a table while it is parsed."""

    def __init__(self) -> None:
        self._caption = ""
        self._rows: list[list[str]] = []

    def begin(self, tag: str, words: list[str]) -> None:
        """Handle the start of a block in the table; ``words`` belong to its cell."""
        match tag:
            case "tr":
                self._end_cell(words)
                self._rows.append([])
            case "td" | "th" | "caption":
                self._end_cell(words)
            case "li":
                words.append(" - ")
            case _:
                words.append(" ")

    def end(self, tag: str, words: list[str]) -> None:
        """Handle the end of a block in the table."""
        match tag:
            case "td" | "th":
                self._add(_taken(words))
            case "caption":
                self._caption = _taken(words)
            case "tr":
                self._end_cell(words)
            case _:
                words.append(" ")

    def lines(self) -> Sequence[str]:
        """Return the caption and the rows; the first row is the header."""
        rows = [row for row in self._rows if any(row)]
        width = max(map(len, rows), default=0)
        written = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        rule = [f"|{' --- |' * width}"] if len(rows) > 1 else []
        caption = [self._caption] if self._caption else []
        return [*caption, *written[:1], *rule, *written[1:]]

    def blocks(self) -> Sequence[str]:
        """Return the caption and the cells as separate blocks."""
        cells = [cell for row in self._rows for cell in row]
        return [block.replace(r"\|", "|") for block in (self._caption, *cells) if block]

    def _end_cell(self, words: list[str]) -> None:
        text = _taken(words)
        if text:
            self._add(text)

    def _add(self, text: str) -> None:
        if not self._rows:
            self._rows.append([])
        self._rows[-1].append(text)


def _taken(words: list[str]) -> str:
    text = _SPACE.sub(" ", "".join(words)).strip()
    words.clear()
    return text.replace("|", r"\|")
