"""How the C library shares out memory among threads: by few pools, as one call works at once."""

from __future__ import annotations

import sys

_ARENA_MAX = -8
"""The name of that setting in glibc's ``malloc.h``."""
_POOLS = 2
"""One for the calls, and one for the threads that an index has of its own."""


def share_pools() -> None:
    """Let threads share pools; each of its own keeps for ever what it once held at the worst."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only what serves pays for it

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_ARENA_MAX, _POOLS)
