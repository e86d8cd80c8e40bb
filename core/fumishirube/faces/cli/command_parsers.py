"""The parsers of the commands; only the chosen command is imported."""

from __future__ import annotations

from argparse import SUPPRESS
from collections.abc import Iterable, Sequence

from fumishirube.errors import PluginError
from fumishirube.faces.cli.parser import Parser, add_common, literal
from fumishirube.faces.cli.streams import complain
from fumishirube.plugins.commands import Command, CommandRegistry, add_arguments_of

_SUBJECT = "Search local manuals, from the command line or through MCP."
_TOP_EXAMPLE = """\
first steps:
  fumishirube ls                            list the manuals
  fumishirube find how to change the oil    search all of them
  fumishirube find oil --in ~/Documents     search any folder
  fumishirube COMMAND --help                more on one command

exit codes: 0 all well; 1 nothing found, a tool refused, or something is off; 2 wrong usage or
configuration; 4 another process serves already"""


class Commands:
    """The subparsers of the commands; only the chosen command gets its arguments."""

    def __init__(self, parser: Parser) -> None:
        self._commands = parser.add_subparsers(metavar="COMMAND", title="commands")

    def add(self, command: Command) -> Parser:
        """Import the module of the chosen command, and return its parser."""
        module = command.load()
        example = f"example:\n  {command.example}" if command.example else None
        added: Parser = self._commands.add_parser(
            command.name,
            help=literal(command.help),
            description=_literal_text(f"{command.help[:1].upper()}{command.help[1:]}."),
            epilog=_literal_text(example) if example else None,
        )
        add_common(added, default=SUPPRESS)
        added.set_defaults(run=module.run, parser=added, invoked=command)
        add_arguments_of(command, added)
        return added

    def add_remaining(self, commands: Iterable[Command]) -> None:
        """Add the names of the commands whose modules were not imported."""
        for command in commands:
            if command.name not in self._commands.choices:
                self._commands.add_parser(command.name, help=literal(command.help))


def build_parser() -> tuple[Parser, Commands]:
    """Return the parser, and the object to which commands are added."""
    from fumishirube import __version__  # noqa: PLC0415 - the façade imports nothing of this package

    parser = Parser(prog="fumishirube", description=_SUBJECT, epilog=_TOP_EXAMPLE)
    parser.add_argument("--version", action="version", version=f"fumishirube {__version__}")
    add_common(parser, default=None)
    parser.set_defaults(json=False)
    return parser, Commands(parser)


def add_ways_to_serve(parser: Parser, commands: CommandRegistry, words: Sequence[str]) -> None:
    """Add the options of other ways to serve; a chosen one becomes the command's function."""
    typed = {word.partition("=")[0] for word in words}
    for command in commands.ways_to_serve().values():
        chosen = f"--{command.name}" in typed
        try:
            module = add_arguments_of(command, parser)
        except PluginError as error:
            if chosen:
                raise
            complain(f"problem: {error}; it is left out")
            continue
        if chosen:
            parser.set_defaults(run=module.run, invoked=command)


def _literal_text(text: str) -> str:
    """Return a description or an example, which argparse fills only if it names the program."""
    return literal(text) if "%(prog)" in text else text
