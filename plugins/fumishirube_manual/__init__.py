"""The surface ``manual``: the tools over manuals."""

from fumishirube import Register, Surface, hook
from fumishirube_manual.surface import ManualSurface


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Offer the tools over manuals."""
    register("manual", ManualSurface)
