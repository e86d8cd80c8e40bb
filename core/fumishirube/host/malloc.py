"""The number of memory pools in glibc's ``malloc``: few, as one call runs at a time."""

from __future__ import annotations

import sys

_ARENA_MAX = -8
"""The name of the setting in glibc's ``malloc.h``."""
_POOLS = 2
"""One for the calls, and one for the threads of an index."""


def share_pools() -> None:
    """Share few pools among threads; a pool never returns the most memory it ever held."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only what serves pays for it

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _POOLS)
