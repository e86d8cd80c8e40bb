"""``fumishirube scan``: prints a file page by page, from any line."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from fumishirube import Citation, NotFound, SurfaceContext, ToolError
from fumishirube.commands import (
    OK,
    Application,
    add_json,
    at_least,
    call_by_name,
    command,
    complain,
    known_manual,
    opened,
    print_json,
    search_context,
    suggest,
    translated,
)
from fumishirube_manual.surface import SURFACE


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("manual", metavar="MANUAL", help="the manual's id, as 'ls' shows it")
    parser.add_argument("path", metavar="PATH", help="the file, as 'ls' or 'toc' shows it")
    help_text = "the line to start at (default: the first)"
    parser.add_argument("--line", metavar="N", type=at_least(1), help=help_text)
    help_text = "the character to continue from, as the last page printed"
    parser.add_argument("--cursor", metavar="N", type=at_least(0), help=help_text)
    add_page_options(parser)


def run(options: Namespace) -> int:
    """Print one page of a file; everything else goes to standard error."""
    if options.line is not None and options.cursor is not None:
        options.parser.error("--line and --cursor exclude each other")
    with opened(options) as application:
        context = search_context(application)
        place = ReadTarget(known_manual(context, options.manual), options.path, options.line)
        try:
            answer = text_page(application, place, options, options.cursor)
        except ToolError as error:
            explain(error, context, place, options)
            raise
    print_page(answer, place, options)
    return OK


class ReadTarget(NamedTuple):
    """A file of a manual, a line if given, and the citation if there is one."""

    manual: str
    path: str
    line: int | None
    cited: Citation | None = None


def text_page(
    application: Application, place: ReadTarget, options: Namespace, cursor: int | None = None
) -> Any:
    """Return the page of a file from a line, or from the character of a cursor."""
    return call_by_name(
        application,
        "manual_scan",
        surface=SURFACE,
        manual_id=place.manual,
        path=place.path,
        start_line=place.line,
        cursor=cursor,
        max_chars=options.max_chars,
    )


def add_page_options(parser: ArgumentParser) -> None:
    """Add the options of both commands."""
    help_text = "how many characters at most, 256 to 50000 (default: 12000)"
    parser.add_argument("--max-chars", metavar="N", type=at_least(256, 50_000), help=help_text)
    add_json(parser)


def print_page(answer: Any, place: ReadTarget, options: Namespace) -> None:
    """Print a page; print its position and the next command to standard error."""
    if options.json:
        print_json(answer)
        return
    text = answer["text"]
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    lines = answer["applied_range"]
    numbers, file = (lines["start_line"], lines["end_line"]), f"{place.manual}/{place.path}"
    after = answer["next_cursor"]["char_offset"]
    goes_on = "the file ends here" if after is None else "the file goes on"
    is_cut = answer["truncated"] and "scope" in answer["applied"]
    rest = translated("the section goes on" if is_cut else goes_on)
    complain("lines {0} to {1} of {2}; {3}", *numbers, file, rest)
    if after is not None:
        print_next(after, (place.manual, place.path), options)


def print_next(after: int, places: tuple[str, str], options: Namespace) -> None:
    """Print to standard error the command that goes on in a file of a manual."""
    complain(f"next: {command(options, 'scan', ('--cursor', str(after)), places=places)}")


def explain(
    error: ToolError, context: SurfaceContext, place: ReadTarget, options: Namespace
) -> None:
    """Add a suggested command to an error."""
    if isinstance(error, NotFound):
        with suppress(ToolError):  # there is no better suggestion than the error's own
            error.add_note(_nearest(context, place, options))


def about_unlisted(context: SurfaceContext, manual_id: str, path: str) -> str | None:
    """Say of a file that is not listed what would read it, or which name is near; else nothing."""
    manual = context.manual(manual_id)
    paths = list(manual.paths())
    if path in paths:
        return None
    reader = _reader(context, manual_id, path)
    return f"it is there; to read it: {reader}" if reader else str(suggest("file", path, paths))


def _reader(context: SurfaceContext, manual_id: str, path: str) -> str | None:
    """Return what would read a file that is there and not listed, if anything would."""
    try:
        if context.manual(manual_id).root.stat(path).kind != "file":
            return None
    except NotFound:
        return None
    suffix = PurePosixPath(path).suffix.lower()
    rows = context.unread_files(manual_id)
    return next((row.reader for row in rows if row.suffix == suffix), None)


def _nearest(context: SurfaceContext, place: ReadTarget, options: Namespace) -> str:
    """Suggest the section that contains the line, or the file with the nearest name."""
    if unlisted := about_unlisted(context, place.manual, place.path):
        return unlisted
    line = place.line or 1
    sections = context.manual(place.manual).document(place.path).sections
    around = [section.start_line for section in sections if section.start_line <= line]
    cite = Citation(place.manual, place.path, max(around, default=1))
    return f"next: {command(options, 'read', str(cite))}"
