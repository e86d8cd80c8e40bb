"""The lines of code in a page, fenced as in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]+)")
_LINES = frozenset({"div", "li", "p", "tr"})
"""Elements that highlighters put around each line."""


class Code:
    """An open ``pre`` element: collects its text and its language."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._parts: list[str] = []
        self._language = _language(attributes)

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        if tag == "br":
            self._parts.append("\n")
        elif tag in _LINES:
            self._end_line()
        elif tag == "code":
            self._language = self._language or _language(attributes)

    def data(self, data: str) -> None:
        """Handle text."""
        if text := data.replace("\r", ""):
            self._parts.append(text)

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        if tag in _LINES:
            self._end_line()

    @property
    def last(self) -> str:
        """The last character, or an empty text."""
        return self._parts[-1][-1] if self._parts else ""

    def block(self) -> Sequence[str]:
        """Return the lines between fences; none of code that is blank."""
        text = "".join(self._parts).removeprefix("\n").rstrip()
        if not text.strip():
            return ()
        longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
        fence = "`" * (longest + 1)
        return [fence + self._language, *text.split("\n"), fence]

    def in_line(self) -> str:
        """Return the code on a line, marked if it has no marks itself, with spaces around it."""
        text = " ".join("".join(self._parts).split())
        return f" `{text}` " if text and "`" not in text else f" {text} "

    def _end_line(self) -> None:
        if self.last not in {"", "\n"}:
            self._parts.append("\n")


def _language(attributes: Mapping[str, str]) -> str:
    match = _LANGUAGE.search(attributes.get("class", ""))
    return match[1] if match else ""
