"""How the C library shares out memory among threads: by few pools, as few calls work at once."""

from __future__ import annotations

import sys

from shirube.turns import AT_ONCE

_ARENA_MAX = -8
"""The name of that setting in glibc's ``malloc.h``."""


def share_pools() -> None:
    """Let threads share pools; each of its own keeps for ever what it once held at the worst."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - only what serves pays for it

        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_ARENA_MAX, AT_ONCE)
