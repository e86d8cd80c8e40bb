"""The options of every command, in its parser and before it is known."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def _file(name: str) -> Path:
    try:
        # Clients start the command without a shell, and no shell expands --config=~/a.
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ArgumentTypeError(f"there is no home folder for {name!r}") from error


def _option(*names: str, **settings: Any) -> tuple[Sequence[str], Mapping[str, Any]]:
    return names, settings


_COMMON = (
    _option(
        "--workspace",
        metavar="DIR",
        help="the folder that holds manuals/ (default: $WORKSPACE_ROOT, else the current folder)",
    ),
    _option(
        "--in",
        metavar="FOLDER",
        dest="folders",
        action="append",
        help="search this folder, where it is, instead of a workspace; may be repeated",
    ),
    _option(
        "--config",
        metavar="FILE",
        type=_file,
        help="the configuration (default: fumishirube.yaml in the workspace, if it is there)",
    ),
    _option("--no-plugins", action="store_true", help="start with the built-ins alone"),
    _option(
        "-v",
        "--verbose",
        action="store_true",
        help="print all notes, and log to standard error, stack traces included",
    ),
    _option("--raw", action="store_true", help="print control characters unescaped"),
    _option(
        "--trust",
        action="store_true",
        help="allow the configuration to lead out of the workspace, this time; see 'trust'",
    ),
)
"""The options of every command: their names, and the settings of their arguments."""
_OF_OUTPUT = ("--verbose", "--raw")
"""Those that choose no workspace."""


def add_common(parser: ArgumentParser, default: str | None) -> None:
    """Add the common options; they may come before or after the command."""
    common = parser.add_argument_group("options of every command")
    for names, settings in _COMMON:
        unset = False if settings.get("action") == "store_true" else None
        common.add_argument(*names, **settings, default=default or unset)


def workspace_options(words: Sequence[str]) -> Namespace | None:
    """Return what chooses a workspace, before the command is known; ``None`` if it is wrong."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for names, settings in _COMMON:
        if names[-1] not in _OF_OUTPUT:  # commands of a command may have values for theirs
            parser.add_argument(*names, **settings)
    try:
        return parser.parse_known_args(words)[0]
    except (ArgumentError, SystemExit):
        return None
