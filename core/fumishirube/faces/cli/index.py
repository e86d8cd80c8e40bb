"""``fumishirube index``: update the search indexes before the first search."""

from __future__ import annotations

import shutil
from argparse import ArgumentParser, Namespace

from pydantic import JsonValue

from fumishirube.engine.folder_index import IndexState
from fumishirube.errors import Forbidden
from fumishirube.faces.cli.output import counted, listed, print_json, reason_text, table
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.workspace import Bar, chosen_manuals, opened, search_context
from fumishirube.host.application import Application
from fumishirube.query import Query


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = "the manuals to index (default: all)"
    parser.add_argument("manuals", metavar="MANUAL", nargs="*", help=help_text)
    help_text = "throw the manuals' indexes away first"
    parser.add_argument("--rebuild", action="store_true", help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Index what changed, and print the number of sections."""
    rows: list[tuple[str, IndexState]] = []
    with opened(options) as application:
        context = search_context(application)
        for manual in chosen_manuals(context, options.manuals):
            if options.rebuild:
                _delete_index(application, manual)
            bar = Bar(expected=True)
            try:
                rows.append((manual, context.prepare(manual, Query(""), bar.progress)))
            finally:
                bar.close()
        if options.json:
            print_json([_plain(manual, state) for manual, state in rows])
        else:
            for line in table([_state_cells(manual, state) for manual, state in rows]):
                print(line)
    return 1 if any(state.degraded for _, state in rows) else 0


def _delete_index(application: Application, manual: str) -> None:
    """Delete every index of a manual, for any settings."""
    folder = application.state.path / "index" / manual
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise Forbidden(f"the index of {manual!r} cannot be deleted; is it in use?") from error


def _plain(manual: str, state: IndexState) -> JsonValue:
    return {
        "manual_id": manual,
        "files": state.files,
        "sections": state.corpus.size,
        "skipped": [{"path": row.path, "reason": row.reason} for row in state.skipped],
        "degraded": state.degraded,
    }


def _state_cells(manual: str, state: IndexState) -> tuple[str, str, str]:
    skipped = [f"{row.path} ({reason_text(row.reason)})" for row in state.skipped]
    notes = [f"skipped: {listed(skipped)}"] if skipped else []
    if state.degraded:
        notes.append(f"degraded: {state.degraded}")
    files = counted(state.files - len(state.skipped), "file")
    sections = counted(state.corpus.size, "section")
    return manual, f"{sections} in {files}", "; ".join(notes)
