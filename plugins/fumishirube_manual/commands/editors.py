"""Opens a file for the user: in their editor at a line, or with the system's own program."""

from __future__ import annotations

import os
import shlex
import subprocess
import webbrowser
from pathlib import Path

from fumishirube import ConfigError
from fumishirube.commands import OK
from fumishirube.parsing import PlaceRange

_VARIABLES = ("VISUAL", "EDITOR")
_PLUS = frozenset({"emacs", "emacsclient", "joe", "kak", "micro", "nano", "nvim", "vi", "vim"})
"""Editors that take a line as ``+LINE FILE``."""
_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Editors that take ``--goto FILE:LINE``."""
_COLON = frozenset({"hx", "subl", "zed"})
"""Editors that take ``FILE:LINE``."""


def open_file(file: Path, line: int, place: PlaceRange | None = None) -> int:
    """Open a file, and return the exit code of the editor.

    A file with pages, slides or rows is opened by the system, at the page if its viewer can; so is
    any file if no editor is set.

    Raises:
        ConfigError: when there is nothing to open it with.
    """
    variable = next((name for name in _VARIABLES if os.environ.get(name, "").strip()), "")
    editor = os.environ.get(variable, "").strip()
    if place is None and editor:
        try:
            command = editor_command(editor, file, line)
            return subprocess.run(command, check=False).returncode  # noqa: S603 - the user's editor
        except (OSError, ValueError) as error:
            raise ConfigError(f"{variable}: {editor!r} cannot be started") from error
    fragment = f"#page={place.first}" if place and place.kind == "page" else ""
    if not webbrowser.open(file.as_uri() + fragment):
        raise ConfigError("--open: set EDITOR, or BROWSER for files with pages")
    return OK


def editor_command(editor: str, file: Path, line: int) -> list[str]:
    """Return the words that open a file in an editor, at the line if it is a known one.

    Raises:
        ValueError: when a quotation mark in ``editor`` is not closed.
    """
    words = shlex.split(editor, posix=os.name != "nt")
    name = Path(words[0]).stem.lower()
    if name in _PLUS:
        return [*words, f"+{line}", str(file)]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, f"{file}:{line}" if name in _COLON else str(file)]
