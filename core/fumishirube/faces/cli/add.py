"""``fumishirube add``: search a folder as a manual, from anywhere, without moving it."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from fumishirube.config.personal import changing, record_manuals, recorded_manuals
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.exit_codes import OK
from fumishirube.faces.cli.folders import existing_folder, manual_id_of
from fumishirube.faces.cli.messages import filled, translated
from fumishirube.faces.cli.output import command, print_json, table
from fumishirube.faces.cli.parser import add_json, not_known


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = "the id of the manual (without any: list what was added)"
    parser.add_argument("name", metavar="NAME", nargs="?", help=help_text)
    help_text = "the folder; its files stay where they are"
    parser.add_argument("folder", metavar="FOLDER", nargs="?", help=help_text)
    help_text = "no longer search that folder; its files stay"
    parser.add_argument("--remove", action="store_true", help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Change the user's own configuration, and list the folders in it."""
    if options.name and bool(options.folder) == options.remove:
        options.parser.error("name a FOLDER to add, or --remove")
    if options.remove and not options.name:
        options.parser.error("--remove: which NAME")
    if options.name:
        with changing(os.environ):
            manuals = recorded_manuals(os.environ)
            _change(manuals, options)
            record_manuals(manuals, os.environ)
    else:
        manuals = recorded_manuals(os.environ)
    if options.json:
        print_json({name: str(manuals[name]) for name in sorted(manuals)})
    else:
        for line in table([(name, str(manuals[name])) for name in sorted(manuals)]):
            print(line)
        if not manuals:
            print(translated("no folders; 'fumishirube add NAME FOLDER' adds one"))
        elif options.folder:
            elsewhere = Namespace(**{**vars(options), "folders": None})  # --in excludes added ones
            manual = ("--manual", manual_id_of(options.name, "add"))
            print(filled("next: {0}", command(elsewhere, "find", "WORDS", manual)))
    return OK


def _change(manuals: dict[str, Path], options: Namespace) -> None:
    name = manual_id_of(options.name, "add")
    if options.remove:
        if name not in manuals:
            raise ConfigError(f"add: {not_known('added folder', name, manuals)}")
        del manuals[name]
        return
    place = existing_folder(options.folder, "add").resolve()
    if not place.name:
        raise ConfigError("add: a whole file system is too much; name a folder in it")
    if manuals.get(name, place) != place:
        raise ConfigError(
            f"add: {name!r} is {manuals[name]}; remove it first, or take another name"
        )
    manuals[name] = place
