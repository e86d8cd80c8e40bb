"""Formats cell values as a sheet shows them, in the most common formats."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

_QUOTED = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|([¥$€£￥%])')
_COLOUR = re.compile(r"\[(?:[A-Za-z]+\d*|[<>=][^\]]*)\]")
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.([0#?]+))?")
_ERA = re.compile(r"g{1,3}.*e|e.*年", re.IGNORECASE)
_ERAS = ((date(2019, 5, 1), "令和"), (date(1989, 1, 8), "平成"), (date(1926, 12, 25), "昭和"))


def shown(value: object, number_format: str) -> str:
    """Return a value as its format shows it, followed by the value itself where that differs.

    Supported are per cent, thousands, decimals, currencies, quoted units, and dates, also with
    Japanese eras; other formats return the value itself.
    """
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | float():
            return _with_raw(_number(value, number_format), value)
        case datetime():
            midnight = value.time() == time()
            text = _date(value.date(), number_format)
            return text if midnight else f"{text} {value.time().isoformat('minutes')}"
        case date():
            return _date(value, number_format)
        case time():
            return value.isoformat("minutes" if not value.second else "seconds")
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return " ".join(str(value).split())


def _with_raw(text: str, value: float) -> str:
    raw = _raw(value)
    return text if text == raw else f"{text} ({raw})"


def _raw(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def _number(value: float, number_format: str) -> str:
    sections = _COLOUR.sub("", number_format).split(";")
    negative = value < 0 and len(sections) > 1
    section = sections[1] if negative else sections[0]
    digits = _DIGITS.search(_QUOTED.sub("", section))
    if section.strip().lower() in ("general", "") or digits is None:
        return _raw(value)
    per_cent = "%" in section
    decimals = len(digits[1] or "")
    number = abs(value) if negative else value
    comma = "," if "," in digits[0].rstrip(",") else ""
    written = f"{number * (100 if per_cent else 1):{comma}.{decimals}f}"
    if any(sign in section for sign in "Ee/?*_") and not per_cent and not comma:
        return _raw(value)
    before, after = _around(section)
    sign = "-" if negative and not re.search(r"[-(△▲]", section) else ""
    return f"{sign}{before}{written}{after}"


def _around(section: str) -> tuple[str, str]:
    """Return the signs and the quoted texts before and after the digits of a format."""
    begins = re.search(r"[#0?]", _QUOTED.sub(lambda match: " " * len(match.group()), section))
    place = begins.start() if begins else len(section)
    return _literals(section[:place]), _literals(section[place:])


def _literals(part: str) -> str:
    signs = (match for match in re.finditer(_QUOTED.pattern + r"|([-()△▲])", part))
    return "".join(next((group for group in match.groups() if group), "") for match in signs)


def _date(day: date, number_format: str) -> str:
    """Return a date in ISO 8601; with the Japanese era if the format shows one."""
    if number_format == "General" or not _ERA.search(
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
