"""Evaluation: measures how well searches find the known answers of cases."""

from fumishirube import Command, CommandRegister, hook


@hook
def register_commands(register: CommandRegister) -> None:
    """Register the command ``eval``."""
    register(
        Command(
            "eval",
            "measure how well cases with known answers are found",
            "fumishirube_eval.command",
            "fumishirube eval cases.jsonl --against other.yaml",
        )
    )
