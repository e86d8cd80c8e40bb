"""Projections: the forms of a text in which it is searched, with offsets of the original."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, overload

from fumishirube.text.folding import fold_letters, joins, letter_changes, nfkc, pieces

SEPARATORS = (
    "\u00ad\u200b-\u200d\u2060\ufeff"  # invisible
    "・･·"  # middle dots
    "/／\u2044\u2215"
    "\\-\u2010-\u2015\u2043\u2212\ufe58\ufe63\uff0d"  # hyphens and dashes; not ー, not 〜
)
"""Characters that the loose form omits besides white space, as the inside of a class."""

_BLOCK = 65_536

# The NFKC form of each of these is one character, and joins nothing before it.
_PLAIN = "\0-\x7f\u3000-\u3029\u3041-\u3096\u30a1-\u30fe\u4e00-\u9fff\uff01-\uff5e"
_PARTS = f"(?P<plain>[{_PLAIN}]+(?=[{_PLAIN}]|\\Z))|[{_PLAIN}]?[^{_PLAIN}]+"


class TextRange(NamedTuple):
    """A range of a text, in code points, and whether the text was cut on either side."""

    start: int
    end: int
    cut_before: bool = False
    cut_after: bool = False

    def shown(self, text: str) -> str:
        """Return this range of the text without outer white space, with ``…`` where it was cut."""
        before, after = "…" * self.cut_before, "…" * self.cut_after
        return f"{before}{text[self.start : self.end].strip()}{after}"


class TextRanges(Sequence[TextRange]):
    """Many ranges, in a few bytes each; a range is made on access."""

    def __init__(self, ranges: Iterable[TextRange]) -> None:
        self._flat = array("L")
        for start, end, before, after in ranges:
            self._flat.extend((start, end, before + 2 * after))

    def __len__(self) -> int:
        return len(self._flat) // 3

    @overload
    def __getitem__(self, place: int) -> TextRange: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[TextRange]: ...

    def __getitem__(self, place: int | slice) -> TextRange | Sequence[TextRange]:
        if isinstance(place, slice):
            return [self[position] for position in range(*place.indices(len(self)))]
        first = 3 * range(len(self))[place]
        start, end, cut = self._flat[first : first + 3]
        return TextRange(start, end, bool(cut & 1), bool(cut & 2))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextRanges) and self._flat == other._flat

    def __hash__(self) -> int:
        return hash(self._flat.tobytes())


class TextForm(NamedTuple):
    """How a text is projected: NFKC always, then case folded, then without separators.

    ``separators`` are the further characters omitted from the loose form; ``None`` keeps all.
    ``letters`` makes the spellings of letters equal too, as :func:`fold_letters` does.
    """

    fold: bool = True
    separators: str | None = None
    letters: bool = False


NORMAL = TextForm(fold=False)
"""Exactly NFKC."""
FOLDED = TextForm(letters=True)
"""Case folded, and equal spellings of letters as in the index."""
LOOSE = TextForm(fold=False, separators="")
"""NFKC without separators, the case as written."""


class OffsetMap(NamedTuple):
    """Maps offsets of a projected text back to its source.

    ``here`` and ``there`` are the offsets at which pieces begin, in either text. Pieces alternate:
    one that is equal in both, character by character, then one that corresponds only as a whole.
    """

    here: array[int]
    there: array[int]

    def back(self, place: int, *, last: bool = False) -> int:
        """Return where the character at a place began, or, with ``last``, where it ended."""
        piece = bisect_right(self.here, place) - 1
        if piece % 2:
            return self.there[piece + last]
        return self.there[piece] + place - self.here[piece] + last


class Projection(NamedTuple):
    """A projected text, and the maps back to the original, the last one applied first."""

    text: str
    offset_maps: tuple[OffsetMap, ...] = ()

    @property
    def weight(self) -> int:
        """The size in memory, in bytes."""
        arrays = (offsets for way in self.offset_maps for offsets in way)
        return sum(map(sys.getsizeof, arrays), sys.getsizeof(self.text))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original characters of a match, each of them whole."""
        for way in reversed(self.offset_maps):
            began = way.back(start)
            start, end = began, way.back(end - 1, last=True) if end > start else began
        return start, end


def project(text: str, form: TextForm) -> Projection:
    """Return a text in a form."""
    projection = normal(text)
    if form.fold:
        projection = folded(projection)
    if form.letters:
        projection = letters_folded(projection)
    return projection if form.separators is None else loose(projection, form.separators)


def normal(text: str) -> Projection:
    """Return the NFKC form of a text."""
    written = _ProjectionBuilder()
    find_parts = re.compile(_PARTS).finditer
    for part in chain.from_iterable(map(find_parts, pieces(text))):
        if part["plain"]:
            written.same(nfkc(part.group()))
        else:
            written.clusters(part.group())
    return written.projection(())


def letters_folded(below: Projection) -> Projection:
    """Return a projection with equal spellings of letters; the same one if nothing changes."""
    written = _ProjectionBuilder()
    place = 0
    for start, end, new in letter_changes(below.text):
        written.same(below.text[place:start])
        written.cluster(end - start, new)
        place = end
    if not place:
        return below
    written.same(below.text[place:])
    return written.projection(below.offset_maps)


def folded(below: Projection) -> Projection:
    """Return a projection with its case folded; the same one if nothing changes."""
    text = "".join(block.casefold() for block in _blocks(below.text))
    if text == below.text:
        return below
    if len(text) == len(below.text):
        return Projection(text, below.offset_maps)
    wide = "".join(re.escape(c) for c in {*below.text} if len(c.casefold()) > 1)
    written = _ProjectionBuilder()
    for piece in re.compile(f"[{wide}]|[^{wide}]{{1,{_BLOCK}}}").finditer(below.text):
        part = piece.group().casefold()
        if len(part) == piece.end() - piece.start():
            written.same(part)
        else:
            written.cluster(1, part)
    return written.projection(below.offset_maps)


def loose(below: Projection, extra: str = "") -> Projection:
    """Return a projection without its separators."""
    written = _ProjectionBuilder()
    place = 0
    for match in _class_matches(_separating(extra), below.text):
        written.same(below.text[place : match.start()])
        written.cluster(match.end() - match.start(), "")
        place = match.end()
    written.same(below.text[place:])
    return written.projection(below.offset_maps)


def form_of(query: str, form: TextForm) -> str:
    """Return a query in a form, without the map back."""
    query = nfkc(query)
    query = query.casefold() if form.fold else query
    query = fold_letters(query) if form.letters else query
    return query if form.separators is None else _separating(form.separators).sub("", query)


class _ProjectionBuilder:
    """Builds a projection piece by piece."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._here = array("I", [0])
        self._there = array("I", [0])
        self._at = self._from = 0

    def same(self, part: str) -> None:
        """Add a part as it is, or with other characters, one for each."""
        self._parts.append(part)
        self._at += len(part)
        self._from += len(part)

    def cluster(self, length: int, part: str) -> None:
        """Add a part for that many characters, to which it corresponds as a whole."""
        self._end_piece()
        self._parts.append(part)
        self._at += len(part)
        self._from += length
        self._end_piece()

    def clusters(self, part: str) -> None:
        """Add the NFKC form of a part, divided where no characters join."""
        clusters = [*_clusters(part)]
        whole = nfkc(part)
        if "".join(new for _, new in clusters) != whole:
            self.cluster(len(part), whole)
            return
        for length, new in clusters:
            if length == len(new) == 1:
                self.same(new)
            else:
                self.cluster(length, new)

    def projection(self, offset_maps: tuple[OffsetMap, ...]) -> Projection:
        return Projection("".join(self._parts), (*offset_maps, OffsetMap(self._here, self._there)))

    def _end_piece(self) -> None:
        self._here.append(self._at)
        self._there.append(self._from)


def _clusters(part: str) -> Iterator[tuple[int, str]]:
    """Yield the length and the NFKC form of each sequence of characters that join."""
    start = 0
    for place in range(1, len(part) + 1):
        tail = part[max(start, place - 2) : place]
        if place == len(part) or not joins(tail, part[place]):
            yield place - start, nfkc(part[start:place])
            start = place


@lru_cache(maxsize=16)
def _separating(extra: str) -> re.Pattern[str]:
    further = re.escape(nfkc(extra))
    return re.compile(f"[\\s{SEPARATORS}{further}]{{1,{_BLOCK}}}")


def _class_matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a class, in blocks that do not block other threads for long."""
    for start in range(0, len(text), _BLOCK):
        yield from pattern.finditer(text, start, start + _BLOCK)


def _blocks(text: str) -> Iterator[str]:
    return (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))


def places_of(spans: Iterable[str], text: str) -> Sequence[tuple[int, int]]:
    """Return where folded spans occur in a text, in order and without overlaps."""
    projection = project(text, FOLDED)
    places: list[tuple[int, int]] = []
    for span in spans:
        start = projection.text.find(span)
        while span and start >= 0:
            places.append(projection.span(start, start + len(span)))
            start = projection.text.find(span, start + len(span))
    apart: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart
