"""The searchable texts of one document: title, headings and contents, in one piece of memory."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate, repeat
from typing import NamedTuple

from fumishirube_graph.texts import decoded, encoded


class FoldedTexts(NamedTuple):
    """The searchable texts of a document, folded: its title, its headings, then its contents.

    They are lines of one text in UTF-8: bytes take half the memory of text with Japanese, and half
    the time to search. ``ends`` are the ends of the lines, and ``letters`` are all characters but
    those of ASCII. ``lengths`` are the characters of each content; ``characters`` is their sum with
    titles, headings and a line end between two texts.
    """

    text: bytes
    ends: Sequence[int]
    letters: str
    lengths: tuple[int, ...]
    characters: int

    @classmethod
    def of(cls, title: str, headings: Sequence[str], contents: Sequence[str]) -> FoldedTexts:
        """Return the texts of a document, each folded."""
        lengths = tuple(map(len, contents))
        around = len(title) + sum(map(len, headings)) + 2 * len(headings)
        lines = (title, *headings, *contents)
        written = [*map(encoded, lines)]
        ends = array("L", accumulate(len(line) + 1 for line in written))
        letters = "".join(c for c in set[str]().union(*lines) if not c.isascii())
        return cls(b"\n".join(written), ends, letters, lengths, around + sum(lengths))

    @property
    def title(self) -> str:
        """The title."""
        return self._line(0)

    def heading(self, number: int) -> str:
        """Return the heading of a section."""
        return self._line(1 + number)

    def content(self, number: int) -> str:
        """Return the content of a section."""
        return self._line(1 + len(self.lengths) + number)

    def _line(self, place: int) -> str:
        start = self.ends[place - 1] if place else 0
        return decoded(self.text[start : self.ends[place] - 1])

    def counts(self, text: bytes) -> tuple[int, Sequence[int], Sequence[int]]:
        """Count a text of one line in the title, in each heading and in each content."""
        number = len(self.lengths)
        starts = (0, *self.ends)
        each = [*map(self.text.count, repeat(text), starts, self.ends)]
        return each[0], each[1 : number + 1], each[number + 1 :]
