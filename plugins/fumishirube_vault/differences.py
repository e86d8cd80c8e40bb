"""The difference between two states of a note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from fumishirube import Unreadable
from fumishirube.text import decode

_NO_NOTE = "/dev/null"
_CONTEXT = 3
_MOST_COMPARED = 2_000
"""Lines of both states: comparing each with each takes time by their square."""


class _LineChange(NamedTuple):
    """Lines from ``start`` to before ``end`` of the old state, and those that replace them."""

    start: int
    end: int
    new_start: int
    new_end: int


def difference(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return a unified diff; ``None`` is a missing note. A binary file is only named."""
    if before == after:
        return ""
    try:
        old, new = _lines(before), _lines(after)
    except Unreadable:
        return f"{path}: it is not text, and it differs\n"
    changes = [*_changes(old, new)]
    if not changes:
        return f"{path}: line ends or encoding differ\n"
    was, now = (_NO_NOTE if data is None else path for data in (before, after))
    lines = [f"--- {was}", f"+++ {now}", *_shown(old, new, changes)]
    return "".join(f"{line}\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    text = decode(data or b"")
    return text.removesuffix("\n").split("\n") if text else []


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[_LineChange]:
    """Yield the changes between the equal lines at both ends, in time by the number of lines."""
    fewer = min(len(old), len(new))
    head = next((n for n in range(fewer) if old[n] != new[n]), fewer)
    tail = next((n for n in range(fewer - head) if old[~n] != new[~n]), fewer - head)
    ours, theirs = old[head : len(old) - tail], new[head : len(new) - tail]
    spans = min(_spans(ours, theirs), key=lambda them: sum(end - start for start, end, *_ in them))
    yield from (_LineChange(*(head + place for place in span)) for span in spans)


def _spans(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[list[list[int]]]:
    """Yield ways to change lines into others.

    To match lines at any place passes over frequent ones; in pairs they are equal where they stay.
    """
    if len(ours) + len(theirs) <= _MOST_COMPARED:
        edits = SequenceMatcher(None, ours, theirs).get_opcodes()
        yield [span for kind, *span in edits if kind != "equal"]
    else:
        yield [[0, len(ours), 0, len(theirs)]]
    if len(ours) == len(theirs):
        unequal = (n for n, line in enumerate(ours) if line != theirs[n])
        runs = groupby(enumerate(unequal), lambda it: it[1] - it[0])
        yield [[run[0], run[-1] + 1] * 2 for run in ([n for _, n in it] for _, it in runs)]


def _shown(old: Sequence[str], new: Sequence[str], changes: Sequence[_LineChange]) -> Iterator[str]:
    """Yield the lines of a unified diff: near changes with the lines between and around them."""
    groups = [[changes[0]]]
    for change in changes[1:]:
        if change.start - groups[-1][-1].end <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    for group in groups:
        first, last = group[0], group[-1]
        above = min(_CONTEXT, first.start)
        below = min(_CONTEXT, len(old) - last.end)
        start, end = first.start - above, last.end + below
        places = (_range(start, end), _range(first.new_start - above, last.new_end + below))
        yield "@@ -{} +{} @@".format(*places)
        at = start
        for change in group:
            yield from (f" {line}" for line in old[at : change.start])
            yield from (f"-{line}" for line in old[change.start : change.end])
            yield from (f"+{line}" for line in new[change.new_start : change.new_end])
            at = change.end
        yield from (f" {line}" for line in old[at:end])


def _range(start: int, end: int) -> str:
    """Return lines as unified diffs write them: the first, and how many if not one."""
    length = end - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + (length > 0)},{length}"
