"""Joins the runs of a text: digits that are raised, and words that are struck through."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from fumishirube_documents.numerals import raised


class TextRun(NamedTuple):
    """A part of a text that looks the same."""

    text: str
    is_raised: bool = False
    is_struck: bool = False


def joined_runs(runs: Iterable[TextRun]) -> str:
    """Return the text of runs, such as ``10⁶ N`` or ``~~100~~ 80``."""
    pieces = []
    for is_struck, alike in groupby(runs, key=lambda run: run.is_struck):
        text = "".join(raised(run.text) if run.is_raised else run.text for run in alike)
        pieces.append(struck(text) if is_struck else text)
    return "".join(pieces)


def struck(text: str) -> str:
    """Return a text with the marks of what is struck through around its words."""
    words = text.strip()
    return text.replace(words, f"~~{words}~~", 1) if words else text
