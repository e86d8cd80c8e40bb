"""What commands print: JSON, tables, text of the terminal's width; lines on standard error."""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import sys
import unicodedata
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any, Literal, NamedTuple

from pydantic import JsonValue

from fumishirube.faces.cli.messages import filled, translated
from fumishirube.host.standard_streams import CommandOutput, to_output
from fumishirube.text.controls import printable, printable_json

_WIDE = "WF"
_PLAIN = "\x1b[0m"
_STYLES = {"match": "\x1b[1;31m", "title": "\x1b[1m", "place": "\x1b[36m", "note": "\x1b[2m"}
_INVISIBLE = ("Mn", "Me", "Cf")
_NARROWEST, _WIDEST = 40, 100


def print_json(value: JsonValue, *, compact: bool = False) -> None:
    """Print one JSON value in UTF-8, on one line or indented."""
    form: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 2}
    print(printable_json(json.dumps(value, ensure_ascii=False, **form)))


def terminal_width() -> int:
    """Return how many columns a line may take."""
    return max(_NARROWEST, min(shutil.get_terminal_size((80, 24)).columns, _WIDEST))


Style = Literal["match", "title", "place", "note"]
"""What a stretch of a line is; a terminal shows each in its own way."""


class Emphasised(NamedTuple):
    """A line with stretches of one style; they are in order and do not overlap."""

    text: str
    spans: Sequence[tuple[int, int]]
    style: Style = "match"


def emphasised(text: str, style: Style) -> Emphasised:
    """Return a line that is of one style as a whole."""
    return Emphasised(text, [(0, len(text))], style)


def print_line(line: str | Emphasised) -> None:
    """Print a line, with emphasis on terminals that support it."""
    text, spans, style = (line, (), "match") if isinstance(line, str) else line
    output, place = sys.stdout, 0
    if isinstance(output, CommandOutput) and output.isatty() and _wants_styles():
        for start, end in spans:
            output.write(text[place:start])
            output.style(_STYLES[style])
            output.write(text[start:end])
            output.style(_PLAIN)
            place = end
    print(text[place:])


def _wants_styles() -> bool:
    """Tell whether styles are allowed (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width(text: str) -> int:
    """Return how many columns a text takes; East Asian characters take two."""
    return len(text) if text.isascii() else sum(_columns(character) for character in text)


def clipped(text: str, columns: int) -> str:
    """Return the beginning of a text that fits, with an ellipsis if it is cut."""
    if width(text) <= columns:
        return text
    fitting, taken = [], 1
    for character in text:
        taken += _columns(character)
        if taken > columns:
            break
        fitting.append(character)
    return "".join(fitting).rstrip() + "…"


def strip_controls(text: str) -> str:
    """Return a text without terminal control characters."""
    return "".join(
        " " if unicodedata.category(character) == "Cc" else character for character in text
    )


def table(rows: Sequence[Sequence[str]], gap: str = "  ") -> Iterator[str]:
    """Yield lines with aligned columns; the last column is not cut."""
    columns = max((len(row) for row in rows), default=0) - 1
    widest = [
        max((width(row[n]) for row in rows if n < len(row) - 1), default=0) for n in range(columns)
    ]
    for row in rows:
        cells = [cell + " " * (widest[n] - width(cell)) for n, cell in enumerate(row[:-1])]
        yield gap.join([*cells, row[-1]]).rstrip()


def counted(number: int, noun: str) -> str:
    """Return ``1 file``, ``2 files``, ``2 entries``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") else f"{number} {noun}s"


def listed(names: Iterable[str], limit: int = 5) -> str:
    """Return names joined by commas; of many, the first few and the number of the rest."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def command(options: Namespace, *words: str | tuple[str, str], places: Sequence[str] = ()) -> str:
    """Return a command that can be typed in a shell, with the common options of this run.

    ``words`` are its name and its options, those with a value as pairs, and ``places`` its
    arguments. A value or an argument that begins with ``-`` is not taken for an option.
    """
    name = [*takewhile(lambda word: isinstance(word, str) and word[:1] != "-", words)]
    chosen = [*words[len(name) :], *_common(options)]
    switches = [word for option in chosen for word in _words(option)]
    last = any(place.startswith("-") for place in places)
    arguments = [*switches, "--", *places] if last else [*places, *switches]
    line = ["fumishirube", *map(str, name), *arguments]
    if os.name != "nt":
        return " ".join(map(_quoted, line))
    import subprocess  # noqa: PLC0415 - there it knows the rules, and elsewhere it costs 4 ms

    return subprocess.list2cmdline(line)


def _quoted(word: str) -> str:
    """Return a word as a shell takes it; what a terminal would not show as it is, by its number."""
    if printable(word) == word and "\n" not in word:
        return shlex.quote(word)
    return f"$'{''.join(map(_typed, word))}'"


def _typed(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    shown = printable(character) == character != "\n"
    return character if shown else f"\\U{ord(character):08x}"


def _common(options: Namespace) -> Iterator[str | tuple[str, str]]:
    """Yield the common options of this run."""
    if options.workspace is not None:
        yield "--workspace", options.workspace
    for folder in getattr(options, "folders", None) or ():
        yield "--in", folder
    if options.config is not None:
        yield "--config", str(options.config)
    yield from ["--no-plugins"] * options.no_plugins + ["--trust"] * options.trust


def _words(option: str | tuple[str, str]) -> Sequence[str]:
    """Return an option as it is typed."""
    if isinstance(option, str):
        return [option]
    return ["=".join(option)] if option[1].startswith("-") else option


def _columns(character: str) -> int:
    if unicodedata.category(character) in _INVISIBLE:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


# --- the streams ----------------------------------------------------------------------------


def complain(line: str, *values: object) -> None:
    """Write one line to standard error, in the user's language, after all output so far.

    With ``values`` it is a template, which is filled as :func:`filled` does.

    Raises:
        BrokenPipeError: when the reader of standard output has gone.
        UnwritableOutput: when it cannot be written for another reason.
    """
    flush_output()
    text = filled(line, *values) if values else translated(line)
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(" ".join(printable(text).splitlines()) + "\n")
        sys.stderr.flush()


def flush_output() -> None:
    """Write all output so far; raise as :func:`complain` does."""
    with suppress(ValueError, AttributeError), to_output():
        sys.stdout.flush()


class PrintableFormatter(logging.Formatter):
    """Formats log records, stack traces included, without terminal control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return printable(super().format(record))


class PluginFaultHandler(logging.Handler):
    """Prints faults of plugins, a line each; a server's log handler replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a fault; ignore other records."""
        fault: str | None = getattr(record, "fault", None)
        if fault is not None:
            complain(f"problem: {fault}")


def discard_output() -> None:
    """Discard buffered output, so that none of it fails at exit."""
    with suppress(OSError, ValueError, AttributeError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
        os.close(null_device)
