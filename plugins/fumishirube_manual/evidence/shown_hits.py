"""The hits of an answer with their evidence: copies are folded, and weak hits have no text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from fumishirube import TraceRow
from fumishirube.agreed_names import PINNED_TOP, SECOND
from fumishirube.text import fold
from fumishirube_manual.evidence.annotations import wording_of
from fumishirube_manual.evidence.fills import fill
from fumishirube_manual.evidence.lines import EvidenceLine, SectionEvidence
from fumishirube_manual.evidence.reader import Copy, EvidenceReader, ShownHit

LINE_CHARS = 120
"""The most characters shown of a minor hit: about a line."""
_BEST_HIT_CHARS, _NEXT_HIT_CHARS = 600, 150
"""The most characters of the best hit of each wording, and of the next hits; others have a line."""
_WORDING_CHARS = 150
"""The more characters of a best hit for each further wording of which it contains most."""
_SEVERAL = 3
GAP_SCORE, GAP_WORTH = 0.68, 0.25
"""Below these shares of the highest score, or of the highest worth, a hit has no text."""
_PARTS, _PART_CHARS, _MOST_CHARS = 3, 900, 4_000
"""If this many wordings have a best hit of their own, they are parts of a question, and passages
fill up the answer to so many characters for each, and at most to so many in all."""
_FIRST_SHARE, _FIRST_WORDING_CHARS = 0.2, 60
"""The share of a hit's room that its lines take before passages are added, and the more characters
for each further wording of which a best hit contains most."""
_FIRST_OF_REQUESTED = 0.6
"""The share of a requested number of characters that such lines take at most."""
_OF_LITTLE = 3
"""So many hits have text where no section has the query's words, or most of an alternative."""
_AT_LEAST = 2
"""So many hits have text, or one for each wording, where a section has the query's words together:
of 91 finds by agents, the further hits contained none of the lines that they needed. Those with
a score close to the highest keep their text."""
_CLOSE = 0.8
_LOOK_AHEAD = 3
_LATER = 10
_SAME = 0.5
_NUMBER = re.compile(r"[0-9]+")


def shown_hits(
    reader: EvidenceReader, rows: Sequence[TraceRow], limit: int, chars: int | None, *, folded: bool
) -> tuple[list[ShownHit], int]:
    """Return the first hits of a ranking, and the number of rows that they cover.

    With ``chars``, the hits have their best lines, and passages fill up the evidence to about that
    many characters; so they do without for a question of several parts. With ``folded``, a row that
    repeats a hit above becomes a copy of it.
    """
    shown, covered = _distinct(reader, rows, limit, folded=folded)
    unmet = reader.unmet_wordings(hit.row for hit in shown)
    little = not chars and reader.answers_little(unmet)
    filled = None if little else chars or _chars_of_parts(rows[:limit])
    if little:
        _drop_text(shown[_OF_LITTLE:])
    elif not filled and reader.answers_well:
        least, close = max(_AT_LEAST, reader.wording_count), _CLOSE * shown[0].row.score
        _drop_text(hit for hit in shown[least:] if hit.row.score < close)
    _drop_beyond_gap(shown, unmet)
    if filled:
        _shorten(reader, shown, filled)
        _drop_repeating(shown)
        fill(reader, shown, rows[covered : covered + _LATER], filled)
        if chars:
            _lengthen(reader, shown, chars)
    elif reader.wording_count > 1 and not little:
        _drop_repeating(shown)
    _drop_shown_exceptions(shown)
    for hit in shown:
        _take_newest(hit)
        for copy in hit.copies:
            if copy.row.digest != hit.row.digest:
                copy.lacks = reader.lacking(hit, copy.row)
    return shown, covered


def _distinct(
    reader: EvidenceReader, rows: Sequence[TraceRow], limit: int, *, folded: bool
) -> tuple[list[ShownHit], int]:
    """Return hits with their copies, and the number of rows that they cover."""
    shown: list[ShownHit] = []
    said: list[frozenset[str]] = []
    covered = 0
    for row in rows[: limit * _LOOK_AHEAD if folded else limit]:
        # A row with the same text need not be read.
        same = next((hit for hit in shown if hit.row.digest == row.digest), None)
        if same and folded:
            same.copies.append(Copy(row))
            covered += 1
            continue
        room = _room(row, len(shown)) + _WORDING_CHARS * _further_wordings(reader, row)
        evidence = reader.evidence(row, room)
        lines = frozenset(fold(line.text) for line in evidence.lines)
        original = _original(shown, said, row, lines) if folded else None
        if original is not None:
            original.copies.append(Copy(row, _differing(original, evidence)))
        elif len(shown) == limit:
            break
        else:
            shown.append(ShownHit(row, evidence, room))
            said.append(lines)
        covered += 1
    return shown, covered


def _take_newest(hit: ShownHit) -> None:
    """Show a hit from the newest of the versions whose folders have the same text of it."""
    same = [copy for copy in hit.copies if copy.row.digest == hit.row.digest and not copy.lines]
    newest = max(same, key=lambda copy: _version(copy.row.path), default=None)
    if newest is None or hit.evidence.place or not _is_newer(newest.row.path, hit.row.path):
        return
    below = newest.row.start_line - hit.row.start_line
    lines = tuple(EvidenceLine(line.number + below, line.text) for line in hit.evidence.lines)
    hit.evidence = hit.evidence._replace(lines=lines)
    hit.row, newest.row = newest.row, hit.row


def _is_newer(path: str, other: str) -> bool:
    """Tell whether a path differs from another one only in a higher version of a folder."""
    alike = _NUMBER.sub("", path) == _NUMBER.sub("", other)
    alike = alike and path.rpartition("/")[2] == other.rpartition("/")[2]
    return alike and _version(path) > _version(other)


def _version(path: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(path)]


def _shorten(reader: EvidenceReader, shown: Iterable[ShownHit], chars: int) -> None:
    """Leave the best lines of each longer section, up to a share of some characters in all."""
    left = _FIRST_OF_REQUESTED * chars
    for rank, hit in enumerate(shown):
        if left <= 0 or not hit.evidence.whole:
            room = int(_FIRST_SHARE * _room(hit.row, rank))
            room += _FIRST_WORDING_CHARS * _further_wordings(reader, hit.row)
            hit.room = room if left > 0 and hit.evidence.lines else 0
            hit.evidence = reader.evidence(hit.row, hit.room)
        left -= _size(hit.evidence)


def _lengthen(reader: EvidenceReader, shown: Sequence[ShownHit], chars: int) -> None:
    """Show all lines of the best hits that they have without passages, as far as there is room."""
    left = chars - sum(_size(hit.evidence) for hit in shown)
    for rank, hit in enumerate(shown):
        if hit.evidence.whole or not hit.evidence.lines or not _gets_most(hit.row, rank):
            continue
        whole = [line.number - hit.row.start_line for line in hit.evidence.lines]
        longer = reader.evidence(hit.row, _BEST_HIT_CHARS, whole, closed=True)
        more = _size(longer) - _size(hit.evidence)
        if more <= left:
            hit.evidence = longer
            left -= more


def _size(evidence: SectionEvidence) -> int:
    """Return the characters of the lines."""
    return sum(len(line.text) for line in evidence.lines)


def _drop_shown_exceptions(shown: Iterable[ShownHit]) -> None:
    """Remove headings of sections that are hits themselves, and those after hits without text."""
    starts = {(row.path, row.start_line) for hit in shown for row in hit.rows}
    for hit in shown:
        known = (hit.row.path, hit.row.end_line + 1) in starts
        if known or not hit.evidence.lines:
            hit.evidence = hit.evidence._replace(exceptions="")


def _chars_of_parts(rows: Sequence[TraceRow]) -> int | None:
    """Return the characters for a question of several parts; ``None`` for another one."""
    parts = sum(map(_is_best, rows))
    return min(_MOST_CHARS, _PART_CHARS * parts) if parts >= _PARTS else None


def _is_best(row: TraceRow) -> bool:
    return PINNED_TOP in row.labels and SECOND not in row.labels


def _further_wordings(reader: EvidenceReader, row: TraceRow) -> int:
    """Return of how many wordings besides its own the best hit of a wording contains most."""
    return max(0, len(reader.met_wordings([row])) - 1) if _is_best(row) else 0


def _gets_most(row: TraceRow, rank: int) -> bool:
    return not rank or _is_best(row)


def _room(row: TraceRow, rank: int) -> int:
    if _gets_most(row, rank):
        return _BEST_HIT_CHARS
    return _NEXT_HIT_CHARS if rank <= _SEVERAL or PINNED_TOP in row.labels else LINE_CHARS


def _drop_beyond_gap(shown: Sequence[ShownHit], unmet: Collection[int]) -> None:
    """Remove the text of hits after a clear gap.

    Pinned hits keep their text, unless no section contains most of their wording.
    """
    if not shown:
        return
    score = GAP_SCORE * max(hit.row.score for hit in shown)
    worth = GAP_WORTH * max(hit.evidence.worth for hit in shown)
    for hit in shown[1:]:
        if PINNED_TOP in hit.row.labels and wording_of(hit.row) not in unmet:
            continue
        if hit.row.score < score or hit.evidence.worth < worth:
            _drop_text([hit])


def _drop_repeating(shown: Iterable[ShownHit]) -> None:
    """Remove text of longer sections without a concept of the query that no hit above has."""
    known: set[str] = set()
    for hit in shown:
        if known and hit.evidence.concepts <= known and not hit.evidence.whole:
            _drop_text([hit])
        known |= hit.evidence.concepts


def _drop_text(hits: Iterable[ShownHit]) -> None:
    """Leave the headings of some hits."""
    for hit in hits:
        hit.evidence = hit.evidence._replace(lines=(), whole=False)
        hit.room = 0


def _original(
    shown: Sequence[ShownHit], said: Sequence[frozenset[str]], row: TraceRow, theirs: frozenset[str]
) -> ShownHit | None:
    """Return the hit that a row repeats: with mostly the same lines.

    Sections of one file with different titles, such as settings of the same type, are no versions.
    """
    for hit, ours in zip(shown, said, strict=True):
        if hit.row.path == row.path and fold(hit.row.title) != fold(row.title):
            continue
        common = ours & theirs
        if common and len(common) > _SAME * max(len(ours), len(theirs)):
            return hit
    return None


def _differing(original: ShownHit, evidence: SectionEvidence) -> tuple[EvidenceLine, ...]:
    """Return the lines of a further copy that neither its original nor another copy has."""
    shown = (original.evidence.lines, *(copy.lines for copy in original.copies))
    known = {line.text.strip() for lines in shown for line in lines}
    return tuple(line for line in evidence.lines if line.text.strip() not in known)
