"""Evaluation: measures how well searches find the known answers of cases."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``eval``."""
    help_text = "measure how well cases with known answers are found"
    example = "fumishirube eval cases.jsonl --against other.yaml"
    register(Command("eval", help_text, "fumishirube_eval.command", example))
