"""Pages of matching lines: folds equal lines, and counts the remaining ones."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from fumishirube.text import FileText
from fumishirube_manual.evidence.code_blocks import EnclosingBlocks, inside_code
from fumishirube_manual.evidence.markup import is_markdown, rendered
from fumishirube_manual.evidence.records import labelled_line, record_lines
from fumishirube_manual.grep.matching_lines import (
    WHOLE,
    LineMatcher,
    LinePlace,
    MatchingLine,
    Spans,
    beginning,
    cut,
    sentence_lines,
)
from fumishirube_manual.text_parts import heading_of, last_heading, section_of

_ALSO, _ALSO_CHARS = 100, 300
"""The most places listed for equal lines, and on a full page after how many characters of them no
further ones are; others are counted."""
_GROUP_CHARS = 34
_FILE_CHARS, _SECTION_CHARS = 2, 3
"""The characters beside a path, and beside the headings of a section, in the answer as text."""
_GOES_ON = " / "
"""The separator between a line and its continuation, where a match spans both."""
_DIGEST = 12
_BLANK = ("", "+")
"""Lines that are no neighbours; the second one is between paragraphs of AsciiDoc."""
_FEW = 5
"""Up to this many different lines are shown in their records, unless no context is requested."""
_SENTENCES = 40
"""Up to this many different lines are shown with the rest of their sentences."""


class FileLines:
    """The lines of a file, which of them are code, and the blocks in it; each is found once."""

    def __init__(self, text: str, *, markdown: bool = True) -> None:
        self.all: Sequence[str] = text.split("\n")
        self.markdown = markdown
        self._text = text

    @cached_property
    def in_code(self) -> Sequence[bool]:
        """Whether each line is in code."""
        return inside_code(self.all)

    @cached_property
    def blocks(self) -> EnclosingBlocks:
        """The blocks that apply to some readers only."""
        return EnclosingBlocks(self._text)


@dataclass
class Entry:
    """A line shown, with neighbouring lines, and the places of equal lines."""

    place: LinePlace
    section: str
    lines: Sequence[tuple[int, str]]
    file_lines: Sequence[str] = ()
    sentence: Sequence[tuple[int, str]] = ()
    also: list[str] = field(default_factory=list)
    also_chars: int = 0
    more: int = 0
    heading: str = ""
    """That of the last place of an equal line."""

    def repeat(self, place: LinePlace, text: FileText, *, full: bool) -> int:
        """Add a place of an equal line, if there is room; return how many characters that takes.

        A heading follows the place if it is another one than that of the place before it.
        """
        if len(self.also) >= _ALSO or (full and self.also_chars >= _ALSO_CHARS):
            self.more += 1
            return 0
        heading = last_heading(section_of(text.headings(place.line), text.path))
        named = heading not in ("", self.heading or last_heading(self.section))
        self.heading = heading
        named = named and heading != heading_of(self.line)
        self.also.append(place.relative_to(self.place) + f" {heading}" * named)
        taken = len(self.also[-1]) + 3
        self.also_chars += taken
        return taken

    @property
    def line(self) -> str:
        """The matching line as shown."""
        return next(line for number, line in self.lines if number == self.place.line)


class LinePage:
    """A page that is filled file by file; when it is full, it only counts.

    It begins with entry number ``offset`` and has about ``max_chars`` characters, or no lines
    if that is 0: as text if ``plain``, else as JSON. Where no ``context`` is requested, what a
    label is about is shown below it.
    """

    def __init__(
        self,
        matcher: LineMatcher,
        offset: int,
        max_chars: int,
        context: int | None,
        *,
        plain: bool = False,
    ) -> None:
        self.entries: list[Entry] = []
        self.total = 0
        self.counts: Counter[tuple[str, str]] = Counter()
        self.remaining: Counter[tuple[str, str]] = Counter()
        self.texts: Counter[int] = Counter()
        self.remaining_texts: Counter[int] = Counter()
        self._matcher = matcher
        self._offset = offset
        self._left = max_chars
        self._context = context
        self._plain = plain
        self._full = not max_chars
        self._numbers: dict[bytes, int] = {}
        self._last: tuple[str, str, str] | None = None
        self._fingerprint = hashlib.sha256()

    @property
    def different(self) -> int:
        """The number of distinct lines."""
        return len(self._numbers)

    @property
    def end(self) -> int:
        """The index of the first entry after this page."""
        return self._offset + len(self.entries)

    @property
    def fingerprint(self) -> str:
        """A value that changes with every matching line."""
        return self._fingerprint.hexdigest()[:8]

    def add(self, manual_id: str, text: FileText, matches: Iterable[MatchingLine]) -> None:
        """Add the matching lines of a file."""
        file = FileLines(text.text, markdown=is_markdown(text.path))
        for match in matches:
            place = LinePlace(manual_id, text.path, match.number)
            self.total += 1
            self.counts[place[:2]] += 1
            self.texts.update(match.texts)
            around = self._around(match, file, text)
            key = self._key(place, around)
            number = self._numbers.setdefault(key, len(self._numbers))
            if number == self.end and not self._full:
                self._show(match, place, around, file, _section_and_block(text, file, place.line))
            if number >= self.end:
                self.remaining[place[:2]] += 1
                self.remaining_texts.update(match.texts)
            elif number >= self._offset and self.entries[number - self._offset].place != place:
                entry = self.entries[number - self._offset]
                self._left -= entry.repeat(place, text, full=self._left <= 0)

    def _key(self, place: LinePlace, around: Mapping[int, str]) -> bytes:
        """Return the key of equal lines; with context, the neighbouring lines must be equal too."""
        # Of two different lines near each other, all the lines around may be the same.
        shown = "\n".join(line.strip() for line in (around[place.line], *around.values()))
        key = hashlib.blake2b(shown.encode("utf-8", "replace"), digest_size=_DIGEST).digest()
        self._fingerprint.update(repr(place).encode("utf-8", "replace") + key)
        return key

    def _around(self, match: MatchingLine, file: FileLines, text: FileText) -> dict[int, str]:
        """Return a matching line and its neighbours, by number; before it, those of its section.

        The line in which a match ends is one of them, or without neighbours joined to the first.
        """
        lines = file.all
        if not self._context:
            first, *rest = match.written(lines)
            whole = _GOES_ON.join([first.rstrip(), *(line.strip() for line in rest)])
            alone = rest or self._context == 0
            below = None if alone else labelled_line(lines, match.number - 1)
            if below is None or file.in_code[match.number - 1]:
                return {match.number: whole}
            return {match.number: whole, below + 1: beginning(lines[below])}
        section = section_of(text.headings(match.number), "")
        above = _written(lines, range(match.number - 1, 0, -1), self._context)
        # What is above the first line of a section is about something else.
        before = [n for n in above if section_of(text.headings(n), "") == section]
        after = _written(lines, range(match.number + 1, len(lines) + 1), self._context)
        numbers = {match.number, *before, *after, *range(match.number, match.last + 1)}
        return {number: lines[number - 1] for number in sorted(numbers)}

    def show_records(self) -> None:
        """Show the record of each line beside it, if all lines are shown and different ones few."""
        if self._offset or self.remaining or len(self.entries) > _FEW:
            return
        for entry in self.entries:
            others = () if entry.also else record_lines(entry.file_lines, entry.place.line - 1)
            beside = [(other + 1, cut(entry.file_lines[other], ())) for other in others]
            entry.lines = sorted([*entry.lines, *beside])

    def show_sentences(self) -> None:
        """Show the rest of the sentence of each line, if all lines are shown, as far as it fits."""
        if self._offset or self.remaining or len(self.entries) > _SENTENCES:
            return
        for entry in self.entries:
            cost = self._lines_cost(entry.sentence)
            if not entry.also and cost <= self._left:
                self._left -= cost
                entry.lines = sorted([*entry.lines, *entry.sentence])

    def _show(
        self,
        match: MatchingLine,
        place: LinePlace,
        around: Mapping[int, str],
        file: FileLines,
        section: str,
    ) -> None:
        """Add an entry if it fits; the first one always fits."""
        shown = []
        for number, written in around.items():
            matches = number == place.line
            line = self._rendered(written, file, number, matches=matches)
            spans = self._spans(match, line, file) if len(line) > WHOLE and matches else ()
            shown.append((number, cut(line, spans)))
        group = (place.manual_id, place.path, section)
        cost = self._cost(group, shown)
        if cost > self._left and self.entries:
            self._full = True
            return
        self._left -= cost
        self._last = group
        # Of more entries no records are shown, and their files need not be kept for the answer.
        file_lines = file.all if len(self.entries) < _FEW else ()
        sentence = self._sentence(match, shown, file)
        self.entries.append(Entry(place, section, shown, file_lines, sentence))

    def _sentence(
        self, match: MatchingLine, shown: Sequence[tuple[int, str]], file: FileLines
    ) -> Sequence[tuple[int, str]]:
        """Return the further lines of the sentence of a match, if matches are few so far."""
        alone = not file.markdown or (match.last > match.number and not self._context)
        if alone or self._offset or self._context == 0 or len(self.entries) >= _SENTENCES:
            return ()
        (first, _), (last, _) = shown[0], shown[-1]
        further = sentence_lines(file.all, file.in_code, match.number, range(first, last + 1))
        return [(number, cut(rendered(file.all[number - 1]), ())) for number in further]

    def _spans(self, match: MatchingLine, line: str, file: FileLines) -> Spans:
        """Return the spans of the matches in a line as shown; of one that goes on, the end."""
        spans = self._matcher.spans_of([line])[0]
        if match.last == match.number:
            return spans
        first = file.all[match.number - 1].rstrip()
        forms = (len(form) for form in (first, rendered(first)) if line.startswith(form + _GOES_ON))
        end = next(forms, len(line.rstrip()))
        return sorted([*spans, (end - 1, end)])

    def _cost(self, group: tuple[str, str, str], shown: Iterable[tuple[int, str]]) -> int:
        """Return the number of characters of some lines, with their file and section if new."""
        cost, (_, path, section) = self._lines_cost(shown), group
        if not self._plain:
            return cost + (_GROUP_CHARS + len(path) + len(section)) * (group != self._last)
        if self._last is None or group[:2] != self._last[:2]:
            cost += len(path) + _FILE_CHARS
        return cost + (len(section) + _SECTION_CHARS) * (group != self._last)

    def _lines_cost(self, shown: Iterable[tuple[int, str]]) -> int:
        if self._plain:
            return sum(len(f"{number} {line}\n") for number, line in shown)
        return sum(len(json.dumps(pair, ensure_ascii=False)) + 1 for pair in shown)

    def _rendered(self, line: str, file: FileLines, number: int, *, matches: bool) -> str:
        """Return a line as it is rendered, unless it is code or no match would be left."""
        shown = rendered(line) if file.markdown else line
        if shown == line or file.in_code[number - 1]:
            return line
        return line if matches and not any(self._matcher.spans_of([shown])) else shown


def _written(lines: Sequence[str], numbers: Iterable[int], most: int) -> Sequence[int]:
    """Return the first numbers of lines that are not blank."""
    written = (number for number in numbers if lines[number - 1].strip() not in _BLANK)
    return [*islice(written, most)]


def _section_and_block(text: FileText, file: FileLines, number: int) -> str:
    """Return the heading path of a line, with the block around it that is for some readers only."""
    section = section_of(text.headings(number), text.path)
    block = file.blocks.around(number)
    return f"{section} [{block}]".strip() if block else section
