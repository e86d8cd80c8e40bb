"""``fumishirube toc``: shows the files of a manual, and their headings."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from fumishirube.commands import (
    add_json,
    at_least,
    call_by_name,
    command,
    complain,
    counted,
    filled,
    known_manual,
    opened,
    search_context,
    show,
    table,
    translated,
)
from fumishirube_manual.commands.unread import unread_lines
from fumishirube_manual.scopes import narrowed, prefix_as_typed
from fumishirube_manual.surface import SURFACE


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("manual", metavar="MANUAL", help="the manual's id, as 'ls' shows it")
    help_text = "only this folder or file: PATH in the manual, or ID/PATH; a*b; !PATH: all others"
    parser.add_argument("--prefix", metavar="PATH", help=help_text)
    help_text = "show headings too; needs --prefix"
    parser.add_argument("--deep", action="store_true", help=help_text)
    help_text = "how many files a page holds (default: 20)"
    parser.add_argument("--max-files", metavar="N", type=at_least(1), help=help_text)
    help_text = "how many headings of a file are shown (default: 20)"
    parser.add_argument("--max-headings", metavar="N", type=at_least(1), help=help_text)
    help_text = "how many files to skip"
    parser.add_argument("--cursor", metavar="N", type=at_least(0), help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Show the files of a manual, and with ``--deep`` their headings."""
    if options.deep and not options.prefix:
        options.parser.error("--deep needs --prefix PATH: a file, or a folder of the manual")
    with opened(options) as application, prefix_as_typed():
        context = search_context(application)
        manual = known_manual(context, options.manual)
        _, prefix = narrowed(context, [manual], options.prefix)
        answer = call_by_name(
            application,
            "manual_toc",
            surface=SURFACE,
            manual_id=manual,
            path_prefix=prefix,
            depth="deep" if options.deep else None,
            max_files=options.max_files,
            max_headings_per_file=options.max_headings,
            cursor=options.cursor,
        )
    code = show(answer, options, _toc_lines)
    if not options.json:
        _print_next(answer, options)
    return code


def _toc_lines(answer: Any) -> Iterator[str]:
    items = answer["items"]
    for item in items:
        yield ": ".join(filter(None, (item["path"], item.get("title"))))
        headings = item["headings"]
        yield from table([(f"  L{h['line_start']}", _indented(h)) for h in headings])
        more = item.get("headings_total", len(headings)) - len(headings)
        if more > 0:
            rest = translated(counted(more, "heading"))
            yield f"  {filled('… and {0} more; see --max-headings', rest)}"
        yield from (f"  ({translated(remark)})" for remark in item.get("remarks", ()))
    total, first = answer["total_files"], answer["applied"]["offset"]
    if len(items) == total:
        yield translated(counted(total, "file"))
    elif items:
        yield filled("files {0} to {1} of {2}", first + 1, first + len(items), total)
    yield from unread_lines(answer.get("unread_files"), answer["applied"]["manual_id"])


def _indented(heading: Any) -> str:
    return f"{'  ' * (heading.get('level', 1) - 1)}{heading['title']}"


def _print_next(answer: Any, options: Namespace) -> None:
    words: list[str | tuple[str, str]]
    if answer["next_cursor"] is not None:
        words = [*_switches(options), ("--cursor", str(answer["next_cursor"]["offset"]))]
    elif answer["items"] and not options.deep:
        words = ["--deep", ("--prefix", answer["items"][-1]["path"])]
    else:
        return
    complain(f"next: {command(options, 'toc', *words, places=[options.manual])}")


def _switches(options: Namespace) -> Iterator[str | tuple[str, str]]:
    if options.prefix:
        yield "--prefix", options.prefix
    yield from ["--deep"] * options.deep
    if options.max_files:
        yield "--max-files", str(options.max_files)
    if options.max_headings:
        yield "--max-headings", str(options.max_headings)
