"""Two mechanical readers: one with the tools over MCP, one with ``rg`` and ``sed``.

Neither sees a gold line. A transcript stops them: when every quote was printed, or at the limit.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import Any

from evidence_questions import (
    EVERYWHERE,
    EXHAUSTIVE,
    GoldQuestion,
    Vocabulary,
    folded,
    quoted_texts,
    rare_words,
)
from processes import Served

from fumishirube_manual.evidence.markup import rendered

LIMIT = 30_000
"""The characters that a policy may print for a question; one that fails costs all of them."""

HITS = 5
READ_CHARS = 4_000
REQUIRED = 2
TEXTS = 4
AROUND = 8
"""Lines that are read before and after one that was found, by either camp."""

LINES = 20
COLUMNS = 300
WINDOWS = 4
PAIRED = 5

_ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
_HIT_LINE = re.compile(r"(.+?):(\d+):(.*)", re.DOTALL)


class Stopped(Exception):
    """The reader is done: it has printed every quote, or as much as it may."""


@dataclass
class Transcript:
    """What was printed for a question, and after how many characters each quote was complete."""

    question: GoldQuestion
    limit: int = LIMIT
    spent: int = 0
    calls: int = 0
    reached: dict[str, int] = field(default_factory=dict)

    def show(self, text: str) -> None:
        """Print what a call answered; what goes over the limit is cut off.

        Raises:
            Stopped: when nothing remains to be read, or nothing may be.
        """
        shown = text[: self.limit - self.spent]
        self.spent += len(shown)
        self.calls += 1
        views = (folded(shown), folded(_unescaped(shown)))
        for quote in self.question.quotes:
            if quote in self.reached:
                continue
            # The tools leave out tags and long targets of links; the shell prints both.
            forms = {quote, folded(rendered(quote)).strip()}
            if any(form in view for form in forms for view in views):
                self.reached[quote] = self.spent
        if self.complete or self.spent >= self.limit:
            raise Stopped

    @property
    def complete(self) -> bool:
        """Whether every quote was printed."""
        return len(self.reached) == len(self.question.quotes)

    @property
    def first(self) -> int:
        """The characters until one of the quotes was printed; the limit, if none ever was."""
        return min(self.reached.values(), default=self.limit)

    @property
    def every(self) -> list[int]:
        """The characters until each quote was printed; the limit for each that never was."""
        return [self.reached.get(quote, self.limit) for quote in self.question.quotes]


def _unescaped(text: str) -> str:
    """Return JSON, perhaps cut off, with the characters that its strings mean."""
    return _ESCAPE.sub(lambda match: str(json.loads(f'"{match[0]}"')), text)


class ShellReader:
    """Searches for the rarest words with ``rg``, and reads around what it prints with ``sed``.

    Of the ways that were tried on the development questions (one word a search, two, three or
    five; 20 or 40 lines; two to four windows of 5 to 15 lines) this one printed least.
    """

    def __init__(self, manuals: Path, vocabulary: Vocabulary, search: str = "rg") -> None:
        self._manuals, self._vocabulary = manuals, vocabulary
        self._command = _SEARCHES[search]

    def read(self, question: GoldQuestion, transcript: Transcript) -> None:
        """Search and read until the transcript has enough, or there is nothing to search for."""
        if question.kind == EXHAUSTIVE:
            for texts in _exhaustive_texts(question, self._vocabulary):
                lines = self._search(texts, question.manual)
                transcript.show("\n".join(line[:COLUMNS] for line in lines))
        words = rare_words(question, self._vocabulary)
        covered: set[tuple[str, int]] = set()
        for wanted in [*combinations(words[:PAIRED], 2), *zip(words, strict=True)]:
            lines = self._lines_with(wanted, question.manual)
            transcript.show("\n".join(lines))
            for path, number in _best_places(lines, words)[:WINDOWS]:
                if (path, number) not in covered:
                    near = range(number - AROUND, number + AROUND + 1)
                    covered |= {(path, line) for line in near}
                    transcript.show(self._window(path, number))

    def _lines_with(self, words: Sequence[str], manual: str) -> list[str]:
        """Return what ``rg A | rg B | cut -c 1-300 | head -20`` prints."""
        lines = self._search(words[:1], manual)
        both = [line for line in lines if all(word.casefold() in line.casefold() for word in words)]
        return [line[:COLUMNS] for line in both[:LINES]]

    def _search(self, texts: Sequence[str], manual: str) -> list[str]:
        """Return the lines that hold one of the texts, by path, each with its path and number."""
        patterns = [part for text in texts for part in ("-e", text)]
        place = "." if manual == EVERYWHERE else manual
        done = subprocess.run(
            [*self._command, *patterns, place], cwd=self._manuals, capture_output=True, check=False
        )
        if done.returncode > 1:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        return lines if self._command[0] == "rg" else sorted(lines, key=_place)

    def _window(self, path: str, number: int) -> str:
        span = f"{max(1, number - AROUND)},{number + AROUND}p"
        done = subprocess.run(
            ["sed", "-n", span, path], cwd=self._manuals, capture_output=True, check=True
        )
        return done.stdout.decode("utf-8", "replace")


_SEARCHES = {
    "rg": ("rg", "-n", "-i", "-F", "--no-heading", "--color=never", "--sort=path"),
    "grep": ("grep", "-rniF", "--binary-files=without-match"),
}


def missing_programs(search: str) -> list[str]:
    """Return which programs the shell's reader lacks."""
    return [name for name in (search, "sed") if shutil.which(name) is None]


def _place(line: str) -> tuple[str, int]:
    match = _HIT_LINE.match(line)
    return (match[1], int(match[2])) if match else (line, 0)


def _best_places(lines: Sequence[str], words: Sequence[str]) -> list[tuple[str, int]]:
    """Return the places of printed lines, those with most words of the question first."""

    def words_in(line: str) -> int:
        return sum(word.casefold() in line.casefold() for word in words)

    ranked = sorted(lines, key=words_in, reverse=True)
    return [_place(line) for line in ranked if _HIT_LINE.match(line)]


def _exhaustive_texts(question: GoldQuestion, vocabulary: Vocabulary) -> Iterator[list[str]]:
    """Yield what to search everywhere: what is in quotation marks, together; then rare words."""
    if texts := quoted_texts(question, vocabulary)[:TEXTS]:
        yield texts
    yield from ([word] for word in rare_words(question, vocabulary)[:TEXTS])


class ToolsReader:
    """Searches with ``manual_find`` and reads the hits; ``manual_grep`` finds every place."""

    def __init__(self, server: Served, vocabulary: Vocabulary) -> None:
        self._server, self._vocabulary = server, vocabulary
        listed = server.ask("tools/list", {})["result"]["tools"]
        self._schemas = {tool["name"]: tool["inputSchema"]["properties"] for tool in listed}
        items = server.call("manual_ls", {"id": "manuals"})["items"]
        self._manuals = [str(item["id"]) for item in items]
        self._all_at_once = self._accepts_everywhere()

    @property
    def offers(self) -> dict[str, bool]:
        """Which of the abilities that the policy can use the server has."""
        return {
            "manual_grep": "manual_grep" in self._schemas,
            "all manuals at once": self._all_at_once,
        }

    def read(self, question: GoldQuestion, transcript: Transcript) -> None:
        """Search and read until the transcript has enough, or nothing more was found."""
        if question.kind == EXHAUSTIVE and "manual_grep" in self._schemas:
            for texts in _exhaustive_texts(question, self._vocabulary):
                self._grep(texts, question.manual, transcript)
        hits: list[Mapping[str, Any]] = []
        searches: list[str] = []
        for manual in self._places(question.manual):
            answer = self._call("manual_find", self._query(question, manual), transcript)
            searches.append(answer["trace_id"])
            hits += answer["inline_hits"]["items"]
        hits.sort(key=lambda hit: -float(hit["score"]))
        for offset in count(HITS, HITS):
            for hit in hits:
                self._read(hit["ref"], transcript)
            hits = [hit for trace in searches for hit in self._more(trace, offset, transcript)]
            if not hits:
                return

    def _query(self, question: GoldQuestion, manual: str) -> dict[str, Any]:
        words = rare_words(question, self._vocabulary)
        return {
            "query": question.text,
            "manual_id": manual,
            "required_terms": words[:REQUIRED] or [question.text[:20]],
            "use_cache": False,
        }

    def _read(self, ref: Mapping[str, Any], transcript: Transcript) -> None:
        if ref["path"].endswith(".json"):  # manual_read is for sections, and says so
            self._call("manual_scan", {**ref, "max_chars": READ_CHARS}, transcript)
        else:
            self._call("manual_read", {"ref": ref, "max_chars": READ_CHARS}, transcript)

    def _more(self, trace: str, offset: int, transcript: Transcript) -> list[Mapping[str, Any]]:
        page = {"trace_id": trace, "kind": "integrated_top", "offset": offset, "limit": HITS}
        items: list[Mapping[str, Any]] = self._call("manual_hits", page, transcript)["items"]
        return items

    def _grep(self, texts: Sequence[str], manual: str, transcript: Transcript) -> None:
        wanted: dict[str, Any] = {"any": list(texts), "manual_id": manual}
        while wanted:
            answer = self._call("manual_grep", wanted, transcript)
            following = answer.get("next_cursor")
            wanted = {**wanted, "cursor": following} if following else {}

    def _call(self, tool: str, arguments: Mapping[str, Any], transcript: Transcript) -> Any:
        request = {"name": tool, "arguments": dict(arguments)}
        result = self._server.ask("tools/call", request)["result"]
        transcript.show("".join(part["text"] for part in result["content"]))
        if result.get("isError"):
            raise RuntimeError(f"{tool} refused: {result['content'][0]['text']}")
        return result["structuredContent"]

    def _places(self, manual: str) -> list[str]:
        if manual != EVERYWHERE or self._all_at_once:
            return [manual]
        return self._manuals

    def _accepts_everywhere(self) -> bool:
        """Ask once, outside all transcripts: what the schema says of it is prose."""
        arguments = {"query": "manual", "manual_id": EVERYWHERE, "required_terms": ["manual"]}
        request = {"name": "manual_find", "arguments": arguments}
        return not self._server.ask("tools/call", request)["result"].get("isError")
