"""How often a search finds the right page of an annual report, by the questions of FinanceBench.

    python benchmarks/financebench.py --data FOLDER --cache ~/.cache/bench

FOLDER is a copy of the public repository patronus-ai/financebench (``data`` and ``pdfs``). It
is read, and nothing of it is part of this project. Questions whose file is missing are left out;
``data/financebench_files.txt`` names the files of the published figures. Each question is asked as
it is, once in the document that it names and once in all. A page counts when it holds evidence. The
comparison is BM25 over the plain text of pages. Needs the package fumishirube-documents.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pypdfium2

from fumishirube import Budget, Query, SurfaceContext
from fumishirube.commands import search_context
from fumishirube.host.startup import open_application
from fumishirube.parsing import place_at

PageOf: TypeAlias = tuple[str, int]
"""A file, and the number of a page from 1."""

CUTS = (1, 5, 20)
MANUAL = "reports"
MOST_HITS = 200
TIME_MS = 60_000
_WORD = re.compile(r"\w+")
_K1, _B = 1.2, 0.75


class Case(NamedTuple):
    """A question, the file that it is about, and the pages with evidence."""

    question: str
    file: str
    pages: frozenset[PageOf]


class Figures:
    """The share of questions with a right page among the first hits."""

    def __init__(self) -> None:
        self._ranks: list[int | None] = []

    def add(self, case: Case, pages: Sequence[PageOf]) -> None:
        ranks = [rank for rank, page in enumerate(pages, start=1) if page in case.pages]
        self._ranks.append(min(ranks, default=None))

    def __str__(self) -> str:
        total = max(1, len(self._ranks))
        shares = (sum(1 for rank in self._ranks if rank and rank <= cut) / total for cut in CUTS)
        return " / ".join(f"{share:.3f}" for share in shares)


def main() -> None:
    """Print the figures."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--data", type=Path, required=True, help="the copy of the repository")
    cache = Path(tempfile.gettempdir()) / "fumishirube-bench"
    arguments.add_argument("--cache", type=Path, default=cache, help="where the index is kept")
    arguments.add_argument("--misses", action="store_true", help="name questions without a hit")
    asked = arguments.parse_args()
    cases = [*_cases(asked.data)]
    files = sorted({case.file for case in cases})
    workspace = _workspace(asked.data, asked.cache, files)
    plain = _plain_pages(workspace, files)
    print(f"{len(cases)} questions, {len(files)} files, {len(plain)} pages; hit@1 / @5 / @20")
    application = open_application(workspace, strangers=True, environ={})
    context = search_context(application)
    context.prepare(MANUAL, Query(""))  # a search itself takes in what is new for seconds only
    inside, everywhere, simple, simple_everywhere = Figures(), Figures(), Figures(), Figures()
    every = Ranker(plain)
    rankers = {f: Ranker({p: t for p, t in plain.items() if p[0] == f}) for f in files}
    for case in cases:
        pages = _found(context, case.question, case.file)
        inside.add(case, pages)
        everywhere.add(case, _found(context, case.question, None))
        simple.add(case, rankers[case.file].best(case.question))
        simple_everywhere.add(case, every.best(case.question))
        if asked.misses and not case.pages & {*pages[:5]}:
            print(f"  {case.file} {sorted(p for _, p in case.pages)}: {case.question}")
            print(f"    {[page for _, page in pages]}")
    application.close()
    print(f"in the named document: {inside}; BM25 over pages: {simple}")
    print(f"in all documents: {everywhere}; BM25 over pages: {simple_everywhere}")


def _cases(data: Path) -> Iterator[Case]:
    lines = (data / "data" / "financebench_open_source.jsonl").read_text("utf-8").splitlines()
    for row in map(json.loads, lines):
        file = f"{row['doc_name']}.pdf"
        if (data / "pdfs" / file).is_file():
            pages = frozenset((file, each["evidence_page_num"] + 1) for each in row["evidence"])
            yield Case(row["question"], file, pages)


def _workspace(data: Path, cache: Path, files: Sequence[str]) -> Path:
    """Return a workspace with the files as one manual."""
    manual = cache / "financebench" / "manuals" / "reports"
    manual.mkdir(parents=True, exist_ok=True)
    for file in files:
        if not (manual / file).is_file():
            shutil.copy2(data / "pdfs" / file, manual / file)
    return cache / "financebench"


def _found(context: SurfaceContext, question: str, file: str | None) -> list[PageOf]:
    """Return the pages found, best first, without repeats."""
    within = None if file is None else frozenset({file})
    query = Query(question, limit=MOST_HITS, within=within, budget=Budget.of(TIME_MS))
    trace = context.find(MANUAL, query).trace
    pages: dict[PageOf, None] = {}
    for row in trace.search.rows:
        place = place_at(context.manual(MANUAL).places(row.path), row.start_line)
        if place is not None and place.page is not None:
            pages[row.path, place.page] = None
        if len(pages) == CUTS[-1]:
            break
    return [*pages]


# --- the comparison -------------------------------------------------------------------------


def _plain_pages(workspace: Path, files: Sequence[str]) -> dict[PageOf, str]:
    pages = {}
    for file in files:
        document = pypdfium2.PdfDocument(workspace / "manuals" / "reports" / file)
        for number, page in enumerate(document, start=1):
            pages[file, number] = page.get_textpage().get_text_range()
    return pages


class Ranker:
    """BM25 over some pages."""

    def __init__(self, pages: Mapping[PageOf, str]) -> None:
        self._counts = {page: Counter(_words(text)) for page, text in pages.items()}
        self._lengths = {page: counts.total() for page, counts in self._counts.items()}
        self._mean = sum(self._lengths.values()) / max(1, len(pages))
        self._holding = Counter(word for counts in self._counts.values() for word in counts)

    def best(self, question: str) -> list[PageOf]:
        words = {word for word in _words(question) if word in self._holding}
        scores = {page: self._score(page, words) for page in self._counts}
        return sorted(scores, key=lambda page: -scores[page])[: CUTS[-1]]

    def _score(self, page: PageOf, words: set[str]) -> float:
        counts, total = self._counts[page], len(self._counts)
        relative = self._lengths[page] / max(1.0, self._mean)
        score = 0.0
        for word in words & counts.keys():
            holding = self._holding[word]
            rarity = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
            count = counts[word]
            score += rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * relative))
        return score


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


if __name__ == "__main__":
    main()
