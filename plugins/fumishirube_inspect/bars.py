"""Signals as bars: the share of each scorer, on one scale for all hits of a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fumishirube import Trace, TraceRow
from fumishirube_inspect.markup import Markup, meter, tag

_COLOURS = 8


@dataclass(frozen=True)
class Scale:
    """The colour of each scorer, and the length of the longest bar."""

    names: Sequence[str]
    longest: float

    @classmethod
    def of(cls, traces: Iterable[Trace]) -> Scale:
        """Return the scale for the hits of some searches."""
        searches = list(traces)
        rows = [row for trace in searches for row in trace.search.rows]
        configured = [name for trace in searches for name in _configured(trace)]
        present = [name for row in rows for name, value in row.signals.items() if value]
        names = [name for name in dict.fromkeys([*configured, *present]) if name in present]
        lengths = [sum(value for value in row.signals.values() if value > 0) for row in rows]
        return cls(names, max(lengths, default=0.0) or 1.0)

    def colour(self, name: str) -> str:
        """Return the CSS class of a scorer's colour."""
        place = self.names.index(name) if name in self.names else len(self.names)
        return f"c{place % _COLOURS}"

    def legend(self) -> Markup:
        """Return the scorers with their colours."""
        entries = [tag("li", _swatch(self.colour(name)), name) for name in self.names]
        return tag("ul", entries, class_="legend", aria_label="Signals by scorer")

    def bar(self, row: TraceRow) -> Markup:
        """Return a bar of a hit's signals, joined."""
        rects, start = [], 0.0
        for name in self.names:
            length = 100 * max(0.0, row.signals.get(name, 0.0)) / self.longest
            if length:
                geometry = {"x": round(start, 3), "width": round(length, 3), "height": 10}
                title = tag("title", signal_text(row, name))
                rects.append(tag("rect", title, class_=self.colour(name), **geometry))
                start += length
        return tag(
            "svg",
            rects,
            viewBox="0 0 100 10",
            preserveAspectRatio="none",
            class_="bar",
            role="img",
            aria_label=signals_text(row) or "no signals",
        )

    def single(self, name: str, value: float) -> Markup:
        """Return one signal as a bar."""
        return meter(max(0.0, value) / self.longest, "bar", colour=self.colour(name))


def signal_text(row: TraceRow, name: str) -> str:
    """Return a signal as text."""
    return f"{name} {row.signals.get(name, 0.0):.2f}"


def signals_text(row: TraceRow) -> str:
    """Return all signals of a hit as text."""
    return ", ".join(signal_text(row, name) for name, value in row.signals.items() if value)


def _swatch(colour: str) -> Markup:
    square = tag("rect", width=10, height=10, rx=2, class_=colour)
    return tag("svg", square, viewBox="0 0 10 10", class_="swatch", aria_hidden="true")


def _configured(trace: Trace) -> list[str]:
    uses = trace.origin.recipe.stages.get("scorers")
    valid = [use for use in uses if isinstance(use, Mapping)] if isinstance(uses, list) else []
    return [str(use.get("as") or use.get("use")) for use in valid]
