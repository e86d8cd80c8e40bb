"""Run a third party's tests against this tree: ``tox -e downstream -- PATH [pytest arguments]``."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

USAGE = (
    "usage: tox -e downstream -- PATH [pytest arguments]; PATH is a folder with a pyproject.toml"
)

SETTINGS = ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")
"""Where pytest's settings may stand, besides pyproject.toml."""


def project(words: list[str]) -> tuple[Path, bool]:
    """Return the folder that is named, and whether its package has an extra called ``test``.

    Raises:
        SystemExit: with what to do, when it is no folder of a package.
    """
    if not words:
        sys.exit(USAGE)
    folder = Path(words[0]).resolve()
    if not (folder / "pyproject.toml").is_file():
        sys.exit(f"{words[0]}: there is no pyproject.toml\n{USAGE}")
    said = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    return folder, "test" in said.get("project", {}).get("optional-dependencies", {})


def main(words: list[str]) -> int:
    """Install the package beside this tree, and run its tests in its folder."""
    folder, has_extra = project(words)
    wanted = f"{folder}[test]" if has_extra else str(folder)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", wanted], check=True)
    told = subprocess.run(
        [sys.executable, "-c", "import fumishirube; print(fumishirube.__file__)"],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
    )
    tree = Path(__file__).parents[2] / "core" / "fumishirube" / "__init__.py"
    if Path(told.stdout.strip()).resolve() != tree.resolve():
        sys.exit(f"{folder.name} brought a fumishirube of its own: {told.stdout.strip()}")
    own = any((folder / name).is_file() for name in SETTINGS)
    settings = () if own else ("-c", "pyproject.toml")  # not those of a folder around it
    command = [sys.executable, "-m", "pytest", *settings, *words[1:]]
    return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
