"""How long those tests run that find more the longer they do.

There are three lengths: the README's command looks at few examples of a property;
``FUMISHIRUBE_THOROUGH=1``, which ``tox -e thorough`` sets, at all that the test names; and what
``FUMISHIRUBE_TORTURE=1`` asks for takes hours.
"""

from __future__ import annotations

import os


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


TORTURE = _is_set("FUMISHIRUBE_TORTURE")
THOROUGH = TORTURE or _is_set("FUMISHIRUBE_THOROUGH")
SHARE = 5
FEWEST = 5


def times(usual: int, full: int) -> int:
    """Return how often something is done: in every run of the tests, or in the full one."""
    return full if TORTURE else usual


def examples(thorough: int) -> int:
    """Return how many examples of a property are tried: all, or a fifth of them."""
    return thorough if THOROUGH else min(thorough, max(FEWEST, thorough // SHARE))
