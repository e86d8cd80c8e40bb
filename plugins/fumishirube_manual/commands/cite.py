"""``fumishirube cite check``: checks which citations still hold."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from pydantic import JsonValue

from fumishirube import Root, ToolError
from fumishirube.commands import (
    SCHEME,
    USAGE_ERROR,
    Application,
    add_subcommand,
    complain,
    listed,
    opened,
    print_json,
    search_context,
    translated,
    width,
    word,
)
from fumishirube.text import decode, decode_lossy
from fumishirube_manual.citations import CheckedCitation, CitationChecker, find_citations

_INDENT = " " * 8
_STATES = ("valid", "moved", "changed", "gone")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments."""
    inner = parser.add_subparsers(title="commands", metavar="check", required=True)
    words = "check which citations are valid, moved, changed or gone"
    check = add_subcommand(inner, "check", run, words)
    help_text = (
        "a citation manual://…, or a text file with citations; - reads standard input "
        "(default: all notes of the vault)"
    )
    check.add_argument("sources", metavar="FILE|CITATION", nargs="*", help=help_text)


def run(options: Namespace) -> int:
    """Check every citation, and print its state; return 1 if any does not hold."""
    cited = list(_cited(options))
    with opened(options) as application:
        if not options.sources:
            cited = list(_noted(application))
        checker = CitationChecker(search_context(application).manual)
        checked = [(source, checker.check(text)) for source, text in cited]
    if options.json:
        print_json([_plain(source, result) for source, result in checked])
    else:
        for source, result in checked:
            state = word("citation", result.state)
            shown = state + " " * (len(_INDENT) - width(state)) + result.text
            print(shown + (f"  ({source})" if source else ""))
            if result.state != "valid":
                print(_INDENT + translated(result.explanation))
        counts: Counter[str] = Counter(result.state for _, result in checked)
        summary = [
            f"{counts[state]} {word('citation', state)}" for state in _STATES if counts[state]
        ]
        print(", ".join(summary) or translated("no citations"))
    return int(any(result.state != "valid" for _, result in checked))


def _cited(options: Namespace) -> Iterator[tuple[str, str]]:
    """Yield each citation with its file; an empty name is the command line."""
    for source in options.sources:
        if source.startswith(SCHEME):
            yield "", source
        else:
            yield from ((source, text) for text in find_citations(_text(source, options)))


def _noted(application: Application) -> Iterator[tuple[str, str]]:
    """Yield each citation in the vault with its note."""
    vault = Root(application.loaded.folder("vault"))
    surfaces = (used.surface for used in application.surfaces if used.surface.root == "vault")
    allowed = {name for surface in surfaces for name in getattr(surface, "allow_hidden", ())}
    unread = []
    for path in _notes(vault, allowed) if vault.exists else ():
        try:
            text = decode(vault.read_bytes(path))
        except ToolError:
            unread.append(path)
        else:
            yield from ((f"{vault.path.name}/{path}", cited) for cited in find_citations(text))
    if unread:
        complain(f"not read, because they are not text or may not be read: {listed(unread)}")


def _notes(vault: Root, allowed: Collection[str], below: str = "") -> Iterator[str]:
    """Yield the paths of notes at any depth, and of folders that cannot be listed.

    Where a name begins with a dot, and is not ``allowed``, there are none.
    """
    try:
        entries = vault.entries(below)
    except ToolError:
        if not below:
            raise
        yield below
        return
    for entry in entries:
        if entry.name.startswith(".") and entry.name not in allowed:
            continue
        if entry.kind == "dir":
            yield from _notes(vault, allowed, entry.path)
        elif entry.kind == "file":
            yield entry.path


def _text(source: str, options: Namespace) -> str:
    if source == "-":  # a transcript, of which a few bytes may be damaged
        return decode_lossy(sys.stdin.buffer.read() if sys.stdin else b"").text
    try:
        return decode(Path(source).read_bytes())
    except (OSError, ToolError):
        complain(
            f"{options.parser.prog}: {source!r} is neither a citation nor a readable text file"
        )
        sys.exit(USAGE_ERROR)


def _plain(source: str, result: CheckedCitation) -> JsonValue:
    return {
        "citation": result.text,
        "file": source or None,
        "state": result.state,
        "explanation": result.explanation,
        "now": str(result.now) if result.now else None,
    }
