"""``fumishirube new-plugin``: write a package with one part, as a start for a plugin."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from fumishirube import Conflict, Forbidden, InvalidParameter
from fumishirube.commands import OK, add_json, filled, one_of, print_json
from fumishirube.serving import load_plugins
from fumishirube_authoring.package_files import NOUNS, package_files


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = (
        "the package, and the folder that is made; its stage has the name without 'fumishirube-'"
    )
    parser.add_argument("name", metavar="NAME", help=help_text)
    help_text = f"what it is: {', '.join(NOUNS)}"
    kind = one_of("kind of package", *NOUNS)
    parser.add_argument("--kind", metavar="KIND", type=kind, required=True, help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the package into a new folder of its name, and print the next step.

    Raises:
        Conflict: when something of that name exists.
        Forbidden: when the folder cannot be written.
    """
    plugins = load_plugins(strangers=not options.no_plugins)
    try:
        made = package_files(options.name, options.kind, plugins)
    except (InvalidParameter, Forbidden) as error:
        options.parser.error(str(error))
    folder = Path(options.name)
    try:
        folder.mkdir()
        for path, text in made.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    except FileExistsError as error:
        message = f"{options.name!r} is there already; choose another name, or move it away"
        raise Conflict(message) from error
    except OSError as error:
        raise Forbidden("the folder cannot be written; check permissions and the disk") from error
    if options.json:
        print_json({"folder": options.name, "files": [*sorted(made)]})
        return OK
    for path in sorted(made):
        print(f"{options.name}/{path}")
    print(filled("next: cd {0}, and do what README.md says", options.name))
    return OK
