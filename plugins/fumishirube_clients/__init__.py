"""What other programs get: the configuration of MCP clients, completions, the manual page."""

from fumishirube import Command, CommandRegister, hook

_COMPLETIONS = "~/.local/share/bash-completion/completions"


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands ``init``, ``completion`` and ``man``."""
    register(
        Command(
            "init",
            "name this server in the configuration of an MCP client",
            "fumishirube_clients.commands.init",
            "fumishirube init --client claude-code --write",
        )
    )
    register(
        Command(
            "completion",
            "print what makes a shell complete commands and options",
            "fumishirube_clients.commands.completion",
            f"mkdir -p {_COMPLETIONS}\n  fumishirube completion bash > {_COMPLETIONS}/fumishirube",
            last=True,
        )
    )
    register(
        Command(
            "man",
            "print the manual page",
            "fumishirube_clients.commands.man",
            "fumishirube man > fumishirube.1",
            last=True,
        )
    )
