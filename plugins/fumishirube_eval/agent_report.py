"""The report on runs of agents: totals, paired intervals, and a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape

from fumishirube.commands import table
from fumishirube_eval.agent_runs import AgentAnswer, AgentRun
from fumishirube_eval.paired import Metric, PairedComparison, paired

_BAR, _GAP, _LEFT, _WIDE = 11, 8, 150, 520
_COLOURS = ("#2b6cb0", "#c05621")


def _share(answer: AgentAnswer) -> float | None:
    return None if answer.facts is None else sum(answer.facts) / len(answer.facts)


def _cost(name: str, of: Callable[[AgentAnswer], float]) -> Metric[AgentAnswer]:
    return Metric(name, of, more_is_better=False)


METRICS = (
    Metric[AgentAnswer]("points_share", _share),
    _cost("calls", lambda answer: len(answer.calls)),
    _cost("characters", lambda answer: answer.total("characters")),
    _cost("tokens", lambda answer: answer.total("tokens")),
    _cost("seconds", lambda answer: answer.seconds),
)


def totals(run: AgentRun) -> dict[str, float]:
    """Return the totals of a run: points, maximum, calls, characters, tokens and seconds."""
    graded = [answer for answer in run.answers if answer.facts is not None]
    return {
        "questions": len(run.answers),
        "points": sum(answer.points or 0 for answer in graded),
        "facts": sum(len(answer.facts or ()) for answer in graded),
        "calls": sum(len(answer.calls) for answer in run.answers),
        "characters": int(sum(answer.total("characters") for answer in run.answers)),
        "tokens": int(sum(answer.total("tokens") for answer in run.answers)),
        "tools_tokens": max((answer.tools_tokens for answer in run.answers), default=0),
        "seconds": round(sum(answer.seconds for answer in run.answers), 1),
        "failed": sum(answer.error is not None for answer in run.answers),
    }


def compared(ours: AgentRun, theirs: AgentRun) -> dict[str, PairedComparison]:
    """Compare two runs on their common questions, metric by metric."""
    return paired(METRICS, list(answer_pairs(ours, theirs)))


def answer_pairs(ours: AgentRun, theirs: AgentRun) -> Iterator[tuple[AgentAnswer, AgentAnswer]]:
    """Yield the answers of two runs to the same questions."""
    others = {answer.id: answer for answer in theirs.answers}
    for answer in ours.answers:
        if answer.id in others:
            yield answer, others[answer.id]


def plain_report(ours: AgentRun, theirs: AgentRun | None) -> dict[str, Any]:
    """Return the report as JSON."""
    data: dict[str, Any] = {"tools": ours.camp, "agent": ours.agent, "grading": ours.grading}
    data["totals"] = totals(ours)
    data["questions"] = [
        {
            "id": answer.id,
            "points": answer.points,
            **{metric.name: metric.of(answer) for metric in METRICS},
            "error": answer.error,
        }
        for answer in ours.answers
    ]
    if theirs is not None:
        comparison = {name: vars(item) for name, item in compared(ours, theirs).items()}
        data["against"] = {"tools": theirs.camp, "agent": theirs.agent}
        data["against"] |= {"totals": totals(theirs), "paired": comparison}
    return data


def agent_lines(ours: AgentRun, theirs: AgentRun | None) -> Iterator[str]:
    """Yield the lines of the report for a terminal."""
    runs = [ours] if theirs is None else [ours, theirs]
    figures = [totals(run) for run in runs]
    rows = [("", *(run.camp for run in runs), "")]
    rows += [(name, *(f"{item[name]:,}" for item in figures), "") for name in figures[0]]
    yield from table(rows)
    if theirs is not None:
        yield ""
        heads = ("", "difference", "95 % interval", "p", "wins/losses/ties", "")
        yield from table([heads, *_paired_rows(ours, theirs)])
    for answer in ours.answers:
        if answer.error:
            yield f"{answer.id}: {answer.error}"


def _paired_rows(ours: AgentRun, theirs: AgentRun) -> Iterator[tuple[str, ...]]:
    for name, item in compared(ours, theirs).items():
        bounds = f"{item.low:+,.2f} .. {item.high:+,.2f}"
        counts = f"{item.wins}/{item.losses}/{item.ties}"
        yield name, f"{item.difference:+,.2f}", bounds, f"{item.p:.4f}", counts, ""


def markdown(ours: AgentRun, theirs: AgentRun | None, chart: str) -> Iterator[str]:
    """Yield the lines of the Markdown report; ``chart`` is the file name of the chart."""
    runs = [ours] if theirs is None else [ours, theirs]
    yield "# An agent and its tools"
    yield ""
    yield "| | " + " | ".join(_names(runs)) + " |"
    yield "| --- |" + " ---: |" * len(runs)
    for key in totals(ours):
        yield f"| {key} | " + " | ".join(f"{totals(run)[key]:,}" for run in runs) + " |"
    for name, run in zip(_names(runs), runs, strict=True):
        yield f"\n{name}: `{run.agent}`; graded by {run.grading}."
    if theirs is not None:
        yield "\n## Compared, question by question\n"
        yield "| | difference of the means | 95 % interval | p | better, worse, equal |"
        yield "| --- | ---: | ---: | ---: | ---: |"
        for metric, item in compared(ours, theirs).items():
            bounds = f"{item.low:+,.2f} to {item.high:+,.2f}"
            counts = f"{item.wins}, {item.losses}, {item.ties}"
            yield f"| {metric} | {item.difference:+,.2f} | {bounds} | {item.p:.4f} | {counts} |"
    yield "\n## Characters printed, question by question\n"
    yield f"![characters by question]({chart})\n"
    yield from _question_rows(runs)


def _names(runs: Sequence[AgentRun]) -> list[str]:
    places = zip(runs, ("this run", "against"), strict=False)
    return [f"{run.camp} ({place})" for run, place in places]


def _question_rows(runs: Sequence[AgentRun]) -> Iterator[str]:
    heads = [f"{name}: points | calls | characters" for name in _names(runs)]
    yield "| question | kind | " + " | ".join(heads) + " |"
    yield "| --- | --- |" + " ---: | ---: | ---: |" * len(runs)
    by_id = [{answer.id: answer for answer in run.answers} for run in runs]
    for answer in runs[0].answers:
        cells = [_cells(answers.get(answer.id)) for answers in by_id]
        names = " | ".join(map(_cell, (answer.id, answer.kind)))
        yield f"| {names} | " + " | ".join(cells) + " |"
    for run in runs:
        for answer in run.answers:
            if answer.error:
                yield f"\n{run.camp}, {answer.id}: {answer.error}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _cells(answer: AgentAnswer | None) -> str:
    if answer is None:
        return " | | "
    points = "not graded" if answer.facts is None else f"{answer.points}/{len(answer.facts)}"
    return f"{points} | {len(answer.calls)} | {int(answer.total('characters')):,}"


def chart_svg(ours: AgentRun, theirs: AgentRun | None) -> str:
    """Return a chart of the characters printed for each question, one bar a run."""
    runs = [ours] if theirs is None else [ours, theirs]
    by_id = [{answer.id: answer for answer in run.answers} for run in runs]
    most = max((a.total("characters") for run in runs for a in run.answers), default=0) or 1
    row = _BAR * len(runs) + _GAP
    height = 40 + row * len(ours.answers)
    parts = [_key(name, place) for place, name in enumerate(_names(runs))]
    for number, answer in enumerate(ours.answers):
        top = 34 + number * row
        parts.append(_label(12, top + _BAR, answer.id))
        for place, answers in enumerate(by_id):
            if answer.id in answers:
                size = answers[answer.id].total("characters")
                parts.append(_bar(top + place * _BAR, size, most, _COLOURS[place]))
    size_of = f'width="{_LEFT + _WIDE + 90}" height="{height}"'
    style = 'font-family="sans-serif" font-size="11"'
    body = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size_of} {style}>{body}</svg>\n'


def _key(name: str, place: int) -> str:
    left = _LEFT + 200 * place
    square = f'<rect x="{left}" y="10" width="10" height="10" fill="{_COLOURS[place]}"/>'
    return square + _label(left + 16, 19, name)


def _bar(top: int, size: float, most: float, colour: str) -> str:
    long = max(1, round(_WIDE * size / most))
    shape = f'x="{_LEFT}" y="{top}" width="{long}" height="{_BAR - 1}" fill="{colour}"'
    return f"<rect {shape}/>" + _label(_LEFT + long + 6, top + _BAR - 2, f"{int(size):,}")


def _label(left: int, base: int, text: str) -> str:
    return f'<text x="{left}" y="{base}">{escape(text)}</text>'
