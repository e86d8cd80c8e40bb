"""``fumishirube read``: prints the text of one section."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from fumishirube import (
    Citation,
    InvalidParameter,
    InvalidScope,
    NotFound,
    SurfaceContext,
    ToolError,
)
from fumishirube.commands import (
    FAILURE,
    OK,
    SCHEME,
    Application,
    at_least,
    call_by_name,
    command,
    complain,
    known_manual,
    opened,
    print_json,
    search_context,
)
from fumishirube.text import Lines
from fumishirube.tools import PAGE_CHARS, TextPage
from fumishirube_manual.citations import CheckedCitation, CitationChecker
from fumishirube_manual.commands.scan import (
    ReadTarget,
    add_page_options,
    explain,
    print_next,
    print_page,
    text_page,
)
from fumishirube_manual.ranges import cited_bounds
from fumishirube_manual.surface import SURFACE


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    help_text = (
        "a citation manual://ID/PATH#L10 as 'find' prints it, or ID/PATH; "
        "the exit code is 1 if it has a hash and the text has changed or moved"
    )
    parser.add_argument("place", metavar="REF", type=_place, help=help_text)
    help_text = "the section's first line (default: that of REF, else the first section)"
    parser.add_argument("--line", metavar="N", type=at_least(1), help=help_text)
    add_page_options(parser)


def run(options: Namespace) -> int:
    """Print one section, or a page of a file without sections; everything else to standard error.

    Return 1 when the cited text has changed or moved.
    """
    with opened(options) as application:
        context = search_context(application)
        place = options.place._replace(manual=known_manual(context, options.place.manual))
        if options.line:
            place = place._replace(line=options.line, cited=None)
        cited = place.cited if place.cited and (place.cited.digest or place.cited.place) else None
        checked = CitationChecker(context.manual).check(str(cited)) if cited else None
        if checked and checked.now:
            now = checked.now
            place = ReadTarget(now.manual_id, now.path, now.start_line, now)
        if place.cited and (place.cited.place or _is_range(context, place.cited)):
            return _read_lines(context, place.cited, checked, options)
        try:
            answer = _section(application, place, options)
        except ToolError as error:
            if place.cited and isinstance(error, NotFound) and "start_line" in error.details:
                return _read_lines(context, place.cited, checked, options)
            if checked and checked.state != "valid":
                error.add_note(f"note: {checked.explanation}")
            explain(error, context, place, options)
            raise
    print_page(answer, place, options)
    return _verdict(checked)


def _is_range(context: SurfaceContext, cited: Citation) -> bool:
    """Tell whether a citation is of lines that do not begin with a section."""
    if cited.end_line is None:
        return False
    document = context.manual(cited.manual_id).document(cited.path)
    return all(section.start_line != cited.start_line for section in document.sections)


def _read_lines(
    context: SurfaceContext, cited: Citation, checked: CheckedCitation | None, options: Namespace
) -> int:
    """Print the lines of a citation, or those of its page, slide or rows; at most a page of them.

    A citation of one line is of the rest of its section too, with those inside it.
    """
    document = context.manual(cited.manual_id).document(cited.path)
    text, names = Lines(document.text), ("the first line", "the last line")
    first, last = cited_bounds(document, text, cited.within(document), names)
    start, end = text.start(first), text.start(last + 1)
    page = TextPage.of(document.text, start, min(end, start + (options.max_chars or PAGE_CHARS)))
    lines, goes_on = page.lines, page.next_offset < end
    if options.json:
        print_json(
            {
                "text": page.text,
                "truncated": goes_on,
                "applied_range": lines.model_dump(),
                "next_cursor": page.next_cursor.model_dump(),
            }
        )
        return _verdict(checked)
    sys.stdout.write(page.text if page.text.endswith("\n") else f"{page.text}\n")
    numbers, file = (lines.start_line, lines.end_line), (cited.manual_id, cited.path)
    if cited.place:
        complain("{0} is lines {1} to {2} of {3}/{4}", cited.place, *numbers, *file)
    else:
        complain("lines {0} to {1} of {2}", *numbers, "/".join(file))
    if goes_on:
        complain("the cited lines go on")
        print_next(page.next_offset, file, options)
    return _verdict(checked)


def _verdict(checked: CheckedCitation | None) -> int:
    """Return the exit code; print a note when the citation no longer holds."""
    if checked is None or checked.state == "valid":
        return OK
    complain(f"note: this citation no longer holds ({checked.state}): {checked.explanation}")
    return FAILURE


def _section(application: Application, place: ReadTarget, options: Namespace) -> Any:
    """Return the section; for JSON, which has none, the page from the line."""
    ref = {"manual_id": place.manual, "path": place.path, "start_line": place.line}
    try:
        return call_by_name(
            application, "manual_read", surface=SURFACE, ref=ref, max_chars=options.max_chars
        )
    except InvalidScope:
        return text_page(application, place, options)
    except NotFound as error:
        if "start_line" not in error.details:
            raise
        refusal = NotFound(f"no section starts on line {place.line}", **error.details)
        prefix = ("--prefix", place.path)
        listing = command(options, "toc", "--deep", prefix, places=[place.manual])
        refusal.add_note(f"sections: {listing}")
        raise refusal from error


def _place(word: str) -> ReadTarget:
    """Parse a citation without its scheme, or ``ID/PATH``."""
    manual, _, path = word.partition("/")
    if manual and path and not word.startswith(SCHEME) and "#" not in word:
        return ReadTarget(manual, path, None)
    try:
        cited = Citation.parse(SCHEME + word.removeprefix(SCHEME))
    except InvalidParameter as error:
        raise ArgumentTypeError(
            f"expected manual://ID/PATH#L10 or ID/PATH, got {word[:80]!r}; "
            "'fumishirube find' prints such citations"
        ) from error
    return ReadTarget(cited.manual_id, cited.path, cited.start_line, cited)
