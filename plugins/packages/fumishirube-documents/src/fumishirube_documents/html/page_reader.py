"""Reads the elements of a web page, in their order, into Markdown blocks.

libxml2 reports where elements begin and end, and no tree is built: deeply nested or unclosed
elements cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fumishirube import Heading
from fumishirube_documents.html.blocks import Blocks
from fumishirube_documents.html.code import Code
from fumishirube_documents.html.div_tables import DivTables
from fumishirube_documents.html.entries import Entries
from fumishirube_documents.html.equations import Equation
from fumishirube_documents.html.lists import DEEPEST, Lists, number
from fumishirube_documents.html.spaces import collapsed, joined, plain
from fumishirube_documents.html.table import Table
from fumishirube_documents.html.unread import LineNumbers, Unread

_BLOCK = re.compile(
    "address|article|aside|blockquote|body|caption|center|details|dialog|div|d[dlt]|fieldset|"
    "fig(?:caption|ure)|footer|form|h[1-6]|h(?:eader|group|r)|li|main|menu|nav|ol|option|p|pre|"
    "section|summary|table|tbody|t[dhr]|tfoot|thead|title|ul"
)
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_IN_HEADING = frozenset({"address", "center", "details", "div", "p", "section", "summary"})
"""Blocks that a heading may have in it, and stay one."""
_MOST_PARTS = 50
"""The most pieces of text of a heading with blocks: what has more was not closed."""
_LIKE_HEADING = frozenset({"div", "p"})
_TITLE = "MsoTitle"
"""The class of the title of a document that Word wrote."""
_MOST_CELL_LINES = 7
"""The most lines, with fences, of code that is written in a cell of a table."""
_STRUCK = "~~"
_MARKS = {"code": "`", **dict.fromkeys(("del", "s", "strike"), _STRUCK), "q": '"', "br": "\n"}
_CONTROLS = frozenset({"button", "input", "label", "select", "textarea"})
_INVISIBLE = re.compile("[\ufeff\u00ad\u200b]")
_ANCHOR = re.compile(r"[^\s{}]{1,200}")
_RAISED = re.compile(r"[\w+\-−]")
"""A letter in a power or a mark of a note, which would be part of the number or word before it."""
_ORDINAL = re.compile(r"st|nd|rd|th|[aeo]|er|[eè]re|[eè]me")


class PageReader:
    """The parser's target: receives elements in order, and writes lines."""

    def __init__(self, ignored: frozenset[str], main: str, *, anchors: bool) -> None:
        self.lines: list[str] = []
        self.headings: list[Heading] = []
        self.title = ""
        self.blocks = Blocks()
        self._unread = Unread(ignored)
        self._line_numbers = LineNumbers()
        self._main = main
        self._inside = 0 if main else 1
        """The number of open elements that are read: titles, and those named like the main part."""
        self._main_tag = ""
        self._anchors = anchors
        self._silent = 0
        self._words: list[str] = []
        self._level = 0
        self._anchor = ""
        self._item = ""
        self._quoted = 0
        self._lists = Lists()
        self._entries = Entries()
        self._names_entry = False
        self._in_term = False
        self._heading_tag = ""
        """The tag of an open heading that is none by its name."""
        self._link: int | None = None
        """How many words are before an open link to a place, in a heading or term."""
        self._tables: list[Table | None] = []
        self._divs = DivTables()
        self._raises = False
        """Whether the next text is the first of what is raised above the line."""
        self._lowers = False
        self._code: Code | None = None
        self._equation: Equation | None = None
        self._after_equation = False

    # --- called by the parser ---------------------------------------------------------------

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        self._begin_part(tag, attributes)
        self.blocks.begin(tag, attributes)
        if tag == "div":
            tag = self._divs.begin(attributes)
        if not self._inside:
            return
        self._line_numbers.begin(tag, attributes)
        self._raises = self._raises or tag == "sup"
        self._lowers = self._lowers or tag == "sub"
        if self._begin_silent(tag, attributes) or self._begin_in_equation(tag, attributes):
            return
        anchor = attributes.get("id") or (tag == "a" and attributes.get("name")) or ""
        self._anchor = anchor if _ANCHOR.fullmatch(anchor) else self._anchor
        if anchor and self._in_term:
            self._open_entry(marked=True)
        if self._code:
            self._code.begin(tag, attributes)
        elif _BLOCK.fullmatch(tag):
            self._begin(tag, attributes)
        else:
            self._begin_inline(tag, attributes)

    def data(self, data: str) -> None:
        """Handle text."""
        if self._silent or not self._inside or self._line_numbers.has(data):
            return
        data = _INVISIBLE.sub("", data)
        if self._equation:
            self._equation.data(data)
            return
        self._after_equation = self._after_equation and not data.strip()
        if self._raises and data.strip():
            self._raises = False
            data = f"{self._mark_above(data.strip())}{data}"
        if self._lowers and data.strip():
            self._lowers = False
            digits = self._last.isdecimal() and data.strip()[0].isdecimal()
            data = f"_{data}" if digits else data  # the base of a number
        if self._code:
            self._code.data(data)
        elif data:
            self.blocks.data(data)
            self._words.append(collapsed(data))
            if not self._level and not data.isspace():
                self._anchor = ""

    def end(self, tag: str) -> None:
        """Handle an end tag."""
        within = tag in {self._main_tag, "title"}
        if tag == "div":
            tag = self._divs.end()
        if self._inside:
            self._end_element(tag)
            self._inside -= within
            self.blocks.end(tag)
            if self._main_tag and not self._inside:
                self._main = self._main_tag = ""

    def _end_element(self, tag: str) -> None:
        self._line_numbers.end()
        self._raises = self._raises and tag != "sup"
        self._lowers = self._lowers and tag != "sub"
        if self._silent:
            self._silent -= 1
        elif self._equation:
            self._end_in_equation(self._equation, tag)
        elif self._code:
            self._code.end(tag)
            if tag == "pre":
                self._end_code()
        elif tag in _MARKS and tag != "br":
            self._words.append(_MARKS[tag])
        elif tag in _CONTROLS:
            self._words.append(" ")
        elif tag == "a":
            self._end_link()
        elif tag == "title":
            title = _plain(self._take())
            self.title = self.title or title
        elif _BLOCK.fullmatch(tag):
            self._end(tag)

    def _begin_inline(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _MARKS:
            self._words.append(_MARKS[tag])
        elif tag in _CONTROLS:
            self._words.append(" ")
        elif tag == "a" and (self._level or self._in_term) and "#" in attributes.get("href", ""):
            self._link = len(self._words)
        elif tag in {"img", "area"} and (alt := _plain(attributes.get("alt", ""))):
            self._words.append(f"![{alt}]")

    def _begin_part(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note whether an element is in the part that is read."""
        if self._main and not self._main_tag:
            role = f"role={attributes.get('role', '').strip().lower()}"
            self._main_tag = tag if self._main in {tag, role} else ""
        self._inside += tag in {self._main_tag, "title"}

    def _begin_in_equation(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Handle a start tag if it is part of an equation; a block ends an open one."""
        if self._equation and not _BLOCK.fullmatch(tag):
            self._equation.begin(tag, attributes)
            return True
        self._end_equation()
        if tag == "math":
            self._equation = Equation()
        return tag == "math"

    def _end_in_equation(self, equation: Equation, tag: str) -> None:
        if tag == "math":
            self._end_equation()
        else:
            equation.end()

    def _end_equation(self) -> None:
        if self._equation:
            text, self._equation = self._equation.text(), None
            self.data(text)
            self._after_equation = True

    def _end_link(self) -> None:
        """Leave out a sign that links to the heading or term that it is in."""
        if self._link is not None:
            words = self._words[self._link :]
            if not any(map(str.isalnum, "".join(w for w in words if not w.startswith("![")))):
                del self._words[self._link :]
            self._link = None

    @property
    def _last(self) -> str:
        """The last character of the block, or an empty text."""
        return self._code.last if self._code else "".join(self._words[-1:])[-1:]

    def _mark_above(self, raised: str) -> str:
        """Return the sign between a text and what is raised above it, such as a power."""
        before = self._last
        if not (before.isalnum() or before in {")", "]"}) or not _RAISED.match(raised):
            return ""
        return "" if before.isdecimal() and _ORDINAL.fullmatch(raised.lower()) else "^"

    def comment(self, text: str) -> None:
        """Ignore a comment."""

    def close(self) -> None:
        """Do nothing; the parser requires this method."""

    def finish(self) -> None:
        """Write what is still open."""
        self._end_equation()
        self._end_code()
        while self._tables:
            self._end("table")
        self._flush()

    # --- blocks -----------------------------------------------------------------------------

    def _begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._level and tag in _IN_HEADING and len(self._words) < _MOST_PARTS:
            self._words.append(" ")
            return
        table = self._tables[-1] if self._tables else None
        heading = tag in _LEVELS
        if table and (heading or tag in {"table", "pre"}) and not table.holds(heading=heading):
            self._unfold()
            table = None
        if table and tag == "pre":
            self._code = Code(attributes)
        elif table:
            table.begin(tag, self._words, attributes)
        else:
            self._flush()
            self._open(tag, attributes)

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        match tag:
            case "pre":
                self._code = Code(attributes)
            case "table":
                self._tables.append(Table(attributes))
            case "ul" | "ol" | "menu":
                self._lists.begin(tag, attributes)
            case "li":
                self._item = self._lists.marker(attributes)
            case "dl" | "dt" | "dd":
                self._open_terms(tag, attributes)
            case "hr":
                self._write(["---"])
            case "blockquote":
                self._quoted += 1
            case _ if tag in _LEVELS:
                self._level = _LEVELS[tag]
            case _ if tag in _LIKE_HEADING and (level := _level(attributes)):
                self._level, self._heading_tag = level, tag

    def _open_terms(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "dl":
            self._entries.open(attributes)
        elif tag == "dd":
            self._item = "" if self._entries.inside else ": "
            self._entries.begin_description()
        else:
            self._in_term = True
            self._open_entry(marked=bool(attributes.get("id")))

    def _open_entry(self, *, marked: bool) -> None:
        """Begin an entry at a term, if it is one; a link can name a ``marked`` term."""
        if marked:
            self._entries.mark_term()
        if level := self._entries.level():
            self._level, self._names_entry = level, True

    def _end(self, tag: str) -> None:
        table = self._tables[-1] if self._tables else None
        if table and (tag != "table" or table.inner):
            table.end(tag, self._words)
            return
        if self._level and tag in _IN_HEADING and tag != self._heading_tag:
            self._words.append(" ")
            return
        self._flush()
        match tag:
            case "table" if self._tables:
                ended = self._tables.pop()
                self._write_below_item(ended.lines() if ended else [])
            case "ul" | "ol" | "menu":
                self._lists.end()
            case "dl":
                self._entries.close()
            case "li" | "dd":
                self._item = ""
            case "blockquote":
                self._quoted = max(0, self._quoted - 1)

    def _unfold(self) -> None:
        """Treat the cells of a layout table as blocks of the page from here on."""
        table = self._tables[-1]
        self._tables[-1:] = [None] * (1 + table.inner if table else 1)
        rest = self._words[:]
        self._words.clear()
        for block in table.blocks() if table else ():
            self._write([block])
        self._words.extend(rest)

    def _flush(self) -> None:
        """Write the collected words as a block: a heading, a list item, or a paragraph."""
        level, self._level, self._in_term, self._heading_tag = self._level, 0, False, ""
        text = self._take()
        if level:
            self._write_heading(_plain(text), level)
        elif text:
            if self._entries.is_name and (named := self._entries.named(_name(text))):
                self.headings[-1] = named
            item, self._item = self._item, " " * len(self._item)
            first, *rest = text.split("\n")
            close = bool(item.strip())
            self._write([item + first, *(" " * len(item) + line for line in rest)], close=close)

    def _write_heading(self, title: str, level: int) -> None:
        anchor, self._anchor = self._anchor, ""
        entry, self._names_entry = self._names_entry, False
        title = _name(title) if entry else title
        if not title:
            return
        shown = f"{'#' * min(level, len(_LEVELS))} {title}"
        self._add([f"{shown} {{#{anchor}}}" if anchor and self._anchors else shown])
        line = len(self.lines)
        heading = Heading(title, level, line, line + 1)
        self._entries.heading(heading, entry=entry)
        self.headings.append(heading)

    def _end_code(self) -> None:
        code, self._code = self._code, None
        if code and self._tables and self._tables[-1]:
            if len(code.block()) <= _MOST_CELL_LINES:
                self._words.append(code.in_line())
                return
            self._unfold()
            self._flush()
        self._write_below_item(code.block() if code else ())

    def _write_below_item(self, block: Sequence[str]) -> None:
        """Add code or a table; a number of an item that begins with it is a line of its own."""
        item, self._item = self._item, " " * len(self._item)
        if block and any(map(str.isalnum, item)):
            self._write([item], close=True)
        self._write(block)

    def _take(self) -> str:
        """Return the collected words as lines without unneeded white space, and start again."""
        lines = joined(self._words).replace(2 * _STRUCK, "").split("\n")
        self._words.clear()
        self._link = None
        text = "\n".join(line for each in lines if (line := each.strip()))
        return "" if text in {_STRUCK, "`"} else text  # a mark around a block

    def _write(self, block: Sequence[str], *, close: bool = False) -> None:
        """Add a block of text, with a blank line before it unless ``close``."""
        if block:
            self._add(block, close=close)
            goes_on = self._entries.text(len(self.lines) - len(block) + 1)
            self.headings += [goes_on] if goes_on else []

    def _add(self, block: Sequence[str], *, close: bool = False) -> None:
        if self.lines and not (close and self.lines[-1].strip()):
            self.lines.append("")
        self.blocks.add(len(self.lines) + 1, block)
        quote = "> " * min(self._quoted, DEEPEST)
        self.lines += [(quote + line).rstrip() for line in block]

    def _begin_silent(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Handle a start tag if nothing is read until its end."""
        silent = bool(self._silent) or self._unread.has(
            tag,
            attributes,
            after_equation=self._after_equation,
            in_code=self._code is not None,
        )
        self._silent += silent
        return silent


def _plain(text: str) -> str:
    return plain(_INVISIBLE.sub("", text))


def _name(text: str) -> str:
    """Return the name of an entry; in old pages parts of it are code."""
    return _plain(text.replace("`", ""))


def _level(attributes: Mapping[str, str]) -> int:
    """Return the level of a heading that is none by its name; 0 of another element."""
    if attributes.get("role") == "heading":
        return min(max(number(attributes.get("aria-level"), 2), 1), len(_LEVELS))
    return 1 if _TITLE in attributes.get("class", "").split() else 0
