"""What authors of plugins need: a package to start from, and the contract tests."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands ``new-plugin`` and ``conform``."""
    register(
        Command(
            "new-plugin",
            "write a package with a stage of one's own, ready to install",
            "fumishirube_authoring.commands.new_plugin",
            "fumishirube new-plugin fumishirube-recent --kind refiner",
        )
    )
    register(
        Command(
            "conform",
            "run the contract tests on the stages of an installed plugin",
            "fumishirube_authoring.commands.conform",
            "fumishirube conform fumishirube-borda",
        )
    )
