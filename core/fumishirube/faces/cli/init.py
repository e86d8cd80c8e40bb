"""``fumishirube init``: add this server to the configuration of an MCP client."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from fumishirube.config.trust import TrustRequest
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.clients.files import ClientFile, block
from fumishirube.faces.cli.clients.specs import CLIENTS, ClientFolders, ClientSpec
from fumishirube.faces.cli.folders import folder, folders_in_place
from fumishirube.faces.cli.output import print_json
from fumishirube.faces.cli.parser import add_json, one_of
from fumishirube.faces.cli.trust import trust_workspace
from fumishirube.faces.cli.workspace import opened
from fumishirube.plugins.installation import start_command

_NAME = "fumishirube"


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    parser.add_argument(
        "--client",
        required=True,
        type=one_of("client", *CLIENTS),
        metavar="CLIENT",
        help=", ".join(CLIENTS),
    )
    parser.add_argument(
        "--name", default=_NAME, help=f"what the server is called there (default: {_NAME})"
    )
    parser.add_argument(
        "--project",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the project folder, for clients with a file in each (default: the current folder)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--write", action="store_true", help="make the change; otherwise only show it"
    )
    what.add_argument("--remove", action="store_true", help="remove the server")
    add_json(parser)


def run(options: Namespace) -> int:
    """Show the change, or make it after a backup of the file.

    Raises:
        ConfigError: when the workspace or the client's file cannot be used.
    """
    client: ClientSpec = CLIENTS[options.client]
    outside: list[TrustRequest] = []
    entry = {} if options.remove else _checked_entry(client, options, outside)
    path = client.file(ClientFolders(Path.home(), _project(options), os.environ))
    try:
        file = ClientFile(client, path)
    except ConfigError as error:
        if options.remove:
            raise
        raise ConfigError(f"{error}:\n{block(client, options.name, entry)}") from error
    text = (
        file.without_server(options.name)
        if options.remove
        else file.with_server(options.name, entry)
    )
    changes = text != file.before
    made = changes and (options.write or options.remove)
    backup = file.save(text) if made else None
    if options.json:
        print_json(
            {
                "trusted": [str(request) for request in outside],
                "client": options.client,
                "file": str(path),
                "changed": made,
                "backup": None if backup is None else str(backup),
                "diff": "\n".join(_diff(file, text)),
            }
        )
        return 0
    for request in outside:
        print(f"{'trusted' if options.write else 'to be trusted'}: {request}: {request.target}")
    for line in _change_lines(options, client, file, text, backup):
        print(line)
    return 0


def _change_lines(
    options: Namespace, client: ClientSpec, file: ClientFile, text: str, backup: Path | None
) -> Iterator[str]:
    if text == file.before:
        there = "does not name" if options.remove else "names already"
        yield f"{file.path} {there} {options.name!r} this way; nothing to change"
        return
    yield from _diff(file, text)
    yield ""
    if not options.write and not options.remove:
        yield f"nothing is changed yet; --write makes this change for {client.title}"
        return
    yield f"{file.path} is changed" + (f"; before: {backup}" if backup else "")
    yield f"next: {client.then}"


def _diff(file: ClientFile, text: str) -> Iterator[str]:
    name = str(file.path)
    yield from unified_diff(
        file.before.splitlines(), text.splitlines(), name, name, lineterm="", n=2
    )


def _checked_entry(
    client: ClientSpec, options: Namespace, outside: list[TrustRequest]
) -> dict[str, Any]:
    """Return the entry that starts the server, after checking that the workspace has tools.

    The client starts the server without a terminal, so paths ``outside`` are trusted here.
    """
    with opened(options, trusted=True) as application:
        outside += application.outside
        if options.write and outside:
            trust_workspace(application, outside)
        if not application.tools:
            raise ConfigError("surfaces: there is no tool to serve; see 'fumishirube doctor'")
    command, *first = start_command()
    in_place = folders_in_place(options)
    args = [*first, "serve"]
    if in_place:
        args += [word for place in in_place.values() for word in ("--in", str(place))]
    else:
        args += ["--workspace", str(folder(options).resolve())]
    if options.config:
        args += ["--config", str(Path(options.config).resolve())]
    if options.no_plugins:
        args.append("--no-plugins")
    typed = {"type": "stdio"} if client.typed else {}
    return {**typed, "command": command, "args": args}


def _project(options: Namespace) -> Path:
    chosen: Path = options.project.expanduser().resolve()
    if not chosen.is_dir():
        raise ConfigError(f"--project: there is no folder {chosen.name!r}")
    return chosen
