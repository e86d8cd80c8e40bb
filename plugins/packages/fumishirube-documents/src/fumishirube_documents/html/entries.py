"""Which terms of a page are entries of a reference: functions, options, settings.

Sphinx marks their lists with a class for each kind of object, and so do programs that imitate it.
Elsewhere a term is an entry if a link can name it, as those of manual pages and of GNU's manuals.
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
_NOTES = frozenset({"citation", "footnote"})
"""The classes of lists whose terms are only marks."""
_LONGEST = 80
"""A title with more characters gets no further names."""


@dataclass
class _List:
    """An open list of terms.

    Its terms are entries if it ``describes`` objects; none are in a list of ``notes``. ``above`` is
    the heading that its entries are below, and ``section`` that of the page where it opened;
    ``entry`` is the heading of its last entry.
    """

    describes: bool
    notes: bool
    above: Heading | None
    section: Heading | None
    entry: Heading | None = None


class Entries:
    """Follows the headings and the lists of a page."""

    def __init__(self) -> None:
        self._section: Heading | None = None
        self._lists: list[_List] = []
        self._goes_on: Heading | None = None
        self._alone: Heading | None = None
        """The last entry, if nothing but further names of it is below it yet."""
        self.is_name = False
        """Whether the next text is a further name of the last entry."""

    def open(self, attributes: Mapping[str, str]) -> None:
        """Open a list."""
        outer = self._lists[-1] if self._lists else None
        above = (outer.entry or outer.above) if outer else self._section
        if outer and outer.entry is self._alone:
            self._alone = None
        classes = attributes.get("class", "").split()
        describes, notes = (not kinds.isdisjoint(classes) for kinds in (_KINDS, _NOTES))
        self._lists.append(_List(describes, notes, above, self._section))

    def close(self) -> None:
        """Close a list; after its entries, text belongs to the section around it."""
        ended = self._lists.pop() if self._lists else None
        if ended and ended.entry:
            self._goes_on, self._section = ended.above, ended.section

    def mark_term(self) -> None:
        """Note that a link can name a term: it and those below it in its list are entries."""
        if self._lists and not self._lists[-1].notes:
            self._lists[-1].describes = True

    @property
    def inside(self) -> bool:
        """Whether the innermost list describes objects."""
        return bool(self._lists) and self._lists[-1].describes

    def level(self) -> int:
        """Return the level of the heading that a term begins; 0 of a further name of an entry."""
        if not self.inside:
            return 0
        if self._alone:
            self._lists[-1].entry, self._goes_on, self.is_name = self._alone, None, True
            return 0
        above = self._lists[-1].above
        return above.level + 1 if above else 1

    def heading(self, heading: Heading, *, entry: bool) -> None:
        """Note a heading that was written."""
        self._goes_on, self._alone = None, heading if entry else None
        if entry and self._lists:
            self._lists[-1].entry = heading
        else:
            self._section = heading

    def begin_description(self) -> None:
        """Note that what follows is no name, though a name may have had no text."""
        self.is_name = False

    def named(self, name: str) -> Heading | None:
        """Return the last entry with a further name in its title, unless that is long."""
        entry = self._alone
        if entry and len(entry.title) <= _LONGEST:
            entry = entry._replace(title=f"{entry.title}, {name}")
            self.heading(entry, entry=True)
        return entry

    def text(self, line: int) -> Heading | None:
        """Note text on a line; return the heading of the section that goes on there, if any."""
        if self.is_name:
            self.is_name = False
            return None
        above, self._goes_on, self._alone = self._goes_on, None, None
        return above and Heading(above.title, above.level + 1, line, line)
