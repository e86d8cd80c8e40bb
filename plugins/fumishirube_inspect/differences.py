"""The difference of two searches: ranks of hits, signals, times and settings."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from pydantic import JsonValue

from fumishirube import Span, Trace, TraceRow

Pair = tuple[float, float]
_Key = tuple[str, str, int]

_SAME: tuple[Callable[[TraceRow], object], ...] = (
    lambda row: (row.start_line, row.digest),
    lambda row: row.digest,
    lambda row: row.start_line,
)


class RankedRow(NamedTuple):
    """A hit in one ranking."""

    rank: int
    row: TraceRow


class RowChange(NamedTuple):
    """A section in two rankings; a side is ``None`` if the section is not among its hits."""

    before: RankedRow | None
    after: RankedRow | None

    @property
    def row(self) -> TraceRow:
        """The section in the later ranking, or else in the earlier."""
        place = self.after or self.before
        assert place is not None
        return place.row

    @property
    def ranks_gained(self) -> int | None:
        """The gain in ranks, or ``None`` if the section is in one ranking only."""
        return self.before.rank - self.after.rank if self.before and self.after else None

    @property
    def rewritten(self) -> bool:
        """Whether its text changed."""
        return bool(self.before and self.after and self.before.row.digest != self.after.row.digest)

    @property
    def scores(self) -> tuple[float | None, float | None]:
        """Its two scores."""
        before, after = self.before, self.after
        return before and before.row.score, after and after.row.score

    @property
    def signals(self) -> Mapping[str, Pair]:
        """The signals that differ, by scorer; a missing one is 0."""
        before = self.before.row.signals if self.before else {}
        after = self.after.row.signals if self.after else {}
        pairs = {
            name: (before.get(name, 0.0), after.get(name, 0.0))
            for name in dict.fromkeys([*before, *after])
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


class StageTiming(NamedTuple):
    """A stage in two trees of spans, by its path; a missing side is ``None``."""

    path: tuple[str, ...]
    before: Span | None
    after: Span | None


class SettingChange(NamedTuple):
    """A setting of a pipeline in two configurations; a missing side is ``None``."""

    name: str
    before: JsonValue
    after: JsonValue


@dataclass(frozen=True)
class TraceDifference:
    """The comparison of two searches."""

    before: Trace
    after: Trace

    @cached_property
    def rows(self) -> tuple[RowChange, ...]:
        """All hits of both, in the order of the later one; missing ones last.

        Two hits of a file are the same section if line and text are equal; of the others, if the
        text is, because lines were inserted above; of the rest, if the line is.
        """
        left = [RankedRow(rank, row) for rank, row in enumerate(self.before.search.rows, 1)]
        places = [RankedRow(rank, row) for rank, row in enumerate(self.after.search.rows, 1)]
        partners: dict[int, RankedRow] = {}
        for same in _SAME:
            known: defaultdict[object, deque[RankedRow]] = defaultdict(deque)
            for place in left:
                known[self.before.file(place.row.path), same(place.row)].append(place)
            for place in places:
                key = self.after.file(place.row.path), same(place.row)
                if place.rank not in partners and known[key]:
                    partners[place.rank] = known[key].popleft()
            left = [place for places_left in known.values() for place in places_left]
        changes = [RowChange(partners.get(place.rank), place) for place in places]
        gone = sorted(left, key=lambda place: place.rank)
        return (*changes, *(RowChange(place, None) for place in gone))

    @cached_property
    def same_ranking(self) -> bool:
        """Whether both rank the same sections in the same order."""
        return all(moved.ranks_gained == 0 for moved in self.rows)

    @cached_property
    def same_scores(self) -> bool:
        """Whether both rank them with the same scores too."""
        return self.same_ranking and all(row.scores[0] == row.scores[1] for row in self.rows)

    @cached_property
    def changed(self) -> tuple[RowChange, ...]:
        """The hits with another rank, score, signal or text."""
        return tuple(
            row
            for row in self.rows
            if row.ranks_gained != 0
            or row.scores[0] != row.scores[1]
            or row.signals
            or row.rewritten
        )

    @cached_property
    def query_fields(self) -> tuple[str, ...]:
        """The fields in which the queries differ, as an exported trace names them."""
        keys = [trace.origin.query.key() for trace in (self.before, self.after)]
        before, after = ({"text": key.text, **dict(key.rest)} for key in keys)
        return tuple(name for name, value in before.items() if after[name] != value)

    @cached_property
    def stages(self) -> tuple[StageTiming, ...]:
        """All stages of both, as in the trees of spans, outer ones first."""
        return tuple(_timed((), self.before.search, self.after.search))

    @cached_property
    def settings(self) -> tuple[SettingChange, ...]:
        """The settings of the pipelines that differ."""
        return settings_between(self.before.origin.recipe.stages, self.after.origin.recipe.stages)


def settings_between(
    before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> tuple[SettingChange, ...]:
    """Return the differences of two pipelines, given as the configuration names stages.

    Stages are matched by name: ``scorers`` lists which there are, in order, and
    ``scorers.lexical.pool`` is a setting of a stage that both have.
    """
    before_values, after_values = dict(_flat(before)), dict(_flat(after))
    names = [*after_values, *(name for name in before_values if name not in after_values)]
    changes = (
        SettingChange(name, before_values.get(name), after_values.get(name)) for name in names
    )
    return tuple(
        change
        for change in changes
        if change.before != change.after
        and not _belongs_to_missing(change.name, before_values, after_values)
    )


def _belongs_to_missing(
    name: str, before_values: Mapping[str, JsonValue], after_values: Mapping[str, JsonValue]
) -> bool:
    """Tell whether only one side has the stage, which the line of its kind already shows."""
    kind, _, rest = name.partition(".")
    stage = rest.partition(".")[0]
    return bool(rest) and any(
        stage not in _names(side.get(kind)) for side in (before_values, after_values)
    )


def _names(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _flat(stages: Mapping[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for kind, uses in stages.items():
        configured = [use for use in _names(uses) if isinstance(use, Mapping)]
        known: list[JsonValue] = [str(use.get("as") or use.get("use")) for use in configured]
        yield kind, known if isinstance(uses, list) else next(iter(known), None)
        for name, use in zip(known, configured, strict=True):
            if "as" in use:
                yield f"{kind}.{name}.use", use.get("use")
            settings = use.get("with")
            if isinstance(settings, Mapping):
                yield from ((f"{kind}.{name}.{key}", value) for key, value in settings.items())


def _timed(
    parents: tuple[str, ...], before: Span | None, after: Span | None
) -> Iterator[StageTiming]:
    span = after or before
    assert span is not None
    path = (*parents, span.label)
    yield StageTiming(path, before, after)
    before_values, after_values = _children(before), _children(after)
    for key in _merged([*before_values], [*after_values]):
        yield from _timed(path, before_values.get(key), after_values.get(key))


def _children(span: Span | None) -> dict[_Key, Span]:
    """Return the child spans by kind, name, and the number of equal ones before."""
    seen: Counter[tuple[str, str]] = Counter()
    by_key: dict[_Key, Span] = {}
    for child in span.children if span else ():
        by_key[child.kind, child.name, seen[child.kind, child.name]] = child
        seen[child.kind, child.name] += 1
    return by_key


def _merged(before: Sequence[_Key], after: Sequence[_Key]) -> Iterator[_Key]:
    """Yield the keys of both in the later order; removed ones keep their former place."""
    rest = iter(before)
    for key in after:
        if key in before:
            passed = takewhile(key.__ne__, rest)
            yield from (removed for removed in passed if removed not in after)
        yield key
    yield from (removed for removed in rest if removed not in after)
