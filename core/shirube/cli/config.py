"""``shirube config``: what is in force, what may be written, and which variables count."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import JsonValue
from pydantic.fields import FieldInfo

from shirube.app import Application
from shirube.classic import FILE as CLASSIC
from shirube.classic import imported, takes
from shirube.cli.outline import outline
from shirube.cli.output import print_json, table
from shirube.cli.parser import Verbs, add_json, one_of
from shirube.cli.schema import file_schema
from shirube.cli.workspace import folder, opened, plugins_of
from shirube.config import FILE, Config, build
from shirube.environment import expectation, variables
from shirube.errors import ConfigError
from shirube.furnished import use_of
from shirube.pipeline import Named
from shirube.plugins import load_plugins
from shirube.process import ProcessSettings
from shirube.registry import Registry
from shirube.written import read_yaml


class Variable(NamedTuple):
    """An environment variable: what it takes, its default as JSON, and the setting it decides."""

    name: str
    takes: str
    default: str
    setting: str


def add(commands: Verbs) -> None:
    """Add the command."""
    parser = commands.add("config", run, "shirube config show > shirube.yaml")
    told = (
        "show: the whole configuration in force, as YAML; "
        "schema: the JSON Schema of shirube.yaml, with the settings of every stage; "
        "env: the environment variables; "
        "import: write shirube.yaml from a config.yaml of the classic manual tools"
    )
    parser.add_argument("part", metavar="PART", type=one_of("part", *_PARTS), help=told)
    parser.add_argument("file", metavar="FILE", nargs="?", help=f"to import; default {CLASSIC}")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print one part."""
    _PARTS[options.part](options)
    return 0


def _show(options: Namespace) -> None:
    with opened(options) as application:
        shown = effective(application)
        origins = application.loaded.origins
    if options.json:
        print_json({"config": shown, "from_environment": {**origins}})
        return
    comments = {coordinate: f"from {variable}" for coordinate, variable in origins.items()}
    for line in outline(shown, comments):
        print(line)


def _schema(options: Namespace) -> None:
    print_json(file_schema(plugins_of(options).registry))


def _env(options: Namespace) -> None:
    rows = list(_variables(plugins_of(options).registry))
    if options.json:
        print_json([row._asdict() for row in rows])
        return
    head = ("VARIABLE", "TAKES", "DEFAULT", "SETTING")
    marked = [(row.name + (" *" if _is_set(row.name) else ""), *row[1:]) for row in rows]
    for line in table([head, *marked]):
        print(line)
    if any(_is_set(row.name) for row in rows):
        print("* is set now, and overrides the file")


def _import(options: Namespace) -> None:
    workspace = folder(options)
    source, target = workspace / (options.file or CLASSIC), workspace / FILE
    if target.exists():
        raise ConfigError(f"{FILE} is there already; move it away, or write into it by hand")
    if not source.is_file():
        raise ConfigError(f"there is no file {source.name!r}; name the one to import")
    registry = load_plugins(strangers=not options.no_plugins).registry
    offer = next(offer for offer in registry["surfaces"] if takes(offer.stage))
    made = imported(read_yaml(source), offer.stage, offer.name)
    build(Config, made, "", {}, {})
    target.write_text("".join(f"{line}\n" for line in outline(made, {})), encoding="utf-8")
    print(f"{FILE}: written; {source.name} is no longer needed")


_PARTS = {"show": _show, "schema": _schema, "env": _env, "import": _import}


def effective(application: Application) -> JsonValue:
    """Return the configuration in force: every stage that runs, with all its settings."""
    registry = application.plugins.registry
    settings = application.config.model_dump(mode="json", by_alias=True)
    settings["pipelines"] = {one.name: {**one.uses} for one in application.surfaces}
    settings["surfaces"] = [
        use_of("surfaces", Named(one.name, one.surface), registry) for one in application.surfaces
    ]
    shown: JsonValue = settings
    return shown


def _variables(registry: Registry) -> Iterator[Variable]:
    yield Variable("WORKSPACE_ROOT", "text", json.dumps("."), "--workspace")
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
