"""``fumishirube grep``: shows every line that contains a text, by file and section."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from fumishirube.commands import (
    FAILURE,
    OK,
    Emphasised,
    add_json,
    at_least,
    call_by_name,
    command,
    complain,
    counted,
    emphasised,
    known_manual,
    listed,
    opened,
    print_json,
    print_line,
    reason_text,
    search_context,
    strip_controls,
    translated,
)
from fumishirube.text import fold, places_of
from fumishirube_manual.scopes import PREFIX_HELP, narrowed, prefix_as_typed
from fumishirube_manual.surface import SURFACE

_CHARS = 50_000
_MOST_CONTEXT = 3
_INDENT = "  "
_REGEX_LOOK = re.compile(r"\\[dwsbDWSB.]|[.\])][*+]|\.[?]|\[[^\]]+\]|\(\?|\w\|\w|^\^|\$$")
"""What regular expressions have, and other texts rarely."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    help_text = "a text; of several, a line must contain one"
    parser.add_argument("texts", metavar="TEXT", nargs="+", help=help_text)
    help_text = "search this manual only; may be repeated (default: all)"
    parser.add_argument("--manual", metavar="ID", action="append", default=[], help=help_text)
    help_text = "use TEXT as a regular expression; case counts if --exact, [A-Z], or only capitals"
    parser.add_argument("--regex", action="store_true", help=help_text)
    help_text = "leave out lines that match this regular expression"
    parser.add_argument("--without", metavar="PATTERN", help=help_text)
    help_text = "match letter by letter: case, width, spaces and plurals count"
    parser.add_argument("--exact", action="store_true", help=help_text)
    parser.add_argument("--word", action="store_true", help="match whole words only")
    help_text = "lines to show before and after each match (0 to 3)"
    parser.add_argument("-C", "--context", metavar="N", type=at_least(0), help=help_text)
    help_text = "only count the lines, by file"
    parser.add_argument("--count", action="store_true", help=help_text)
    parser.add_argument("--prefix", metavar="PATH", help=PREFIX_HELP)
    help_text = "continue after the last page, with the cursor that it printed"
    parser.add_argument("--cursor", metavar="CURSOR", help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Search the texts, and print the matching lines; return 1 if there is none."""
    if options.regex and len(options.texts) > 1:
        options.parser.error("--regex takes one TEXT; join several with |")
    if (options.context or 0) > _MOST_CONTEXT:
        options.parser.error(f"--context: at most {_MOST_CONTEXT} lines")
    with opened(options) as application, prefix_as_typed():
        context = search_context(application)
        chosen = [known_manual(context, name) for name in options.manual]
        manuals, prefix = narrowed(context, chosen, options.prefix)
        answer = call_by_name(
            application,
            "manual_grep",
            surface=SURFACE,
            any=None if options.regex else options.texts,
            regex=options.texts[0] if options.regex else None,
            without=options.without,
            manual_id=manuals or "*",
            path_prefix=prefix,
            context=options.context or 0,
            exact=options.exact or None,
            word=options.word or None,
            count_only=options.count or None,
            cursor=options.cursor,
            max_chars=_CHARS,
        )
    only = manuals[0] if len(set(manuals)) == 1 else ""
    if options.json:
        print_json(answer)
    else:
        for line in _lines(answer, only, () if options.regex else options.texts):
            print_line(line)
        _explain(answer, only, options)
        if not (answer["total"] or options.regex) and any(map(_REGEX_LOOK.search, options.texts)):
            complain("TEXT was searched letter by letter; --regex makes it a regular expression")
        if not answer["total"] and answer.get("case_counts"):
            complain("case counts in a pattern of capitals; (?i) before it ignores case")
    return OK if answer["total"] else FAILURE


def _lines(answer: Any, only: str, texts: Sequence[str]) -> Iterator[str | Emphasised]:
    """Yield the lines of an answer; an answer about a single manual does not repeat its name."""
    before = None
    for group in answer.get("groups", ()):
        path = _path(group, only)
        if path != before:
            yield from ([""] if before else [])
            yield emphasised(path, "place")
        before = path
        if "section" in group:
            yield f"{_INDENT}{strip_controls(group['section'])}"
        also = group.get("also", {})
        for number, text in group["lines"]:
            yield _matching(f"{_INDENT * 2}{number}: ", strip_controls(text), texts)
            if str(number) in also:
                yield f"{_INDENT * 3}also {listed(also[str(number)], limit=9)}"
    for row in answer.get("counts", ()):
        yield f"{row['count']:6}  {_path(row, only)}"
    for row in answer.get("texts", ()):
        yield f"{row['count']:6}  {row['text']!r}"


def _matching(head: str, text: str, texts: Sequence[str]) -> Emphasised:
    """Return a line with the places of the texts; those of a pattern are not shown."""
    places = [
        (start + len(head), end + len(head)) for start, end in places_of(map(fold, texts), text)
    ]
    return Emphasised(head + text, places)


def _path(row: Any, only: str) -> str:
    return f"{row.get('manual_id', only)}/{row['path'].removeprefix('/')}"


def _explain(answer: Any, only: str, options: Namespace) -> None:
    """Print the number of lines and files, and what was not searched."""
    total, different = answer["total"], answer["different"]
    lines, files = counted(total, "line"), counted(answer["files"], "file")
    searched = counted(answer["searched"]["files"], "file")
    if different == total:
        complain(f"{lines} in {files}; {searched} searched")
    else:
        complain(f"{lines}, {different} of them different, in {files}; {searched} searched")
    for row in answer.get("not_searched", ()):
        files = "" if "path" in row else translated(counted(row["count"], "file"))
        reason = translated(reason_text(row["reason"]))
        complain("not searched: {0}: {1}", files or _path(row, only), reason)
    if "degraded" in answer:
        complain(f"warning: {answer['degraded']}")
    if "next_cursor" in answer:
        left = sum(row["count"] for row in answer["remaining"])
        cursor = ("--cursor", answer["next_cursor"])
        page = command(options, "grep", *_switches(options), cursor, places=options.texts)
        complain(f"{counted(left, 'line')} more; next: {page}")


def _switches(options: Namespace) -> Iterator[str | tuple[str, str]]:
    for manual in options.manual:
        yield "--manual", manual
    for name in ("regex", "exact", "word"):
        if getattr(options, name):
            yield f"--{name}"
    valued = {"-C": options.context, "--prefix": options.prefix, "--without": options.without}
    yield from ((switch, str(value)) for switch, value in valued.items() if value)
