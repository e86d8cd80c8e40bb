"""Rules of ignore files, with git's syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from fumishirube.text.folding import nfc

_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "lower": "a-z",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
    "space": r"\ ",
    "blank": r"\ ",
}
"""Of the classes that git knows inside brackets, those that are ranges of characters of names."""
_STAR = "[^/]*"
_FOLDERS = {"(?:/.+)?": "(?:/.+?)??", "(?:.+/)?": "(?:.+?/)??"}
"""What pathspec writes for ``**``: as many folders as possible, and as few."""
_PIECES = re.compile(
    r"\\.|\[\^?\]?(?:[^]\\]|\\.)*\][*+]?|" + "|".join(map(re.escape, _FOLDERS)) + "|.", re.DOTALL
)
_BRACKET = re.compile(r"(?<=\[)(?:[^]\[]|\[:\w+:\])+")
_CLASS = re.compile(rf"\[:({'|'.join(_CLASSES)}):\]")


class _IgnoreRule(NamedTuple):
    """A pattern of paths, below the folder of its file, and whether it excludes them."""

    pattern: re.Pattern[str]
    excludes: bool

    def is_about(self, path: str) -> bool:
        """Tell whether a file, or a folder with a slash at its end, is meant by itself.

        A pattern also matches what is below a folder that it means, of which git asks nothing.
        """
        # Most rules match nothing in a path, which a search alone tells in a third of the time.
        return self.pattern.search(path) is not None and any(
            match.end() == len(path) for match in self.pattern.finditer(path)
        )


class IgnoreRules(NamedTuple):
    """The rules of one folder at ``prefix``, the last first, and of the folders above."""

    prefix: str
    rules: Sequence[_IgnoreRule]
    above: IgnoreRules | None

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Tell whether a path is ignored, if its folder is not.

        The last rule of the deepest folder that is about the path decides.
        """
        level: IgnoreRules | None = self
        while level is not None:
            below = path[len(level.prefix) :] + ("/" if folder else "")
            for rule in level.rules:
                if rule.is_about(below):
                    return rule.excludes
            level = level.above
        return False


def rules_of(prefix: str, content: bytes, above: IgnoreRules | None) -> IgnoreRules:
    """Return the rules of an ignore file, added to those of the folders above."""
    return IgnoreRules(prefix, _rules(content), above)


# The file is read at every look at its folder, but compiled only after a change.
@lru_cache(maxsize=256)
def _rules(content: bytes) -> Sequence[_IgnoreRule]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 - 50 ms that most manuals do not need

    rules = []
    for line in nfc(content.decode("utf-8-sig", "replace")).split("\n"):
        try:
            pattern = GitIgnoreSpecPattern(_as_read_by_git(line.removesuffix("\r")))
        except (ValueError, re.error):  # such a pattern matches nothing
            continue
        if pattern.regex is not None and pattern.include is not None:
            tried_once = re.compile(_with_single_tries(pattern.regex.pattern))
            rules.append(_IgnoreRule(tried_once, pattern.include))
    return rules[::-1]


def _with_single_tries(pattern: str) -> str:
    """Return a pattern of pathspec that tries one end for each star but the last.

    The next star matches all that follows a later end as well, so that the first end will do. Tried
    at all ends, a few stars take minutes for one name.
    """
    written: list[str] = []
    star: int | None = None
    folders: int | None = None
    for piece in _PIECES.findall(pattern):
        if piece in _FOLDERS:
            if folders is not None:
                few = _FOLDERS[written[folders]]
                written[folders:] = ["(?>", few, *written[folders + 1 :], "(?=/))"]
            star, folders = None, len(written)
        elif piece == _STAR:
            if star is not None:
                written[star:] = ["(?>[^/]*?", *written[star + 1 :], ")"]
            star = len(written)
        written.append(piece)
    return "".join(written)


def _as_read_by_git(line: str) -> str:
    """Return a line that means to pathspec what it means to git.

    ``folder/**`` is only the content of the folder, and ``[[:digit:]]`` is ``[0-9]``.
    """
    line = _BRACKET.sub(lambda bracket: _CLASS.sub(_named, bracket[0]), line)
    rule = line.rstrip()
    if rule.endswith("/**/"):
        return f"{rule}*/"
    return f"{rule}/*" if rule.endswith("/**") else line


def _named(match: re.Match[str]) -> str:
    return _CLASSES[match[1]]
