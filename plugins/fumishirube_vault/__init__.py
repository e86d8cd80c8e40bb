"""The surface ``vault``: the tools over notes."""

from fumishirube import Command, CommandRegister, DefaultRegister, Surface, hook
from fumishirube_vault.surface import VaultSurface


@hook
def register_surfaces(register: DefaultRegister[Surface]) -> None:
    """Register the surface ``vault``."""
    register("vault", VaultSurface, default=True)


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``vault``."""
    register(
        Command(
            "vault",
            "list, read and write notes, and take writes back",
            "fumishirube_vault.commands",
            "fumishirube vault log",
        )
    )
