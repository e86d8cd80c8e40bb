"""``fumishirube man``: print the manual page, made from the parsers of all commands."""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator

from fumishirube import __version__
from fumishirube.faces.cli.completion import whole_parser
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.parser import Parser, literal_help
from fumishirube.plugins.discovery import load_plugins


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments: none."""
    del parser


def run(options: Namespace) -> int:
    """Print the page in the macros of man(7)."""
    plugins = load_plugins(strangers=not options.no_plugins)
    print("\n".join(man_page(whole_parser(plugins))))
    return OK


def man_page(parser: Parser) -> Iterator[str]:
    """Yield the lines of the page."""
    name, about = parser.prog, (parser.description or "").rstrip(".")
    yield f'.TH {name.upper()} 1 "" "{name} {__version__}" "User Commands"'
    yield from (".SH NAME", f"{_plain(name)} \\- {_plain(about)}")
    yield from (".SH SYNOPSIS", f".B {_plain(name)}", "[options] command \\&...")
    yield ".SH OPTIONS"
    yield from _options(parser)
    yield ".SH COMMANDS"
    for words, command in _commands(parser):
        yield from (".SS", _plain(words))
        yield _plain(command.description or "")
        yield from _options(command, without=parser)
    yield from (".SH EXAMPLES", ".nf", _plain(parser.epilog or ""), ".fi")


def _commands(parser: Parser) -> Iterator[tuple[str, Parser]]:
    """Yield the commands and their subcommands with their words."""
    for action in parser.actions:
        if isinstance(action, _SubParsersAction):
            for name, command in action.choices.items():
                yield f"{parser.prog} {name}", command
                yield from _commands(command)


def _options(parser: Parser, without: Parser | None = None) -> Iterator[str]:
    """Yield the arguments of a parser, except those of another one."""
    others = without.actions if without else ()
    known = {text for action in others for text in action.option_strings}
    for action in parser.actions:
        inner = isinstance(action, _SubParsersAction) or action.help == SUPPRESS
        if not inner and not known.intersection(action.option_strings):
            described = literal_help(action) % {**vars(action), "prog": parser.prog}
            yield from (".TP", f".B {_plain(_usage(action))}", _plain(described))


def _usage(action: Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices and not action.metavar:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    takes = "" if action.nargs == 0 else value
    return " ".join(filter(None, (", ".join(action.option_strings), takes)))


def _plain(text: str) -> str:
    """Escape what the macros would read."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        f"\\&{line}" if line[:1] in (".", "'") else line for line in escaped.split("\n")
    )
