"""How much has to be read until the line that proves an answer has been printed.

    python benchmarks/evidence.py --questions Q.jsonl --gold G.jsonl --manuals FOLDER

No model takes part: two fixed policies answer the same questions, and the characters that their
calls print are counted until a gold line's quote has been printed, white space folded. A call
counts whole, as a model reads it whole.

* ours, over MCP: `manual_find` with the question and its two rarest words as required terms; then
  `manual_read` of the hits in order, 4,000 characters each; then `manual_hits` for five more, and
  so on. For a question of kind "exhaustive" first `manual_grep`, where the server offers it.
* shell: `rg A | rg B` for each two of the question's five rarest words, then `rg` for each of
  its words, the rarest first: 20 lines, cut at 300 characters; after each search `sed -n` for the
  eight lines before and after the four printed lines that hold most words of the question. For an
  exhaustive question first `rg` over everything, with all lines.

Both search for the same texts in the same order, and both know for nothing how rare a word is.
What an exhaustive question puts in quotation marks is searched for first, together. A policy that
has not printed the quote after 30,000 characters, or has nothing left to read, costs 30,000. What
lists the manuals and the tools is not counted, on either side.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from evidence_policies import LIMIT, ShellReader, Stopped, ToolsReader, Transcript, missing_programs
from evidence_questions import GoldQuestion, QuestionError, Vocabulary, load
from processes import Served, console


class Reader(Protocol):
    """A policy: it prints until the transcript stops it, or nothing is left to print."""

    def read(self, question: GoldQuestion, transcript: Transcript) -> None:
        """Answer a question."""
        ...


@dataclass(frozen=True)
class Row:
    """A question, and what each camp printed for it."""

    question: GoldQuestion
    ours: Transcript
    shell: Transcript


def measured(readers: Sequence[Reader], question: GoldQuestion, limit: int) -> Row:
    """Let both camps answer a question."""
    transcripts = [Transcript(question, limit) for _ in readers]
    for reader, transcript in zip(readers, transcripts, strict=True):
        with suppress(Stopped):
            reader.read(question, transcript)
    return Row(question, *transcripts)


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the medians of both camps, their ratios, and how much each of them reached."""
    figures: dict[str, Any] = {"questions": len(rows), "limit": rows[0].ours.limit}
    ours, shell = [row.ours for row in rows], [row.shell for row in rows]
    figures["first"] = _compared([item.first for item in ours], [item.first for item in shell])
    figures["last"] = _compared([max(item.every) for item in ours], [max(i.every) for i in shell])
    figures["lines"] = _compared(_lines(ours), _lines(shell))
    for name, camp in (("ours", ours), ("shell", shell)):
        lines = sum(len(item.reached) for item in camp) / figures["lines"]["count"]
        figures["first"][f"{name}_reached"] = sum(bool(item.reached) for item in camp) / len(rows)
        figures["last"][f"{name}_reached"] = sum(item.complete for item in camp) / len(rows)
        figures["lines"][f"{name}_reached"] = lines
    return figures


def _compared(ours: Sequence[int], shell: Sequence[int]) -> dict[str, float]:
    return {
        "count": len(ours),
        "ours_median": median(ours),
        "shell_median": median(shell),
        "ratio_of_medians": median(ours) / median(shell),
        "median_of_ratios": median(a / b for a, b in zip(ours, shell, strict=True)),
    }


def _lines(camp: Sequence[Transcript]) -> list[int]:
    return [cost for transcript in camp for cost in transcript.every]


@contextmanager
def served(manuals: Path, workspace: Path | None) -> Iterator[Served]:
    """Run the server over the manuals, with a workspace that may be used again."""
    with tempfile.TemporaryDirectory() as fresh:
        place = workspace or Path(fresh)
        place.mkdir(parents=True, exist_ok=True)
        environ = {"MANUALS_ROOT": str(manuals.resolve())}
        # A server would answer from a part of the index while it is built.
        index = [console(), "index", "--workspace", str(place)]
        subprocess.run(index, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, check=True)
        with Served(place, **environ) as server:
            yield server


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table: characters until the first gold line, and lines reached."""
    yield "question  kind          ours   calls  lines   shell   calls  lines   ratio"
    for row in rows:
        cells = [f"{row.question.id:8}  {row.question.kind:12}"]
        for camp in (row.ours, row.shell):
            mark = " " if camp.reached else "-"
            lines = f"{len(camp.reached)}/{len(camp.question.quotes)}"
            cells.append(f"{camp.first:6}{mark} {camp.calls:5}  {lines:>5}")
        yield "  ".join([*cells, f"{row.ours.first / row.shell.first:6.2f}"])
    yield "(-: not reached; it costs the limit. calls: until every line was printed, or the limit)"


def summary_lines(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the summary as text."""
    for name, label in (
        ("first", "until one gold line of a question"),
        ("last", "until every gold line of a question"),
        ("lines", "until each gold line"),
    ):
        item = figures[name]
        yield ""
        yield f"{label} ({item['count']}; limit {figures['limit']:,})"
        ours, shell = item["ours_median"], item["shell_median"]
        yield f"  median characters: ours {ours:,.0f}, shell {shell:,.0f}"
        ratios = item["ratio_of_medians"], item["median_of_ratios"]
        yield "  ratio of medians {:.2f}, median of ratios {:.2f}".format(*ratios)
        yield f"  reached: ours {item['ours_reached']:.0%}, shell {item['shell_reached']:.0%}"


def main() -> int:
    """Measure, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, required=True, help="the folder of the manuals")
    parser.add_argument("--workspace", type=Path, help="keep the index there, for the next time")
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--grep", action="store_true", help="`grep -rn` in place of rg")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    search = "grep" if options.grep else "rg"
    if missing := missing_programs(search):
        hint = "" if options.grep else "; --grep takes grep -rn in its place"
        parser.error(f"the shell's policy needs {' and '.join(missing)}, not installed here{hint}")
    try:
        questions = load(options.questions, options.gold, options.manuals)
    except QuestionError as error:
        parser.error(str(error))
    vocabulary = Vocabulary(options.manuals)
    with served(options.manuals, options.workspace) as server:
        ours = ToolsReader(server, vocabulary)
        readers = [ours, ShellReader(options.manuals, vocabulary, search)]
        rows = [measured(readers, question, options.limit) for question in questions]
    figures = summary(rows)
    if options.json:
        print(json.dumps(_plain(rows, figures, ours.offers, search), ensure_ascii=False, indent=1))
        return 0
    offers = ", ".join(name for name, offered in ours.offers.items() if offered) or "none"
    print(f"{len(rows)} questions; shell: {search}; the server's newer abilities: {offers}\n")
    for line in (*table(rows), *summary_lines(figures)):
        print(line)
    return 0


def _plain(rows: Sequence[Row], figures: Any, offers: Any, search: str) -> dict[str, Any]:
    def camp(transcript: Transcript) -> dict[str, Any]:
        values = {"first": transcript.first, "lines": transcript.every}
        return {**values, "reached": len(transcript.reached), "calls": transcript.calls}

    questions = [
        {"id": row.question.id, "kind": row.question.kind}
        | {"ours": camp(row.ours), "shell": camp(row.shell)}
        for row in rows
    ]
    return {"search": search, "server": offers, "questions": questions, "summary": figures}


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    sys.exit(main())
