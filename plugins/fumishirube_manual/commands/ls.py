"""``fumishirube ls``: lists the manuals, or the content of one."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from fumishirube.commands import (
    Application,
    add_json,
    call_by_name,
    command,
    complain,
    known_manual,
    opened,
    search_context,
    show,
    suggest,
    translated,
)
from fumishirube.text import nfc
from fumishirube_manual.commands.unread import loose_lines, unread_lines
from fumishirube_manual.surface import SURFACE

_ROOT = "manuals"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    help_text = "a manual, or a folder in one as MANUAL/FOLDER (default: all manuals)"
    parser.add_argument("id", metavar="ID", nargs="?", default=_ROOT, help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """List the manuals, or the content of one."""
    with opened(options) as application:
        answer = call_by_name(
            application, "manual_ls", surface=SURFACE, id=_opaque(application, options.id)
        )
        loose = search_context(application).loose_files() if options.id == _ROOT else ()
        if loose:
            answer = {**answer, "loose_files": [*loose]}
    items = answer["items"]
    code = show(answer, options, lambda _: _lines(answer, options.id))
    if options.id == _ROOT and items and not options.json:
        complain(f"next: {command(options, 'toc', places=[items[0]['name']])}")
    return code


def _opaque(application: Application, name: str) -> str:
    """Convert ``MANUAL/FOLDER`` to the tool's id by walking down; other ids stay."""
    if name == _ROOT or "::" in name.partition("/")[0]:  # no manual has it in its name
        return name
    manual, *folders = name.strip("/").split("/")
    folder_id = known_manual(search_context(application), manual)
    for folder in folders:
        items = call_by_name(application, "manual_ls", surface=SURFACE, id=folder_id)["items"]
        below = {item["name"]: item["id"] for item in items if item["kind"] == "dir"}
        if nfc(folder) not in below:
            raise suggest("folder", folder, below)
        folder_id = below[nfc(folder)]
    return folder_id


def _lines(answer: Any, name: str) -> Iterator[str]:
    for item in answer["items"]:
        yield item["name"] + ("/" if item["kind"] == "dir" else "")
    if not answer["items"]:
        yield translated("nothing here")
    yield from unread_lines(answer.get("unread_files"), name)
    yield from loose_lines(answer.get("loose_files"), _ROOT)
