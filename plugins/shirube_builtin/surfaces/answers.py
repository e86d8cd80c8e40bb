"""Answers that leave out the keys they have nothing to say for."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import SerializerFunctionWrapHandler, model_serializer

from shirube import Answer


class Lean(Answer):
    """An answer in which the fields named in ``omitted`` are absent when they are ``None``."""

    omitted: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _lean(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {
            key: value
            for key, value in handler(self).items()
            if value is not None or key not in self.omitted
        }
