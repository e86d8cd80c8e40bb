"""Which languages the program tesseract can read."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

_SECONDS = 10


def lacking_languages(program: str, languages: str) -> Sequence[str]:
    """Return those of some languages, as ``jpn+eng``, that are not installed.

    Where the program does not list its languages, none is lacking.
    """
    try:
        listed = subprocess.run(  # noqa: S603 - found on the path
            [program, "--list-langs"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    installed = {*(listed.stdout + listed.stderr).decode("utf-8", "replace").split()}
    return [language for language in languages.split("+") if language not in installed]
