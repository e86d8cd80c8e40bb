"""What counts as the same text here, what a query asks for, and where it stands in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SNIPPET = 64
MOST_CHARACTERS = 10_000
MOST_UNITS = 64

_STEP, _WINDOW = 1_000, 4_000

_UNIT = re.compile(r'"([^"]*)"(?=\s|\Z)|(\S+)')
_MARK = re.compile(r"<(/?)mark>", re.IGNORECASE)


def folded(text: str) -> str:
    """Return the form in which texts are compared: NFKC, case folded, one space for white space."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        return " ".join(text.split())
    return " ".join(text.lower().split())


def encoded(text: str) -> bytes:
    """Return a text in the bytes that are looked through; one stands in another as in theirs."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """Return the text of such bytes."""
    return data.decode("utf-8", "surrogatepass")


class Units(NamedTuple):
    """The distinct folded units of a query, and what is to be said about it."""

    units: tuple[str, ...]
    warnings: tuple[str, ...]


def units(query: str) -> Units:
    """Return what a query asks for: words, and phrases in quotation marks. No string is wrong."""
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


def spans(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the first match of folded units stands in a text, and those close behind it.

    Sorted, none inside another.
    """
    start = _near_first(text, wanted)
    if start is None:
        return []
    end = start + _WINDOW + 4 * max(map(len, wanted))
    form, origins = _mapped(text[start:end])
    matches: list[tuple[int, int]] = []
    for unit in wanted:
        place = form.find(unit)
        while place >= 0:
            matches.append((start + origins[place], start + origins[place + len(unit)]))
            place = form.find(unit, place + len(unit))
    merged: list[tuple[int, int]] = []
    for begin, stop in sorted(matches, key=lambda span: (span[0], -span[1])):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        elif begin < stop:
            merged.append((begin, stop))
    return merged


def _near_first(text: str, wanted: Sequence[str]) -> int | None:
    """Return a place not far before the first match; folding a window is fast, mapping it slow."""
    if not wanted:
        return None
    # A unit may take more room as it is written than as it is compared.
    reach = 4 * max(map(len, wanted))
    for start in range(0, max(1, len(text)), _STEP):
        form = folded(text[start : start + _STEP + reach])
        if any(unit in form for unit in wanted):
            return start
    return None


def snippet(text: str, wanted: Sequence[str]) -> str | None:
    """Return the text around its first match, with every match marked; ``None`` without one."""
    matches = spans(text, wanted)
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
    """Return the beginning of a text, as a snippet without a match shows it."""
    return _plain(text[:SNIPPET]) + ("..." if len(text) > SNIPPET else "")


def _plain(text: str) -> str:
    return _MARK.sub(r"&lt;\1mark&gt;", text.replace("\n", " "))


def _mapped(text: str) -> tuple[str, list[int]]:
    """Return the folded form, and for each of its characters and its end where it comes from."""
    pieces: list[str] = []
    origins: list[int] = []
    for start, end in _clusters(text):
        form = " " if text[start].isspace() else folded(text[start:end])
        if form == " " and (not pieces or pieces[-1] == " "):
            continue
        pieces.append(form)
        origins += [start] * len(form)
    return "".join(pieces), [*origins, len(text.rstrip())]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a text that normalise on their own."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not _joins(text[at]):
            yield start, at
            start = at


def _joins(character: str) -> bool:
    if character.isascii():
        return False
    return unicodedata.combining(character) != 0 or character in "\uff9e\uff9f"
