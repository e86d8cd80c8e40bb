"""Answers that leave out the keys they have nothing to say for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer

from fumishirube.tools.definitions import Answer

LIST_CHARS = 24_000
"""How long a list in an answer gets: clients cut what is much longer."""

ANSWER_CHARS = 48_000
"""How long an answer gets that is no whole text; with what stands around it, below 50,000."""

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
    """Yield items as long as their JSON stays within so many characters, but at least one."""
    left = chars
    for number, item in enumerate(items):
        left -= json_chars(item)
        if left < 0 and number:
            return
        yield item


def json_chars(item: object) -> int:
    """Return how many characters an answer, or a part of one, has as JSON, or a few more."""
    shown = item.model_dump() if isinstance(item, BaseModel) else item
    return len(json.dumps(shown, ensure_ascii=False)) + len(", ")
