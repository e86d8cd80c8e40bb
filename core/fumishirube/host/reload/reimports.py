"""Import the code of plugins again in a running process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from fumishirube.host.reload.inputs import below


@contextmanager
def reimport(packages: Collection[str]) -> Iterator[None]:
    """Import packages again in the body; if that fails, the old modules are restored.

    Objects of the old modules stay usable.
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
