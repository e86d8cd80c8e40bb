"""The help of commands, in the user's language."""

from __future__ import annotations

from argparse import Action, RawDescriptionHelpFormatter
from collections.abc import Iterable
from typing import Any

from fumishirube.faces.cli.messages import translated, translated_sentence
from fumishirube.faces.cli.output import clipped, width


class HelpFormatter(RawDescriptionHelpFormatter):
    """Translates what argparse formats, and breaks lines by columns instead of characters."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[Action],
        groups: Any,
        prefix: str | None = None,
    ) -> None:
        """Add the usage with its heading."""
        super().add_usage(
            usage, actions, groups, translated("usage: ") if prefix is None else prefix
        )

    def start_section(self, heading: str | None) -> None:
        """Begin a section with its heading."""
        super().start_section(translated(heading) if heading else heading)

    def add_text(self, text: str | None) -> None:
        """Add a description."""
        super().add_text(translated_sentence(text) if text else text)

    def _get_help_string(self, action: Action) -> str | None:
        return translated(action.help) if action.help else action.help

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text, width)
        return lines if text.isascii() else [*_by_columns(" ".join(lines), width)]


def _by_columns(text: str, columns: int) -> Iterable[str]:
    """Yield the lines of a text in which a character may take two columns, and spaces are rare."""
    while width(text) > columns:
        line = clipped(text, columns).removesuffix("…") or text[:1]
        yield line
        text = text[len(line) :].lstrip()
    yield text
