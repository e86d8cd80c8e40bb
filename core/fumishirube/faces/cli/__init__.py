"""The command line: the same tools as in every other face."""

from __future__ import annotations

import logging
import os
import sys
from argparse import SUPPRESS, Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fumishirube.errors import PluginError
from fumishirube.faces.cli.common_options import add_common, workspace_options
from fumishirube.faces.cli.exit_codes import OK, USAGE_ERROR, guarded
from fumishirube.faces.cli.messages import use_language
from fumishirube.faces.cli.output import (
    PluginFaultHandler,
    PrintableFormatter,
    complain,
    flush_output,
)
from fumishirube.faces.cli.parser import COMMANDS, Parser, literal
from fumishirube.host.standard_streams import claim_output, exit_now, use_utf8_streams
from fumishirube.interrupts import handle_interrupts
from fumishirube.plugins.commands import (
    SERVE,
    Command,
    CommandRegistry,
    add_arguments_of,
    exit_code_of,
)

if TYPE_CHECKING:
    from fumishirube.plugins.discovery import Plugins

_LOG = logging.getLogger("fumishirube")

_SUBJECT = "Search local manuals, from the command line or through MCP."
_TOP_EXAMPLE = """\
first steps:
  fumishirube ls                            list the manuals
  fumishirube find how to change the oil    search all of them
  fumishirube find oil --in ~/Documents     search any folder
  fumishirube COMMAND --help                more on one command

exit codes: 0 all well; 1 nothing found, a tool refused, or something is off; 2 wrong usage or
configuration; 4 another process serves already"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, and return its exit code. Failures become one line on standard error.

    Without ``argv`` the arguments of the process are used, and the process ends with the command.
    """
    if argv is None:
        handle_interrupts()
        # A short process needs no teardown, which would take a tenth of its time.
        exit_now(_run_guarded(sys.argv[1:], own_process=True))
    return _run_guarded(argv)


def _run_guarded(argv: Sequence[str], *, own_process: bool = False) -> int:
    use_utf8_streams("replace")
    use_language(os.environ)
    code = guarded(lambda: _run([_decoded(word) for word in argv], own_process=own_process))
    return guarded(lambda: _flushed(code))


def _run(words: Sequence[str], *, own_process: bool) -> int:
    # Set up before the command's module is imported, so that failing imports are reported too.
    typed = words[: words.index("--") if "--" in words else None]
    _set_up_logs(verbose="--verbose" in typed or "-v" in typed)
    parser, options = _parsed(words)
    if "run" not in options:
        parser.print_help()
        return OK
    if getattr(options, "claims_streams", False):
        use_language(None)  # what a server writes is a log
    elif own_process:
        claim_output(raw=options.raw)
    return guarded(lambda: _code_of(options), as_json=options.json)


def _flushed(code: int) -> int:
    """Return an exit code after all output is written."""
    flush_output()
    return code


_MEANT = {
    "cat": "read",
    "help": "--help",
    "list": "ls",
    "query": "find",
    "remove": "add NAME --remove",
    "rm": "add NAME --remove",
    "search": "find",
    "show": "read",
}
"""What other programs call these commands."""


def _parsed(words: Sequence[str]) -> tuple[Parser, Namespace]:
    """Build the parser of the chosen command; import no other command's module.

    Plugins are loaded only for their own commands, and for the list of all commands. They are
    returned as ``options.plugins``.
    """
    from fumishirube.faces.cli.workspace import early_plugins  # noqa: PLC0415 - --version needs none of it

    parser, commands = build_parser()
    chosen = parser.command_in(words)
    known, plugins = dict(COMMANDS), None
    before = words if chosen is None else words[: words.index(chosen)]
    if chosen not in COMMANDS and "--version" not in before:
        plugins = early_plugins(words)
        known = plugins.commands.verbs() | known
    if chosen in known:
        added = _added(commands, known[chosen], plugins, words)
        if chosen == SERVE and added.lacks(words):
            plugins = early_plugins(words)
            add_ways_to_serve(added, plugins.commands, words)
    elif chosen is not None and "--version" not in before:
        parser.refuse_options(before)
        meant = _MEANT.get(chosen)
        if meant is not None and meant.split()[0] in (*known, "--help"):
            parser.error(f"there is no command {chosen!r}; did you mean {meant!r}?")
        parser.refuse_word("command", chosen, known)
    if words[:1] != [chosen]:  # help on all commands may be wanted: a parser each takes 4 ms
        commands.add_remaining(known.values())
    parser.set_defaults(plugins=plugins)
    return parser, parser.parse(words)


def _added(
    commands: Commands, command: Command, plugins: Plugins | None, words: Sequence[str]
) -> Parser:
    """Return the parser of the chosen command; a plugin's may fail over it."""
    if plugins is None:
        return commands.add(command)
    from fumishirube.faces.cli.plugin_commands import watched  # noqa: PLC0415 - only they pay for it

    with watched(command, plugins, workspace_options(words), "add_arguments"):
        return commands.add(command)


def _code_of(options: Namespace) -> int:
    """Run the chosen command, and return its exit code."""
    if options.plugins is None:
        return exit_code_of(options.invoked, options.run(options))
    from fumishirube.faces.cli.plugin_commands import run_command  # noqa: PLC0415 - only they pay for it

    return run_command(options)


def _set_up_logs(*, verbose: bool) -> None:
    """Silence the logs of all libraries; ``--verbose`` shows the project's own."""
    logging.getLogger().addHandler(logging.NullHandler())
    logging.captureWarnings(capture=True)
    _LOG.addHandler(PluginFaultHandler(logging.WARNING))
    if verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(PrintableFormatter("%(levelname)s %(name)s: %(message)s"))
        _LOG.addHandler(handler)
        _LOG.setLevel(logging.DEBUG)


def _decoded(word: str) -> str:
    """Decode an argument as UTF-8 where the locale decoded it otherwise."""
    if word.isascii():
        return word
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        complain(f"fumishirube: an argument is not UTF-8: {word[:60]!r}")
        sys.exit(USAGE_ERROR)


# --- the parsers of the commands ------------------------------------------------------------


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
