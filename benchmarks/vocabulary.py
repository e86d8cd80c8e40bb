"""How often the words that `manual_find` offers are those of the answer, and what they find.

    python benchmarks/vocabulary.py --cases C.jsonl --manuals FOLDER [--limit N]

Each question is asked in the user's words. Counted are how often a word that is offered stands in
a title or heading of a right section, among all words and among the first two, and how often a
right page is among the first five: at first, at a second call with the first two words in one of
several forms, and in one of both answers. Without an offer the first answer counts twice.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from fumishirube import Call, Query, SurfaceContext
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.text import fold, occurs
from fumishirube.tools.calls import call_tool
from fumishirube_eval.paired import interval

DEPTH = 5
SECOND = 2
TERM_CHARS = 200


class Asked(NamedTuple):
    """What came of one question: 1 for yes, 0 for no."""

    right_word: float
    right_soon: float
    first: float
    second: Mapping[str, float]


def asked(application: Application, context: SurfaceContext, case: dict[str, Any]) -> Asked:
    """Ask a question, and ask it again with the words that were offered."""
    words, first = _found(application, case)
    titles = _titles(context, case)
    right = [any(occurs(title, fold(word)) for title in titles) for word in words]
    second = {
        form: float(_found(application, case, **more)[1] if words else first)
        for form, more in _forms(case["query"], words[:SECOND]).items()
    }
    return Asked(float(any(right)), float(any(right[:SECOND])), float(first), second)


def _forms(query: str, words: Sequence[str]) -> Mapping[str, dict[str, Any]]:
    """Return the arguments of a second call with some words, by its form."""
    room = TERM_CHARS - max(map(len, words), default=0) - 1
    return {
        "after the question": {"query": " ".join((query, *words))},
        "as the query": {"query": " ".join(words)},
        "as alternatives": {"alternatives": [*words]},
        "after the question, as alternatives": {
            "alternatives": [f"{query[:room]} {word}" for word in words]
        },
        "as required terms": {"required_terms": [*words]},
    }


def _found(
    application: Application, case: dict[str, Any], **more: Any
) -> tuple[Sequence[str], bool]:
    """Return the words offered, and whether a right page is among the first five."""
    arguments: dict[str, Any] = {name: case[name] for name in ("query", "manual_id")}
    arguments |= {"required_terms": case["required_terms"][:SECOND], "use_cache": False} | more
    answer: Any = call_tool(application.tools["manual_find"], arguments, Call())
    page: Any = {"trace_id": answer["trace_id"], "kind": "integrated_top", "limit": 10 * DEPTH}
    items: Any = call_tool(application.tools["manual_hits"], page, Call())
    paths = list(dict.fromkeys(item["ref"]["path"] for item in items["items"]))
    return answer.get("vocabulary", ()), not set(case["expected_paths"]).isdisjoint(paths[:DEPTH])


def _titles(context: SurfaceContext, case: dict[str, Any]) -> Sequence[str]:
    """Return the titles and headings of the right sections."""
    corpus = context.find(case["manual_id"], Query(case["query"], limit=1)).corpus
    right = {tuple(place) for place in case["expected_lines"]}
    sections = (s for path in case["expected_paths"] for s in corpus.page(path) if s.key in right)
    return [fold(title) for section in sections for title in (section.title, *section.ancestors)]


def main() -> None:
    """Ask, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--manuals", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    options = parser.parse_args()
    lines = options.cases.read_text(encoding="utf-8").splitlines()[: options.limit]
    environ = {**os.environ, "MANUALS_ROOT": str(options.manuals.resolve())}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(open_application(Path(folder), environ=environ)) as application,
    ):
        context = application.contexts["manual"]
        rows = [asked(application, context, json.loads(line)) for line in lines]
    print(f"{len(rows)} questions")
    print(f"an offered word in the answer's headings: {mean(r.right_word for r in rows):.3f}")
    print(f"one of the first {SECOND}: {mean(r.right_soon for r in rows):.3f}")
    print(f"page among the first {DEPTH}: {mean(r.first for r in rows):.3f}")
    for form in rows[0].second:
        low, high = interval([row.second[form] - row.first for row in rows])
        either = mean(max(row.first, row.second[form]) for row in rows)
        print(
            f"second call, words {form}: {mean(r.second[form] for r in rows):.3f} "
            f"[{low:+.3f}, {high:+.3f}]; in one of both: {either:.3f}"
        )


if __name__ == "__main__":
    main()
