"""Past and new searches: as web pages on this machine, as files, repeated and compared."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands ``inspect`` and ``trace``."""
    help_text = "look at searches on a local page: ranks, signals, times"
    example = "fumishirube inspect --against other.yaml"
    register(Command("inspect", help_text, "fumishirube_inspect.commands.inspect", example))
    help_text = "write past searches as files, run them again, and compare two"
    example = "fumishirube trace replay found.json"
    register(Command("trace", help_text, "fumishirube_inspect.commands.trace", example))
