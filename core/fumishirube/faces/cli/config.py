"""``fumishirube config``: show, compare or import configurations; list the variables."""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from fumishirube.config.classic import FILE as CLASSIC
from fumishirube.config.classic import import_classic, source_places, takes
from fumishirube.config.configuration import FILE, Config, locating_errors
from fumishirube.config.environment import expectation, variables
from fumishirube.config.process import ProcessSettings
from fumishirube.config.trust import VARIABLE as TRUST
from fumishirube.config.validation import build_model
from fumishirube.config.yaml_file import read_yaml
from fumishirube.errors import ConfigError
from fumishirube.faces.cli.call import show
from fumishirube.faces.cli.configurations import (
    EFFECTIVE,
    configured,
    differences,
    in_force,
)
from fumishirube.faces.cli.exit_codes import FAILURE, OK
from fumishirube.faces.cli.folders import workspace_here
from fumishirube.faces.cli.messages import filled, translated
from fumishirube.faces.cli.output import complain, print_json, table
from fumishirube.faces.cli.parser import add_json, one_of
from fumishirube.faces.cli.schema import file_schema
from fumishirube.faces.cli.workspace import opened, plugins_and_faults
from fumishirube.plugins.discovery import load_plugins
from fumishirube.plugins.registry import StageRegistry

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_OTHERS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML does not read as text."""
_NO_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""Characters that JSON has as they are: YAML forbids them, or takes them for the end of a line."""


class Variable(NamedTuple):
    """An environment variable: its values, its default as JSON, and the setting it decides."""

    name: str
    takes: str
    default: str
    setting: str


def add_arguments(parser: ArgumentParser) -> None:
    """Add its arguments."""
    help_text = (
        "show: the whole configuration in force, as YAML, and where each value comes from; "
        "diff A B: what two files say differently, or a file and what is in force (exit code 1); "
        "schema: the JSON Schema of fumishirube.yaml, with the settings of every stage; "
        "env: the environment variables; "
        "import: write fumishirube.yaml from a config.yaml of the classic manual tools"
    )
    parser.add_argument("part", metavar="PART", type=one_of("part", *_PARTS), help=help_text)
    help_text = (
        f"to import (default {CLASSIC}), or to compare; 'defaults' and 'effective' can be, too"
    )
    parser.add_argument("files", metavar="FILE", nargs="*", help=help_text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Print one part; return 1 if a comparison shows a difference."""
    allowed = {"diff": 2, "import": 1}.get(options.part, 0)
    if len(options.files) > allowed:
        raise ConfigError(f"config {options.part}: unexpected argument {options.files[allowed]!r}")
    return _PARTS[options.part](options) or 0


def _show(options: Namespace) -> None:
    with opened(options) as application:
        _, shown, sources = in_force(application)
        environ = application.loaded.origins
    whole = {"config": shown, "origins": {**sources}, "from_environment": {**environ}}
    show(whole, options, lambda _: outline(shown, sources))


def _schema(options: Namespace) -> None:
    print_json(file_schema(plugins_and_faults(options)[0].registry))


def _env(options: Namespace) -> None:
    rows = list(all_variables(plugins_and_faults(options)[0].registry))
    show([row._asdict() for row in rows], options, lambda _: _variable_lines(rows))


def _variable_lines(rows: Sequence[Variable]) -> Iterator[str]:
    head = ("VARIABLE", "TAKES", "DEFAULT", "SETTING")
    marked = [(row.name + (" *" if _is_set(row.name) else ""), *row[1:]) for row in rows]
    yield from table([head, *marked])
    if any(_is_set(row.name) for row in rows):
        yield translated("* is set now, and overrides the file")


def _import(options: Namespace) -> None:
    if options.folders:
        raise ConfigError("--in: it goes without 'config import', which writes into a workspace")
    workspace = workspace_here(options)  # never the user's own, where everything is trusted
    source = Path(options.files[0]) if options.files else workspace / CLASSIC
    target = workspace / FILE
    if target.exists() or target.is_symlink():  # it may lead to a new file elsewhere
        raise ConfigError(f"{FILE} is there already; move it away, or write into it by hand")
    if not source.is_file():
        raise ConfigError(f"there is no file {source.name!r}; name the one to import")
    registry = load_plugins(strangers=not options.no_plugins).registry
    offer = next((offer for offer in registry["surfaces"] if takes(offer.stage)), None)
    if offer is None:
        raise ConfigError(f"config import: no surface that is installed reads a {CLASSIC}")
    written = read_yaml(source)
    with locating_errors(source_places(written)):
        made, warnings = import_classic(written, offer.stage, offer.name)
        build_model(Config, made, "", {}, {})
    try:
        target.write_text("".join(f"{line}\n" for line in outline(made, {})), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{FILE} cannot be written; check permissions") from error
    for warning in warnings:
        complain(f"warning: {warning}")
    if options.json:
        print_json({"written": FILE, "warnings": [*warnings]})
    else:
        said = "{0}: written" if warnings else "{0}: written; {1} is no longer needed"
        print(filled(said, FILE, source.name))


def _diff(options: Namespace) -> int:
    if not options.files:
        raise ConfigError("config diff: name a file, or two; 'defaults' and 'effective' are known")
    names = [*options.files, EFFECTIVE][:2]
    changes = [*differences(*(configured(name, options) for name in names))]
    plain = [change._asdict() for change in changes]
    show(plain, options, lambda _: (change.line for change in changes))
    return FAILURE if changes else OK


_PARTS: Mapping[str, Callable[[Namespace], int | None]] = {
    "show": _show,
    "schema": _schema,
    "env": _env,
    "diff": _diff,
    "import": _import,
}


def all_variables(registry: StageRegistry) -> Iterator[Variable]:
    """Yield every environment variable, those of the framework first."""
    yield Variable("WORKSPACE_ROOT", "text", json.dumps("."), "--workspace")
    yield Variable(TRUST, "true or false", "false", "--trust")
    for name, _, info in variables(ProcessSettings):
        yield _variable(name, "(the environment only)", info)
    for name, coordinate, info in variables(Config):
        yield _variable(name, coordinate, info)
    for kind, offer in registry.offers():
        for name, coordinate, info in variables(offer.stage):
            yield _variable(name, f"{kind.noun} {offer.name}: {coordinate}", info)


def _variable(name: str, setting: str, info: FieldInfo) -> Variable:
    default = info.get_default(call_default_factory=True)
    text = json.dumps(default, ensure_ascii=False, default=str)
    return Variable(name, expectation(info), text, setting)


def _is_set(name: str) -> bool:
    return bool(os.environ.get(name, "").strip())


def outline(value: JsonValue, comments: Mapping[str, str], where: str = "") -> Iterator[str]:
    """Yield the lines of a value as YAML; ``comments`` have keys such as ``roots.manuals``."""
    if not isinstance(value, (dict, list)) or not value:
        yield _scalar(value) + _comment(comments, where)
    elif isinstance(value, dict):
        for key, member in value.items():
            here = f"{where}.{key}" if where else key
            lines = outline(member, comments, here)
            if isinstance(member, (dict, list)) and member:
                yield f"{_scalar(key)}:{_comment(comments, here)}"
                yield from (f"  {line}" for line in lines)
            else:
                yield f"{_scalar(key)}: {next(lines)}"
    else:
        for place, member in enumerate(value):
            first, *rest = outline(member, comments, f"{where}[{place}]")
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)


def _comment(comments: Mapping[str, str], where: str) -> str:
    return f"  # {comments[where]}" if where in comments else ""


def _scalar(value: JsonValue) -> str:
    """Return a scalar as JSON, which is valid YAML with these escapes; a word needs no quotes."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _OTHERS:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _NO_YAML.sub(lambda match: json.dumps(match[0])[1:-1], text)
