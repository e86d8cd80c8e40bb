"""The configuration files of MCP clients, in which this server is named."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``init``."""
    help_text = "name this server in the configuration of an MCP client"
    example = "fumishirube init --client claude-code --write"
    register(Command("init", help_text, "fumishirube_clients.command", example))
