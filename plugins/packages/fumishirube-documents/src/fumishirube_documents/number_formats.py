"""Formats cell values as a sheet shows them, in the most common formats."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal

_QUOTED = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|([¥$€£￥%])')
_UNSEEN = re.compile(r'("[^"]*"|\\.)|[_*].')
"""What only arranges a number: a space as wide as a sign, a sign that fills the cell."""
_LITERAL = re.compile(r'"[^"]*"|\\.')
_COLOUR = re.compile(r"\[[A-Za-z]+\d*\]")
_CONDITION = re.compile(r"\[[<>=]")
_GROUPED = re.compile("[#0],[#0]")
_MOST = 1e15
_ROOM = 11
_WHOLE_VALUE = "General"
"""What stands for all digits of a value in a format, as in ``General" kg"``."""
_PLACEHOLDER = re.compile("[#0?]")
_DIGITS = re.compile(
    r"(?P<whole>[#0?](?:[#0?,]*[#0?])?|(?=\.[#0?]))(?:\.(?P<decimals>[0#?]{1,10}))?(?P<scale>,*)"
)
"""The digits of a format; each comma after them divides the number by a thousand."""
_SPACED_DIGITS = re.compile(r'0+(?:(?:"[^"0]*"|\\?[-/() ])0+)+')
_ERA = re.compile(r"g{1,3}.*e|e.*年", re.IGNORECASE)
_ERAS = ((date(2019, 5, 1), "令和"), (date(1989, 1, 8), "平成"), (date(1926, 12, 25), "昭和"))


def shown(value: object, number_format: str) -> str:
    """Return a value as its format shows it, followed by the value itself where that differs.

    Supported are per cent, thousands, decimals, currencies, quoted units, and Japanese eras; other
    formats return the value itself, dates in ISO 8601. What is no value returns an empty text.
    """
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return _with_raw(value, number_format)
        case float():
            # No program shows more digits.
            return _with_raw(float(f"{value:.15g}"), number_format)
        case datetime():
            text = _date(value.date(), number_format)
            return text if value.time() == time() else f"{text} {_time(value.time())}"
        case date():
            return _date(value, number_format)
        case time():
            return _time(value)
        case timedelta():
            total = round(value.total_seconds())
            minutes, seconds = divmod(abs(total), 60)
            return f"{'-' * (total < 0)}{minutes // 60}:{minutes % 60:02}:{seconds:02}"
        case str():
            return " ".join(value.split())
    return ""


def _time(value: time) -> str:
    return value.isoformat("seconds" if value.second else "minutes")


def _with_raw(value: float, number_format: str) -> str:
    raw = _raw(value)
    if number_format == _WHOLE_VALUE:  # what most cells have
        return raw
    text = _number(value, number_format)
    return text if text == raw else f"{text} ({raw})"


def _raw(value: float) -> str:
    """Return a value without a power of ten, as far as a cell has room for its zeros."""
    if abs(value) < _MOST and value % 1 == 0:
        return str(int(value))
    if isinstance(value, int) or not math.isfinite(value):  # which raises for very large integers
        return str(value)
    text = f"{abs(Decimal(repr(value))):f}"
    return f"{'-' * (value < 0)}{text}" if len(text) <= _ROOM else repr(value)


def _number(value: float, number_format: str) -> str:
    sections = _COLOUR.sub("", number_format).split(";")
    own = value < 0 and len(sections) > 1
    section = _UNSEEN.sub(r"\1", sections[1] if own else sections[0])
    plain = _QUOTED.sub(" ", section)
    digits = _DIGITS.search(plain)
    if digits and _PLACEHOLDER.search(plain, digits.end()):  # of a second number
        digits = None
    number = abs(Decimal(repr(value)))
    if _SPACED_DIGITS.fullmatch(section) and 0 <= value < _MOST and not number % 1:
        return _with_signs_between(number, section)
    if _WHOLE_VALUE in plain and not _CONDITION.search(number_format):
        written = _raw(abs(value))
    elif digits is None or _is_unknown(value, plain, number_format):
        return _raw(value)
    else:
        hundredths = "%" in _LITERAL.sub("", section)
        written = _written(number.scaleb(2 * hundredths - 3 * len(digits["scale"])), digits)
    before, after = _around(section)
    signed = value < 0 and not (own and re.search(r"[-(△▲]", section))
    return f"{'-' * signed}{before.lstrip()}{written}{after}".strip()


def _is_unknown(value: float, plain: str, number_format: str) -> bool:
    """Return whether a value has to be shown as it is; ``plain`` is its format without texts."""
    unknown = any(sign in plain for sign in "Ee/?") and not _GROUPED.search(plain)
    return unknown or _CONDITION.search(number_format) is not None or not abs(value) < _MOST


def _written(number: Decimal, digits: re.Match[str]) -> str:
    """Return a number rounded as sheets do it, with the zeros that a format asks for."""
    whole, decimals = digits["whole"], digits["decimals"] or ""
    rounded = number.quantize(Decimal(1).scaleb(-len(decimals)), ROUND_HALF_UP)
    before, _, after = f"{rounded:f}".partition(".")
    before = f"{int(before):,}" if "," in whole else before.zfill(whole.count("0"))
    least = len(decimals.rstrip("#"))
    after = after[:least] + after[least:].rstrip("0")
    return f"{before}.{after}" if after else before


def _with_signs_between(number: Decimal, section: str) -> str:
    """Return a whole number with the signs between its digits, such as a post code."""
    pattern = re.sub(r"[\"\\]", "", section)
    digits = [*f"{number:.0f}".zfill(pattern.count("0"))]
    shown = [digits.pop() if each == "0" else each for each in reversed(pattern)]
    return "".join([*digits, *reversed(shown)])


def _around(section: str) -> tuple[str, str]:
    """Return the signs and the quoted texts before and after the digits of a format."""
    begins = re.search(
        rf"{_WHOLE_VALUE}|[#0?]", _QUOTED.sub(lambda match: " " * len(match.group()), section)
    )
    place = begins.start() if begins else len(section)
    return _literals(section[:place]), _literals(section[place:])


def _literals(part: str) -> str:
    signs = (match for match in re.finditer(_QUOTED.pattern + r"|([-()△▲ ])", part))
    return "".join(next((group for group in match.groups() if group), "") for match in signs)


def _date(day: date, number_format: str) -> str:
    """Return a date in ISO 8601; with the Japanese era if the format shows one."""
    if number_format == _WHOLE_VALUE or not _ERA.search(
        re.sub(r'"[^"]*"|\[[^\]]*\]', _plain, number_format)
    ):
        return day.isoformat()
    for begin, era in _ERAS:
        if day >= begin:
            year = day.year - begin.year + 1
            return f"{era}{year}年{day.month}月{day.day}日 ({day.isoformat()})"
    return day.isoformat()


def _plain(match: re.Match[str]) -> str:
    return match.group().strip('"') if match.group().startswith('"') else ""
