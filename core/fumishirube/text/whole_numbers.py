"""The conditions under which a number in a text is whole: not a part of a longer one."""

from __future__ import annotations

_BEFORE = r"(?<![0-9])(?<![0-9]\.)"
_BEFORE_GROUP = r"(?<![0-9],)"
"""Three digits may be the end of 1,000."""
_AFTER = "(?![0-9])"
_NO_DECIMALS = r"(?!\.[0-9]+(?!\.?[0-9]))"
_NO_GROUPS = "(?!,[0-9]{3}(?![0-9]))"
"""Up to three digits may be the beginning of 30,000."""
_GROUP = 3


def before_number(digits: str) -> str:
    """Return the pattern before the digits at which a text begins."""
    return _BEFORE + _BEFORE_GROUP * (len(digits) == _GROUP)


def after_number(digits: str, *, dotted: bool) -> str:
    """Return the pattern after the digits at which a text ends; ``dotted`` as in 2.1.

    A number is not cut at its decimal point, but 2.1 may be the beginning of 2.1.3.
    """
    decimals = "" if dotted else _NO_DECIMALS
    return _AFTER + decimals + _NO_GROUPS * (len(digits) <= _GROUP)
