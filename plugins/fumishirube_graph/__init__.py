"""The surface ``graph``: the tools over linked documents."""

from fumishirube import Register, Surface, hook
from fumishirube_graph.surface import GraphSurface


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Offer the tools over linked documents."""
    register("graph", GraphSurface)
