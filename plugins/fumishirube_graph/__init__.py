"""The surface ``graph``: the tools over linked documents."""

from fumishirube import Command, CommandRegister, Register, Surface, hook
from fumishirube_graph.surface import GraphSurface


@hook
def register_surfaces(register: Register[Surface]) -> None:
    """Register the surface ``graph``."""
    register("graph", GraphSurface)


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``docs``."""
    register(
        Command(
            "docs",
            "search and check linked documents, and draw their graph",
            "fumishirube_graph.commands",
            "fumishirube docs search '設計' --include-linked",
        )
    )
