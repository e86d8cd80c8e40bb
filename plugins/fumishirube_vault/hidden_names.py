"""Names that begin with a dot: where other programs keep what they obey."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from fumishirube.text import without_unseen

# Programs run what these say, or keep secrets there. Each covers the names that begin so.
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
"""The name that Windows makes of ``.git``."""


def hidden_segments(path: str) -> Iterator[str]:
    """Yield the segments of a path that a file system may take for names beginning with a dot."""
    for segment in path.split("/"):
        if without_unseen(segment).startswith(".") or is_never_opened(segment):
            yield segment


def is_never_opened(segment: str) -> bool:
    """Tell whether nobody may open this name to notes, however it is spelled."""
    name = unicodedata.normalize("NFKC", without_unseen(segment)).casefold()
    return name.startswith(_NEVER) or _SHORT.match(name) is not None


def closed_segment(path: str, allowed: Collection[str]) -> str | None:
    """Return the first segment of a path that keeps notes from being written below it."""
    for segment in hidden_segments(path):
        if segment not in allowed or is_never_opened(segment):
            return segment
    return None
