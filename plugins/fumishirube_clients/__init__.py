"""The configuration files of MCP clients, in which this server is named."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``init``."""
    register(
        Command(
            "init",
            "name this server in the configuration of an MCP client",
            "fumishirube_clients.command",
            "fumishirube init --client claude-code --write",
        )
    )
