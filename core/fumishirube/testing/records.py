"""What came of a stage, spelt so that another process, or a later moment, can be held to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass

from pydantic import BaseModel, JsonValue


def record(value: object) -> JsonValue:
    """Return a value as JSON: sets and keys sorted, numbers to six digits, no addresses.

    Of a dataclass only what counts in comparisons is kept.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return f"{value:.6g}"
        case bytes():
            return value.hex()
        case BaseModel():
            return record(value.model_dump(mode="json"))
        case Mapping():
            return sorted(([str(key), record(inner)] for key, inner in value.items()), key=repr)
        case set() | frozenset():
            return sorted(map(record, value), key=repr)
        case Sequence():
            return [record(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return [
            [field.name, record(getattr(value, field.name))]
            for field in fields(value)
            if field.compare
        ]
    return record(list(value)) if isinstance(value, Iterable) else type(value).__name__
