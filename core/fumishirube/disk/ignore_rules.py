"""Rules of ignore files, with git's syntax."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from fumishirube.text.folding import nfc

if TYPE_CHECKING:
    from pathspec import PathSpec, Pattern


_SYNTAX = "gitignore"
"""The syntax: patterns in order, the last match decides. The survey walks the folders."""


class IgnoreRules(NamedTuple):
    """The rules of one folder at ``prefix``, and of the folders above."""

    prefix: str
    spec: PathSpec[Pattern]
    above: IgnoreRules | None

    def ignores(self, path: str, *, folder: bool = False) -> bool:
        """Tell whether a path is ignored; the deepest folder with a matching rule decides."""
        rules: IgnoreRules | None = self
        while rules is not None:
            below = path[len(rules.prefix) :] + ("/" if folder else "")
            ignored = rules.spec.check_file(below).include
            if ignored is not None:
                return ignored
            rules = rules.above
        return False


def rules_of(prefix: str, content: bytes, above: IgnoreRules | None) -> IgnoreRules:
    """Return the rules of an ignore file, added to those of the folders above."""
    return IgnoreRules(prefix, _compiled(content), above)


# The file is read at every look at its folder, but compiled only after a change.
@lru_cache(maxsize=256)
def _compiled(content: bytes) -> PathSpec[Pattern]:
    from pathspec import PathSpec  # noqa: PLC0415 - 50 ms that most manuals do not need

    lines = [
        _inside_only(line) for line in nfc(content.decode("utf-8-sig", "replace")).splitlines()
    ]
    try:
        return PathSpec.from_lines(_SYNTAX, lines)
    except ValueError:
        return PathSpec.from_lines(_SYNTAX, filter(_is_pattern, lines))


def _inside_only(line: str) -> str:
    """Make ``folder/**`` match only the content of the folder, as git does."""
    rule = line.rstrip()
    if rule.endswith("/**/"):
        return f"{rule}*/"
    return f"{rule}/*" if rule.endswith("/**") else line


def _is_pattern(line: str) -> bool:
    from pathspec import PathSpec  # noqa: PLC0415 - as above

    try:
        PathSpec.from_lines(_SYNTAX, [line])
    except ValueError:
        return False
    return True
