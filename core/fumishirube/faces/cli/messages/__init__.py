"""The language of the system for help, notes and errors of the command line.

Everything is written in English, and translated where the command line prints it; so what clients
and logs get stays English. A text with placeholders is matched as a whole, and what fills them is
translated too, unless :func:`filled` fills them. A command that a line ends with stays as it is.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

_LANGUAGES = ("ja",)
_PLACEHOLDER = re.compile(r"\{(\d)\}")
_NEUTRAL = ("C", "POSIX")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PROSE = re.compile(r"(?<!\S)(?:an?|the|this|that|to|of|is|are|be|has|have|it|its|such|or)(?!\S)")
_COMMAND = re.compile(r"(.*?\b(?:next|sections|notes|account): )(fumishirube .*)", re.DOTALL)
_MARK = "\0"
"""Stands for a command while the text before it is translated; no argument can have it."""
_ENDINGS = {
    re.compile(r"(.*) \((\S+ line \d+)\)", re.DOTALL): "{0} ({1})",
    re.compile(r"(.* must be .*), got (.*)", re.DOTALL): "value|{0}, got {1}",
    re.compile(r"(error: .*) \[(\w+)\]", re.DOTALL): "{0} [{1}]",
}
"""What is appended to a whole message: the place in a file, the unusable value, the code."""
_REMEMBERED = 1000
"""How many texts: each way to divide a message has parts in common with others."""
_JAPANESE = 0x11
"""The primary language in an identifier of Windows."""


class _Chosen:
    """The language of this process, chosen once."""

    language: str | None = None


def use_language(environ: Mapping[str, str] | None) -> None:
    """Translate from now on into the language of the environment; with ``None``, do not."""
    _Chosen.language = None if environ is None else language_of(environ)


def language_of(environ: Mapping[str, str]) -> str | None:
    """Return the language, by the rules of gettext; ``None`` for English and all others.

    The first of ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` is the locale. Unless it is ``C`` or
    ``POSIX``, the languages of ``LANGUAGE`` come before it. Without a locale ``LANGUAGE`` decides
    alone, as in Python's own gettext; so it does with ``C.UTF-8``, which many containers set for
    its encoding. (The GNU C library ignores ``LANGUAGE`` there since version 2.39, not before.)
    """
    names = (environ.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    locale = next(filter(None, names), _system_language())
    if locale in _NEUTRAL:
        return None
    for name in [*filter(None, environ.get("LANGUAGE", "").split(":")), locale]:
        language = re.split(r"[_.@-]", name)[0].lower()
        if language in _LANGUAGES:
            return language
        if language == "en":
            return None
    return None


def translated(text: str) -> str:
    """Return a text in the chosen language; one that is not in its catalog stays."""
    if _Chosen.language is None:
        return text
    if match := _COMMAND.fullmatch(text):
        return _translated(match[1] + _MARK, _Chosen.language).replace(_MARK, match[2])
    return _translated(text, _Chosen.language)


def filled(template: str, *values: object) -> str:
    """Fill a template in the chosen language; the values are data, and stay as they are."""
    return _fill(translated(template), values)


def _fill(template: str, values: Sequence[object]) -> str:
    return _PLACEHOLDER.sub(lambda place: str(values[int(place[1])]), template)


def word(context: str, text: str) -> str:
    """Return a word in the chosen language; its catalog key is ``context|text``.

    A key of one word would also translate data that is this word.
    """
    key = f"{context}|{text}"
    known = translated(key)
    return text if known == key else known


def translated_sentence(text: str) -> str:
    """Return a description in the chosen language: it may be a help text as a sentence."""
    known = translated(text)
    if _Chosen.language is None or known != text:
        return known
    help_text = text[:1].lower() + text[1:].removesuffix(".")
    sentence = translated(help_text)
    return text if sentence == help_text else f"{sentence}。"


@lru_cache(_REMEMBERED)
def _translated(text: str, language: str) -> str:
    known = catalog(language).get(text)
    if known is not None:
        return known
    if _QUOTED.fullmatch(text):
        return text
    for ending, template in _ENDINGS.items():
        if match := ending.fullmatch(text):
            parts = [_translated(part, language) for part in match.groups()]
            return text if parts[0] == match[1] else _fill(catalog(language)[template], parts)
    for template, pieces, translation in _templates(language):
        if not all(piece in text for piece in pieces):
            continue
        if match := _pattern(template).fullmatch(text):
            parts = [_translated(part, language) for part in match.groups()]
            if any(map(_is_prose, pieces, parts)):
                continue  # half of the sentence would stay English
            if _has_words(template) or parts != [*match.groups()]:
                return _fill(translation, parts)
    return text


def _is_prose(before: str, part: str) -> bool:
    """Tell whether a part, unless it follows a colon, has English words that no name has."""
    return not before.endswith(": ") and _PROSE.search(_QUOTED.sub("", part)) is not None


def _has_words(template: str) -> bool:
    """Tell whether a template has letters; one of punctuation alone fits any text."""
    return any(character.isalpha() for character in _PLACEHOLDER.sub("", template))


@cache
def catalog(language: str) -> Mapping[str, str]:
    """Return the translations of a language: of texts, and of templates with ``{0}`` and so on."""
    text = Path(__file__).with_name(f"{language}.po").read_text(encoding="utf-8")
    entries: dict[str, str] = {}
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            name, _, quoted = line.partition(" ") if line.startswith("msg") else (key, "", line)
            if quoted.startswith('"'):
                key = name
                fields[key] = fields.get(key, "") + json.loads(quoted)
        if fields.get("msgid"):
            entries[fields["msgid"]] = fields["msgstr"]
    return entries


@cache
def _templates(language: str) -> list[tuple[str, Sequence[str], str]]:
    """Return the templates with their fixed pieces, first those that fit least else."""
    entries = [(key, text) for key, text in catalog(language).items() if _PLACEHOLDER.search(key)]
    entries.sort(key=lambda entry: _specific(entry[0]), reverse=True)
    return [(key, _PLACEHOLDER.split(key)[::2], text) for key, text in entries]


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = map(re.escape, _PLACEHOLDER.split(template)[::2])
    return re.compile("(.*?)".join(pieces), re.DOTALL)


def _specific(template: str) -> tuple[bool, int, int]:
    """Return how little else a template fits."""
    return _has_words(template), template.count("; "), len(_PLACEHOLDER.sub("", template))


def _system_language() -> str:
    """Return the language of Windows, which has no such variables."""
    if sys.platform == "win32" and os.name == "nt":
        import ctypes  # noqa: PLC0415 - only Windows needs it

        chosen = ctypes.windll.kernel32.GetUserDefaultUILanguage()
        return "ja" if chosen & 0x3FF == _JAPANESE else ""
    return ""
