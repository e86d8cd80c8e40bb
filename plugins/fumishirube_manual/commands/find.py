"""``fumishirube find``: shows the best sections for a query, and what was searched."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

from pydantic import JsonValue

from fumishirube import Budget, Call, ConfigError, NotFound, Query, SurfaceContext, Trace, TraceRow
from fumishirube.agreed_names import EVERY_MANUAL
from fumishirube.commands import (
    FAILURE,
    OK,
    Application,
    Bar,
    add_json,
    at_least,
    call_tool,
    chosen_manuals,
    complain,
    counted,
    known_manual,
    opened,
    print_json,
    print_line,
    search_context,
)
from fumishirube.text import concepts, fold
from fumishirube_manual.arguments import (
    CANDIDATES,
    MOST_ALTERNATIVES,
    QUERY_CHARS,
    TERM_CHARS,
    TERMS,
    TIME_MS,
    other_wordings,
)
from fumishirube_manual.citations import place_of_section
from fumishirube_manual.commands.explanations import add_explanations, show_fate
from fumishirube_manual.commands.result_lines import result_lines
from fumishirube_manual.commands.results import CitedHit, SearchResults, as_json
from fumishirube_manual.coverage import every_row
from fumishirube_manual.scopes import PREFIX_HELP, files_below, narrowed, prefix_as_typed
from fumishirube_manual.stores import stored_search
from fumishirube_manual.surface import Extra, ManualSurface

SHOWN = 5
_SHOWN: tuple[Extra, ...] = ("lines", "names", "answerable", "vocabulary")
"""The extras that results show, whichever the surface has."""
_NOT_FULL = ("why_not", "explain", "open", "limit")
_WHOLE_ID = 32

_OF_FULL = ("claims", "max_candidates", "time_ms", "cache", "only_unscanned")
"""The options of a full answer."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    help_text = "a question or words, in Japanese or English; quotes are not needed"
    parser.add_argument("words", metavar="WORD", nargs="+", help=help_text)
    help_text = "search this manual only (default: all)"
    parser.add_argument("--manual", metavar="ID", action="append", default=[], help=help_text)
    parser.add_argument(
        "--require",
        metavar="TERM",
        action="append",
        default=[],
        type=_text("TERM", TERM_CHARS),
        help=f"a word that the sections should contain; up to {TERMS} times "
        "(default: the rarest words of a short query that occur in the manual)",
    )
    parser.add_argument(
        "--or",
        dest="alternatives",
        metavar="TEXT",
        action="append",
        default=[],
        type=_text("TEXT", TERM_CHARS),
        help=f"the question in other words, or a part of it; up to {MOST_ALTERNATIVES} times",
    )
    parser.add_argument("--prefix", metavar="PATH", help=PREFIX_HELP)
    help_text = f"how many sections to show (default: {SHOWN})"
    parser.add_argument("--limit", metavar="N", type=at_least(1), help=help_text)
    add_explanations(parser)
    help_text = "open hit N (default: the first) in $VISUAL or $EDITOR, else as the system does"
    parser.add_argument(
        "--open", metavar="N", nargs="?", type=at_least(1), const=1, default=None, help=help_text
    )
    help_text = "print the full answer of the search as JSON; needs one manual"
    parser.add_argument("--full", action="store_true", help=help_text)
    _add_full_arguments(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Search, and print the result; return 1 if nothing is found, or a manual is not searched."""
    try:
        options.query = _text("the query", QUERY_CHARS)(" ".join(options.words))
    except ArgumentTypeError as error:
        options.parser.error(str(error))
    required = tuple({fold(term): term.strip() for term in options.require}.values())
    if len(required) > TERMS:
        options.parser.error(f"--require: at most {TERMS} terms, got {len(required)}")
    options.alternatives = other_wordings(options.query, options.alternatives)
    if len(options.alternatives) > MOST_ALTERNATIVES:
        texts = len(options.alternatives)
        options.parser.error(f"--or: at most {MOST_ALTERNATIVES} texts, got {texts}")
    if options.full and any(getattr(options, name) for name in _NOT_FULL):
        options.parser.error("--full: goes with none of --why-not, --explain, --open and --limit")
    options.limit = options.limit or SHOWN
    _check_full_arguments(options)
    with opened(options) as application, prefix_as_typed():
        context = search_context(application)
        named = chosen_manuals(context, options.manual) if options.manual else ()
        options.manual, options.prefix = narrowed(context, named, options.prefix)
        if options.full:
            answer = _full_answer(application, context, required, options)
            print_json(answer)
            return OK if answer["summary"]["candidates"] else FAILURE
        manuals = chosen_manuals(context, options.manual)
        _check_reference(context, manuals, options)
        results = _search(application, manuals, required, options)
        if options.why_not:
            return show_fate(results.trace, options.why_not, context, options)
        if options.open is not None:
            return _open(results, context, options)
        if options.json:
            print_json(as_json(results, explain=options.explain))
        else:
            for line in result_lines(results, context, options):
                print_line(line)
    return OK if results.complete and results.trace.search.rows else FAILURE


def _check_reference(context: SurfaceContext, manuals: Sequence[str], options: Namespace) -> None:
    if options.why_not is not None:
        manual_id = known_manual(context, options.why_not.manual_id)
        if manual_id not in manuals:
            options.parser.error(f"--why-not: its manual is {manual_id!r}, --manual names another")


def _search(
    application: Application, manuals: list[str], required: tuple[str, ...], options: Namespace
) -> SearchResults:
    context = search_context(application)
    requested = [*dict.fromkeys(manuals)]
    scope = "/".join(sorted(requested)) if options.manual or len(requested) == 1 else EVERY_MANUAL
    query = Query(
        options.query,
        required,
        alternatives=options.alternatives,
        within=files_below(context, scope, options.prefix),
        budget=Budget.of(TIME_MS),
    )
    with closing(Bar()) as bar:
        trace = stored_search(context, scope, query, _settings(application, context), bar.progress)
    unread = {name: every_row(context, name) for name in trace.manuals or requested}
    loose = () if options.manual else context.loose_files()
    shown = [_cited(context, trace, row) for row in trace.search.rows[: options.limit]]
    return SearchResults(trace, requested, shown, unread, loose)


def _cited(context: SurfaceContext, trace: Trace, row: TraceRow) -> CitedHit:
    place = trace.file(row.path)
    cited = place_of_section(context.manual, *place, row.start_line, row.digest)
    return CitedHit(row, place, cited)


def _settings(application: Application, context: SurfaceContext) -> ManualSurface:
    """Return the settings of the surface that searches, with the extras that results show.

    They are the defaults when it has no such settings.
    """
    contexts = application.contexts
    surface = next(each.surface for each in application.surfaces if contexts[each.name] is context)
    settings = surface if isinstance(surface, ManualSurface) else ManualSurface()
    tagged = [extra for extra in settings.extras if extra == "addressed"]
    return settings.model_copy(update={"extras": (*_SHOWN, *tagged)})


def _open(results: SearchResults, context: SurfaceContext, options: Namespace) -> int:
    from fumishirube_manual.commands.editors import open_file  # noqa: PLC0415 - for --open alone

    hits = results.shown
    if len(hits) < options.open:
        raise NotFound(f"there is no hit {options.open}; {counted(len(hits), 'hit')} shown")
    hit = hits[options.open - 1]
    manual_id, path = hit.place
    place = hit.cited.place if hit.cited else None
    root = context.manual(manual_id).root
    root.stat(path)  # raises for a link
    return open_file(root.path / path, hit.row.start_line, place)


def _text(what: str, longest: int) -> Callable[[str], str]:
    def convert(word: str) -> str:
        if not fold(word):
            raise ArgumentTypeError(f"{what} is blank")
        if len(word) > longest:
            raise ArgumentTypeError(f"{what} has {len(word)} characters; at most {longest}")
        return word

    return convert


def _add_full_arguments(parser: ArgumentParser) -> None:
    help_text = "with --full: also the claims in the hits, and their evidence"
    parser.add_argument("--claims", action="store_true", default=None, help=help_text)
    help_text = f"with --full: the most sections to return (default: {CANDIDATES})"
    parser.add_argument("--max-candidates", metavar="N", type=at_least(1), help=help_text)
    help_text = f"with --full: the time limit in milliseconds (default: {TIME_MS})"
    parser.add_argument("--time-ms", metavar="N", type=at_least(1), help=help_text)
    help_text = "with --full: use a cached answer, or search again"
    parser.add_argument("--cache", action=BooleanOptionalAction, help=help_text)
    help_text = "with --full: leave out what the search of this trace returned, and what was read"
    parser.add_argument("--only-unscanned", metavar="TRACE_ID", help=help_text)


def _check_full_arguments(options: Namespace) -> None:
    """Exit with a usage error for such an option without ``--full``."""
    for option in _OF_FULL:
        if getattr(options, option) is not None and not options.full:
            options.parser.error(f"--{option.replace('_', '-')}: needs --full")


def _full_answer(
    application: Application, context: SurfaceContext, required: tuple[str, ...], options: Namespace
) -> dict[str, Any]:
    """Call the surface's own ``manual_find``, which returns the full answer."""
    manuals = chosen_manuals(context, options.manual)
    if len(manuals) != 1:
        options.parser.error("--full: it searches one manual; name it with --manual ID")
    if "manual_find" not in application.commands:
        raise ConfigError("surfaces: none of them returns full answers; add {use: manual}")
    arguments: dict[str, JsonValue] = {  # null is as if it were not there
        "query": options.query,
        "manual_id": manuals[0],
        "required_terms": [*(required or _picked(context, manuals[0], options))],
        "alternatives": [*options.alternatives],
        "path_prefix": options.prefix,
        "budget": {"max_candidates": options.max_candidates, "time_ms": options.time_ms},
        "include_claim_graph": options.claims,
        "use_cache": options.cache,
        "only_unscanned_from_trace_id": options.only_unscanned,
    }
    if options.only_unscanned and len(options.only_unscanned) < _WHOLE_ID:
        trace = application.traces.named(options.only_unscanned)
        arguments["only_unscanned_from_trace_id"] = trace.id
    answer: dict[str, Any] = call_tool(application.commands["manual_find"], arguments, Call())
    return answer


def _picked(context: SurfaceContext, manual: str, options: Namespace) -> Sequence[str]:
    """Pick terms as a plain find does, and print them: the full answer requires some."""
    within = files_below(context, manual, options.prefix)
    query = Query(options.query, within=within, budget=Budget.of(TIME_MS))
    chosen = context.find(manual, query).trace.report.picked or [
        concept.text[:TERM_CHARS] for concept in concepts(options.query)[:TERMS]
    ]
    complain("picked terms: {0}; name others with --require TERM", ", ".join(chosen))
    return chosen
