"""The numbers that Word shows before headings and list items; their texts do not contain them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from docx.oxml.ns import qn
from lxml.etree import _Element as Element

from fumishirube_documents.docx.styles import is_on, value_of
from fumishirube_documents.numerals import CIRCLED, roman

_KANJI = "〇一二三四五六七八九"
_KANA = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラム"
    "ウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
)
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_SIGNS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("aiueo", "aiueoFullWidth"), _KANA),
    **dict.fromkeys(("iroha", "irohaFullWidth"), _IROHA),
    "ideographTraditional": _STEMS,
    "ideographZodiac": _BRANCHES,
    "ideographZodiacTraditional": [_STEMS[n % 10] + _BRANCHES[n % 12] for n in range(60)],
    **dict.fromkeys(("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), CIRCLED[:20]),
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
    "japaneseLegal": "壱弐参四伍六七八九",
}
"""The signs of the first numbers of a form; those behind them are written in digits."""
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_LARGE = 50
_DEEPEST = 9
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_DIGITS = str.maketrans("0123456789", _KANJI)
_PLACE = re.compile(r"%([1-9])")


class _Level(NamedTuple):
    start: int = 1
    form: str = "bullet"
    text: str = ""
    style: str = ""
    plain: bool = False
    """Whether the numbers of other levels are shown in digits."""
    restart: int = _DEEPEST
    """The deepest of the levels above, from 1, whose items begin the count again; 0 for none."""


class Numbering:
    """Counts the items of a document's lists, in document order."""

    def __init__(self, part: Element | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._of: dict[str, str] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        lists: dict[str, dict[int, _Level]] = {}
        styled: dict[str, str] = {}
        linked: dict[str, str] = {}
        for element in () if part is None else part.iterchildren(qn("w:abstractNum")):
            name = _attribute(element, "abstractNumId")
            lists[name] = _levels(element.iter(qn("w:lvl")))
            styled[value_of(element, "styleLink")] = name
            linked[name] = value_of(element, "numStyleLink")
        for element in () if part is None else part.iterchildren(qn("w:num")):
            name, of = _attribute(element, "numId"), value_of(element, "abstractNumId")
            if style := linked.get(of):
                of = styled.get(style, of)
            self._of[name] = of
            own = _levels(element.iterfind(f"{qn('w:lvlOverride')}/{qn('w:lvl')}"))
            self._levels[name] = {**lists.get(of, {}), **own}
            self._restarts[name] = {
                _number(_attribute(over, "ilvl")): _number(value_of(over, "startOverride"), 1)
                for over in element.iterchildren(qn("w:lvlOverride"))
                if over.find(qn("w:startOverride")) is not None
            }

    def level_of(self, name: str, style: str) -> int:
        """Return the list level of a paragraph style; else the first level."""
        levels = self._levels.get(name, {})
        return next((place for place, level in levels.items() if level.style == style), 0)

    def next(self, name: str, place: int) -> str:
        """Count one item of a list at a level, and return its marker: ``-``, ``第2章``.

        The marker is empty for a list without numbers or an unknown list.
        """
        levels = self._levels.get(name, {})
        level = levels.get(place)
        if level is None:
            return ""
        if level.form == "bullet":
            return "-"
        counts = self._counts.setdefault(self._of[name], {})
        restart = self._restarts.get(name, {}).pop(place, None)
        counts[place] = counts.get(place, level.start - 1) + 1 if restart is None else restart
        for deeper in [other for other in counts if other > place]:
            if place < levels.get(deeper, _Level()).restart:
                del counts[deeper]

        def shown(match: re.Match[str]) -> str:
            other = int(match[1]) - 1
            form = levels.get(other, _Level())
            plain = level.plain and other != place
            return _written(counts.get(other, form.start), "decimal" if plain else form.form)

        return _PLACE.sub(shown, level.text).strip()


def _levels(elements: Iterable[Element]) -> dict[int, _Level]:
    return {
        _number(_attribute(element, "ilvl")): _Level(
            start=_number(value_of(element, "start"), 1),
            form=value_of(element, "numFmt") or "decimal",
            text=value_of(element, "lvlText"),
            style=value_of(element, "pStyle"),
            plain=is_on(element, "isLgl") or False,
            restart=_number(value_of(element, "lvlRestart"), _DEEPEST),
        )
        for element in elements
    }


def _attribute(element: Element, name: str) -> str:
    return str(element.get(qn(f"w:{name}"), ""))


def _number(text: str, default: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else default


def _written(number: int, form: str) -> str:
    """Return a number in the format of a list."""
    small = 0 < number < _LARGE
    if form in {"lowerLetter", "upperLetter"} and number > 0:
        letters = chr(ord("a") + (number - 1) % 26) * min(9, (number + 25) // 26)
        return letters.upper() if form == "upperLetter" else letters
    if form in {"lowerRoman", "upperRoman"} and small:
        return roman(number).upper() if form == "upperRoman" else roman(number)
    if signs := _SIGNS.get(form):
        return signs[number - 1] if 0 < number <= len(signs) else str(number)
    if form == "ordinal":
        ending = "th" if number % 100 in {11, 12, 13} else _ENDINGS.get(number % 10, "th")
        return f"{number}{ending}"
    if form in {"ideographDigital", "japaneseDigitalTenThousand"}:
        return str(number).translate(_DIGITS)
    most = 10_000 if form == "japaneseCounting" else 100
    if form.startswith(("japanese", "ideograph", "chinese")) and 0 < number < most:
        return _counted(number)
    if form.startswith("decimalFullWidth"):
        return str(number).translate(_WIDE)
    return {"none": "", "decimalZero": f"{number:02}"}.get(form, str(number))


def _counted(number: int) -> str:
    """Return a number in kanji as it is spoken, without 一 before 十, 百 and 千."""
    signs = zip(f"{number:04}", ("千", "百", "十", ""), strict=True)
    return "".join(
        f"{'' if digit == '1' and unit else digit.translate(_DIGITS)}{unit}"
        for digit, unit in signs
        if digit != "0"
    )
