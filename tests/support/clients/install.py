"""Install other people's clients below a folder: install.py FOLDER."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
PYTHONS = {"python_1": "mcp==1.30.0", "fastmcp_4": "fastmcp>=4,<5"}


def main(folder: Path) -> None:
    for name, requirement in PYTHONS.items():
        home = folder / name
        if not home.exists():
            venv.create(home, with_pip=True)
        python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True)
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write("npm is not installed: the clients that need Node are skipped\n")
        return
    packages = ("package.json", "package-lock.json")
    node = folder / "node"
    node.mkdir(parents=True, exist_ok=True)
    for name in (*packages, *(file.name for file in HERE.glob("*.mjs"))):
        shutil.copy(HERE / name, node / name)
    subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=node, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
