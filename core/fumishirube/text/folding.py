"""Folding, occurrences and measures of texts: which are equal in which script, and where."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, islice, repeat
from operator import add

# --- scripts ----------------------------------------------------------------------------------

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3005-\u3007\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
CJK = HAN + HIRAGANA + KATAKANA
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_LAO = "\u0e81-\u0ece\u0edc-\u0edf"
_TIBETAN = "\u0f40-\u0f84\u0f90-\u0fbc"
_MYANMAR = "\u1000-\u103f\u1050-\u109f"
_KHMER = "\u1780-\u17d3\u17d7\u17dc\u17dd"
UNSPACED = _BOPOMOFO + _THAI + _LAO + _TIBETAN + _MYANMAR + _KHMER
"""Scripts other than Chinese and Japanese that have no spaces between words."""
JOINED = CJK + UNSPACED + HANGUL
"""Scripts whose words are found inside runs of characters: Korean joins them to their endings."""
INDIC = "\u0900-\u0963\u0966-\u0df3"
"""Letters, and the marks of vowels, which are no letters to Python but belong to a word."""
DEPENDENT = (
    "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u17b6-\u17d3\u3099\u309a"
)
"""Marks that change the character before them into another one."""

_INVISIBLE = (
    "\u00ad\u200b\u2060\ufeff"  # where lines may be divided, and where not
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # variation selectors
)
_REMOVED = (
    f"{_INVISIBLE}\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"  # Hebrew points and accents
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u08ca-\u08e1\u08e3-\u08ff"  # Arabic vowel signs, and the line that lengthens words
)
_STRESS = "\u0301"
_CYRILLIC = "\u0400-\u04ff"
_EQUAL = {
    **dict.fromkeys("آأإٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    **dict.fromkeys("ةۀہۃ", "ه"),
    "ک": "ك",
    "Ё": "Е",
    "ё": "е",
    "\u05be": "-",
    "\u05f3": "'",
    "\u05f4": '"',
}
_LAST = 0x17FF
_AFFECTED = re.compile(f"[\u0300-\u036f\u0400-{chr(_LAST)}{_INVISIBLE}]+")
_OTHER_ROWS = bytes({*range(256)}.difference(range(0x03, (_LAST >> 8) + 1), (0xDB, 0xFE)))
"""The high bytes in UTF-16 of characters that are not affected."""


def fold_letters(text: str) -> str:
    """Return a text in NFKC in which the spellings of a word in its script are equal. Idempotent.

    Arabic and Hebrew lose their vowel signs, Arabic also its lengthening lines; the forms of alef,
    yeh, kaf and heh become one each, as in Lucene's ArabicNormalizer and PersianNormalizer; ё
    becomes е, and Cyrillic loses its stress marks; the digits of all these scripts become 0 to 9.
    Soft hyphens, spaces without a width, word joiners and variation selectors are removed. Line
    ends stay.
    """
    return _AFFECTED.sub(_folded_run, text) if _may_change(text) else text


def letter_changes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of each part that :func:`fold_letters` changes, and its new text.

    A part with removed marks begins with the character that they belong to, if there is one.
    """
    for run in _AFFECTED.finditer(text) if _may_change(text) else ():
        pattern, equal = _changes()
        for match in pattern.finditer(text, *run.span()):
            start, end = match.span()
            new = equal.get(text[start], "")
            if not new and start:
                start -= 1
                new = text[start]
            yield start, end, new


def _may_change(text: str) -> bool:
    """Tell whether a text may have such characters; ten times as fast as a pattern."""
    rows = text.encode("utf-16-le", "surrogatepass")[1::2]
    if rows.translate(None, _OTHER_ROWS):
        return True
    # Most texts have others of their rows, such as quotation marks.
    return "\u00ad" in text or "\u200b" in text or "\u2060" in text


def _folded_run(run: re.Match[str]) -> str:
    pattern, equal = _changes()
    return pattern.sub(lambda match: equal.get(match.group()[0], ""), run.group())


@lru_cache(maxsize=1)
def _changes() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return the pattern of what changes, and the equal characters; both take milliseconds."""
    digits = {chr(code): unicodedata.decimal(chr(code), -1) for code in range(0x400, _LAST)}
    equal = {character: str(digit) for character, digit in digits.items() if digit >= 0} | _EQUAL
    marks = f"[{_REMOVED}{_STRESS}]"
    pattern = f"[{''.join(equal)}]{marks}*|(?<=[{_CYRILLIC}]){marks}+|[{_REMOVED}]+"
    return re.compile(pattern), equal


# --- folding ----------------------------------------------------------------------------------

FOLDING = 4
"""The version of folding, and of words and their stems: indexes of others are built again."""

_DASHES = re.compile("[\u2010-\u2015\u2043\u2212\ufe58\ufe63]")
# Rare characters come first, so that the engine need not look behind every character.
_CJK_GAPS = re.compile(f"[ \u30fb](?<=[{CJK}][ \u30fb])[ \u30fb]*(?=[{CJK}])")
# Compiling a class of so many characters takes a millisecond, so it occurs once.
_WORD = f"(?:[^\\W_{JOINED}]++[{INDIC}]*+)++"
_RUNS = re.compile(
    f"(?P<han>[{HAN}\u30f5\u30f6]+)|(?P<hiragana>[{HIRAGANA}]+)|(?P<katakana>[{KATAKANA}]+)"
    f"|(?P<word>{_WORD})|(?P<joined>[{UNSPACED}{HANGUL}]+)"
)
_PIECE = 1024
_BLOCK = 65_536
_SHORT = 64
_TINY = 3

_MARKS = "\u3000-\u303f\u30fb\uff00-\uffef"
# For single characters a comparison is enough; such a class takes 3 ms to compile.
_LETTERS, _INDIC, _WIDE, _APART = (
    [(first, last or first) for first, last in re.findall("(.)(?:-(.))?", ranges)]
    for ranges in (JOINED, INDIC, f"{JOINED}{_MARKS}", f"{CJK}{UNSPACED}{_MARKS}")
)
_WORDS = re.compile(f"([{JOINED}]+)|({_WORD})")


def fold(text: str) -> str:
    """Return the one spelling under which texts are compared. Idempotent.

    NFKC and case folding; other spellings as in :func:`fold_letters`; dashes become ``-``; runs of
    white space become one space; spaces and middle dots between Japanese characters are removed.
    The result is a single line.
    """
    return _folded(text) if len(text) > _SHORT else _folded_before(text)


def _folded(text: str) -> str:
    if text.isascii():
        return " ".join(text.lower().split())
    folded = nfkc(nfkc(text).casefold())
    text = fold_letters(folded)
    changed = text != folded
    text = _CJK_GAPS.sub("", " ".join(_DASHES.sub("-", text).split()))
    composed = nfkc(text)  # characters may compose after a gap, or a mark, is removed
    return _folded(composed) if changed and composed != text else composed


_folded_before = lru_cache(maxsize=4096)(_folded)
"""Folds texts that come repeatedly, such as the terms of a query."""


def nfkc(text: str) -> str:
    """Return the NFKC form of a text, in linear time and without blocking other threads."""
    if len(text) <= _PIECE:
        return unicodedata.normalize("NFKC", text)
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces(text))


def pieces(text: str) -> Iterator[str]:
    """Yield a text in short pieces, whose NFKC forms make up that of the text.

    A sequence of a thousand combining marks, which no script has, is divided too: sorting it takes
    quadratic time, and blocks other threads.
    """
    start = 0
    while start < len(text):
        end = place = start + _PIECE
        while start < place < len(text) and joins(text[place - 2 : place], text[place]):
            place -= 1
        end = end if place == start else place
        yield text[start:end]
        start = end


@lru_cache(maxsize=16_384)
def joins(before: str, character: str) -> bool:
    """Tell whether NFKC may join a character to the two before it."""
    if unicodedata.combining(unicodedata.normalize("NFKD", character)[:1] or "\0"):
        return True
    return nfkc(before + character) != nfkc(before) + nfkc(character)


def nfc(text: str) -> str:
    """Return the composed form, in which names and paths are answered."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def runs(folded: str, start: int = 0) -> Iterator[tuple[str, str, int]]:
    """Yield ``(script, run, offset)``; a script is han, hiragana, katakana, joined or word.

    Runs of ``joined`` are of the other scripts that have no spaces between words, and of Korean.
    """
    for match in _RUNS.finditer(folded, start):
        yield match.lastgroup or "word", match.group(), match.start()


def words(folded: str) -> list[tuple[str, bool]]:
    """Return ``(run, joined)``: runs in which words are found anywhere, and words of the rest.

    Such runs are Chinese, Japanese, Korean, Thai and the like.
    """
    return [(joined, True) if joined else (word, False) for joined, word in runs_and_words(folded)]


def runs_and_words(folded: str) -> list[tuple[str, str]]:
    """Return what :func:`words` returns, each as a pair: ``(run, "")`` or ``("", word)``."""
    return _WORDS.findall(folded)


@lru_cache(maxsize=16384)
def is_cjk(character: str) -> bool:
    """Tell whether a character is one of Japanese, or of a script that is searched like it.

    Words are found anywhere in these scripts: Chinese, Korean, Thai and the like.
    """
    return _is_among(character, _WIDE)


def is_hiragana(character: str) -> bool:
    """Tell whether a character is hiragana, the script of endings and particles."""
    return "\u3041" <= character <= "\u309f"


def is_worded(text: str) -> bool:
    """Tell whether a text has only letters, digits, and marks of scripts whose words need them."""
    return text.isalnum() or all(c.isalnum() or _is_among(c, _LETTERS + _INDIC) for c in text)


@lru_cache(maxsize=16384)
def is_unspaced(character: str) -> bool:
    """Tell whether a character is written without spaces between words: not so Korean."""
    return _is_among(character, _APART)


def occurs(folded_text: str, folded_term: str) -> bool:
    """Tell whether the term occurs in the text: words at word boundaries, Japanese anywhere.

    Scripts without spaces, and Korean, are searched like Japanese.

    An empty term occurs nowhere.
    """
    # Most terms are in few texts.
    if folded_term not in folded_text:
        return False
    return _occurs_anywhere(folded_term) or occurrences(folded_text, folded_term, 1) > 0


@lru_cache(maxsize=4096)
def _occurs_anywhere(term: str) -> bool:
    """Tell whether neither end of a term belongs to a word that is written between spaces."""
    return bool(term) and not _in_word(term[0]) and not _in_word(term[-1])


def occurrences(folded_text: str, folded_term: str, most: int | None = None) -> int:
    """Count how often the term occurs in the text, up to ``most`` if given."""
    place = folded_text.find(folded_term)
    if place < 0 or not folded_term:
        return 0  # most terms are in few texts
    if len(folded_term) <= _TINY and folded_text.isascii() and folded_term.isalnum():
        # Such a word occurs inside others thirty times a section.
        pattern = _whole(folded_term)
        if most == 1:
            return int(pattern.search(folded_text) is not None)
        return len(pattern.findall(folded_text)[:most])
    first, last = _in_word(folded_term[:1]), _in_word(folded_term[-1:])
    if not first and not last:
        return 1 if most == 1 else folded_text.count(folded_term)
    number = 0
    while place >= 0 and number != most:
        end = place + len(folded_term)
        before = folded_text[place - 1] if place else ""
        if not (first and _in_word(before)) and not (last and _in_word(folded_text[end : end + 1])):
            number += 1
        place = folded_text.find(folded_term, place + 1)
    return number


@lru_cache(maxsize=2048)
def _whole(word: str) -> re.Pattern[str]:
    """Return a pattern for a whole ASCII word, which begins with the word for speed."""
    return re.compile(f"{word}(?<![0-9A-Za-z]{word})(?![0-9A-Za-z])")


@lru_cache(maxsize=4096)
def _in_word(character: str) -> bool:
    """Tell whether a character belongs to a word that is written between spaces."""
    if character.isalnum():
        return not _is_among(character, _LETTERS)
    return _is_among(character, _INDIC)


def _is_among(character: str, ranges: Sequence[tuple[str, str]]) -> bool:
    return any(first <= character <= last for first, last in ranges)


def estimate_tokens(text: str) -> int:
    """Return an estimate of a text's model tokens: one a CJK character, one per four others."""
    wide = (
        0
        if text.isascii()
        else sum(n for character, n in Counter(text).items() if is_cjk(character))
    )
    return wide + -(-(len(text) - wide) // 4)


class Lines:
    """The lines of one text, numbered from 1; only LF separates, a final LF opens no line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.length = len(text)
        self.total = max(1, text.count("\n") + (not text.endswith("\n")))
        """The number of lines; an empty text has one."""

    def start(self, line: int) -> int:
        """Return the offset of a line's first character; the text's length for ``total + 1``."""
        return self._starts[line - 1] if line <= self.total else self.length

    def at(self, offset: int) -> int:
        """Return the line that contains the character at ``offset``."""
        return bisect_right(self._starts, offset)

    @cached_property
    def _starts(self) -> array[int]:
        # In blocks: dividing a whole text at once would block all other threads.
        starts = array("L", [0])
        for begin in range(0, self.length, _BLOCK):
            *lines, _ = self._text[begin : begin + _BLOCK].split("\n")
            ends = accumulate(map(add, map(len, lines), repeat(1)), initial=begin)
            starts.extend(islice(ends, 1, None))
        del starts[self.total :]
        return starts
