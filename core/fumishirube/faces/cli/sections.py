"""``fumishirube read`` and ``fumishirube scan``: the text itself, a section or a page at a time."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError, Namespace
from typing import Any, NamedTuple

from fumishirube.citations import SCHEME, Citation
from fumishirube.errors import InvalidParameter, InvalidScope, NotFound, ToolError
from fumishirube.faces.cli.output import command, print_json
from fumishirube.faces.cli.parser import Commands, Parser, add_json, at_least
from fumishirube.faces.cli.streams import complain
from fumishirube.faces.cli.tool_calls import call_by_name, suggest
from fumishirube.faces.cli.workspace import known_manual, opened, search_context
from fumishirube.host.application import Application
from fumishirube.host.citation_checks import CitationChecker
from fumishirube.host.context import PipelineContext


class ReadTarget(NamedTuple):
    """A file of a manual, a line if one is named, and the citation if it has a hash."""

    manual: str
    path: str
    line: int | None
    cited: Citation | None = None


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = commands.add("read", read, "fumishirube read 'manual://field-guide/power.md#L1'")
    help_text = (
        "a citation manual://ID/PATH#L10 as 'find' gives it, or ID/PATH; "
        "the exit code is 1 if it has a hash and the text is another one, or elsewhere, now"
    )
    parser.add_argument("place", metavar="REF", type=_place, help=help_text)
    help_text = "the section's first line (default: that of REF, else the first section)"
    parser.add_argument("--line", metavar="N", type=at_least(1), help=help_text)
    _add_page_options(parser)
    parser = commands.add("scan", scan, "fumishirube scan reference sensors.json --line 20")
    parser.add_argument("manual", metavar="MANUAL", help="the manual's id, as 'ls' shows it")
    parser.add_argument("path", metavar="PATH", help="the file, as 'ls' or 'toc' shows it")
    help_text = "the line to start at (default: the first)"
    parser.add_argument("--line", metavar="N", type=at_least(1), help=help_text)
    help_text = "the character to go on from, as the last page said"
    parser.add_argument("--cursor", metavar="N", type=at_least(0), help=help_text)
    _add_page_options(parser)


def read(options: Namespace) -> int:
    """Print one section, or a page of a file without sections; the rest goes to standard error.

    Return 1 when the text is not, or not there, what the citation speaks of.
    """
    with opened(options) as application:
        context = search_context(application)
        place = options.place._replace(manual=known_manual(context, options.place.manual))
        if options.line:
            place = place._replace(line=options.line, cited=None)
        checked = CitationChecker(context.manual).check(str(place.cited)) if place.cited else None
        if checked and checked.now:
            place = ReadTarget(checked.now.manual_id, checked.now.path, checked.now.start_line)
        try:
            answer = _section(application, place, options)
        except ToolError as error:
            if checked and checked.state != "valid":
                error.add_note(f"note: {checked.explanation}")
            _explain(error, context, place, options)
            raise
    _print_page(answer, place, options)
    if checked is None or checked.state == "valid":
        return 0
    complain(f"note: this citation no longer holds ({checked.state}): {checked.explanation}")
    return 1


def _section(application: Application, place: ReadTarget, options: Namespace) -> Any:
    """Return the section, or for JSON, which has none, the page that begins at the line."""
    ref = {"manual_id": place.manual, "path": place.path, "start_line": place.line}
    ref = {key: value for key, value in ref.items() if value is not None}
    try:
        return call_by_name(application, "manual_read", ref=ref, max_chars=options.max_chars)
    except InvalidScope:
        return _page(application, place, options)
    except NotFound as error:
        if "start_line" not in error.details:
            raise
        refusal = NotFound(f"no section starts on line {place.line}", **error.details)
        listing = command(options, "toc", place.manual, "--deep", "--prefix", place.path)
        refusal.add_note(f"sections: {listing}")
        raise refusal from error


def scan(options: Namespace) -> int:
    """Print one page of a file; what else there is to say goes to standard error."""
    if options.line is not None and options.cursor is not None:
        options.parser.error("--line and --cursor exclude each other")
    with opened(options) as application:
        context = search_context(application)
        place = ReadTarget(known_manual(context, options.manual), options.path, options.line)
        try:
            answer = _page(application, place, options, options.cursor)
        except ToolError as error:
            _explain(error, context, place, options)
            raise
    _print_page(answer, place, options)
    return 0


def _page(
    application: Application, place: ReadTarget, options: Namespace, cursor: int | None = None
) -> Any:
    return call_by_name(
        application,
        "manual_scan",
        manual_id=place.manual,
        path=place.path,
        start_line=place.line,
        cursor=cursor,
        max_chars=options.max_chars,
    )


def _place(word: str) -> ReadTarget:
    """Take a citation, whose scheme may be left out, or the bare names ``ID/PATH``."""
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
    checkable = cited if cited.digest else None
    return ReadTarget(cited.manual_id, cited.path, cited.start_line, checkable)


def _add_page_options(parser: Parser) -> None:
    help_text = "how many characters at most, 256 to 50000 (default: 12000)"
    parser.add_argument("--max-chars", metavar="N", type=at_least(1), help=help_text)
    add_json(parser)


def _print_page(answer: Any, place: ReadTarget, options: Namespace) -> None:
    if options.json:
        print_json(answer)
        return
    text = answer["text"]
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    lines = answer["applied_range"]
    position = f"lines {lines['start_line']} to {lines['end_line']} of {place.manual}/{place.path}"
    after = answer["next_cursor"]["char_offset"]
    complain(f"{position}; {'the section goes on' if _is_cut(answer) else _end(after)}")
    if after is not None:
        words = ("scan", place.manual, place.path, "--cursor", str(after))
        complain(f"next: {command(options, *words)}")


def _is_cut(answer: Any) -> bool:
    return bool(answer["truncated"]) and "scope" in answer["applied"]


def _end(after: int | None) -> str:
    return "the file ends here" if after is None else "the file goes on"


def _explain(
    error: ToolError, context: PipelineContext, place: ReadTarget, options: Namespace
) -> None:
    """Add to a refusal what to type instead."""
    try:
        if isinstance(error, NotFound):
            error.add_note(_nearest(context, place, options))
    except ToolError:
        return  # no better advice than the refusal itself


def _nearest(context: PipelineContext, place: ReadTarget, options: Namespace) -> str:
    """Name the section that holds the line, or the file of the nearest name."""
    manual = context.manual(place.manual)
    paths = list(manual.paths())
    if place.path not in paths:
        return str(suggest("file", place.path, paths))
    line = place.line or 1
    around = [s.start_line for s in manual.document(place.path).sections if s.start_line <= line]
    cite = Citation(place.manual, place.path, max(around, default=1))
    return f"next: {command(options, 'read', str(cite))}"
