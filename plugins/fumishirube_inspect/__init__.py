"""The inspector: web pages on this machine about past and new searches."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``inspect``."""
    register(
        Command(
            "inspect",
            "look at searches on a local page: ranks, signals, times",
            "fumishirube_inspect.command",
            "fumishirube inspect --against other.yaml",
        )
    )
