"""``fumishirube vault``: reads and writes notes, lists and undoes writes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any

from fumishirube import NotFound, Unreadable
from fumishirube.commands import (
    FAILURE,
    OK,
    Parser,
    add_json,
    add_subcommand,
    at_least,
    call_by_name,
    command,
    complain,
    counted,
    filled,
    opened,
    print_json,
    show,
    table,
    translated,
    word,
)
from fumishirube.text import decode_with_encoding
from fumishirube_vault.notes import MissingNote

_SYSTEM = ".system"
_PATH = "the note, such as projects/plan.md"
_TEXT = "its text (default: what comes from standard input)"


def add_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands; without one, the notes are listed."""
    parser.set_defaults(path=None)
    add_json(parser)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND")
    new = partial(add_subcommand, inner)
    parser = new("ls", run, "list the notes, or what a folder of the vault holds")
    parser.add_argument("path", metavar="PATH", nargs="?", help="a folder (default: the vault)")
    help_text = "print a note, to a terminal page by page; --cursor and --json give one page"
    parser = new("read", _read, help_text)
    parser.add_argument("path", metavar="PATH", help=_PATH)
    parser.add_argument("--line", metavar="N", type=at_least(1), help="the first line to print")
    help_text = "the character to continue from, as the last page printed"
    parser.add_argument("--cursor", metavar="N", type=at_least(0), help=help_text)
    for name, help_text in (
        ("create", "write a new note; an existing one is never overwritten"),
        ("append", "add a text at the end of a note, on a new line"),
    ):
        parser = new(name, partial(_write, f"vault_{name}"), help_text)
        parser.add_argument("path", metavar="PATH", help=_PATH)
        parser.add_argument("text", metavar="TEXT", nargs="?", help=_TEXT)
    _add_replace(new("replace", _replace, "replace words in a note"))
    _add_journal(new)


def _add_replace(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help=_PATH)
    parser.add_argument("find", metavar="FIND", help="the text to replace, literally")
    parser.add_argument("replace", metavar="REPLACE", help="the words to write instead")
    help_text = "how many places, from the start (default: 1)"
    parser.add_argument("--max", metavar="N", type=at_least(0), help=help_text)
    help_text = "the content_hash that the note must have"
    parser.add_argument("--expect", metavar="HASH", help=help_text)
    help_text = "write nothing; print what would change"
    parser.add_argument("--dry-run", action="store_true", help=help_text)


def _add_journal(new: Callable[[str, Callable[[Namespace], int], str], Parser]) -> None:
    parser = new("log", _log, "list the last writes, newest first")
    parser.add_argument("path", metavar="PATH", nargs="?", help="only those to this note")
    help_text = "how many, 1 to 200 (default: 20)"
    parser.add_argument("--limit", metavar="N", type=at_least(1), help=help_text)
    parser = new("show", _show, "show what a write changed")
    parser.add_argument("id", metavar="ID", help="a write, as 'vault log' lists it")
    taken_back, done_again = "write {0} is taken back; {1}", "write {0} is done again; {1}"
    for name, outcome, help_text in (
        ("undo", taken_back, "take back the last write, or another one"),
        ("redo", done_again, "do again what was taken back last, or another write"),
    ):
        parser = new(name, partial(_reverse, f"vault_{name}", outcome), help_text)
        parser.add_argument("id", metavar="ID", nargs="?", help="a write, as 'vault log' lists it")
        parser.add_argument("--path", metavar="PATH", help="the last write to this note")


def _answer(options: Namespace, name: str, **arguments: Any) -> Any:
    with opened(options) as application:
        try:
            return call_by_name(application, name, surface="vault", **arguments)
        except MissingNote as error:
            refusal = NotFound("there is no such note", **error.details)
            refusal.add_note(f"notes: {command(options, 'vault', 'ls')}")
            raise refusal from error


def run(options: Namespace) -> int:
    """List the notes; only ``--json`` shows the folder of the program in the vault."""
    return show(_answer(options, "vault_ls", path=options.path), options, _item_lines)


def _item_lines(answer: Any) -> Iterator[str]:
    items = [item for item in answer["items"] if item["path"] != _SYSTEM]
    for item in items:
        yield item["path"] + ("/" if item["kind"] == "dir" else "")
    if not items:
        yield translated("nothing here")


def _read(options: Namespace) -> int:
    if options.line is not None and options.cursor is not None:
        options.parser.error("--line and --cursor exclude each other")
    cursor = None if options.cursor is None else {"char_offset": options.cursor}
    arguments = {"path": options.path, "start_line": options.line, "cursor": cursor}
    to_terminal = sys.stdout.isatty()
    in_pages = options.json or to_terminal or options.cursor is not None
    answer = _answer(options, "vault_scan" if in_pages else "vault_text", **arguments)
    if options.json:
        print_json(answer)
        return OK
    text = answer["text"]
    after = answer["next_cursor"]["char_offset"]
    unfinished = text and not text.endswith("\n") and (after is None or to_terminal)
    sys.stdout.write(f"{text}\n" if unfinished else text)
    if after is not None:
        more = ("--cursor", str(after))
        page = command(options, "vault", "read", more, places=[options.path])
        complain(f"the note continues; next: {page}")
    return OK


def _write(name: str, options: Namespace) -> int:
    answer = _answer(options, name, path=options.path, content=_content(options))
    return show(answer, options, _written_lines)


def _content(options: Namespace) -> str:
    """Return the text of an argument, or of standard input, in any encoding of notes.

    Raises:
        Unreadable: when what comes from standard input is in no known encoding, or cut.
    """
    if options.text is not None:
        return str(options.text)
    read = decode_with_encoding(sys.stdin.buffer.read() if sys.stdin else b"")
    if read.cut:
        raise Unreadable("the text ends within a character", reason="undecodable")
    return read.text


def _written_lines(answer: Any) -> Iterator[str]:
    size = answer["written_bytes"]
    written = filled("1 byte written" if size == 1 else "{0} bytes written", size)
    yield f"{answer['written_path']}: {written}"


def _replace(options: Namespace) -> int:
    name = "vault_preview" if options.dry_run else "vault_replace"
    answer = _answer(
        options,
        name,
        path=options.path,
        find=options.find,
        replace=options.replace,
        max_replacements=options.max,
        expected_hash=options.expect,
    )
    show(answer, options, _previewed_lines if options.dry_run else _replaced_lines)
    return OK if answer["replacements"] or options.max == 0 else FAILURE


def _replaced_lines(answer: Any) -> Iterator[str]:
    made = translated(counted(answer["replacements"], "replacement"))
    yield f"{answer['written_path']}: {made}"


def _previewed_lines(answer: Any) -> Iterator[str]:
    yield from answer["diff"].split("\n")[:-1]
    if not answer["replacements"]:
        yield f"{answer['path']}: {translated(counted(0, 'replacement'))}"


def _log(options: Namespace) -> int:
    answer = _answer(options, "vault_history", path=options.path, limit=options.limit)
    return show(answer, options, _log_lines)


def _log_lines(answer: Any) -> Iterator[str]:
    rows = [(write["id"], _when(write), _what(write), write["path"]) for write in answer["items"]]
    yield from table(rows)
    more = answer["total"] - len(rows)
    if more:
        yield filled("… and {0} more", translated(counted(more, "write")))
    if not rows:
        yield translated("nothing was written yet")


def _when(write: Any) -> str:
    return f"{datetime.fromisoformat(write['time']).astimezone():%Y-%m-%d %H:%M:%S}"


def _what(write: Any) -> str:
    of = f" {write['of']}" if write["of"] else ""
    return f"{write['action']}{of}" + (f" ({word('write', 'undone')})" if write["undone"] else "")


def _show(options: Namespace) -> int:
    return show(_answer(options, "vault_show", id=options.id), options, _show_lines)


def _show_lines(answer: Any) -> Iterator[str]:
    write = answer["write"]
    yield f"{write['id']}  {_when(write)}  {_what(write)}  {write['path']}"
    if answer["diff"] is None:
        yield translated("its result is no longer available")
    else:
        yield from answer["diff"].split("\n")[:-1]


def _reverse(name: str, outcome: str, options: Namespace) -> int:
    answer = _answer(options, name, id=options.id, path=options.path)

    def lines(answer: Any) -> Iterator[str]:
        digest = answer["content_hash"]
        state = (
            filled("the note's hash is now {0}", digest)
            if digest
            else translated("the note is gone")
        )
        yield f"{answer['path']}: {filled(outcome, answer['of'], state)}"

    return show(answer, options, lines)
