"""``fumishirube find``: the best sections for a question, where they stand, and what was searched."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator, Sequence

from pydantic import JsonValue

from fumishirube.budget import Budget
from fumishirube.citations import Citation
from fumishirube.errors import ConfigError, ToolError
from fumishirube.faces.cli.coverage import account_line, coverage_lines, next_line, terms_lines
from fumishirube.faces.cli.explanations import LEGEND, signals_line, tree_lines
from fumishirube.faces.cli.fates import fate_json, fate_lines, reference
from fumishirube.faces.cli.output import clipped, print_json, tame, terminal_width
from fumishirube.faces.cli.parser import Verbs, add_json, at_least
from fumishirube.faces.cli.results import Findings, Found, as_json, picked
from fumishirube.faces.cli.snippets import body_in, body_of, glimpse
from fumishirube.faces.cli.streams import complain
from fumishirube.faces.cli.workspace import (
    Bar,
    chosen_manuals,
    known_manual,
    opened,
    search_desk,
)
from fumishirube.host.application import Application
from fumishirube.host.calls import call_tool
from fumishirube.host.context import WorkDesk
from fumishirube.model import Call, Query, Trace
from fumishirube.text.concepts import concepts
from fumishirube.text.folding import fold
from fumishirube.traces.fates import fate, section_at

TIME_MS = 60_000
SHOWN = 5
MOST_TERMS = 2
LONGEST_QUERY, LONGEST_TERM = 100_000, 200

_INDENT = "   "


def add(commands: Verbs) -> None:
    """Add the command."""
    parser = commands.add(
        "find", run, "fumishirube find '入院給付金の請求期限は？' --manual 給付金編"
    )
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
    told = "say why this section (manual://ID/PATH#L10) is not among the hits, or where it ranks"
    parser.add_argument("--why-not", metavar="REF", type=reference, help=told)
    told = "print the full answer of the search as JSON; needs one manual"
    parser.add_argument("--full", action="store_true", help=told)
    told = "with --full: also the claims that the hits make, and what bears them out"
    parser.add_argument("--claims", action="store_true", help=told)
    add_json(parser)


def run(options: Namespace) -> int:
    """Search, and print what came of it."""
    required = tuple({fold(term): term.strip() for term in options.require}.values())
    if len(required) > MOST_TERMS:
        options.parser.error(f"--require: at most {MOST_TERMS} terms, got {len(required)}")
    if options.full and (options.why_not or options.explain):
        options.parser.error("--full: goes with neither --why-not nor --explain")
    if options.claims and not options.full:
        options.parser.error("--claims: needs --full")
    with opened(options) as application:
        desk = search_desk(application)
        if options.full:
            print_json(_full(application, desk, required, options))
            return 0
        manuals = chosen_manuals(desk, _wanted(desk, options))
        findings = _search(desk, manuals, required, options)
        if options.why_not:
            return _tell_fate(findings.traces[0], desk, options)
        if options.json:
            print_json(as_json(findings, explain=options.explain))
        else:
            for line in _told(findings, desk, options):
                print(line)
    return 1 if findings.failed else 0


def _wanted(desk: WorkDesk, options: Namespace) -> list[str]:
    """Return the manuals that are named, by ``--why-not`` too."""
    named: list[str] = options.manual
    if options.why_not is None:
        return named
    asked = known_manual(desk, options.why_not.manual_id)
    if any(known_manual(desk, name) != asked for name in named):
        options.parser.error(f"--why-not: its manual is {asked!r}, --manual names another")
    return [asked]


def _full(
    application: Application, desk: WorkDesk, required: tuple[str, ...], options: Namespace
) -> JsonValue:
    """Ask the surface for the whole answer, which it gives to nobody outside the process."""
    manuals = chosen_manuals(desk, options.manual)
    if len(manuals) != 1:
        options.parser.error("--full: it searches one manual; name it with --manual ID")
    if "manual_find" not in application.commands:
        raise ConfigError("surfaces: none of them gives full answers; add {use: manual}")
    arguments = {
        "query": options.query,
        "manual_id": manuals[0],
        "required_terms": [*(required or _picked(desk, manuals[0], options.query))],
        "include_claim_graph": options.claims,
    }
    return call_tool(application.commands["manual_find"], arguments, Call())


def _picked(desk: WorkDesk, manual: str, query: str) -> Sequence[str]:
    """Choose the terms as a find without any does, and say so: the full answer needs some."""
    trace = desk.find(manual, Query(query, budget=Budget.of(TIME_MS))).trace
    chosen = picked(trace) or [one.text[:LONGEST_TERM] for one in concepts(query)[:MOST_TERMS]]
    complain(f"picked terms: {', '.join(chosen)}; name others with --require TERM")
    return chosen


def _tell_fate(trace: Trace, desk: WorkDesk, options: Namespace) -> int:
    asked: Citation = options.why_not
    document = desk.manual(asked.manual_id).document(asked.path)
    one = fate(trace, asked.path, section_at(document, asked.start_line))
    if options.json:
        print_json(fate_json(one))
    else:
        for line in fate_lines(one):
            print(line)
    return 0


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
        yield LEGEND
    if findings.traces:
        yield account_line(findings, options)
    yield next_line(findings, options)


def _hit_lines(rank: int, found: Found, desk: WorkDesk, columns: int) -> Iterator[str]:
    row = found.row
    head = f"{rank}. "
    tail = f"  {row.score:.2f}"
    yield head + clipped(tame(row.title), columns - len(head) - len(tail)) + tail
    yield _INDENT + found.cite
    try:
        body = body_of(row, desk.root.child(found.trace.manual_id))
        if body is None:
            document = desk.manual(found.trace.manual_id).document(row.path)
            body = body_in(document, row.start_line)
    except ToolError:
        return  # the file has gone since it was searched; the hit itself is still true
    for line in glimpse(row.title, body, row.matched, columns - len(_INDENT)):
        yield _INDENT + line


def _text(what: str, longest: int) -> Callable[[str], str]:
    def convert(word: str) -> str:
        if not fold(word):
            raise ArgumentTypeError(f"{what} is blank")
        if len(word) > longest:
            raise ArgumentTypeError(f"{what} has {len(word)} characters; at most {longest}")
        return word

    return convert
