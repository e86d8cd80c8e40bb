"""What is shown besides the chosen lines of a section: gaps between them, and a short rest."""

from __future__ import annotations

from collections.abc import Mapping

_GAP = 100
"""Text of up to this many characters between two passages, or after the last one, is shown too."""
_INNER_GAP = 400
"""Of the room that is left, so many characters at most are filled with text between shown lines."""
_FEW, _REST = 150, 350
"""Up to so many hidden characters are shown too, or if more are shown: they would be read next."""


def rest(shown: Mapping[int, str], uncut: Mapping[int, str]) -> Mapping[int, str]:
    """Return all lines if little of them is hidden, and less than shown or very little."""
    hidden = sum(len(line) - len(shown.get(at, "")) for at, line in uncut.items())
    return uncut if hidden <= min(_REST, max(_FEW, sum(map(len, shown.values())))) else {}


def between(shown: Mapping[int, str], uncut: Mapping[int, str], room: int) -> Mapping[int, str]:
    """Return the lines of the gaps between shown lines, the shortest first, that fit in a room."""
    hidden: list[list[int]] = [[]]
    for at in uncut:
        if at not in shown:
            hidden[-1].append(at)
        elif hidden[-1]:
            hidden.append([])
    room = min(room, _INNER_GAP)
    inner = [gap for gap in hidden[:-1] if min(shown) < gap[0]]
    filled: dict[int, str] = {}
    for size, gap in sorted((sum(len(uncut[at]) for at in gap), gap) for gap in inner):
        room -= size
        if room < 0:
            break
        filled |= {at: uncut[at] for at in gap}
    return filled


def gaps(shown: Mapping[int, str], uncut: Mapping[int, str]) -> Mapping[int, str]:
    """Return the lines of which little is hidden: short gaps after a shown line, and short cuts."""
    filled: dict[int, str] = {}
    hidden: dict[int, str] = {}
    for at, line in uncut.items():
        if at not in shown:
            hidden[at] = line
            continue
        if hidden and min(hidden) > min(shown) and sum(map(len, hidden.values())) <= _GAP:
            filled |= hidden
        hidden = {}
        if len(line) - len(shown[at]) <= _GAP:
            filled[at] = line
    if sum(map(len, hidden.values())) <= _GAP:
        filled |= hidden
    return filled
