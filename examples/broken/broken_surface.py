"""A plugin that loads, but whose surface has a typo in ``tools``."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fumishirube import Register, Stage, Surface, SurfaceContext, Tool, hook


class Mistyped(Stage):
    """Calls a missing method of its context."""

    pipeline: ClassVar[Mapping[str, Any]] = {}
    root: ClassVar[str] = "manuals"

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        return context.tolls()  # type: ignore[attr-defined, no-any-return]


@hook
def register_surfaces(register: Register[Surface]) -> None:
    register("mistyped", Mistyped)
