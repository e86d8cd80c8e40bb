"""Names that begin with a dot, where programs keep configuration and secrets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from fumishirube.text import without_unseen

# Programs run these files, or store secrets in them. Each entry covers names that start with it.
_NEVER = (
    *(".git", ".hg", ".svn", ".bzr", ".jj", ".husky", ".pre-commit"),
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".env"),
    *(".config", ".local", ".cache", ".bash", ".zsh", ".profile", ".login", ".inputrc"),
    *(".npm", ".yarn", ".pypirc", ".pip", ".cargo", ".gem", ".m2", ".gradle", ".tox", ".venv"),
    *(".vscode", ".idea", ".devcontainer", ".vim", ".emacs", ".direnv", ".exrc", ".nvim"),
    *(".mcp", ".claude", ".cursor", ".codex", ".gemini", ".copilot", ".windsurf", ".agents"),
    *(".fumishirube", ".ubp", ".system"),
)
_SHORT = re.compile(r"git~[0-9]")
"""The short name that Windows gives ``.git``."""


def is_never_opened(segment: str) -> bool:
    """Return whether no setting may allow notes below this name, in any spelling."""
    name = unicodedata.normalize("NFKC", without_unseen(segment)).casefold()
    return name.startswith(_NEVER) or _SHORT.match(name) is not None


def closed_segment(path: str, allowed: Collection[str]) -> str | None:
    """Return the first segment of a path that forbids writing notes below it, or ``None``.

    It begins with a dot as some file system reads it, and is not allowed, or never is.
    """
    for segment in path.split("/"):
        hidden = without_unseen(segment).startswith(".") and segment not in allowed
        if hidden or is_never_opened(segment):
            return segment
    return None
