"""Lines shown beside others: a header, a JSON object, a label, a definition, a gap, the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, dropwhile, groupby

from fumishirube.text import fold, is_cjk
from fumishirube_manual.evidence.blocks import header_or_rows, indentation, is_item, is_row
from fumishirube_manual.evidence.code_blocks import is_fence
from fumishirube_manual.evidence.markup import rendered

_MOST_CHARS, _MOST_LINES = 600, 20
"""The most characters and lines of a record that is shown whole."""
_GAP = 100
"""Text of up to this many characters between two passages, or after the last one, is shown too."""
_INNER_GAP = 400
"""Of the room that is left, so many characters at most are filled with text between shown lines."""
_FEW, _REST = 150, 350
"""Up to so many hidden characters are shown too, or if more are shown: they would be read next."""
_LABEL_COLUMNS = 40
"""The most columns of a label."""
_NO_LABEL = re.compile(r"^(?:[#|>=~`]|[-*+]\s|\d+[.)])|[.。!！?？:：;,、{}()\[\]]$")
_UNDERLINE = re.compile(r"([=\-~^*+\"'#:.`_])\1{2,}")
_MEMBER = re.compile(r'\s*"(?:[^"\\]|\\.)*"\s*:')
_OPENS = re.compile(r".*\{\s*$")
_CLOSES = re.compile(r"\s*\}")

_NAME = r"[^\s`*|:：\"'][^`*|:：\"'\n]{0,40}?"
_MARKS = r"[`*_\"']*"
_REMARK = r"(?:[(（][^()（）]{0,40}[)）]\s*)?"
_LABEL = re.compile(
    rf"\s*(?:[-*+|]\s+|\d+[.)]\s+)?{_MARKS}"
    rf"(?:(?P<label>{_NAME}){_MARKS}\s*{_REMARK}(?:[:：|]|\s[-–—]\s)"
    rf"|(?P<term>{_NAME}){_MARKS}\s*$)"
)
"""A label with what follows it in the line, or a term alone, whose definition is the next line."""
_OPTION = re.compile(
    rf"\s*[-*+|]\s+{_MARKS}-[^:：|]{{0,60}}?[=\s\"'](?P<value>[\w.-]+)[`*\"'\])}}]*\s*(?:[:：|]|\s[-–—]\s)"
)
"""An option with its value, such as ``--kind=name``, and what follows."""


def record_lines(lines: Sequence[str], at: int) -> Sequence[int]:
    """Return the other lines of the record of a line, all counted from 0, in order.

    For a row of a table that is its header, and for a header the rows. For a member of a JSON
    object it is the object. Empty for other lines, and for what is too long.
    """
    if is_row(lines[at]):
        record = [*header_or_rows(lines, at)]
    elif is_member(lines[at]):
        record = [*_object(lines, at)]
    else:
        return ()
    others = [other for other in record if other != at and any(map(str.isalnum, lines[other]))]
    fits = len(others) <= _MOST_LINES and sum(len(lines[o].strip()) for o in others) <= _MOST_CHARS
    return others if fits else ()


def labelled_line(lines: Sequence[str], at: int) -> int | None:
    """Return the line that a label is about, counted from 0: the next one with text.

    A label, such as "Experimental", is a short line without an end, after a blank line or a
    heading, and not before one. ``None`` for other lines, such as items and rows. Whether the line
    is code is not looked at.
    """
    label = rendered(lines[at]).strip()
    if len(label) > _LABEL_COLUMNS or len(label) + sum(map(is_cjk, label)) > _LABEL_COLUMNS:
        return None
    if _NO_LABEL.search(label) or indentation(lines[at]):
        return None
    if at and lines[at - 1].strip() and not lines[at - 1].startswith("#"):
        return None
    below = next((place for place in range(at + 1, len(lines)) if lines[place].strip()), None)
    if below is None or _is_heading(lines, below) or is_fence(lines[below]):
        return None
    return below if below > at + 1 or is_item(lines[below]) else None


def _is_heading(lines: Sequence[str], at: int) -> bool:
    """Tell whether a line is a heading, by the mark before it or the line above or below it."""
    line, following = lines[at].strip(), "".join(lines[at + 1 : at + 2]).rstrip()
    if lines[at].startswith("#") or not any(map(str.isalnum, line)):
        return True
    if not _UNDERLINE.fullmatch(following):
        return False
    return following[0] in "=-" or len(following) >= len(line)


def is_member(line: str) -> bool:
    """Tell whether a line begins a member of a JSON object."""
    return bool(_MEMBER.match(line))


def _object(lines: Sequence[str], at: int) -> Iterator[int]:
    """Yield the lines of the innermost object of a member, without those of its braces.

    Nothing is yielded of an object that goes on for more than ``_MOST_LINES`` on either side.
    """
    indent = indentation(lines[at])
    above = range(at - 1, max(-1, at - 2 - _MOST_LINES), -1)
    below = range(at + 1, min(len(lines), at + 2 + _MOST_LINES))
    begin = next((n for n in above if _ends(lines[n], _OPENS, indent)), None)
    end = next((n for n in below if _ends(lines[n], _CLOSES, indent)), None)
    if begin is not None and end is not None:
        yield from range(begin + 1, end)


def _ends(line: str, brace: re.Pattern[str], indent: int) -> bool:
    """Tell whether a line has the brace of the object whose members are indented by ``indent``."""
    return indentation(line) < indent and brace.match(line) is not None


def defining_lines(
    lines: Sequence[str], likely: Iterable[int], names: Collection[str], most: int
) -> Sequence[int]:
    """Return the lines, of some likely ones, that first define ``most`` folded names, in order.

    Such are ``* `size`: …``, ``| size | … |``, ``"size": 20``, ``* --by=size - …``, and ``: …``
    below the term ``size``.
    """
    first: dict[str, tuple[int, ...]] = {}
    for at in likely:
        name, is_term = _defined(lines[at])
        is_defined = not is_term or (at + 1 < len(lines) and lines[at + 1].startswith(":"))
        if name in names and name not in first and is_defined:
            first[name] = (at, at + 1) if is_term else (at,)
        if len(first) == most:
            break
    return [at for defining in first.values() for at in defining]


def _defined(line: str) -> tuple[str, bool]:
    """Return the folded name that a line may define, and whether the line is the name alone."""
    if label := _LABEL.match(line):
        return fold(label["label"] or label["term"]), not label["label"]
    option = _OPTION.match(line)
    return fold(option["value"]) if option else "", False


def rest(shown: Mapping[int, str], uncut: Mapping[int, str]) -> Mapping[int, str]:
    """Return all lines if little of them is hidden, and less than shown or very little."""
    hidden = sum(len(line) - len(shown.get(at, "")) for at, line in uncut.items())
    return uncut if hidden <= min(_REST, max(_FEW, sum(map(len, shown.values())))) else {}


def between(shown: Mapping[int, str], uncut: Mapping[int, str], room: int) -> Mapping[int, str]:
    """Return the lines of the gaps between shown lines, the shortest first, that fit in a room."""
    room = min(room, _INNER_GAP)
    inner = [gap for gap in _hidden(shown, uncut) if gap[0] < max(shown)]
    filled: dict[int, str] = {}
    for size, gap in sorted((sum(len(uncut[at]) for at in gap), gap) for gap in inner):
        room -= size
        if room < 0:
            break
        filled |= {at: uncut[at] for at in gap}
    return filled


def _hidden(shown: Mapping[int, str], uncut: Mapping[int, str]) -> Iterator[list[int]]:
    """Yield the gaps below shown lines: the numbers of hidden lines in a row."""
    below = dropwhile(lambda at: at not in shown, uncut)
    for is_shown, run in groupby(below, key=shown.__contains__):
        if not is_shown:
            yield [*run]


def gaps(shown: Mapping[int, str], uncut: Mapping[int, str]) -> Mapping[int, str]:
    """Return the lines of which little is hidden: short gaps after a shown line, and short cuts."""
    short = [gap for gap in _hidden(shown, uncut) if sum(len(uncut[at]) for at in gap) <= _GAP]
    cut = [at for at in shown if at in uncut and len(uncut[at]) - len(shown[at]) <= _GAP]
    return {at: uncut[at] for at in chain(cut, *short)}
