"""Writes rows of tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a table as a line."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
