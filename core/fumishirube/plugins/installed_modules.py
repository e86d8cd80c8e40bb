"""The packages and modules of an installed distribution, by its list of files."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

_CODE = (".py", ".so", ".pyd")


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
