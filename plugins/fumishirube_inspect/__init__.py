"""Past and new searches: as web pages on this machine, as files, repeated and compared."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands ``inspect`` and ``trace``."""
    register(
        Command(
            "inspect",
            "look at searches on a local page: ranks, signals, times",
            "fumishirube_inspect.commands.inspect",
            "fumishirube inspect --against other.yaml",
        )
    )
    register(
        Command(
            "trace",
            "write past searches as files, run them again, and compare two",
            "fumishirube_inspect.commands.trace",
            "fumishirube trace replay found.json",
        )
    )
