"""A plugin that loads, but whose surface declares neither its root nor its pipeline."""

from collections.abc import Sequence
from typing import Any

from fumishirube import Register, Stage, Surface, SurfaceContext, Tool, hook


class Rootless(Stage):
    """Has tools, and nothing else."""

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        return ()


@hook
def register_surfaces(register: Register[Surface]) -> None:
    register("rootless", Rootless)  # type: ignore[type-abstract, arg-type]
