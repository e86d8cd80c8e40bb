"""Which terms of a page are entries of a reference: functions, options, settings.

Sphinx marks their lists with a class for each kind of object, and so do programs that imitate it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fumishirube import Heading

_KINDS = frozenset(
    {
        "alias",
        "attribute",
        "class",
        "classmethod",
        "cmdoption",
        "concept",
        "confval",
        "data",
        "decorator",
        "decoratormethod",
        "describe",
        "directive",
        "django-admin",
        "enum",
        "enumerator",
        "envvar",
        "event",
        "exception",
        "fieldlookup",
        "function",
        "macro",
        "member",
        "method",
        "object",
        "opcode",
        "option",
        "pdbcommand",
        "property",
        "role",
        "setting",
        "signal",
        "staticmethod",
        "struct",
        "templatefilter",
        "templatetag",
        "type",
        "union",
        "var",
    }
)
"""The classes of the lists."""


@dataclass
class _List:
    """An open list of terms: whether it describes objects, and the heading of its entry."""

    describes: bool
    entry: Heading | None = None


class Entries:
    """Follows the headings and the lists of a page."""

    def __init__(self) -> None:
        self._section: Heading | None = None
        self._lists: list[_List] = []
        self._goes_on: Heading | None = None
        self._alone = False

    def open(self, attributes: Mapping[str, str]) -> None:
        """Open a list."""
        classes = attributes.get("class", "").split()
        self._lists.append(_List(not _KINDS.isdisjoint(classes)))

    def close(self) -> None:
        """Close a list; after its entries, text belongs to the section around it."""
        ended = self._lists.pop() if self._lists else None
        if ended and ended.entry:
            self._goes_on = self._above()

    @property
    def inside(self) -> bool:
        """Whether the innermost list describes objects."""
        return bool(self._lists) and self._lists[-1].describes

    def level(self) -> int:
        """Return the level of the heading that a term begins; 0 of a further name of its entry."""
        if not self.inside or self._alone:
            return 0
        self._lists[-1].entry = None
        above = self._above()
        return above.level + 1 if above else 1

    def heading(self, heading: Heading, *, entry: bool) -> None:
        """Note a heading that was written."""
        self._goes_on, self._alone = None, entry
        if entry and self._lists:
            self._lists[-1].entry = heading
        else:
            self._section = heading

    def text(self, line: int) -> Heading | None:
        """Note text on a line; return the heading of the section that goes on there, if any."""
        above, self._goes_on, self._alone = self._goes_on, None, False
        return above and Heading(above.title, above.level + 1, line, line)

    def _above(self) -> Heading | None:
        entries = [each.entry for each in self._lists if each.entry]
        return entries[-1] if entries else self._section
