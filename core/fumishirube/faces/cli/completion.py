"""``fumishirube completion``: print what makes a shell complete commands and options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from fumishirube.errors import PluginError
from fumishirube.faces.cli import add_ways_to_serve, build_parser
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.output import complain
from fumishirube.faces.cli.parser import COMMANDS, OneOf, Parser, one_of
from fumishirube.plugins.commands import SERVE
from fumishirube.plugins.discovery import Plugins, load_plugins

SHELLS = ("bash", "zsh", "fish")
_FOLDERS = ("DIR", "FOLDER")
_FILES = ("CASES", "FILE", "FILE|CITATION")
"""The names of arguments that are paths of this system."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = f"{', '.join(SHELLS)}; what is printed goes where the shell reads completions"
    parser.add_argument("shell", metavar="SHELL", type=one_of("shell", *SHELLS), help=help_text)


def run(options: Namespace) -> int:
    """Print the completion of all commands, those of installed plugins included."""
    import shtab  # noqa: PLC0415 - no other command needs it

    parser = whole_parser(load_plugins(strangers=not options.no_plugins))
    places = dict.fromkeys(_FOLDERS, shtab.DIRECTORY) | dict.fromkeys(_FILES, shtab.FILE)
    _mark_values(parser, places)
    print(shtab.complete(parser, shell=options.shell))
    return OK


def _mark_values(parser: Parser, places: Mapping[str, object]) -> None:
    """Say what arguments take where completion looks for it: words, or files and folders."""
    for action in parser.actions:
        if isinstance(action.choices, dict):
            for below in action.choices.values():
                _mark_values(below, places)
        elif isinstance(action.type, OneOf):
            action.choices = action.type.words
        elif str(action.metavar) in places:
            vars(action)["complete"] = places[str(action.metavar)]


def whole_parser(plugins: Plugins) -> Parser:
    """Return the parser with the arguments of every command; faulty ones are left out."""
    parser, commands = build_parser()
    known = plugins.commands.verbs() | COMMANDS
    for name in sorted(known):
        try:
            build_parser()[1].add(known[name])  # a faulty one would leave a part of its own here
        except PluginError as error:
            complain(f"problem: {error}; it is left out")
            continue
        added = commands.add(known[name])
        if name == SERVE:
            add_ways_to_serve(added, plugins.commands, ())
    return parser
