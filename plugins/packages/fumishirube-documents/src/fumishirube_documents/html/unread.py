"""Which elements of a page are left out with all that is in them."""

from __future__ import annotations

import re
from collections.abc import Mapping

_SILENT = re.compile(
    "audio|canvas|datalist|iframe|no(?:embed|frames|script)|object|r[pt]|script|style|svg|template|"
    "video"
)
_OPENED = re.compile("article|dd|details|div|[dou]l|li|section|t(?:able|body|r)")
"""Elements that scripts show after a click; what others have in them no reader can see."""
_NOT_SHOWN = re.compile(r"(?:^|[;\s])display\s*:\s*none\b", re.IGNORECASE)
_ROLES = {"navigation": "nav", "contentinfo": "footer", "banner": "header", "search": "search"}
"""The elements that stand for the same as a role."""
_EQUATION_AGAIN = re.compile("katex-html|mwe-math-fallback-")
"""The classes of what KaTeX and MediaWiki show for an equation that is beside it as MathML."""
_NUMBERED = frozenset({"a", "small", "span", "td"})
_LINE_NUMBERS = frozenset(
    {"gutter", "hljs-ln-numbers", "lineno", "linenos", "ln", "lnt", "rouge-gutter"}
)
"""The classes of the numbers beside lines of code."""
_NUMBERS = re.compile(r"[\d\s.:|]*")


class Unread:
    """The elements of a page that are not read: what nobody sees, and what the reader ignores."""

    def __init__(self, ignored: frozenset[str]) -> None:
        self._ignored = ignored

    def has(
        self, tag: str, attributes: Mapping[str, str], *, after_equation: bool, in_code: bool
    ) -> bool:
        """Return whether an element is left out; some only ``after_equation`` or ``in_code``."""
        classes = attributes.get("class", "").split()
        names = {tag, _ROLES.get(attributes.get("role", ""), tag), f"#{attributes.get('id', '')}"}
        names.update(f".{name}" for name in classes)
        return (
            bool(_SILENT.fullmatch(tag))
            or not self._ignored.isdisjoint(names)
            or _is_hidden(tag, attributes)
            or (after_equation and any(map(_EQUATION_AGAIN.match, classes)))
            or (in_code and tag == "button")
        )


class LineNumbers:
    """An element of a page for the numbers beside lines of code; other text in it is read."""

    def __init__(self) -> None:
        self._open = 0

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        names = tag in _NUMBERED and attributes.get("class", "").split()
        self._open += bool(self._open or (names and not _LINE_NUMBERS.isdisjoint(names)))

    def end(self) -> None:
        """Handle an end tag."""
        self._open = max(0, self._open - 1)

    def has(self, data: str) -> bool:
        """Return whether a text is of such numbers; behind other text nothing is one."""
        if self._open and not _NUMBERS.fullmatch(data):
            self._open = 0
        return self._open > 0


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether nobody sees an element; all but one of several tabs are only behind it."""
    if attributes.get("role") == "tabpanel":
        return False
    if tag == "dialog":
        return "open" not in attributes
    if "hidden" in attributes:
        return attributes["hidden"].lower() != "until-found"
    if tag == "nobr" and attributes.get("aria-hidden") == "true":
        return True  # an equation by MathJax, which has it as MathML too
    return not _OPENED.fullmatch(tag) and _NOT_SHOWN.search(attributes.get("style", "")) is not None
