"""The surface ``vault``: the tools over notes."""

from fumishirube import Register, Surface, hook
from fumishirube_vault.surface import VaultSurface


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Offer the tools over notes."""
    register("vault", VaultSurface)
