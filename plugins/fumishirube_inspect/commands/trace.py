"""``fumishirube trace``: export, replay and compare past searches."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache, partial
from pathlib import Path

from pydantic import JsonValue

from fumishirube import ConfigError, NotFound, Trace
from fumishirube.commands import (
    Application,
    Bar,
    add_json,
    add_subcommand,
    clipped,
    command,
    complain,
    counted,
    filled,
    opened,
    print_json,
    strip_controls,
    table,
    terminal_width,
    translated,
)
from fumishirube.serving import load_plugins
from fumishirube.text import printable_json
from fumishirube_inspect.commands.difference_lines import (
    difference_json,
    difference_lines,
    trace_line,
)
from fumishirube_inspect.differences import TraceDifference
from fumishirube_inspect.exports import (
    ExportedTrace,
    decode_export,
    encode_export,
    withheld_coordinates,
    withhold_paths,
)
from fumishirube_inspect.replays import (
    Replay,
    describe_recorded,
    open_replay_application,
    replay_trace,
)

_OK, _DIFFERENT = 0, 1
_SHORT = 8
_SUFFIX = ".json"
_SOURCE = "a trace's id or 8 characters of it, or a file that 'trace export' has written"


def add_arguments(parser: ArgumentParser) -> None:
    """Add a subcommand for each action; without any, the traces are listed."""
    add_json(parser)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND")
    new = partial(add_subcommand, inner)
    new("ls", run, "list the stored traces, newest first")
    added = new("export", _export, "write a trace as one file, for others or for later")
    help_text = "its id, or the 8 characters of it that 'trace ls' lists"
    added.add_argument("trace", metavar="TRACE", help=help_text)
    help_text = "where to write it (default: standard output)"
    added.add_argument("-o", "--output", metavar="FILE", type=Path, help=help_text)
    added = new("replay", _replay, "search again, and say whether the ranking is the same")
    added.add_argument("trace", metavar="FILE", help=_SOURCE)
    help_text = "with the configuration in force here, instead of the one in the file"
    added.add_argument("--current", action="store_true", help=help_text)
    added = new("diff", _diff, "compare two searches: ranks, signals, times and settings")
    added.add_argument("before", metavar="A", help=_SOURCE)
    added.add_argument("after", metavar="B", help="another one")


def run(options: Namespace) -> int:
    """List the stored traces."""
    with opened(options) as application:
        traces, damaged = application.traces.all_traces()
    for name in damaged:
        complain(f"warning: {name} cannot be read and is left out")
    if options.json:
        print_json([_plain(trace) for trace in traces])
        return _OK
    columns = terminal_width() if sys.stdout.isatty() else sys.maxsize
    for line in table([_cells(trace, columns // 4) for trace in traces]):
        print(clipped(line, columns))
    if not traces:
        print(translated("no traces are stored; 'fumishirube find QUERY' makes one"))
    return _OK


def _cells(trace: Trace, widest: int) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(trace.created))
    hits = translated(counted(len(trace.search.rows), "hit"))
    manual = clipped(trace.manual_id, widest)
    return trace.id[:_SHORT], when, manual, hits, strip_controls(trace.text)


def _plain(trace: Trace) -> JsonValue:
    return {
        "trace_id": trace.id,
        "created": trace.created,
        "manual_id": trace.manual_id,
        "query": trace.text,
        "hits": len(trace.search.rows),
        "ms": trace.search.ms,
    }


def _export(options: Namespace) -> int:
    with opened(options) as application:
        export = describe_recorded(application, application.traces.named(options.trace.strip()))
    data = encode_export(export)
    for name in withheld_coordinates(withhold_paths(export.trace.origin.recipe.stages)):
        complain(f"note: {name} contains an absolute path, which is not exported")
    if export.content is None:
        complain("note: the files have changed since; a replay can tell that, but not what")
    if options.output is None:
        print(printable_json(data.decode("utf-8", "replace")), end="")
        return _OK
    try:
        options.output.write_bytes(data)
    except OSError as error:
        raise ConfigError(f"{options.output}: it cannot be written there") from error
    if options.json:
        print_json({"trace_id": export.trace.id, "file": str(options.output)})
    else:
        replay = command(options, "trace", "replay", places=[str(options.output)])
        print(filled("wrote {0}; next: {1}", options.output, replay))
    return _OK


def _replay(options: Namespace) -> int:
    plugins = load_plugins(strangers=not options.no_plugins)
    with opened(options) as application, closing(Bar()) as bar:
        before = _source(options.trace, lambda: application)
        configured_by = None if options.current else before.trace
        with open_replay_application(application, plugins, configured_by) as rehearsal:
            after = replay_trace(rehearsal, before.trace, bar.progress, current=options.current)
    replay = Replay(before, after)
    if options.json:
        print_json(_replay_json(replay))
    else:
        for line in _replay_lines(replay):
            print(line)
    return _OK if replay.difference.same_ranking else _DIFFERENT


def _replay_lines(replay: Replay) -> Iterator[str]:
    difference, trace = replay.difference, replay.before.trace
    yield trace_line(trace)
    if difference.same_ranking:
        yield filled(
            "the same ranking: {0}"
            if difference.same_scores
            else "the same ranking: {0}; scores differ",
            translated(counted(len(trace.search.rows), "hit")),
        )
    else:
        yield translated("the ranking differs")
    if replay.changes:
        yield translated("changed since:")
        yield from table([(f"  {cause}", translated(text)) for cause, text in replay.changes])
    elif not difference.same_ranking:
        yield translated(
            "neither corpus, configuration nor plugins have changed: a stage is not repeatable"
        )
    else:
        yield translated("neither corpus, configuration nor plugins have changed")
    if not difference.same_ranking:
        yield from difference_lines(difference)


def _replay_json(replay: Replay) -> JsonValue:
    return {
        "same_ranking": replay.difference.same_ranking,
        "changes": [change._asdict() for change in replay.changes],
        **difference_json(replay.difference),
    }


def _diff(options: Namespace) -> int:
    with ExitStack() as stack:  # two files need no workspace
        application = cache(lambda: stack.enter_context(opened(options)))
        before, after = (_source(word, application) for word in (options.before, options.after))
    difference = TraceDifference(before.trace, after.trace)
    if options.json:
        print_json(difference_json(difference))
    else:
        for line in difference_lines(difference, stages=True):
            print(line)
    return _OK


def _source(word: str, application: Callable[[], Application]) -> ExportedTrace:
    """Return the trace that an argument names: of a file, or a stored one."""
    file = Path(word)
    if not word.endswith(_SUFFIX) and not file.is_file():
        opened_application = application()
        return describe_recorded(opened_application, opened_application.traces.named(word.strip()))
    try:
        return decode_export(file.read_bytes(), file.name)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file.name!r}") from error
    except OSError as error:
        raise ConfigError(f"{file.name}: it cannot be read; check its permissions") from error
