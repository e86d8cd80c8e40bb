"""``fumishirube users``: the people who may use ``serve --http``, their tokens and rights."""

from __future__ import annotations

import os
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import JsonValue, ValidationError

from fumishirube import ConfigError
from fumishirube.commands import (
    OK,
    Parser,
    add_json,
    add_subcommand,
    at_least,
    complain,
    print_json,
    print_line,
    table,
)
from fumishirube.serving import configuration, process_settings
from fumishirube_http.people.file import People, PeopleFile
from fumishirube_http.people.records import PER_MINUTE, PeopleRecord, Person, StoredToken
from fumishirube_http.people.tokens import new_token, token_hash

VARIABLE = "FUMISHIRUBE_PEOPLE"
_MOST_DAYS = 36_500
_MOST_PER_MINUTE = 1_000_000


def add_arguments(parser: ArgumentParser) -> None:
    """Add the subcommands; without one, the people are listed."""
    add_json(parser)
    add_people(parser)
    inner = parser.add_subparsers(title="commands", metavar="COMMAND")

    def new(name: str, run: Callable[[Namespace], int], help_text: str) -> Parser:
        added = add_subcommand(inner, name, run, help_text)
        add_people(added, default=SUPPRESS)
        if name != "list":
            help_text = "the name, which the audit log shows"
            added.add_argument("name", metavar="NAME", help=help_text)
        return added

    new("list", run, "list the people with their rights")
    added = new("add", _add, "add a person, and print the token, once")
    help_text = "no token: the person has this subject at the identity provider"
    added.add_argument("--subject", metavar="SUBJECT", help=help_text)
    _add_days(added)
    _add_rights(added, str(PER_MINUTE))
    _add_rights(new("set", _set, "replace the rights of a person"), "as before")
    _add_days(new("token", _token, "make a new token; the old one no longer counts"))
    new("remove", _remove, "remove a person, whose token no longer counts")


def add_people(parser: ArgumentParser, default: str | None = None) -> None:
    """Add the option that names the people file."""
    help_text = f"the people file (default: the variable {VARIABLE})"
    parser.add_argument("--people", metavar="FILE", type=Path, default=default, help=help_text)


def people_file(options: Namespace) -> PeopleFile | None:
    """Return the people file of the options or the environment, or ``None``.

    Only they name it: a folder from a stranger cannot let people in.

    Raises:
        ConfigError: when a folder is there.
    """
    named = options.people or process_settings(os.environ).people
    if not named:
        return None
    path = Path(named).expanduser().absolute()
    if path.is_dir():
        raise ConfigError(f"--people: {path.name!r} is a folder; name a file")
    return PeopleFile(path)


def run(options: Namespace) -> int:
    """List the people."""
    people = _file(options).people()
    if options.json:
        print_json({name: _shown(person) for name, person in sorted(people.items())})
        return OK
    rows = [
        (name, _way_in(person), str(person.per_minute), ", ".join(_readable(person)))
        for name, person in sorted(people.items())
    ]
    for line in table([("name", "signs in by", "per minute", "may read"), *rows]):
        print_line(line)
    return OK


def _add_days(parser: Parser) -> None:
    help_text = "for how long the token counts (default: until it is replaced)"
    parser.add_argument("--days", metavar="N", type=at_least(1, _MOST_DAYS), help=help_text)


def _add_rights(parser: Parser, per_minute: str) -> None:
    help_text = "manuals, manuals/NAME, vault, vault/FOLDER or docs; may be repeated"
    parser.add_argument("--read", metavar="WHAT", action="append", default=[], help=help_text)
    help_text = "vault or vault/FOLDER, to read and write; may be repeated"
    parser.add_argument("--write", metavar="WHAT", action="append", default=[], help=help_text)
    parser.add_argument("--metrics", action="store_true", help="may read /metrics")
    help_text = f"requests in a minute (default: {per_minute})"
    most = _MOST_PER_MINUTE
    parser.add_argument("--per-minute", metavar="N", type=at_least(1, most), help=help_text)


def _file(options: Namespace) -> PeopleFile:
    file = people_file(options)
    if file is None:
        raise ConfigError(f"users: name the people file: --people FILE, or the variable {VARIABLE}")
    # Where the configuration cannot be used, people can still be removed; the server checks again.
    try:
        loaded = configuration(options)
    except ConfigError:
        return file
    file.check_place(loaded)
    return file


def _add(options: Namespace) -> int:
    if options.subject and options.days:
        raise ConfigError("users: --days is for a token, and a person with --subject gets none")
    rights = _rights(options, PER_MINUTE)
    stored, token = (None, None) if options.subject else _made(options.days)

    def made(people: People) -> People:
        if options.name in people:
            raise ConfigError(
                f"users: {options.name!r} exists; 'users set' replaces the rights, "
                "'users token' the token"
            )
        person = _person({**rights, "token": stored, "subject": options.subject})
        return _people({**people, options.name: person})

    _file(options).change(made)
    return _print_token(options, token)


def _set(options: Namespace) -> int:
    def made(people: People) -> People:
        known = _known(people, options.name)
        rights = _rights(options, known.per_minute)
        person = _person({**rights, "token": known.token, "subject": known.subject})
        return {**people, options.name: person}

    _file(options).change(made)
    return OK


def _token(options: Namespace) -> int:
    stored, token = _made(options.days)

    def made(people: People) -> People:
        known = _known(people, options.name)
        return {**people, options.name: known.model_copy(update={"token": stored})}

    _file(options).change(made)
    return _print_token(options, token)


def _remove(options: Namespace) -> int:
    def made(people: People) -> People:
        _known(people, options.name)
        return {name: person for name, person in people.items() if name != options.name}

    _file(options).change(made)
    return OK


def _made(days: int | None) -> tuple[StoredToken, str]:
    """Return a token as stored, and the token itself."""
    (token, identity), now = new_token(), datetime.now(UTC).replace(microsecond=0)
    expires = now + timedelta(days=days) if days else None
    digest = token_hash(token)
    return StoredToken(id=identity, sha256=digest, created=now, expires=expires), token


def _rights(options: Namespace, per_minute: int) -> dict[str, object]:
    return {
        "read": options.read,
        "write": options.write,
        "metrics": options.metrics,
        "per_minute": options.per_minute or per_minute,
    }


def _person(values: dict[str, object]) -> Person:
    try:
        return Person.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]).replace("_", "-")
        raise ConfigError(
            f"users: --{name}: {first['msg'].removeprefix('Value error, ')}"
        ) from error


def _people(people: People) -> People:
    try:
        return PeopleRecord(people=dict(people)).people
    except ValidationError as error:
        raise ConfigError(
            "users: a name has up to 64 Latin letters, digits and . _ @ + -, and begins with a "
            "letter or digit"
        ) from error


def _known(people: People, name: str) -> Person:
    if name not in people:
        raise ConfigError(f"users: nobody is called {name!r}; 'users list' shows the names")
    return people[name]


def _print_token(options: Namespace, token: str | None) -> int:
    if options.json:
        print_json({"name": options.name, "token": token})
    elif token is not None:
        complain("this token is shown only now; hand it on through a safe channel")
        print_line(token)
    return OK


def _way_in(person: Person) -> str:
    ways = []
    if person.token:
        expires = person.token.expires
        until = f" until {expires:%Y-%m-%d}" if expires else ""
        ways.append(f"token{until}" if person.token.counts() else "expired token")
    return ", ".join([*ways, *(["identity provider"] if person.subject else [])]) or "nothing"


def _readable(person: Person) -> list[str]:
    writable = [f"{path} (write)" for path in person.write]
    return [*person.read, *writable, *(["metrics"] if person.metrics else [])]


def _shown(person: Person) -> JsonValue:
    shown: dict[str, JsonValue] = person.model_dump(mode="json", exclude={"token": {"sha256"}})
    return shown
