"""Commands that plugins register: verbs of the command line, and ways to serve."""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Protocol, cast

from fumishirube.errors import PluginError, first_line
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins.registry import NAME

SERVE = "serve"
"""The framework's verb to which other ways to serve are added."""

_EXIT_CODES = range(256)
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_FORMS = {
    "variable": re.compile(r"[A-Za-z_]\w*"),
    "web_server": re.compile(rf"{_MODULE.pattern}:[A-Za-z_]\w*"),
}
"""What the fields of a way to serve may be, if they are there."""


@contextmanager
def plugin_errors(problem: str, kind: type[PluginError] = PluginError) -> Iterator[None]:
    """Run code of a plugin; raise an error of this kind instead of its own, with the problem."""
    try:
        yield
    except BaseException as error:  # a module may exit, and extensions in Rust panic
        if is_interrupt(error):
            raise
        raise kind(f"{problem}: {first_line(error)}") from error


class CommandModule(Protocol):
    """The interface of a command's module, which is imported when the command is chosen."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments of the command to its parser."""
        ...

    def run(self, options: Namespace) -> int:
        """Run the command, and return its exit code."""
        ...


@dataclass(frozen=True)
class Command:
    """A verb of the command line: its name, its line in the help, and the module that runs it.

    ``module`` is a dotted name. The module defines ``add_arguments(parser)`` and ``run(options)``,
    which returns an exit code. It is imported only when the verb is chosen, so that other verbs
    start fast.

    With ``serves`` it is another way to serve: ``fumishirube serve --NAME``, an option that its
    ``add_arguments`` adds, or ``fumishirube serve`` with the environment ``variable``.
    ``web_server`` names a class, as ``module:Name``, with which other commands may serve their own
    pages; see :class:`fumishirube.serving.WebServer`.
    """

    name: str
    help: str
    module: str
    example: str = ""
    serves: bool = False
    variable: str | None = None
    web_server: str | None = None
    plugin: str = ""
    """The plugin that registers it, which the framework fills in."""

    @property
    def origin(self) -> str:
        """The command and its plugin, as messages name them."""
        return f"command {self.words!r}" + (f" of plugin {self.plugin}" if self.plugin else "")

    @property
    def words(self) -> str:
        """The words that choose the command."""
        if self.variable:
            return f"{self.variable}=… {SERVE}"
        return f"{SERVE} --{self.name}" if self.serves else self.name

    def load(self) -> CommandModule:
        """Import the module; raise if that fails, or if it lacks one of the two functions."""
        with plugin_errors(f"{self.origin}: {self.module} cannot be imported"):
            module = import_module(self.module)
        for function in ("add_arguments", "run"):
            if not callable(getattr(module, function, None)):
                raise PluginError(f"{self.origin}: {self.module} has no {function}()")
        return cast("CommandModule", module)


def add_arguments_of(command: Command, parser: ArgumentParser) -> CommandModule:
    """Import a command's module, let it add its arguments to a parser, and return it."""
    module = command.load()
    with plugin_errors(f"{command.origin}: {command.module}.add_arguments() failed"):
        module.add_arguments(parser)
        if command.plugin:
            parser.format_help()  # a help that is no text fails here, and not all man pages
    return module


def exit_code_of(command: Command, returned: object) -> int:
    """Return what a command's ``run`` returned, if it is an exit code."""
    if isinstance(returned, int) and returned in _EXIT_CODES:
        return returned
    what = repr(returned) if isinstance(returned, int) else type(returned).__name__
    raise PluginError(
        f"{command.origin}: {command.module}.run() returned {what}, which is no exit code"
    )


class CommandRegister:
    """Registers the commands of one plugin."""

    def __init__(self, plugin: str = "") -> None:
        self._plugin = plugin
        self.offers: list[Command] = []

    def __call__(self, command: Command) -> None:
        """Register a command under a kebab-case name.

        Raises:
            PluginError: when it is not a command, or its name or its module is malformed.
        """
        if not isinstance(command, Command):
            raise PluginError(f"a command is a fumishirube.Command, not {type(command).__name__}")
        if not NAME.fullmatch(command.name):
            raise PluginError(f"command name {command.name!r} is not kebab-case, such as 'my-name'")
        for what in ("help", "example"):  # which 'fumishirube --help' prints for all
            if not isinstance(getattr(command, what), str):
                raise PluginError(f"command {command.name!r}: its {what} is no text")
        if not _MODULE.fullmatch(command.module):
            raise PluginError(f"command {command.name!r}: {command.module!r} is no dotted name")
        for what, form in _FORMS.items():
            value: object = getattr(command, what)
            if value is not None and not (isinstance(value, str) and form.fullmatch(value)):
                raise PluginError(f"command {command.name!r}: its {what} {value!r} is malformed")
        if (command.variable or command.web_server) and not command.serves:
            raise PluginError(f"command {command.name!r}: only a way to serve has such a field")
        self.offers.append(replace(command, plugin=self._plugin))


class CommandRegistry:
    """The registered commands, by the words that choose them."""

    def __init__(self) -> None:
        self._offers: dict[str, Command] = {}

    def put(self, command: Command) -> None:
        """Add a command; name clashes are resolved before."""
        self._offers[command.words] = command

    def __iter__(self) -> Iterator[Command]:
        return (self._offers[words] for words in sorted(self._offers))

    @property
    def taken(self) -> frozenset[str]:
        """The names that no further verb can have."""
        return OWN_NAMES | frozenset(self.verbs())

    def verbs(self) -> dict[str, Command]:
        """Return the verbs by name."""
        return {command.name: command for command in self if not command.serves}

    def ways_to_serve(self) -> dict[str, Command]:
        """Return the other ways to serve by name."""
        return {command.name: command for command in self if command.serves}


_OWN = {
    "call": (
        "call any tool with JSON arguments, and print its answer",
        """fumishirube call manual_ls '{"id": "manuals"}'""",
    ),
    "tools": ("list the tools that an MCP client sees", "fumishirube tools --json"),
    SERVE: (
        "serve the tools to an MCP client over standard input and output",
        "fumishirube serve --workspace ~/my-documents",
    ),
    "add": (
        "search a folder as a manual from anywhere, without moving it",
        "fumishirube add specs ~/Documents/specs",
    ),
    "index": ("bring the search indexes up to date", "fumishirube index handbook --rebuild"),
    "plugins": (
        "list the plugins, what they offer, and their problems",
        "fumishirube plugins --json",
    ),
    "doctor": (
        "check the installation, the configuration and every manual",
        "fumishirube doctor --workspace ~/my-documents",
    ),
    "trust": (
        "allow the configuration to lead out of the workspace, until it changes",
        "fumishirube trust --workspace ~/my-documents",
    ),
    "config": (
        "show the configuration, its schema, or its variables",
        "fumishirube config show > all-settings.yaml",
    ),
    "completion": (
        "print what makes a shell complete commands and options",
        """mkdir -p ~/.local/share/bash-completion/completions
  fumishirube completion bash > ~/.local/share/bash-completion/completions/fumishirube""",
    ),
    "man": ("print the manual page", "fumishirube man > fumishirube.1"),
}
"""What each of the framework's own verbs does, and an example; its module has its name."""

OWN_COMMANDS = tuple(
    Command(name, text, f"fumishirube.faces.cli.{name}", example)
    for name, (text, example) in _OWN.items()
)
"""The framework's own verbs."""

OWN_NAMES = frozenset(_OWN)
"""The names of the framework's own verbs, which plugins cannot take."""
