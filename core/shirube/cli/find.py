"""``shirube find``: the best sections for a question, where they stand, and what was searched."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator

from shirube.budget import Budget
from shirube.cli.coverage import coverage_lines, next_line, terms_lines
from shirube.cli.explain import signals_line, tree_lines
from shirube.cli.findings import Findings, Found, as_json
from shirube.cli.output import clipped, print_json, tame, terminal_width
from shirube.cli.parser import Verbs, add_json, at_least
from shirube.cli.snippets import glimpse
from shirube.cli.workspace import Bar, chosen_manuals, opened, search_desk
from shirube.desk import WorkDesk
from shirube.errors import ToolError
from shirube.model import Query, Trace
from shirube.text import fold

TIME_MS = 60_000
SHOWN = 5
MOST_TERMS = 2
LONGEST_QUERY, LONGEST_TERM = 100_000, 200

_INDENT = "   "


def add(commands: Verbs) -> None:
    """Add the command."""
    parser = commands.add("find", run, "shirube find '入院給付金の請求期限は？' --manual 給付金編")
    told = "a question or words, in Japanese or English"
    parser.add_argument("query", metavar="QUERY", type=_text("QUERY", LONGEST_QUERY), help=told)
    told = "search this manual only (default: all)"
    parser.add_argument("--manual", metavar="ID", action="append", default=[], help=told)
    parser.add_argument(
        "--require",
        metavar="TERM",
        action="append",
        default=[],
        type=_text("TERM", LONGEST_TERM),
        help="a word that should stand in the sections; once or twice "
        "(default: the rarest words of the query that stand in the manual)",
    )
    told = f"how many sections to show (default: {SHOWN})"
    parser.add_argument("--limit", metavar="N", type=at_least(1), default=SHOWN, help=told)
    told = "also show what each stage did, and why each section scored"
    parser.add_argument("--explain", action="store_true", help=told)
    add_json(parser)


def run(options: Namespace) -> int:
    """Search, and print what came of it."""
    required = tuple({fold(term): term.strip() for term in options.require}.values())
    if len(required) > MOST_TERMS:
        options.parser.error(f"--require: at most {MOST_TERMS} terms, got {len(required)}")
    with opened(options) as application:
        desk = search_desk(application)
        findings = _search(desk, chosen_manuals(desk, options.manual), required, options)
        if options.json:
            print_json(as_json(findings, explain=options.explain))
        else:
            for line in _told(findings, desk, options):
                print(line)
    return 1 if findings.failed else 0


def _search(
    desk: WorkDesk, manuals: list[str], required: tuple[str, ...], options: Namespace
) -> Findings:
    traces: list[Trace] = []
    failed: list[tuple[str, str]] = []
    for manual in manuals:
        bar = Bar()
        query = Query(options.query, required, budget=Budget.of(TIME_MS))
        try:
            traces.append(desk.find(manual, query, bar.progress).trace)
        except ToolError as error:
            if len(manuals) == 1:
                raise
            failed.append((manual, str(error)))
        finally:
            bar.close()
    return Findings(options.query, required, options.limit, traces, failed)


def _told(findings: Findings, desk: WorkDesk, options: Namespace) -> Iterator[str]:
    columns = terminal_width()
    for rank, found in enumerate(findings.shown(), 1):
        yield from _hit_lines(rank, found, desk, columns)
        if options.explain:
            yield _INDENT + signals_line(found.row)
        yield ""
    if not findings.ranked():
        yield "nothing found"
    yield from terms_lines(findings)
    yield from coverage_lines(findings)
    if options.explain:
        for trace in findings.traces:
            yield from tree_lines(trace)
    yield next_line(findings, options)


def _hit_lines(rank: int, found: Found, desk: WorkDesk, columns: int) -> Iterator[str]:
    row = found.row
    head = f"{rank}. "
    tail = f"  {row.score:.2f}"
    yield head + clipped(tame(row.title), columns - len(head) - len(tail)) + tail
    yield _INDENT + found.cite
    try:
        document = desk.manual(found.trace.manual_id).document(row.path)
    except ToolError:
        return  # the file has gone since it was searched; the hit itself is still true
    for line in glimpse(document, row.start_line, row.matched, columns - len(_INDENT)):
        yield _INDENT + line


def _text(what: str, longest: int) -> Callable[[str], str]:
    def convert(word: str) -> str:
        if not fold(word):
            raise ArgumentTypeError(f"{what} is blank")
        if len(word) > longest:
            raise ArgumentTypeError(f"{what} has {len(word)} characters; at most {longest}")
        return word

    return convert
