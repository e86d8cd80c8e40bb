"""``fumishirube docs``: searching, reading and checking linked documents."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any, NamedTuple

from pydantic import JsonValue

from fumishirube import Call, ConfigError, InternalError, Tool, ToolError
from fumishirube.commands import (
    FAILURE,
    OK,
    USAGE_ERROR,
    Application,
    Parser,
    add_subcommand,
    call_tool,
    complain,
    error_payload,
    main,
    one_of,
    opened,
    print_json,
    use_only,
)
from fumishirube.serving import add_log_level, serve
from fumishirube_graph.command_lines import RENDERERS
from fumishirube_graph.errors import INTERNAL

SURFACE = "graph"

INTERNAL_FAILURE = 3
"""The exit code of ``ubp`` and ``docs`` for an internal error."""


class Option(NamedTuple):
    """An option, the tool argument that it sets, and how its value is parsed or what it may be.

    A switch has no value: it sets its argument to true.
    """

    flag: str
    name: str
    help: str
    read: Callable[[str], JsonValue] | None = None
    metavar: str | None = None
    words: tuple[str, ...] = ()
    switch: bool = False


class DocsCommand(NamedTuple):
    """A command: the tool it calls, the arguments it fixes, and its help."""

    tool: str
    help: str
    places: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()
    fresh: bool = True


def _number(word: str) -> JsonValue:
    """Return a number as JSON would hold it; leave anything else to the tool's validation."""
    try:
        value = json.loads(word)
    except (ValueError, RecursionError):
        return word
    return value if isinstance(value, int | float) else word


def _listed(word: str) -> JsonValue:
    return [part.strip() for part in word.split(",") if part.strip()]


_PATH = Option("PATH", "filepath", "a page, as list-pages shows it")
_LIMIT = Option("--limit", "limit", "how many", _number)
_DEPTH = Option("--depth", "depth", "how many links to follow", _number)
_TYPE = Option("--doc-type", "doc_type", "only documents of this type")
_CURSOR = Option("--cursor", "cursor", "where to continue: next_cursor of the last answer")

_DOCS_COMMANDS = {
    "index": DocsCommand(
        "docs_index",
        "bring the index of the documents up to date",
        options=(
            Option("--full", "full", "read every file again", switch=True),
            Option("--file", "file", "only this file"),
        ),
        fresh=False,
    ),
    "reindex": DocsCommand("docs_index", "read every file again", fresh=False),
    "search": DocsCommand(
        "ubp_search",
        "find documents",
        (Option("QUERY", "query", "a question, or words"),),
        (
            _LIMIT,
            Option("--include-linked", "include_linked", "also list linked pages", switch=True),
            _DEPTH,
            Option("--link-types", "link_types", "follow these types of links, a,b", _listed),
            _TYPE,
            Option("--fulltext", "fulltext", "find sections by their letters alone", switch=True),
        ),
    ),
    "get-page": DocsCommand("ubp_get_page", "read a document", (_PATH,)),
    "get-context": DocsCommand(
        "ubp_get_context",
        "read a document with its neighbours",
        (_PATH,),
        (_DEPTH, Option("--max-size", "max_size", "how many characters", _number)),
    ),
    "list-pages": DocsCommand(
        "ubp_list_pages",
        "list the documents",
        options=(
            _TYPE,
            Option("--sort", "sort", "title, updated_at or filepath"),
            Option("--order", "order", "asc or desc"),
            _CURSOR,
        ),
    ),
    "get-graph": DocsCommand(
        "ubp_get_graph",
        "show the graph of links",
        options=(
            Option("--center", "center", "the page in the middle"),
            _DEPTH,
            _CURSOR,
            Option(
                "--format",
                "format",
                "json, dot, mermaid or html (default: a summary)",
                words=("json", "dot", "mermaid", "html"),
            ),
        ),
    ),
    "stale": DocsCommand(
        "docs_stale",
        "list the documents that are behind their sources",
        options=(
            Option("--exit-code", "exit_code", "exit with 1 when there are any", switch=True),
            Option("--verify", "verify", "look at the bytes of every source", switch=True),
            Option("--ack", "ack", "take a page, or all, as current", metavar="PATH|all"),
        ),
    ),
    "check": DocsCommand("docs_check", "list links that lead nowhere, and orphans"),
    "status": DocsCommand("docs_status", "show the state of documents, links and sources"),
    "suggest-links": DocsCommand(
        "docs_suggest_links",
        "list similar pages without a link",
        options=(
            Option("--threshold", "threshold", "how alike, 0 to 1 (default: 0.6)", _number),
            _LIMIT,
        ),
    ),
}
_OWN = frozenset({"fulltext", "exit_code", "format"})
"""Options that the command handles itself."""


def add_arguments(parser: Parser) -> None:
    """Add the subcommands of ``docs``."""
    chosen = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, verb in _DOCS_COMMANDS.items():
        added = add_subcommand(chosen, name, _run, verb.help)
        added.set_defaults(verb=name)
        for place in verb.places:
            added.add_argument(place.name, metavar=place.flag, help=place.help)
        for option in verb.options:
            kind: dict[str, Any] = {"metavar": option.metavar}
            if option.switch:
                kind = {"action": "store_true"}
            elif option.words:
                kind["type"] = one_of(option.name, *option.words)
            added.add_argument(option.flag, dest=option.name, help=option.help, **kind)
        if verb.fresh:
            help_text = "do not look for changed files first"
            added.add_argument("--no-refresh", action="store_true", help=help_text)
        parser.inner += added.known
    help_text = "serve the documents to an MCP client"
    served = add_subcommand(chosen, "serve", _serve, help_text, prints_json=False)
    help_text = "only read the index, without the lock"
    served.add_argument("--no-lock", action="store_true", help=help_text)
    add_log_level(served)
    served.set_defaults(claims_streams=True)
    parser.inner += served.known


def run(options: Namespace) -> int:
    """List the subcommands."""
    options.parser.print_help()
    return OK


def _choose_documents(options: Namespace, **settings: JsonValue) -> None:
    """Open this surface alone; exit with a usage error for ``--in``, which names manuals."""
    if options.folders:
        options.parser.error(
            "--in: it names folders of manuals; name that of linked documents in roots.docs"
        )
    use_only(options, SURFACE, **settings)


def _serve(options: Namespace) -> int:
    """Serve this surface alone."""
    _choose_documents(options, **({"lock": False} if options.no_lock else {}))
    return serve(options)


def _run(options: Namespace) -> int:
    """Call the tool behind a command, and print its answer."""
    if options.json and _picture(options):
        options.parser.error("--json goes with no --format but json")
    _choose_documents(options)
    with opened(options) as application:
        try:
            tool = _tool(application, options)
            answer: Any = call_tool(tool, _arguments(options, tool), Call())
        except ToolError as error:
            return _refused(error, options)
    for warning in answer.get("warnings", ()) if not options.json else ():
        complain(f"warning: {_line(warning)}")
    if "text" in answer and _picture(options):
        print(answer["text"])
    elif options.json or getattr(options, "format", None) == "json":
        print_json(answer, compact=True)
    else:
        for line in RENDERERS[options.verb](answer):
            print(line)
    return _code(answer, options)


def _tool(application: Application, options: Namespace) -> Tool[Any, Any]:
    name = _DOCS_COMMANDS[options.verb].tool
    if getattr(options, "fulltext", False):
        name = "ubp_fulltext_search"
    if _picture(options):
        name = "docs_picture"
    refreshed = _DOCS_COMMANDS[options.verb].fresh and not options.no_refresh
    offered = {**application.commands, **(application.tools if refreshed else {})}
    if name not in offered:
        raise ConfigError(f"surfaces: {SURFACE} does not offer {name}")
    return offered[name]


def _picture(options: Namespace) -> bool:
    return getattr(options, "format", None) in ("dot", "mermaid", "html")


def _arguments(options: Namespace, tool: Tool[Any, Any]) -> dict[str, JsonValue]:
    verb = _DOCS_COMMANDS[options.verb]
    arguments: dict[str, JsonValue] = {"full": True} if options.verb == "reindex" else {}
    if "refresh" in tool.params.model_fields:
        arguments["refresh"] = not options.no_refresh
    skipped = _OWN - {"format"} if _picture(options) else _OWN
    for option in (*verb.places, *verb.options):
        value = getattr(options, option.name)
        if option.name in skipped or value is None or value is False:
            continue
        if option.name not in tool.params.model_fields:
            options.parser.error(f"--fulltext goes with no {option.flag}")
        arguments[option.name] = option.read(value) if option.read and value is not True else value
    return arguments


def _refused(error: ToolError, options: Namespace) -> int:
    """Print a tool's error, as JSON or as one line."""
    payload = error_payload(error)
    if options.json:
        print_json(payload, compact=True)
    else:
        complain(f"error: {payload['message']}")
    internal = payload["code"] == INTERNAL or isinstance(error, InternalError)
    return INTERNAL_FAILURE if internal else USAGE_ERROR


def _code(answer: Any, options: Namespace) -> int:
    if options.verb == "check":
        broken = ("dangling", "ambiguous", "broken_anchors")
        return FAILURE if any(answer[name] for name in broken) else OK
    if options.verb == "stale" and options.exit_code:
        levels = {stale["staleness"] for stale in answer["stale_documents"]}
        return FAILURE if levels & {"possibly_stale", "stale"} else OK
    return OK


def _line(warning: Any) -> str:
    if isinstance(warning, str):
        return warning
    return f"{warning['filepath']}:{warning['line']}: {warning['message']} [{warning['code']}]"


def ubp() -> int:
    """Run these commands under the name ``ubp``, which other programs call."""
    sys.argv[1:1] = ["docs"]
    return main()
