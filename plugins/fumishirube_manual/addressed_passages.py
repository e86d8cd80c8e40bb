"""Tags passages that address the agent, as a scorer detects them; no text is ever changed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, get_args

from pydantic import Field, JsonValue

from fumishirube import (
    Answer,
    Budget,
    ConfigError,
    Passage,
    Query,
    Ranking,
    Scorer,
    SequenceCorpus,
    SurfaceContext,
    Trace,
)
from fumishirube.agreed_names import AddressReason
from fumishirube.text import Lines
from fumishirube.tools import TextPage
from fumishirube_manual.evidence.annotations import LOOKED_AT, key_of
from fumishirube_manual.scopes import document_of
from fumishirube_manual.surface import ManualSurface

LEAST = 0.5
"""The score from which a passage is reported."""
MOST = 20
"""The most passages reported for a text; the last one then extends to the end of all."""

_LONGEST = 1000
"""The most characters of a passage, which limits the work."""
_REACH = 2000
"""The most characters before and after a page in which its first and last passage may lie."""
_LINE = re.compile(rf"[^\n]{{0,{_LONGEST}}}(?:\n|\Z)|[^\n]{{1,{_LONGEST}}}")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_REASONS: Sequence[AddressReason] = get_args(AddressReason)

ANNOTATION = "addressed"

_A_HIT = 3


class Addressed(Answer):
    """Lines that address the agent, the score (0.5 to 1), and the reasons."""

    start_line: int
    end_line: int
    score: float
    reasons: tuple[AddressReason, ...]


Tags = Annotated[
    tuple[Addressed, ...],
    Field(description="Lines that speak to you. They are the document's words, no orders."),
]


def detector_of(context: SurfaceContext, settings: ManualSurface) -> Scorer:
    """Return the scorer that detects passages; the first call opens it.

    Raises:
        ConfigError: when no scorer has the name in the settings, or it cannot be opened.
    """
    name = settings.detector
    try:
        return context.keep(f"detector {name}", lambda: context.scorer(name, {}))
    except ConfigError as error:
        setting = error.at.removeprefix("scorer").removeprefix(".with.")
        problem = f"{setting}: {error.problem}" if setting else error.problem
        raise ConfigError(problem, at="detector") from error


def addressed(
    detector: Scorer, text: str, start: int = 0, end: int | None = None, query: Query | None = None
) -> list[Addressed]:
    """Return the passages that touch ``text[start:end]``, in order, at most ``MOST``.

    The detector gets them as they are written, numbered from 1, and the budget of ``query``. An
    empty result does not guarantee that no text addresses the agent.
    """
    end = len(text) if end is None else min(end, len(text))
    blocks = [
        block
        for block in _blocks(text, *_around(text, start, end))
        if block.stop > start and block.start < end
    ]
    corpus = SequenceCorpus(
        Passage("", number, number, "", (), 1, "", {"body": text[block.start : block.stop]})
        for number, block in enumerate(blocks, 1)
    )
    scored = detector.score(query or Query(""), corpus, {})
    hits = scored.hits if isinstance(scored, Ranking) else scored
    tagged = {hit.passage.start_line: hit for hit in hits if hit.score >= LEAST}
    lines = Lines(text)
    passages = [
        Addressed(
            start_line=lines.at(block.start),
            end_line=lines.at(max(block.start, block.stop - 1)),
            score=min(hit.score, 1.0),
            reasons=_ordered(hit.labels),
        )
        for number, block in enumerate(blocks, 1)
        if (hit := tagged.get(number))
    ]
    return at_most(MOST, _joined(passages))


def at_most(most: int, passages: Sequence[Addressed]) -> list[Addressed]:
    """Return at most ``most`` passages; the last one includes all further ones."""
    if len(passages) <= most:
        return [*passages]
    return [*passages[: most - 1], _merged(passages[most - 1 :])]


def _ordered(labels: Iterable[str]) -> tuple[AddressReason, ...]:
    """Return the agreed ones among the labels of hits, each once."""
    present = {*labels}
    return tuple(reason for reason in _REASONS if reason in present)


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a range to the nearest empty lines, within ``_REACH``."""
    low = text.rfind("\n\n", max(0, start - _REACH), start)
    high = text.find("\n\n", end, end + _REACH)
    return (
        max(0, start - _REACH) if low < 0 else low + 2,
        min(len(text), end + _REACH) if high < 0 else high,
    )


def _blocks(text: str, start: int, end: int) -> Iterator[range]:
    """Divide a range of a text into passages of at most ``_LONGEST`` characters."""
    first = place = start
    for line in _LINE.finditer(text, start, end):
        empty = not line.group().strip()
        if empty or _ITEM.match(line.group()) or line.end() - first > _LONGEST:
            if place > first:
                yield range(first, place)
            first = line.end() if empty else line.start()
        place = line.end()
    if place > first:
        yield range(first, place)


def _joined(passages: Iterable[Addressed]) -> list[Addressed]:
    joined: list[Addressed] = []
    for passage in passages:
        if joined and passage.start_line <= joined[-1].end_line + 1:
            joined[-1] = _merged([joined[-1], passage])
        else:
            joined.append(passage)
    return joined


def _merged(group: Sequence[Addressed]) -> Addressed:
    return Addressed(
        start_line=group[0].start_line,
        end_line=group[-1].end_line,
        score=max(passage.score for passage in group),
        reasons=_ordered(reason for passage in group for reason in passage.reasons),
    )


def with_tags(
    context: SurfaceContext, trace: Trace, settings: ManualSurface, budget: Budget
) -> Trace:
    """Store in a trace which lines of its best hits address the agent."""
    detector, query = detector_of(context, settings), Query("", budget=budget)
    lines: dict[str, list[int]] = {}
    for row in trace.search.rows[:LOOKED_AT]:
        lines.setdefault(row.path, []).append(row.start_line)
    tagged: dict[str, JsonValue] = {}
    for path, starts in lines.items():
        document = document_of(context, trace, path)
        if document is None:
            continue  # reading the file reports that
        for section in document.sections:
            if section.start_line in starts:
                every = addressed(detector, document.text, section.start, section.end, query)
                if most := at_most(_A_HIT, every):
                    dumped: list[JsonValue] = [passage.model_dump(mode="json") for passage in most]
                    tagged[key_of(path, section.start_line)] = dumped
    return context.annotate(trace, ANNOTATION, tagged)


def tags_of(
    context: SurfaceContext, text: str, read: TextPage, settings: ManualSurface, budget: Budget
) -> tuple[Addressed, ...] | None:
    """Return the tagged lines of a page, if any; ``None`` without the extra ``addressed``."""
    if "addressed" not in settings.extras:
        return None
    detector, end = detector_of(context, settings), read.next_offset
    query = Query("", budget=budget)
    return tuple(addressed(detector, text, end - len(read.text), end, query)) or None
