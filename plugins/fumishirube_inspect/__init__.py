"""The inspector: pages on this machine over past searches and new ones."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Offer ``inspect``."""
    register(
        Command(
            "inspect",
            "look at searches on a local page: ranks, signals, times",
            "fumishirube_inspect.command",
            "fumishirube inspect --against other.yaml",
        )
    )
