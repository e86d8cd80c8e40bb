"""``fumishirube glossary``: the tool as a command."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from fumishirube.commands import add_json, call_by_name, opened, show


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("term", metavar="TERM", help="what is to be looked up")
    parser.add_argument("--manual", metavar="ID", help="look in this manual only (default: all)")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the definitions; return 1 if there are none."""
    with opened(options) as application:
        answer = call_by_name(
            application,
            "glossary_lookup",
            surface="glossary",
            term=options.term,
            manual_id=options.manual,
        )
    show(answer, options, _lines)
    return 0 if answer["definitions"] else 1


def _lines(answer: Any) -> Iterator[str]:
    for definition in answer["definitions"]:
        yield definition["text"]
        yield f"   {definition['cite']}"
    if not answer["definitions"]:
        yield "no definition was found"
