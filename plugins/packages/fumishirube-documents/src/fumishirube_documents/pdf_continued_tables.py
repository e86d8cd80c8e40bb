"""Remembers the header of a table that goes on over the next page of a PDF."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fumishirube_documents.pdf_tables import TextLine
from fumishirube_documents.sheet_headers import are_names

_BETWEEN_CELLS = re.compile(r"(?<!\\) \| ")

_AMOUNT = re.compile(r"(?!(?:19|20)\d\d\D)[^\w\s]{0,2}\d[\d,.]*\W?[^\W\d]{0,6}\W?")
"""A number with a sign or a unit, which is no year."""


@dataclass
class ContinuedTables:
    """The header of the table with which the pages so far end, if any."""

    header: str = ""

    def header_of(self, texts: Sequence[TextLine]) -> str:
        """Return the header of the rows with which the next page begins, if it is not on it."""
        above = self.header if _continues(self.header, texts) else ""
        first_rows = [text.text for text in texts if text.in_table and not text.goes_on]
        if not texts[-1].in_table:
            self.header = ""
        elif not above or len(first_rows) > 1:
            self.header = first_rows[-1] if first_rows else ""
        return " | ".join(_cells(above)) if above else ""


def _continues(header: str, texts: Sequence[TextLine]) -> bool:
    """Return whether the first row of a page is one below a header on a page before."""
    if not header or not texts[0].in_table:
        return False
    names, row = _cells(header), _cells(texts[0].text)
    return len(names) == len(row) and are_names(names) and any(map(_AMOUNT.fullmatch, row))


def _cells(row: str) -> list[str]:
    return _BETWEEN_CELLS.split(row.removeprefix("| ").removesuffix(" |"))
