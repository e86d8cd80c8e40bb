"""Which ``div`` elements are tables and their cells: javadoc lays its tables out with them."""

from __future__ import annotations

from collections.abc import Mapping

_TABLE, _LAST_CELL = "summary-table", "col-last"
_CELLS = "col-"
"""The beginning of the classes of cells."""


class DivTables:
    """Follows the open ``div`` elements of a page, and names the elements that they stand for."""

    def __init__(self) -> None:
        self._open: list[tuple[str, str]] = []
        """What each open element stands for, and the innermost table or cell there."""
        self._row_is_open = False

    def begin(self, attributes: Mapping[str, str]) -> str:
        """Open an element; return ``table``, ``tr`` (its first cell), ``td`` or ``div``."""
        classes = attributes.get("class", "").split()
        around = self._open[-1][1] if self._open else ""
        tag = "div"
        if _TABLE in classes and not around:
            tag, self._row_is_open = "table", False
        elif around == "table" and any(name.startswith(_CELLS) for name in classes):
            tag = "td" if self._row_is_open else "tr"
            self._row_is_open = _LAST_CELL not in classes
        self._open.append((tag, around if tag == "div" else tag))
        return tag

    def end(self) -> str:
        """Close an element; return what it stands for."""
        return self._open.pop()[0] if self._open else "div"
