"""The errors of the ``ubp_*`` tools: a JSON-RPC code and a message with parameter and value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import JsonValue

from fumishirube import InternalError, InvalidParameter, InvalidPath, Params, ToolError

INVALID_PARAMS, INTERNAL = -32602, -32603

_GOT = 80
_NOUNS = {
    "string": "a string",
    "boolean": "true or false",
    "array": "a list",
    "integer": "an integer",
    "number": "a number",
}


class JsonRpcError(ToolError):
    """A failed call with a JSON-RPC error code."""

    code = "invalid_parameter"
    number = INVALID_PARAMS

    def payload(self) -> dict[str, JsonValue]:
        """Return ``{"code", "message", "details"}``; the code is a number."""
        payload = super().payload()
        details = payload.get("details", {})
        return {"code": self.number, "message": payload["message"], "details": details}


class JsonRpcInternalError(JsonRpcError):
    """A call that failed for a reason other than its arguments."""

    code = "internal_error"
    number = INTERNAL


def docs_missing(name: str) -> JsonRpcInternalError:
    """Return the error for a missing folder of documents."""
    message = f"there is no folder '{name}'; create it, or name the right one in roots.docs"
    return JsonRpcInternalError(message, reason="docs_missing")


def unknown_page(name: str, parameter: str, near: list[str]) -> JsonRpcError:
    """Return the error for an unknown page, with similar paths."""
    hint = f" Did you mean '{near[0]}'?" if near else ""
    message = f"Unknown page '{_shown(name)}'.{hint}"
    return JsonRpcError(message, parameter=parameter, reason="not_found", near=[*near])


def skipped_page(path: str, parameter: str, code: str, message: str) -> JsonRpcError:
    """Return the error for a file that was skipped, with the reason."""
    said = f"No page '{path}': {message}"
    return JsonRpcError(said, parameter=parameter, reason="not_found", near=[], why=code)


def refusing(params: type[Params]) -> Callable[[ToolError, object], ToolError]:
    """Return a function that restates any failure of a tool with these arguments."""
    properties: dict[str, Any] = {}

    def refused(error: ToolError, arguments: object) -> ToolError:
        if isinstance(error, JsonRpcError):
            return error
        if isinstance(error, InternalError):
            return JsonRpcInternalError(str(error), **error.details)
        if not isinstance(error, InvalidParameter | InvalidPath):
            return JsonRpcInternalError(str(error), **{"reason": error.code, **error.details})
        name = str(error.details.get("parameter", ""))
        if not properties:
            properties.update(params.model_json_schema().get("properties", {}))
        if name.partition("[")[0] not in properties or not isinstance(arguments, dict):
            return JsonRpcError(str(error), **{"reason": "invalid", **error.details})
        return _restated(name, properties[name.partition("[")[0]], arguments, error)

    return refused


def _restated(
    name: str, schema: Mapping[str, Any], arguments: Mapping[str, Any], error: ToolError
) -> JsonRpcError:
    """Return an error with the expected value and the actual one."""
    parameter, _, index = name.partition("[")
    if parameter not in arguments:
        return JsonRpcError(f"{name} is required", parameter=name, reason="missing")
    got, schema = arguments[parameter], _arm(schema)
    if error.details.get("reason"):
        return JsonRpcError(str(error), **{**error.details, "got": _shown(got)})
    if index and isinstance(got, list) and "items" in schema:
        got, schema = got[int(index.partition("]")[0])], schema["items"]
    else:
        name = parameter
    rule, details = _rule(schema)
    if rule == _NOUNS["string"] and isinstance(got, str):
        rule = "text without lone surrogates"
    shown = _shown(got)
    quoted = f'"{shown}"' if isinstance(got, str) else shown
    message = f"{name} must be {rule}" + ("" if "allowed" in details else f", got {quoted}")
    return JsonRpcError(message, parameter=parameter, **details, got=shown)


def _arm(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the branch of a schema for a value that is not null."""
    arms = [arm for arm in schema.get("anyOf", [schema]) if arm.get("type") != "null"]
    return arms[0] if arms else schema


def _rule(schema: Mapping[str, Any]) -> tuple[str, dict[str, JsonValue]]:
    if allowed := schema.get("enum") or schema.get("items", {}).get("enum"):
        several = "one of " if "enum" in schema else "a list of any of "
        return several + ", ".join(map(str, allowed)), {"allowed": allowed}
    noun = _NOUNS.get(str(schema.get("type")), "something else")
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        return noun, {}
    if high is None:
        return f"{noun} of at least {low}", {"min": low}
    return f"{noun} from {low} to {high}", {"min": low, "max": high}


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _GOT else text[: _GOT - 1] + "…"
