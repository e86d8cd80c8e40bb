"""Write the reference anew from the code: ``python docs/generate.py``."""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

from pydantic import BaseModel

from fumishirube import stages, surfaces
from fumishirube.config.configuration import Config
from fumishirube.config.environment import variables
from fumishirube.faces.cli.config import Variable, all_variables
from fumishirube.host.startup import open_application
from fumishirube.plugins import hookspecs
from fumishirube.plugins.discovery import load_plugins
from fumishirube.plugins.registry import RegisteredStage, StageKind, StageRegistry
from fumishirube.tools.definitions import Tool
from fumishirube.tools.schemas import input_schema, output_schema

sys.path.insert(0, str(Path(__file__).parent))
from api_pages import api_pages

REFERENCE = Path(__file__).parent / "reference"

_HEAD = "<!-- Written by docs/generate.py; change the code instead, and run it again. -->\n"
_ALL = """\
surfaces:
  - use: manual
  - {use: vault, with: {history: true}}
  - {use: chapters, with: {resolve_reference: true}}
  - use: graph
"""
"""A configuration under which every tool is offered."""

_FURTHER = {
    "loaders": ("LinkLoader", "ContentsLoader"),
    "surfaces": ("HasCommands", "HasLifespan", "HasClassicSettings", "HasResources", "HasPrompts"),
}
"""Verbs that a stage of a kind may have besides, by the names of their protocols."""


def pages() -> dict[str, str]:
    """Return every page of the reference by its file's name."""
    registry = load_plugins(strangers=False).registry
    written = {
        f"{kind_name}.md": _shelf(registry, kind_name) for kind_name in registry.kinds_by_name
    }
    written["tools.md"] = _tools()
    written["environment.md"] = _environment(registry)
    written["settings.md"] = _settings()
    written |= api_pages()
    return {name: _HEAD + "\n" + text for name, text in {**written, **_index(written)}.items()}


def main() -> None:
    """Write the pages, and remove those that are none any more."""
    REFERENCE.mkdir(exist_ok=True)
    made = pages()
    for name, text in made.items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
    for file in REFERENCE.iterdir():
        if file.name not in made:
            file.unlink()
    print(f"{len(made)} pages in {REFERENCE}")


# --- shelves --------------------------------------------------------------------------------


def _shelf(registry: StageRegistry, kind_name: str) -> str:
    kind = registry[kind_name].kind
    hook = f"register_{kind_name}"
    parts = [
        f"# {kind_name.capitalize()}",
        f"{inspect.getdoc(getattr(hookspecs, hook))} The hook is `{hook}`.",
        "## What one has to do",
        _source(kind.noun.capitalize()),
        *(_source(name) for name in _FURTHER.get(kind_name, ())),
        "## Built in",
        *(_offer(kind, offer) for offer in registry[kind_name]),
    ]
    return _joined(parts)


def _source(name: str) -> str:
    """Return the source of a protocol, without what only the interpreter needs."""
    lines = dedent(
        inspect.getsource(getattr(stages, name, None) or getattr(surfaces, name))
    ).splitlines()
    kept = [line for line in lines if line.strip() not in {"...", "@runtime_checkable"}]
    return _fenced("python", "\n".join(kept).strip())


def _offer(kind: StageKind, offer: RegisteredStage) -> str:
    stage = offer.stage
    generates = getattr(stage, "generates", False)
    told = "It nominates passages." if generates else "It scores what others have nominated."
    return _joined(
        [
            f"### `{offer.name}`",
            inspect.getdoc(stage) or "",
            told if kind.noun == "scorer" else "",
            *_default_pipeline(kind, stage),
            _table(stage),
        ]
    )


def _default_pipeline(kind: StageKind, stage: Any) -> Iterator[str]:
    if kind.noun == "surface" and stage.pipeline:
        yield f"It reads `roots.{stage.root}`. Its pipeline, unless the file says otherwise:"
        yield _fenced("json", json.dumps(stage.pipeline, ensure_ascii=False, indent=2))


# --- settings -------------------------------------------------------------------------------


def _table(model: type[BaseModel], prefix: str = "", leave: Collection[str] = ()) -> str:
    """Return a table of a model's settings, but for those to leave out."""
    schema = model.model_json_schema()
    names: dict[str, list[str]] = {}
    for variable, field, _ in variables(model):
        names.setdefault(field, []).append(f"`{variable}`")
    rows = [
        (
            f"`{prefix}{info.alias or name}`",
            _takes(schema["properties"][info.alias or name], schema.get("$defs", {})),
            _code(info.get_default(call_default_factory=True)),
            ", ".join(names.get(name, [])),
        )
        for name, info in model.model_fields.items()
        if name not in leave
    ]
    return _rows(("setting", "takes", "default", "variable"), rows) if rows else "No settings."


def _settings() -> str:
    parts = [
        "# Settings of the whole",
        "What `fumishirube.yaml` holds beside pipelines and surfaces, which have their own pages.",
    ]
    sections = {
        name: info.annotation
        for name, info in Config.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
    }
    for name, section in sections.items():
        parts += [f"## `{name}`", inspect.getdoc(section) or "", _table(section, f"{name}.")]
    alone = _table(Config, leave={*sections, "pipelines", "surfaces"})
    return _joined([*parts, "## Alone", inspect.getdoc(Config) or "", alone])


def _environment(registry: StageRegistry) -> str:
    rows = sorted(all_variables(registry), key=lambda row: row.setting.startswith(_NOUNS))
    cells = [(f"`{row.name}`", row.takes, f"`{row.default}`", _setting(row)) for row in rows]
    return _joined(
        [
            "# Environment variables",
            "Each goes before the file. `fumishirube config env` lists those of plugins too.",
            _rows(("variable", "takes", "default", "setting"), cells),
        ]
    )


_NOUNS = ("loader", "tokenizer", "embedder", "index", "scorer", "fuser", "refiner", "surface")


def _setting(row: Variable) -> str:
    return row.setting if row.setting.startswith("(") else f"`{row.setting}`"


# --- tools ----------------------------------------------------------------------------------


def _tools() -> str:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        for name in ("manuals", "docs"):
            (workspace / name).mkdir()
        (workspace / "fumishirube.yaml").write_text(_ALL, encoding="utf-8")
        application = open_application(workspace, strangers=False, environ={})
        try:
            told = [_tool(tool) for tool in application.tools.values()]
        finally:
            application.close()
    head = "All tools of the built-in surfaces, as MCP clients see them; which are offered, the "
    return _joined(["# Tools", f"{head}configuration decides.", *told])


def _tool(tool: Tool[Any, Any]) -> str:
    offset_maps = [f"`POST /tools/{tool.name}`"]
    offset_maps += [f"`{tool.http[0]} {tool.http[1]}`"] if tool.http else []
    kind = "It only reads." if tool.read_only else "It writes."
    parts = [
        f"## `{tool.name}`",
        f"**{tool.title}.** {tool.summary}",
        f"{kind} Over HTTP: {', '.join(offset_maps)}.",
        *_members("argument", input_schema(tool)),
        *_members("member of the answer", output_schema(tool)),
    ]
    return _joined(parts)


def _members(what: str, schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    rows = [
        (f"`{name}`" + ("" if name in required else " ?"), _takes(one), one.get("description", ""))
        for name, one in schema["properties"].items()
    ]
    if rows:
        yield _rows((what, "takes" if what == "argument" else "is", ""), rows)


# --- words ----------------------------------------------------------------------------------


def _takes(schema: Mapping[str, Any], known: Mapping[str, Any] | None = None) -> str:
    """Say in a few words what a schema takes."""
    if "$ref" in schema:
        return _takes((known or {}).get(schema["$ref"].rpartition("/")[2], {}), known)
    if "const" in schema:
        return f"only {_code(schema['const'])}"
    if "enum" in schema:
        return " or ".join(map(_code, schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_takes(one, known) for one in schema[key]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_takes(schema.get('items', {}), known)}"
    words = {"null": "nothing", "boolean": "true or false", "string": "text"}
    said = [words.get(one, one) for one in ([kind] if isinstance(kind, str) else kind)]
    return " or ".join(said) + "".join(_bounds(schema))


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    yield from (f" {sign} {schema[key]}" for key, sign in signs.items() if key in schema)
    if "maxLength" in schema:
        yield f" of up to {schema['maxLength']} characters"


def _code(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False, default=list)}`"


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _index(written: Mapping[str, str]) -> dict[str, str]:
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in written.items()}
    listed = "\n".join(f"* [{title}]({name})" for name, title in titles.items())
    head = "What can be set, asked for, and built in its place; written from the code."
    more = "Whatever its kind, a stage that needs a resource may have this verb too:"
    return {"README.md": _joined(["# Reference", head, listed, more, _source("ResourceStage")])}


if __name__ == "__main__":
    main()
    sys.exit(0)
