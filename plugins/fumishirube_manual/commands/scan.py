"""``fumishirube scan``: prints a file page by page, from any line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from fumishirube import (
    ToolError,
)
from fumishirube.commands import (
    OK,
    at_least,
    known_manual,
    opened,
    search_context,
)
from fumishirube_manual.commands.pages import (
    ReadTarget,
    add_page_options,
    explain,
    print_page,
    text_page,
)


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
