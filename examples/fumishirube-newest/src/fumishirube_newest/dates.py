"""Parses dates in the forms of manuals: ``2024-05-01``, ``2024年5月``, ``令和6年5月1日``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import lru_cache

from fumishirube.text import fold

_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_MONTH, _DAY = r"(?P<month>1[0-2]|0?[1-9])", r"(?P<day>3[01]|[12]\d|0?[1-9])"
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sep>[-/._]){_MONTH}(?:(?P=sep){_DAY})?(?!\d)",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
        rf"(?<!\d)(?P<year>(?:19|20)\d\d)年{_MONTH}月(?:{_DAY}日)?",
        rf"(?P<era>令和|平成|昭和)(?P<year>元|\d{{1,2}})年{_MONTH}月(?:{_DAY}日)?",
    )
)
_NEAR = 12


def dated(text: str) -> list[date]:
    """Return every valid date in a text; a month counts as its first day."""
    dates = []
    for form in _FORMS:
        for match in form.finditer(fold(text)):
            parts = match.groupdict()
            year = 1 if parts["year"] == "元" else int(parts["year"])
            with suppress(ValueError):
                first = _ERAS.get(parts.get("era") or "", 0)
                dates.append(date(first + year, int(parts["month"]), int(parts["day"] or 1)))
    return dates


def labelled(text: str, labels: Sequence[str]) -> list[date]:
    """Return the dates that follow a label within a few characters: ``更新日: 2024-05-01``."""
    dates = []
    for match in _labels(tuple(labels)).finditer(fold(text)):
        near = match.string[match.end() : match.end() + _NEAR + len("2024-05-01")]
        days = [day for day in dated(near) if near]
        dates += days[:1]
    return dates


@lru_cache(maxsize=8)
def _labels(labels: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(map(fold, labels), key=len, reverse=True)
    either = "|".join(rf"(?<![a-z]){re.escape(label)}" for label in longest if label)
    return re.compile(rf"(?:{either})" if either else "(?!)")
