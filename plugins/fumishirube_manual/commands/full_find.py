"""``fumishirube find --full``: prints the full answer, with all arguments of the tool."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from fumishirube import Budget, Call, ConfigError, Query, SurfaceContext
from fumishirube.commands import Application, at_least, call_tool, chosen_manuals, complain
from fumishirube.text import concepts
from fumishirube_manual.tools.find_arguments import CANDIDATES, TERM_CHARS, TERMS, TIME_MS

WHOLE_ID = 32

_ARGUMENTS = {
    "claims": "include_claim_graph",
    "max_candidates": "max_candidates",
    "time_ms": "time_ms",
    "cache": "use_cache",
    "only_unscanned": "only_unscanned_from_trace_id",
}
"""The options of a full answer, and the tool arguments that they set."""
_BUDGET = ("max_candidates", "time_ms")


def add_full_arguments(parser: ArgumentParser) -> None:
    """Add the options of a full answer."""
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


def check_full_arguments(options: Namespace) -> None:
    """Exit with a usage error for such an option without ``--full``."""
    for option in _ARGUMENTS:
        if getattr(options, option) is not None and not options.full:
            options.parser.error(f"--{option.replace('_', '-')}: needs --full")


def full_answer(
    application: Application, context: SurfaceContext, required: tuple[str, ...], options: Namespace
) -> dict[str, Any]:
    """Call the surface's own ``manual_find``, which returns the full answer."""
    manuals = chosen_manuals(context, options.manual)
    if len(manuals) != 1:
        options.parser.error("--full: it searches one manual; name it with --manual ID")
    if "manual_find" not in application.commands:
        raise ConfigError("surfaces: none of them returns full answers; add {use: manual}")
    arguments: dict[str, JsonValue] = {
        "query": options.query,
        "manual_id": manuals[0],
        "required_terms": [*(required or _picked(context, manuals[0], options.query))],
    }
    if options.alternatives:
        arguments["alternatives"] = [*options.alternatives]
    budget = {name: getattr(options, name) for name in _BUDGET if getattr(options, name)}
    if budget:
        arguments["budget"] = budget
    for option, argument in _ARGUMENTS.items():
        value = getattr(options, option)
        if option not in _BUDGET and value is not None:
            arguments[argument] = value
    if options.only_unscanned and len(options.only_unscanned) < WHOLE_ID:
        trace = application.traces.named(options.only_unscanned)
        arguments["only_unscanned_from_trace_id"] = trace.id
    answer: dict[str, Any] = call_tool(application.commands["manual_find"], arguments, Call())
    return answer


def _picked(context: SurfaceContext, manual: str, query: str) -> Sequence[str]:
    """Pick terms as a plain find does, and print them: the full answer requires some."""
    trace = context.find(manual, Query(query, budget=Budget.of(TIME_MS))).trace
    chosen = trace.report.picked or [
        concept.text[:TERM_CHARS] for concept in concepts(query)[:TERMS]
    ]
    complain(f"picked terms: {', '.join(chosen)}; name others with --require TERM")
    return chosen
