"""Digests of plugins' code and data: what a stage has made is made again when they change."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError
from itertools import chain, islice
from pathlib import Path, PurePosixPath

_OWN = __name__.partition(".")[0]
_CODE = (".py", ".so", ".pyd")
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
    every = (file for path in paths for file in chain([path], path.rglob("*")))
    counting = (file for file in every if file.suffix != ".pyc" and file.is_file())
    files = [*islice(counting, _MOST_FILES + 1)]
    return files if len(files) <= _MOST_FILES else []


def _content(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        return str(size).encode() if size > _LARGEST else file.read_bytes()
    except OSError:
        return b""


def installed_modules(distribution: Distribution) -> dict[str, Path]:
    """Return the packages and modules of a distribution by name, below any shared namespace.

    Those of an editable installation are in folders that it adds to ``sys.path``.
    """
    try:
        listed = [PurePosixPath(file) for file in distribution.files or ()]
    except Exception:  # a damaged list is none
        return {}
    files = [file for file in listed if ".." not in file.parts]
    packages = {file.parent for file in files if file.name == "__init__.py" and file.parent.name}
    modules: dict[str, Path] = {}
    for file in files:
        place = Path(str(distribution.locate_file(file)))
        if file.suffix == ".pth":
            for folder in _added_folders(place):
                modules |= {each.stem: each for each in folder.glob("*.py")}
                modules |= {each.parent.name: each.parent for each in folder.glob("*/__init__.py")}
        elif file.suffix in _CODE:
            above = [folder for folder in file.parents if folder in packages]
            top = above[-1] if above else file
            name = ".".join((*top.parent.parts, top.name.partition(".")[0]))
            modules[name] = Path(str(distribution.locate_file(top)))
    return modules


def _added_folders(file: Path) -> Iterator[Path]:
    """Return the folders that a file of paths adds to ``sys.path``; its other lines are code."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        if line.strip() and not line.startswith(("#", "import ", "import\t")):
            yield file.parent / line.strip()
