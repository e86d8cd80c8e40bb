"""Digests of plugins' code and data: what a stage has made is made again when they change."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, PackageNotFoundError
from itertools import chain, islice
from pathlib import Path

from fumishirube.plugins.installed_modules import installed_modules

_OWN = __name__.partition(".")[0]
_MOST_FILES = 100
"""Of a package with more files, only the module of the class counts."""
_LARGEST = 2**20
"""Of a larger file only the size counts."""


def source_digest(kind: type, distribution: str) -> str:
    """Return digits that change with the source code of a class, its data, and its version.

    Its whole package counts, with the files beside the modules, and those of the classes that it
    extends, but not Fumishirube's own. So do other modules of its distribution that these name.
    Code without source files has no digits but the version of the distribution.
    """
    try:
        installed = Distribution.from_name(distribution)
    except (PackageNotFoundError, ValueError):  # no name, in half of an installation
        modules, version = {}, "unknown"
    else:
        modules, version = installed_modules(installed), installed.metadata["Version"] or "unknown"
    return f"{_digest(kind, modules)}-{version}"


def _digest(kind: type, modules: Mapping[str, Path]) -> str:
    """Return eight hexadecimal digits, if there are source files."""
    names = {base.__module__ for base in kind.__mro__}
    outside = {name for name in names if name.partition(".")[0] not in (_OWN, "builtins")}
    files = {file for name in outside for file in _source_files(name)}
    if not files:
        return ""
    tops = {name.partition(".")[0] for name in outside}
    others = {name: path for name, path in modules.items() if name.partition(".")[0] not in tops}
    files |= _named_files(files, others)
    return hashlib.sha256(b"\0".join(map(_content, sorted(files)))).hexdigest()[:8]


def _source_files(name: str) -> Iterable[Path]:
    """Return the files of the package of a module, or the module alone."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("pydantic", "typing_extensions"):
        return ()
    folders = [Path(folder) for folder in getattr(sys.modules.get(top), "__path__", ())]
    if package := _files_of(folders):
        return package
    file = getattr(sys.modules.get(name), "__file__", None)
    return (Path(file),) if file and file.endswith(".py") else ()


def _named_files(files: Iterable[Path], modules: Mapping[str, Path]) -> set[Path]:
    """Return the files of those modules that are named in some files, or in theirs, and so on.

    They may be imported later, so that ``sys.modules`` cannot tell.
    """
    code = b"\0".join(map(_content, files)) if modules else b""
    named = {n for n in modules if re.search(rf"\b{re.escape(n)}\b".encode(), code)}
    if not named:
        return set()
    more = {file for name in named for file in _files_of([modules[name]])}
    return more | _named_files(more, {n: p for n, p in modules.items() if n not in named})


def _files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the files of a package or module; none if there are too many."""
    every = (file for path in paths for file in chain([path], path.rglob("*")) if _counts(file))
    files = [*islice(every, _MOST_FILES + 1)]
    return files if len(files) <= _MOST_FILES else []


def _counts(file: Path) -> bool:
    return file.suffix != ".pyc" and file.is_file()


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        return str(size).encode() if size > _LARGEST else file.read_bytes()
    except OSError:
        return b""
