"""The hits of an answer with their evidence: copies are folded, and weak hits have no text."""

from __future__ import annotations

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
GAP_SCORE, GAP_WORTH = 0.68, 0.25
"""Below these shares of the highest score, or of the highest worth, a hit has no text."""


_FIRST_SHARE = 0.6
"""If a number of characters is requested, lines take at most this share of their usual room, hits
with less than this share of a next hit's have none, and passages fill up the rest."""
_PARTS, _PART_CHARS, _MOST_CHARS = 3, 900, 4_000
"""If this many wordings have a best hit of their own, they are parts of a question, and passages
fill up the answer to so many characters for each, and at most to so many in all."""
_SEVERAL = 3
_OF_LITTLE = 3
"""So many hits have text where no section has the query's words, or most of an alternative."""
_AT_LEAST = 2
"""So many hits have text, or one for each wording, where a section has the query's words together:
of 91 finds by agents, the further hits contained none of the lines that they needed. Those with
a score close to the highest keep their text."""
_CLOSE = 0.8
_LOOK_AHEAD = 3
_LATER = 5
_SAME = 0.5


def shown_hits(
    reader: EvidenceReader, rows: Sequence[TraceRow], limit: int, chars: int | None, *, folded: bool
) -> tuple[list[ShownHit], int]:
    """Return the first hits of a ranking, and the number of rows that they cover.

    With ``chars``, passages fill up the evidence to about that many characters; without, they do so
    for a question of several parts. With ``folded``, a row that repeats a hit above becomes a copy
    of it.
    """
    shown: list[ShownHit] = []
    said: list[frozenset[str]] = []
    covered = 0
    requested, chars = chars, chars or _chars_of_parts(rows[:limit])
    usual = sum(_room(row, rank) for rank, row in enumerate(rows[:limit]))
    scale = min(_FIRST_SHARE, chars / usual) if chars and usual else 1.0
    least = int(_FIRST_SHARE * _NEXT_HIT_CHARS) if chars else 0
    for row in rows[: limit * _LOOK_AHEAD if folded else limit]:
        rank = len(shown)
        room = int(scale * _room(row, rank))
        if not chars and _is_best(row):
            room += _WORDING_CHARS * max(0, len(reader.met_wordings([row])) - 1)
        room = room if room >= least else 0
        evidence = reader.evidence(row, room)
        lines = _said(evidence.lines)
        original = _original(shown, said, row, lines) if folded else None
        if original is not None:
            original.copies.append(Copy(row, _differing(original, evidence)))
        elif rank == limit:
            break
        else:
            shown.append(ShownHit(row, evidence, room))
            said.append(lines)
        covered += 1
    unmet = reader.unmet_wordings(hit.row for hit in shown)
    if not requested and reader.answers_little(unmet):
        chars = None
        _drop_text(shown[_OF_LITTLE:])
    elif not chars and reader.answers_well:
        least, close = max(_AT_LEAST, reader.wordings), _CLOSE * shown[0].row.score
        _drop_text(hit for hit in shown[least:] if hit.row.score < close)
    _drop_beyond_gap(shown, unmet)
    if chars:
        fill(reader, shown, rows[covered : covered + _LATER], chars)
    _drop_shown_exceptions(shown)
    for hit in shown:
        for copy in hit.copies:
            copy.lacks = reader.lacking(hit, copy.row)
    return shown, covered


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


def _room(row: TraceRow, rank: int) -> int:
    if not rank or _is_best(row):
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


def _drop_text(hits: Iterable[ShownHit]) -> None:
    """Leave the headings of some hits."""
    for hit in hits:
        hit.evidence = hit.evidence._replace(lines=(), whole=False)
        hit.room = 0


def _original(
    shown: Sequence[ShownHit],
    said: Sequence[frozenset[str]],
    row: TraceRow,
    theirs: frozenset[str],
) -> ShownHit | None:
    """Return the hit that a row repeats: with the same text, or mostly the same lines."""
    for hit, ours in zip(shown, said, strict=True):
        if hit.row.digest == row.digest:
            return hit
        common = ours & theirs
        if common and len(common) > _SAME * max(len(ours), len(theirs)):
            return hit
    return None


def _said(lines: Iterable[EvidenceLine]) -> frozenset[str]:
    return frozenset(fold(line.text) for line in lines)


def _differing(original: ShownHit, evidence: SectionEvidence) -> tuple[EvidenceLine, ...]:
    """Return the lines of a further copy that neither its original nor another copy has."""
    known = _said(original.evidence.lines).union(*(_said(copy.lines) for copy in original.copies))
    return tuple(line for line in evidence.lines if fold(line.text) not in known)
