"""Folds texts for comparison, splits queries into units, and finds matches in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from fumishirube.text import concepts, fold, words

SNIPPET = 64
MOST_CHARACTERS = 10_000
MOST_UNITS = 64

_STEP, _WINDOW = 1_000, 4_000
_CLOSE = 100
"""Characters within which pieces of a query count as together."""

_UNIT = re.compile(r'"([^"]*)"(?=\s|\Z)|(\S+)')
_MARK = re.compile(r"<(/?)mark>", re.IGNORECASE)
_PLAIN = "!-~\u3001\u3002\u300c\u300d\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff"
_PLAIN_RUN = re.compile(rf"[{_PLAIN}]+(?=[{_PLAIN}\s]|\Z)")
"""Characters that are one each in the folded form, and that nothing joins."""
_BLANK, _BLANKS, _NO_BLANK = re.compile(r"\s+"), re.compile(r"\s{2,}"), re.compile(r"\S")


def folded(text: str) -> str:
    """Return the form for comparison: NFKC, case folded, white space as one space."""
    return " ".join(_case_folded(text).split())


def _case_folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def encoded(text: str) -> bytes:
    """Encode a text for search; substrings stay substrings of the bytes."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """Decode such bytes."""
    return data.decode("utf-8", "surrogatepass")


class Units(NamedTuple):
    """The distinct folded units of a query, and warnings about it."""

    units: tuple[str, ...]
    warnings: tuple[str, ...]


def units(query: str) -> Units:
    """Return the words of a query, and its phrases in quotation marks; accept any string."""
    warnings = []
    if len(query) > MOST_CHARACTERS:
        warnings.append(f"the query was cut after {MOST_CHARACTERS} characters")
        query = query[:MOST_CHARACTERS]
    distinct = dict.fromkeys(
        unit
        for quoted, plain in _UNIT.findall(query)
        if (unit := folded(plain or quoted))  # white space alone is no phrase
    )
    if len(distinct) > MOST_UNITS:
        warnings.append(f"the query was cut after {MOST_UNITS} words")
    if not distinct:
        warnings.append("the query is blank, so nothing was searched")
    return Units(tuple(distinct)[:MOST_UNITS], tuple(warnings))


def spans(text: str, query_units: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first match of the folded units in a text, and the matches close behind it.

    The spans are sorted; none lies inside another.
    """
    start = _near_first(text, query_units)
    if start is None:
        return []
    form, starts, ends = _mapped(text[start : _reached(text, start + _WINDOW, query_units)])
    matches: list[tuple[int, int]] = []
    for unit in query_units:
        place = form.find(unit)
        while place >= 0:
            last = place + len(unit) - 1
            matches.append((start + starts[place], start + ends[last]))
            place = form.find(unit, last + 1)
    merged: list[tuple[int, int]] = []
    for begin, stop in sorted(matches, key=lambda span: (span[0], -span[1])):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        elif begin < stop:
            merged.append((begin, stop))
    return merged


def _near_first(text: str, query_units: Sequence[str]) -> int | None:
    """Return an offset a little before the first match: folding is faster than mapping."""
    if not query_units:
        return None
    start, step = 0, _STEP
    while start < len(text):
        end = _reached(text, start + step, query_units)
        if _matches(text[start:end], query_units):
            break
        start = _end_of_blanks(text, start + step)  # no unit begins with one
        step = max(step, end - start)  # so little is folded twice
    while step > _STEP:
        step = max(_STEP, step // 2)
        while start < len(text):
            if _matches(text[start : _reached(text, start + step, query_units)], query_units):
                break
            start = _end_of_blanks(text, start + step)
    return start if start < len(text) else None


def _matches(text: str, query_units: Sequence[str]) -> bool:
    form = folded(text)
    return any(unit in form for unit in query_units)


def _reached(text: str, place: int, query_units: Sequence[str]) -> int:
    """Return an offset that no match which begins before a place goes beyond.

    A unit may be longer as written than in its folded form, and each of its blanks of any length.
    """
    end = place + 4 * max(map(len, query_units))
    while blanks := _BLANKS.search(text, place, end):
        place = _end_of_blanks(text, blanks.start())
        end += place - blanks.start() - 1
    return end


def _end_of_blanks(text: str, place: int) -> int:
    behind = _NO_BLANK.search(text, place)
    return behind.start() if behind else len(text)


def pieces(query_units: Sequence[str]) -> tuple[str, ...]:
    """Return the content words of a query, and the pairs of Japanese characters, folded."""
    parts = (
        part
        for concept in concepts(fold(" ".join(query_units)))
        for run, japanese in words(concept.text)
        for part in (map("".join, pairwise(run)) if japanese and len(run) > 1 else (run,))
    )
    return tuple(dict.fromkeys(filter(None, map(folded, parts))))[:MOST_UNITS]


def densest(text: str, query_pieces: Sequence[str]) -> int:
    """Return the offset of the place of a text with most of the pieces; 0 if it has none."""
    reach = _STEP + 4 * max(map(len, query_pieces), default=0)

    def pieces_behind(start: int) -> int:
        form = folded(text[start : start + reach])
        return sum(piece in form for piece in query_pieces)

    start = max(range(0, len(text), _STEP), key=pieces_behind, default=0)
    matches = spans(text[start : start + reach], query_pieces)

    def characters_behind(place: int) -> int:
        return sum(stop - at for at, stop in matches if place <= at < place + _CLOSE)

    places = [at for at, _ in matches]
    return start + max(places, key=characters_behind) if places else 0


def snippet(text: str, query_units: Sequence[str]) -> str | None:
    """Return the text around its first match, with matches marked; ``None`` without a match."""
    matches = spans(text, query_units)
    if not matches:
        return None
    first, last = matches[0]
    padding = max(0, SNIPPET - (last - first))
    start = max(0, min(first - padding // 2, len(text) - SNIPPET))
    end = min(len(text), start + SNIPPET)
    pieces = ["..."] if start else []
    at = start
    for begin, stop in matches:
        if begin >= end:
            break
        shown = _plain(text[begin : min(stop, end)])
        pieces += [_plain(text[at:begin]), f"<mark>{shown}</mark>"]
        at = min(stop, end)
    pieces += [_plain(text[at:end]), "..." if end < len(text) else ""]
    return "".join(pieces)


def beginning(text: str) -> str:
    """Return the beginning of a text, for a result without a match."""
    return _plain(text[:SNIPPET]) + ("..." if len(text) > SNIPPET else "")


def _plain(text: str) -> str:
    return _MARK.sub(r"&lt;\1mark&gt;", text.replace("\n", " "))


def _mapped(text: str) -> tuple[str, list[int], list[int]]:
    """Return the folded form, and where each of its characters begins and ends in the text."""
    forms: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start = end = 0
    while end < len(text):
        start = end
        if plain := _PLAIN_RUN.match(text, start):
            end = plain.end()
            forms.append(_case_folded(plain.group()))
            starts += range(start, end)
            ends += range(start + 1, end + 1)
            continue
        end = _cluster_end(text, start)
        form = _BLANK.sub(" ", _case_folded(text[start:end]))  # that of ´ begins with a blank
        if not forms or forms[-1].endswith(" "):
            form = form.removeprefix(" ")
        if not form:
            continue
        forms.append(form)
        starts += [start] * len(form)
        ends += [end] * len(form)
    return "".join(forms), starts, ends


def _cluster_end(text: str, start: int) -> int:
    """Return the end of the piece of a text that can be normalised independently."""
    if text[start].isspace():
        return _end_of_blanks(text, start)
    end = start + 1
    while end < len(text) and _joins(text[end]):
        end += 1
    return end


def _joins(character: str) -> bool:
    """Tell whether a character may become one with that before it: a mark, or a part of Hangul."""
    if character.isascii():
        return False
    first = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"
