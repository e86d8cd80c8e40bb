"""Cuts long lines around their matches, and those below labels at their end."""

from __future__ import annotations

from fumishirube.text import TextRange
from fumishirube_manual.evidence.excerpts import whole_words
from fumishirube_manual.evidence.markup import rendered
from fumishirube_manual.grep.matching_lines import Spans

WHOLE = 400
"""The most characters of a line that is shown whole."""
_SHOWN = 360
_MATCHES = 3
_BELOW_LABEL = 100
_LEAST_AROUND = 30


def beginning(line: str) -> str:
    """Return the beginning of a line that is shown below a label."""
    shown = rendered(line)
    _, end = whole_words(shown, 0, _BELOW_LABEL)
    return shown if len(shown) <= end else f"{shown[:end]}…"


def cut(line: str, spans: Spans) -> str:
    """Return a line as shown: whole, or the parts around its first matches."""
    if len(line) <= WHOLE:
        return line.strip()
    spans = _merged(spans)
    chosen = list(spans[:_MATCHES]) or [(0, 0)]
    each = _SHOWN // len(chosen)
    ranges: list[tuple[int, int]] = []
    for begin, finish in chosen:
        end = min(finish, begin + each)
        side = max(_LEAST_AROUND, (each - (end - begin)) // 2)
        start, end = whole_words(line, max(0, begin - side), min(len(line), end + side))
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    shown = [
        TextRange(start, end, place == 0 and start > 0, end < len(line)).shown(line)
        for place, (start, end) in enumerate(ranges)
    ]
    hidden = sum(begin >= ranges[-1][1] for begin, _ in spans[_MATCHES:])
    return " ".join(shown) + (f" (+{hidden} more in this line)" if hidden else "")


def _merged(spans: Spans) -> Spans:
    """Return spans in order, those that share a character as one."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
