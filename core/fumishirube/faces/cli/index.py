"""``fumishirube index``: update the search indexes before the first search."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from pydantic import JsonValue

from fumishirube.engine.recoverable_index import IndexState
from fumishirube.errors import Forbidden, ToolError
from fumishirube.faces.cli.exit_codes import FAILURE, OK
from fumishirube.faces.cli.messages import filled, translated, word
from fumishirube.faces.cli.output import complain, counted, listed, print_json, table
from fumishirube.faces.cli.parser import add_json
from fumishirube.faces.cli.progress import Bar
from fumishirube.faces.cli.reasons import reason_text
from fumishirube.faces.cli.workspace import chosen_manuals, opened, search_context
from fumishirube.host.context import PipelineContext
from fumishirube.interrupts import interrupt
from fumishirube.query import Query

_FOLLOW_SECONDS = 1.0
"""Between two looks at the files."""
_ATTEMPTS, _PAUSE_SECONDS = 10, 0.1


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = "the manuals to index (default: all)"
    parser.add_argument("manuals", metavar="MANUAL", nargs="*", help=help_text)
    parser.add_argument("--rebuild", action="store_true", help="index every file anew")
    help_text = "stay, and index changes as they come, until interrupted"
    parser.add_argument("--follow", action="store_true", help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Index what changed, and print the number of sections; a manual that fails stops no other."""
    rows: list[tuple[str, IndexState]] = []
    failed: dict[str, ToolError] = {}
    with opened(options) as application:
        context = search_context(application)
        if not options.manuals:
            _forget(context)
        manuals = chosen_manuals(context, options.manuals)
        for manual in manuals:
            try:
                rows.append((manual, _indexed(context, manual, options)))
            except ToolError as error:
                if len(manuals) == 1 and not options.follow:
                    raise
                failed[manual] = error
                complain(f"error: {manual}: {error} [{error.code}]")
        _print(rows, failed, as_json=options.json)
        states = {**dict.fromkeys(failed), **dict(rows)}
        if options.follow:
            _follow(context, states, options)
    whole = all(state and not state.degraded for state in states.values())
    return OK if whole else FAILURE


def _indexed(context: PipelineContext, manual: str, options: Namespace) -> IndexState:
    """Index what changed in one manual."""
    with closing(Bar(expected=True)) as bar:
        rebuilt = context.rebuild(manual, bar.progress) if options.rebuild else None
        if options.rebuild and rebuilt is None:
            _delete_index(context, manual)
        return rebuilt or context.prepare(manual, Query(""), bar.progress, vectors=True)


def _forget(context: PipelineContext) -> Sequence[str]:
    """Delete manuals whose folders are gone where other machines list them; say which."""
    forgotten = context.forget_missing()
    for manual in forgotten:
        complain(f"{manual}: its folder is gone; deleted from the index")
    return forgotten


def _print(
    rows: Sequence[tuple[str, IndexState]], failed: Mapping[str, ToolError], *, as_json: bool
) -> None:
    if as_json:
        plain = [_plain(manual, state) for manual, state in rows]
        plain += [{"manual_id": manual, "error": e.payload()} for manual, e in failed.items()]
        print_json(plain)
        return
    for line in table([_state_cells(manual, state) for manual, state in rows]):
        print(line)


def _follow(
    context: PipelineContext, states: dict[str, IndexState | None], options: Namespace
) -> None:
    """Index what changes until interrupted; manuals without a state could not be indexed yet."""
    signal.signal(signal.SIGTERM, interrupt)
    problems: dict[str, str] = {}
    with suppress(KeyboardInterrupt):
        while True:
            sys.stdout.flush()
            time.sleep(_FOLLOW_SECONDS)
            if not options.manuals:
                _follow_list(context, states)
            for manual, before in states.items():
                try:
                    states[manual] = state = context.prepare(manual, Query(""), vectors=True)
                except ToolError as error:  # the index is away, or the folder is; both may return
                    if problems.get(manual) != str(error):
                        complain(f"{manual}: {error}")
                    problems[manual] = str(error)
                    continue
                problems.pop(manual, None)
                if before is None or state.fingerprint != before.fingerprint:
                    _print([(manual, state)], {}, as_json=options.json)


def _follow_list(context: PipelineContext, states: dict[str, IndexState | None]) -> None:
    """Add new manuals, and delete those whose folders are gone; try again later if that fails."""
    with suppress(ToolError):  # reported with the manuals themselves
        listed_now = context.manuals()
        if not states.keys() <= {*listed_now}:
            for manual in _forget(context):
                states.pop(manual, None)
        for manual in listed_now:
            states.setdefault(manual, None)


def _delete_index(context: PipelineContext, manual: str) -> None:
    """Delete every index of a manual, for any settings."""
    folder = context.index_folders.folder(manual)
    for _ in range(_ATTEMPTS):
        if not folder.exists():
            return
        with suppress(OSError):  # a server may be writing there
            shutil.rmtree(folder)
            return
        time.sleep(_PAUSE_SECONDS)
    raise Forbidden(f"the index of {manual!r} cannot be deleted; is it in use?")


def _plain(manual: str, state: IndexState) -> JsonValue:
    return {
        "manual_id": manual,
        "files": state.files,
        "sections": state.corpus.size,
        "skipped": [{"path": row.path, "reason": row.reason} for row in state.skipped],
        "degraded": state.degraded,
    }


def _state_cells(manual: str, state: IndexState) -> tuple[str, str, str]:
    skipped = [f"{row.path} ({translated(reason_text(row.reason))})" for row in state.skipped]
    notes = [filled("skipped: {0}", listed(skipped))] if skipped else []
    if state.degraded:
        notes.append(filled("degraded: {0}", translated(state.degraded)))
    files = counted(state.files - len(state.skipped), "file")
    sections = counted(state.corpus.size, "section")
    indexed = word("index", "{0} in {1}").format(translated(sections), translated(files))
    return manual, indexed, "; ".join(notes)
