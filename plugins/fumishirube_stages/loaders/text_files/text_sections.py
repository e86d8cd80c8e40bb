"""Divides plain text, marked-up text and tables into sections."""

from __future__ import annotations

import re
from operator import attrgetter

from fumishirube import Section
from fumishirube.text import Lines
from fumishirube_stages.divisions import divided, passages
from fumishirube_stages.loaders.text_files.delimited import table_sections
from fumishirube_stages.loaders.text_files.text_anchors import searched_by_anchors, with_anchors
from fumishirube_stages.loaders.text_files.text_entries import ENTRIES
from fumishirube_stages.loaders.text_files.text_headings import HEADINGS, org_title, rendered_titles

__all__ = ["org_title", "sections"]

_DIRECTIVE = re.compile(r"^\.\. (?:[\w-]+:)?[\w-]+::(?:[ \t]|$)", re.MULTILINE)
"""A directive of reStructuredText, which no other text has; ``.txt`` files may be in it too."""


def sections(text: str, title: str, suffix: str) -> tuple[Section, ...]:
    """Return the sections of a text, whose file has this title and suffix."""
    if suffix in (".csv", ".tsv"):
        return table_sections(text, title, suffix)
    if suffix not in HEADINGS and _DIRECTIVE.search(text):
        suffix = ".rst"
    if suffix in HEADINGS:
        lines = text.split("\n")[: Lines(text).total]
        headings = [*HEADINGS[suffix](lines)]
        if suffix in ENTRIES:
            headings += ENTRIES[suffix](lines, headings, title)
        if headings:
            headings = sorted(rendered_titles(lines, headings, suffix), key=attrgetter("line"))
            divisions = divided(text, with_anchors(lines, headings, suffix), title)
            return tuple(searched_by_anchors(text, divisions, headings))
    return passages(text, title)
