"""What authors of plugins need: a package to start from, and the contract tests."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the commands ``new-plugin`` and ``conform``."""
    help_text = "write a package with a stage of one's own, ready to install"
    example = "fumishirube new-plugin fumishirube-recent --kind refiner"
    register(Command("new-plugin", help_text, "fumishirube_authoring.commands.new_plugin", example))
    help_text = "run the contract tests on the stages of an installed plugin"
    example = "fumishirube conform fumishirube-borda"
    register(Command("conform", help_text, "fumishirube_authoring.commands.conform", example))
