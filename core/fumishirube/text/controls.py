"""Invisible characters: terminal controls, text direction, and hidden parts of names."""

from __future__ import annotations

import json
import re
import unicodedata

# Marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, section 2).
_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
ESCAPED_IN_CITATIONS = (
    rf"\x00-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff{_BIDIRECTIONAL}"
    "\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""Characters, as part of a set of a pattern, that a terminal would not show as they are."""
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
"""The flag of a region is a black flag, followed by tags that spell it."""
_UNPRINTABLE = re.compile(
    rf"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029{_BIDIRECTIONAL}"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_UNSEEN = re.compile(
    rf"[\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2028\u2029\u2060-\u206f\u3164\ufeff\uffa0"
    rf"{_BIDIRECTIONAL}\ufff0-\ufffb\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
_JOINER = re.compile("[\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Joiners and variation selectors: part of words, of emoji and of some ideographs."""


def printable(text: str) -> str:
    r"""Return a text for terminals: control characters are written as ``\x1b``.

    Lines and tabs stay; so do joiners, which words and emoji need.
    """
    if text.isascii() and text.isprintable():
        return text
    if not _UNPRINTABLE.search(text):
        return text
    flags = {place for match in _FLAG.finditer(text) for place in range(*match.span())}
    return _UNPRINTABLE.sub(
        lambda match: match[0] if match.start() in flags else _escaped(match[0]), text
    )


def printable_json(text: str) -> str:
    """Return the text of a JSON value with control characters as JSON escapes: it stays equal."""
    return _UNPRINTABLE.sub(lambda match: json.dumps(match[0])[1:-1], text)


def unseen_character(name: str) -> str | None:
    """Return the first invisible character of a name, as ``U+200B``, or ``None``.

    A joiner or variation selector may follow a letter, mark or symbol; a joiner may also precede
    one.
    """
    for match in _UNSEEN.finditer(_FLAG.sub("🏴", name)):
        return _code(match[0])
    for match in _JOINER.finditer(name):
        before, after = name[: match.start()][-1:], name[match.end() :][:1]
        joins = match[0] in "\u200c\u200d"
        if not _shown(before) or (joins and not _shown(after)):
            return _code(match[0])
    return None


def without_unseen(name: str) -> str:
    """Return a name without invisible characters, as some file systems compare it."""
    return _JOINER.sub("", _UNSEEN.sub("", name))


def _shown(character: str) -> bool:
    return bool(character) and (
        unicodedata.category(character)[0] in "LMN"
        or unicodedata.category(character) in ("So", "Sk")
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"
