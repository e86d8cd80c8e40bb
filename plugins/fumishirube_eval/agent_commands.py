"""The command lines of agents and judges, with placeholders."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from fumishirube import ConfigError

PROMPT = "prompt"
TOO_LONG = f"the prompt is too long for {{{PROMPT}}}: without that it is the standard input"
"""The failure of a prompt that is longer than the operating system lets a word of a command be."""
PLACEHOLDERS = (PROMPT, "mcp_config", "workspace", "tools")

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class AgentCommand:
    """A command whose words may contain placeholders in braces. It is run without a shell."""

    option: str
    template: tuple[str, ...]

    @classmethod
    def parsed(cls, option: str, line: str, allowed: tuple[str, ...]) -> AgentCommand:
        """Parse a command line; ``option`` is the option it comes from.

        Raises:
            ConfigError: when it is empty, badly quoted, or has an unknown placeholder.
        """
        try:
            words = _split(line)
        except ValueError as error:
            raise ConfigError(f"{option}: {error}") from error
        if not words:
            raise ConfigError(f"{option}: it names no command")
        for name in _PLACEHOLDER.findall(line):
            if name not in allowed:
                names = ", ".join(f"{{{word}}}" for word in allowed)
                raise ConfigError(f"{option}: there is no {{{name}}}; there are: {names}")
        return cls(option, tuple(words))

    def words(self, values: Mapping[str, str]) -> tuple[list[str], str]:
        """Return the words to run, and the standard input: the prompt, unless a word has it.

        No word can hold NUL, which a question or an answer may; U+FFFD is in its place.
        """
        filled = [
            _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), word).replace(
                "\0", "\ufffd"
            )
            for word in self.template
        ]
        in_words = any(f"{{{PROMPT}}}" in word for word in self.template)
        return filled, "" if in_words else values[PROMPT]


def _split(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    if os.name == "nt":
        lexer.escape = ""  # a backslash separates folders on Windows
    return list(lexer)
