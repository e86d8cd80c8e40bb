"""``fumishirube init``: add this server to the configuration of an MCP client."""

from __future__ import annotations

import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fumishirube import ConfigError
from fumishirube.commands import (
    OK,
    TrustRequest,
    add_json,
    complain,
    filled,
    one_of,
    opened,
    print_json,
    record_trust,
    serve_command,
    translated,
)
from fumishirube_clients.client_files import ClientFile, block
from fumishirube_clients.client_specs import CLIENTS, ClientFolders, ClientSpec

_NAME = "fumishirube"
_SERVER = re.compile(r"[A-Za-z0-9_-]{1,64}")
_YES = frozenset({"y", "yes", "はい"})


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = f"{', '.join(CLIENTS)}; without it you are asked for each that is found"
    client = one_of("client", *CLIENTS)
    parser.add_argument("--client", type=client, metavar="CLIENT", help=help_text)
    help_text = f"what the server is called there (default: {_NAME})"
    parser.add_argument("--name", default=_NAME, help=help_text)
    help_text = "the project folder, for clients with a file in each (default: the current folder)"
    parser.add_argument("--project", type=Path, default=Path(), metavar="DIR", help=help_text)
    what = parser.add_mutually_exclusive_group()
    help_text = "make the change; otherwise only show it"
    what.add_argument("--write", action="store_true", help=help_text)
    what.add_argument("--remove", action="store_true", help="remove the server")
    add_json(parser)


def run(options: Namespace) -> int:
    """Show the change, or make it after a backup of the file; without a client, ask for each.

    Raises:
        ConfigError: when the workspace, the server's name or the client's file cannot be used, or
            no client is named and there is nobody to ask.
    """
    if not options.remove and not _SERVER.fullmatch(options.name):
        raise ConfigError(
            f"--name: expected letters, digits, - and _, at most 64 of them; got {options.name!r}"
        )
    if options.client is None:
        return _choose(options)
    change = _planned(options.client, options)
    made = change.is_one and (options.write or options.remove)
    backup = change.make() if options.write or options.remove else None
    if options.json:
        print_json(
            {
                "trusted": [str(request) for request in change.outside],
                "client": options.client,
                "file": str(change.file.path),
                "changed": made,
                "backup": None if backup is None else str(backup),
                "diff": "\n".join(change.diff()),
            }
        )
        return OK
    for line in _shown(change, options):
        print(line)
    if change.is_one and not made:
        hint = f"nothing is changed yet; --write makes this change for {change.client.title}"
        print(f"\n{translated(hint)}")
    elif change.is_one:
        print(f"\n{_result(change, backup, removed=options.remove)}")
    return OK


class _Change(NamedTuple):
    """The text that a client's file is to have, and the paths outside that are to be trusted."""

    client: ClientSpec
    file: ClientFile
    text: str
    outside: Sequence[TrustRequest]
    trust: Callable[[], object]

    @property
    def is_one(self) -> bool:
        """Whether the text differs from that of the file."""
        return self.text != self.file.before

    def make(self) -> Path | None:
        """Write the file and record the trust; return the path of the backup, if there is one.

        Raises:
            ConfigError: when one of them cannot be written.
        """
        backup = self.file.save(self.text) if self.is_one else None
        if self.outside:
            self.trust()
        return backup

    def diff(self) -> Iterator[str]:
        """Yield the lines of the difference."""
        name, before = str(self.file.path), self.file.before.splitlines()
        yield from unified_diff(before, self.text.splitlines(), name, name, lineterm="", n=2)


def _planned(name: str, options: Namespace) -> _Change:
    client: ClientSpec = CLIENTS[name]
    outside: Sequence[TrustRequest] = ()
    trust: Callable[[], object] = tuple
    entry = {}
    if not options.remove:
        outside, trust = _checked(options)
        entry = client.entry(serve_command(options))
    places = _places(options)
    path = client.file(places)
    try:
        if client.in_project and not Path(os.path.realpath(path)).is_relative_to(places.project):
            raise ConfigError(f"{path.name}: a symbolic link leads out of the project; remove it")
        file = ClientFile(client, path)
        text = (
            file.without_server(options.name)
            if options.remove
            else file.with_server(options.name, entry)
        )
    except ConfigError:
        if not options.remove:
            complain("add this by hand:")
            for line in block(client, options.name, entry).splitlines():
                complain(line)
        raise
    return _Change(client, file, text, outside, trust)


def _shown(change: _Change, options: Namespace) -> Iterator[str]:
    for request in change.outside:
        yield f"{'trusted' if options.write else 'to be trusted'}: {request}: {request.target}"
    if change.is_one:
        yield from change.diff()
    else:
        yield filled(
            "{0} does not name {1} this way; nothing to change"
            if options.remove
            else "{0} names already {1} this way; nothing to change",
            change.file.path,
            repr(options.name),
        )


def _result(change: _Change, backup: Path | None, *, removed: bool) -> str:
    done = "is changed" if change.text else "had nothing else in it, and is deleted"
    lines = [f"{change.file.path} {done}"]
    if backup is not None:
        lines.append(f"before: {backup}")
    lines.append(f"next: {f'restart {change.client.title}' if removed else change.client.then}")
    return "\n".join(map(translated, lines))


def _choose(options: Namespace) -> int:
    """Ask for each installed client on a terminal; elsewhere say what can be run."""
    places = _places(options)
    names = [name for name, client in CLIENTS.items() if client.is_installed(places)]
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not options.json
    if names and not on_terminal and (options.write or options.remove):
        raise ConfigError(f"name the client with --client; these are found: {', '.join(names)}")
    if options.json:
        print_json([{"client": name, "file": str(CLIENTS[name].file(places))} for name in names])
        return OK
    if not names:
        raise ConfigError(f"no client is found; name one with --client: {', '.join(CLIENTS)}")
    if on_terminal:
        for name in names:
            _confirm(name, options)
        return OK
    for name in names:
        print(f"{CLIENTS[name].title}: fumishirube init --client {name} --write")
    return OK


def _confirm(name: str, options: Namespace) -> None:
    """Show the change for one client, and make it if the person agrees."""
    unwritten = Namespace(**{**vars(options), "write": False})
    try:
        change = _planned(name, unwritten)
        print(f"{change.client.title}:")
        for line in _shown(change, unwritten):
            print(f"  {line}")
        if not change.is_one:
            return
        print(translated("change this file? [y/N]"), end=" ", flush=True)
        if sys.stdin.readline().strip().lower() not in _YES:
            print(translated("not changed"))
            return
        print(_result(change, change.make(), removed=options.remove))
    except ConfigError as error:
        complain(f"{CLIENTS[name].title}: {error}")


def _places(options: Namespace) -> ClientFolders:
    return ClientFolders(Path.home(), _project(options), os.environ)


def _checked(options: Namespace) -> tuple[Sequence[TrustRequest], Callable[[], object]]:
    """Check that the workspace has tools; return what is to be trusted, and what records that.

    The client starts the server without a terminal, so paths outside are trusted here.
    """
    with opened(options, trusted=True) as application:
        if not application.tools:
            raise ConfigError("surfaces: there is no tool to serve; see 'fumishirube doctor'")
        outside = application.outside
        return outside, partial(record_trust, application.loaded.trust, outside, os.environ)


def _project(options: Namespace) -> Path:
    try:
        chosen: Path = options.project.expanduser().resolve()
        there = chosen.is_dir()
    except (OSError, RuntimeError):  # a name that is too long, or a user who does not exist
        chosen, there = options.project, False
    if not there:
        raise ConfigError(f"--project: there is no folder {chosen.name!r}")
    return chosen
