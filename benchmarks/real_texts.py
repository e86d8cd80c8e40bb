"""Manuals of real text: a folder of Markdown files, thinned out or copied to any size."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from corpus import QUESTIONS, Manual, Question

_HEADING = re.compile(r"(?m)^(#{1,6})[ \t]+(.+?)[ \t]*$")
_CODE = re.compile(r"(?m)^ {0,3}(```|~~~)")


def real_manual(cache: Path, folder: Path, asked: Sequence[Path], sections: int) -> Manual:
    """Return about so many sections of the files below a folder, from the cache if there.

    Files are taken evenly where there are more; else each copy has another title and another
    folder. ``asked`` are files of JSON Lines: ``query``, ``required_terms``, ``expected_paths``.
    """
    workspace = cache / f"real-{folder.name}-{sections}"
    complete = workspace / "complete"
    if not complete.is_file():
        shutil.rmtree(workspace, ignore_errors=True)
        _write(workspace / "manuals" / "m", folder, sections)
        complete.touch()
    return Manual(workspace, sections, _questions(asked))


def _write(target: Path, folder: Path, wanted: int) -> None:
    files = sorted(folder.rglob("*.md"))
    texts = {file: file.read_text(encoding="utf-8", errors="replace") for file in files}
    numbers = {file: sum(1 for _ in _headings(text)) for file, text in texts.items()}
    step = max(1, sum(numbers.values()) // wanted)
    written = 0
    for copy in count():
        for file in files[::step]:
            if written >= wanted:
                return
            path = target / (f"copy{copy:03}" if copy else "") / file.relative_to(folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_titled(texts[file], copy), encoding="utf-8")
            written += numbers[file]


def _titled(text: str, copy: int) -> str:
    """Return a text whose first heading names the copy."""
    first = next(_headings(text), None)
    return f"{text[: first.end(2)]} {copy}{text[first.end(2) :]}" if copy and first else text


def _headings(text: str) -> Iterator[re.Match[str]]:
    """Yield the headings of a text outside of blocks of code."""
    fences = [match.start() for match in _CODE.finditer(text)]
    for heading in _HEADING.finditer(text):
        if sum(fence < heading.start() for fence in fences) % 2 == 0:
            yield heading


def _questions(files: Sequence[Path]) -> list[Question]:
    """Return a few hundred questions, taken evenly."""
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    cases = [json.loads(line) for line in lines]
    step = max(1, len(cases) // QUESTIONS)
    return [
        Question(case["query"], tuple(case["required_terms"][:2]), case["expected_paths"][0])
        for case in cases[::step][:QUESTIONS]
    ]
