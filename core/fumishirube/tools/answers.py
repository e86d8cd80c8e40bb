"""Answers without empty keys, and the limits of their size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from fumishirube.tools.definitions import Answer

LIST_CHARS = 24_000
"""The longest list in an answer, in characters: clients cut longer ones."""

ANSWER_CHARS = 48_000
"""The longest answer, in characters, except whole texts; with its frame it is below 50,000."""

Item = TypeVar("Item")


class LeanAnswer(Answer):
    """An answer in which the fields named in ``omitted`` are absent when they are ``None``."""

    omitted: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _lean(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {
            key: value
            for key, value in handler(self).items()
            if value is not None or key not in self.omitted
        }


def fitting(items: Iterable[Item], chars: int = LIST_CHARS) -> Iterator[Item]:
    """Yield items while their JSON fits into so many characters, but at least one."""
    left = chars
    for number, item in enumerate(items):
        left -= json_chars(item)
        if left < 0 and number:
            return
        yield item


def json_chars(item: object) -> int:
    """Return the length of a value as JSON, in characters, or slightly more."""
    shown = item.model_dump() if isinstance(item, BaseModel) else item
    return len(json.dumps(shown, ensure_ascii=False)) + len(", ")
