"""How long those tests run that find more the longer they do: `tox -e torture` asks for all."""

from __future__ import annotations

import os

TORTURE = os.environ.get("FUMISHIRUBE_TORTURE", "") not in ("", "0")


def times(usual: int, full: int) -> int:
    """Return how often something is done: in every run of the tests, or in the full one."""
    return full if TORTURE else usual
