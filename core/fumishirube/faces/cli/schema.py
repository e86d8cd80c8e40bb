"""The JSON Schema of ``fumishirube.yaml``, with the settings of every registered stage."""

from __future__ import annotations

from typing import Any, get_origin

from pydantic import BaseModel

from fumishirube.config.classic import MOVED, keys
from fumishirube.config.configuration import Config
from fumishirube.config.environment import choices
from fumishirube.config.pipelines import PIPELINE_KEYS, SINGLE_KINDS
from fumishirube.errors import first_line
from fumishirube.faces.cli.output import complain
from fumishirube.host.standard_streams import foreign_code
from fumishirube.interrupts import is_interrupt
from fumishirube.plugins.registry import DEFAULTS, RegisteredStage, StageKind, StageRegistry

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def file_schema(registry: StageRegistry) -> dict[str, Any]:
    """Return a schema with which an editor checks the file; report settings that have none."""
    definitions: dict[str, Any] = {}
    for registered in registry.values():
        uses = [_use(registered.kind, offer, definitions) for offer in registered]
        definitions[registered.kind.noun] = {"oneOf": uses} if uses else {"not": {}}
    schema = _model(Config, "config", definitions)
    pipeline = {"type": "object", "additionalProperties": False, "properties": _kinds(registry)}
    definitions["pipeline"] = pipeline
    for unused in ("config.Use", "config.PipelineSpec"):
        definitions.pop(unused, None)
    properties = schema["properties"]
    properties["pipelines"] = {
        "type": "object",
        "description": "By the name of a surface; a kind that is not set has its default.",
        "additionalProperties": {"$ref": "#/$defs/pipeline"},
    }
    properties["surfaces"] = {"type": "array", "items": {"$ref": "#/$defs/surface"}}
    _add_classic(properties, definitions, registry)
    return {"$schema": _DIALECT, **schema, "$defs": dict(sorted(definitions.items()))}


def _add_classic(
    properties: dict[str, Any], definitions: dict[str, Any], registry: StageRegistry
) -> None:
    """Add the keys of the classic sections, each with the schema of its setting."""
    known = {key: {"type": "string"} for key in MOVED}
    for offer in registry["surfaces"]:
        taken = {name: info for name, info in offer.stage.model_fields.items() if keys(info)}
        settings = _settings("surface", offer, {}).get("properties", {}) if taken else {}
        for name, info in taken.items():
            known |= dict.fromkeys(keys(info), settings.get(info.alias or name, {}))
    for key, schema in known.items():
        section, _, name = key.rpartition(".")
        inner = properties
        if section:
            empty = {"type": "object", "additionalProperties": False, "properties": {}}
            outer = properties.setdefault(section, empty)
            reference = outer.get("$ref", "").removeprefix("#/$defs/")
            inner = definitions.get(reference, outer)["properties"]
        inner.setdefault(name, schema)


def _kinds(registry: StageRegistry) -> dict[str, Any]:
    kinds: dict[str, Any] = {}
    for kind_name, key in PIPELINE_KEYS.items():
        names = [offer.name for offer in registry[kind_name]]
        written = {"$ref": f"#/$defs/{registry[kind_name].kind.noun}"}
        chosen: dict[str, Any]
        if kind_name in SINGLE_KINDS:
            chosen = {"anyOf": [written, {"enum": names}]}
        else:
            items = {"anyOf": [written, {"enum": [*names, DEFAULTS]}]}
            chosen = {"type": "array", "items": items}
        kinds[key] = {"anyOf": [chosen, {"type": "null"}]}
    return kinds


def _use(kind: StageKind, offer: RegisteredStage, definitions: dict[str, Any]) -> dict[str, Any]:
    documented = offer.stage.__doc__
    written = documented if isinstance(documented, str) else ""
    description = written.strip().split("\n\n")[0]
    settings = _settings(kind.noun, offer, definitions)
    return {
        "type": "object",
        "description": " ".join(description.split()),
        "additionalProperties": False,
        "required": ["use"],
        "properties": {
            "use": {"const": offer.name},
            "as": {"type": ["string", "null"], "description": "Another name for this use."},
            "with": settings,
        },
    }


def _settings(noun: str, offer: RegisteredStage, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a stage's settings; that of any settings, and a report, if it fails."""
    try:
        with foreign_code():
            return _model(offer.stage, f"{noun}.{offer.name}", definitions)
    except BaseException as error:  # the code of a plugin may take part in it
        if is_interrupt(error):
            raise
        problem = f"{noun} {offer.name!r}: its settings have no schema: {first_line(error)}"
        complain(f"problem: plugin {offer.plugin}: {problem}")
        return {"type": "object"}


def _model(model: type[BaseModel], prefix: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a model's schema; its definitions go to the common ones, prefixed."""
    schema = model.model_json_schema(ref_template=f"#/$defs/{prefix}.{{model}}")
    for name, info in model.model_fields.items():
        if get_origin(info.annotation) is tuple and (known := choices(info)):
            setting = schema["properties"][info.alias or name]
            # With + they are added to the default.
            added = {"items": {"enum": [f"+{name}" for name in known]}}
            setting["anyOf"] = [{"items": setting.pop("items")}, added]
    for name, inner in schema.pop("$defs", {}).items():
        definitions[f"{prefix}.{name}"] = inner
    return schema
