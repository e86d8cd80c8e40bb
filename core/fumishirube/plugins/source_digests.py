"""Digests of plugins' code and data: what a stage has made is made again when they change."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_OWN = __name__.partition(".")[0]
_MOST_FILES = 100
"""Of a package with more files, only the module of the class counts."""
_LARGEST = 2**20
"""Of a larger file only the size counts."""


def source_digest(kind: type) -> str:
    """Return eight hexadecimal digits that change with the source code of a class, and its data.

    Its whole package counts, with the files beside the modules, and those of the classes that it
    extends, but not Fumishirube's own. Code without source files has an empty digest.
    """
    names = {base.__module__ for base in kind.__mro__}
    outside = {name for name in names if name.partition(".")[0] not in (_OWN, "builtins")}
    files = {file for name in outside for file in _source_files(name)}
    if not files:
        return ""
    return hashlib.sha256(b"\0".join(map(_content, sorted(files)))).hexdigest()[:8]


def _source_files(name: str) -> Iterable[Path]:
    """Return the files of the package of a module, or the module alone."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("pydantic", "typing_extensions"):
        return ()
    folders = [Path(folder) for folder in getattr(sys.modules.get(top), "__path__", ())]
    every = (file for folder in folders for file in folder.rglob("*") if _counts(file))
    package = [*islice(every, _MOST_FILES + 1)]
    if package and len(package) <= _MOST_FILES:
        return package
    file = getattr(sys.modules.get(name), "__file__", None)
    return (Path(file),) if file and file.endswith(".py") else ()


def _counts(file: Path) -> bool:
    return file.suffix != ".pyc" and file.is_file()


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        return str(size).encode() if size > _LARGEST else file.read_bytes()
    except OSError:
        return b""
