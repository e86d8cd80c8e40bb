"""Whether `answerable` tells that an answer is in a manual from that it was removed.

    python benchmarks/answerable.py --cases C.jsonl --manuals FOLDER [--wordings W.jsonl]

Each question is asked of its manual, and of a copy without its answer: without the sections of
``expected_lines``, or without the pages of ``expected_paths`` and ``ignored_paths``. A copy is made
for each part of the questions, so that most of a manual stays. ``--wordings`` names a file with
``alternatives`` and ``terms`` for each ``case_id``, which are then given too.

Printed are how often each value comes with the answer and without it, the area under the ROC curve
(``yes`` above ``partly`` above ``no``; equal values count half), and the share of false ``no``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from fumishirube import Call
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool

VALUES = ("no", "partly", "yes")


def verdicts(
    manuals: Path, cases: Sequence[Mapping[str, Any]], wordings: Mapping[str, Sequence[str]]
) -> Counter[str]:
    """Return how often each value of ``answerable`` is the answer."""
    environ = {**os.environ, "MANUALS_ROOT": str(manuals)}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_application(Path(folder), environ=environ)) as application,
    ):
        return Counter(_verdict(application, case, wordings) for case in cases)


def _verdict(
    application: Application, case: Mapping[str, Any], wordings: Mapping[str, Sequence[str]]
) -> str:
    arguments = {name: case[name] for name in ("query", "manual_id", "required_terms")}
    if alternatives := wordings.get(case["case_id"]):
        arguments["alternatives"] = [*alternatives]
    answer: Any = call_tool(application.tools["manual_find"], arguments, Call())
    return str(answer["answerable"])


def remove_answers(manuals: Path, cases: Sequence[Mapping[str, Any]]) -> None:
    """Remove the right sections of some questions from their manuals, or else the right pages."""
    sections: defaultdict[Path, set[int]] = defaultdict(set)
    for case in cases:
        manual = manuals / case["manual_id"]
        if "expected_lines" in case:
            for path, line in case["expected_lines"]:
                sections[manual / path].add(line)
        else:
            for path in (*case["expected_paths"], *case.get("ignored_paths", ())):
                (manual / path).unlink(missing_ok=True)
    for file, lines in sections.items():
        text = file.read_text(encoding="utf-8-sig")
        file.write_text("".join(_without(text, lines)), encoding="utf-8")


def _without(text: str, sections: set[int]) -> Iterator[str]:
    """Yield the lines of a text but those from some headings to the next heading of any level."""
    removing = in_code = False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        if line.startswith("#") and not in_code:
            removing = False
        if number in sections:
            removing = True
        if not removing:
            yield line


def roc_area(present: Counter[str], removed: Counter[str]) -> float:
    """Return the area under the ROC curve, where equal values count half.

    This is the probability that a question with its answer has a higher value than one without.
    """
    higher = sum(
        present[ours] * removed[theirs] * (1.0 if place > below else 0.5)
        for place, ours in enumerate(VALUES)
        for below, theirs in enumerate(VALUES[: place + 1])
    )
    return higher / (present.total() * removed.total())


def _wordings(file: Path | None) -> Mapping[str, Sequence[str]]:
    if file is None:
        return {}
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {row["case_id"]: [*row["alternatives"], " ".join(row["terms"])] for row in rows}


def main() -> None:
    """Ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--wordings", type=Path)
    parser.add_argument("--parts", type=int, default=3)
    options = parser.parse_args()
    cases = [json.loads(line) for line in options.cases.read_text(encoding="utf-8").splitlines()]
    wordings = _wordings(options.wordings)
    ids = {case["manual_id"] for case in cases}
    removed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for part in range(options.parts):
            copy = Path(folder, str(part))
            for manual_id in ids:
                shutil.copytree(options.manuals / manual_id, copy / manual_id)
            some = cases[part :: options.parts]
            remove_answers(copy, some)
            removed += verdicts(copy, some, wordings)
            shutil.rmtree(copy)
    present = verdicts(options.manuals.resolve(), cases, wordings)
    for name, counts in (("with the answer", present), ("without", removed)):
        shares = (f"{value} {counts[value] / counts.total():.3f}" for value in VALUES)
        print(f"{name}: {', '.join(shares)}")
    print(f"area under the ROC curve: {roc_area(present, removed):.3f}")
    print(f"false no: {present['no'] / present.total():.3f} of {present.total()}")


if __name__ == "__main__":
    main()
