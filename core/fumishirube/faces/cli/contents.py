"""``fumishirube ls`` and ``fumishirube toc``: what is there, and under which headings."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from fumishirube.faces.cli.output import command, counted, table
from fumishirube.faces.cli.parser import Commands, add_json, at_least
from fumishirube.faces.cli.streams import complain
from fumishirube.faces.cli.tool_calls import call_by_name, show, suggest
from fumishirube.faces.cli.workspace import known_manual, opened, search_context
from fumishirube.host.application import Application
from fumishirube.text.folding import nfc

_ROOT = "manuals"


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = commands.add("ls", ls, "fumishirube ls 業務ハンドブック/経費")
    help_text = "a manual, or a folder in one as MANUAL/FOLDER (default: all manuals)"
    parser.add_argument("id", metavar="ID", nargs="?", default=_ROOT, help=help_text)
    add_json(parser)
    parser = commands.add("toc", toc, "fumishirube toc 給付金編 --deep --prefix 09_請求手続.txt")
    parser.add_argument("manual", metavar="MANUAL", help="the manual's id, as 'ls' shows it")
    help_text = "only this folder or file of the manual"
    parser.add_argument("--prefix", metavar="PATH", help=help_text)
    help_text = "show headings too; needs --prefix"
    parser.add_argument("--deep", action="store_true", help=help_text)
    help_text = "how many files a page holds (default: 20)"
    parser.add_argument("--max-files", metavar="N", type=at_least(1), help=help_text)
    help_text = "how many headings of a file are shown (default: 20)"
    parser.add_argument("--max-headings", metavar="N", type=at_least(1), help=help_text)
    help_text = "how many files to pass over"
    parser.add_argument("--cursor", metavar="N", type=at_least(0), help=help_text)
    add_json(parser)


def ls(options: Namespace) -> int:
    """List the manuals, or what one of them holds."""
    with opened(options) as application:
        answer = call_by_name(application, "manual_ls", id=_opaque(application, options.id))
    items = answer["items"]
    code = show(answer, options, lambda _: _item_lines(items))
    if options.id == _ROOT and items and not options.json:
        complain(f"next: {command(options, 'toc', items[0]['name'])}")
    return code


def toc(options: Namespace) -> int:
    """Show the files of a manual, and with ``--deep`` their headings."""
    if options.deep and not options.prefix:
        options.parser.error("--deep needs --prefix PATH: a file, or a folder of the manual")
    with opened(options) as application:
        answer = call_by_name(
            application,
            "manual_toc",
            manual_id=known_manual(search_context(application), options.manual),
            path_prefix=options.prefix,
            depth="deep" if options.deep else None,
            max_files=options.max_files,
            max_headings_per_file=options.max_headings,
            cursor=options.cursor,
        )
    code = show(answer, options, _toc_lines)
    if not options.json:
        _print_next(answer, options)
    return code


def _opaque(application: Application, name: str) -> str:
    """Turn ``MANUAL/FOLDER`` into the tool's own id by walking down; other ids stay."""
    if name == _ROOT or "::" in name:
        return name
    manual, *folders = name.strip("/").split("/")
    folder_id = known_manual(search_context(application), manual)
    for folder in folders:
        items = call_by_name(application, "manual_ls", id=folder_id)["items"]
        below = {item["name"]: item["id"] for item in items if item["kind"] == "dir"}
        if nfc(folder) not in below:
            raise suggest("folder", folder, below)
        folder_id = below[nfc(folder)]
    return folder_id


def _item_lines(items: list[Any]) -> Iterator[str]:
    for item in items:
        yield item["name"] + ("/" if item["kind"] == "dir" else "")
    if not items:
        yield "nothing is here"


def _toc_lines(answer: Any) -> Iterator[str]:
    items = answer["items"]
    for item in items:
        yield item["path"]
        headings = item["headings"]
        yield from table([(f"  L{h['line_start']}", _indented(h)) for h in headings])
        more = item.get("headings_total", len(headings)) - len(headings)
        if more > 0:
            yield f"  … and {counted(more, 'heading')} more; see --max-headings"
    total, first = answer["total_files"], answer["applied"]["offset"]
    if len(items) == total:
        yield counted(total, "file")
    elif items:
        yield f"files {first + 1} to {first + len(items)} of {total}"


def _indented(heading: Any) -> str:
    return f"{'  ' * (heading.get('level', 1) - 1)}{heading['title']}"


def _print_next(answer: Any, options: Namespace) -> None:
    words = ["toc", options.manual]
    if answer["next_cursor"] is not None:
        if options.prefix:
            words += ["--prefix", options.prefix]
        if options.deep:
            words += ["--deep"]
        words += ["--cursor", str(answer["next_cursor"]["offset"])]
    elif answer["items"] and not options.deep:
        words += ["--deep", "--prefix", answer["items"][-1]["path"]]
    else:
        return
    complain(f"next: {command(options, *words)}")
