"""Importing the code of plugins once more, in a process that goes on."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from fumishirube.host.reload.inputs import below


@contextmanager
def reimport(packages: Collection[str]) -> Iterator[None]:
    """Let packages be imported anew in the body; when that fails, the old modules are put back.

    What was made of the old modules goes on with them.
    """
    importlib.invalidate_caches()
    old = {
        module: sys.modules[module] for name in packages for module in below(name, [*sys.modules])
    }
    for module in old:
        sys.modules.pop(module, None)
    try:
        yield
    except BaseException:
        for name in packages:
            for module in below(name, [*sys.modules]):
                del sys.modules[module]
        sys.modules.update(old)
        raise
