"""Build the documentation site from the files of the repository: ``python docs/build_site.py``.

The pages are put into one tree as they are in the repository, so that their links work in both
places. Zensical turns them into a site; no network is needed, and none by a reader.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).parent.parent
PAGES = (
    "*.md",
    "docs/**/*.md",
    "examples/*/README.md",
    "plugins/packages/*/README.md",
    "skills/*/*.md",
)
"""Patterns of the pages."""
FRONT = ("README.md", "README.ja.md")
FIRST_STEPS = ("tutorial", "configuration", "command-line", "clients", "inspect", "notes")
"""Pages of ``docs/`` that come first, in this order."""

_FOLDER_LINK = ("](docs/decisions)", "](docs/decisions/README.md)")
"""A folder that the repository lists by itself, and the page that lists it here."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the site, and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PROJECT / "dist" / "site", metavar="DIR")
    out = parser.parse_args(arguments).out
    with tempfile.TemporaryDirectory() as folder:
        collect(Path(folder))
        command = [_program(), "build", "--strict"]
        environ = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(command, cwd=folder, env=environ, check=False)  # noqa: S603 - fixed words
        if done.returncode:
            sys.exit(done.returncode)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(Path(folder, "site"), out)
    print(f"{out / 'index.html'}")


def collect(folder: Path) -> None:
    """Put the pages, the files that they link to, and the configuration into a folder."""
    tree = folder / "docs"
    for page in pages():
        target = tree / page
        target.parent.mkdir(parents=True, exist_ok=True)
        text = (PROJECT / page).read_text(encoding="utf-8")
        target.write_text(text.replace(*_FOLDER_LINK), encoding="utf-8")
    decisions = tree / "docs" / "decisions"
    listed = (f"* [{_title(file)}]({file.name})" for file in sorted(decisions.glob("0*.md")))
    text = "# Decisions\n\nOne page for each decision.\n\n" + "\n".join(listed) + "\n"
    (decisions / "README.md").write_text(text, encoding="utf-8")
    (folder / "zensical.toml").write_text(configuration(), encoding="utf-8")


def pages() -> list[str]:
    """Return the paths of the pages, the front pages first."""
    every = {
        file.relative_to(PROJECT).as_posix() for pattern in PAGES for file in PROJECT.glob(pattern)
    }
    return [*FRONT, *sorted(every.difference(FRONT))]


def configuration() -> str:
    """Return the configuration of Zensical, with the pages in groups."""
    about = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = {
        "First steps": [f"docs/{name}.md" for name in FIRST_STEPS],
        "Topics": [page for page in pages() if re.fullmatch(r"docs/[^/]+\.md", page)],
        "Reference": [page for page in pages() if page.startswith("docs/reference/")],
        "Plugins": [
            page for page in pages() if page.startswith(("examples/", "plugins/", "skills/"))
        ],
        "Experiments": [page for page in pages() if page.startswith("docs/experiments/")],
        "Decisions": ["docs/decisions/README.md"],
        "Project": [page for page in pages() if "/" not in page and page not in FRONT],
    }
    groups["Topics"] = [page for page in groups["Topics"] if page not in groups["First steps"]]
    nav = ['{ "English" = "README.md" }', '{ "日本語" = "README.ja.md" }']
    nav += [f'{{ "{name}" = {_toml(group)} }}' for name, group in groups.items()]
    return _CONFIGURATION.format(
        description=about["project"]["description"],
        title=about["tool"]["fumishirube"]["title"],
        nav=",\n    ".join(nav),
        separator=_SEPARATOR,
    )


_JAPANESE = "[\\u3041-\\u30ff\\u4e00-\\u9fff]"
_SEPARATOR = rf"""[\s\-_,:!=\[\]()\\"`/]+|\.(?!\d)|(?<={_JAPANESE})(?={_JAPANESE})"""
"""Where the search divides a text: at marks, and between the characters of Japanese."""

_CONFIGURATION = """\
[project]
site_name = "{title}"
site_description = "{description}"
use_directory_urls = false
nav = [
    {nav},
]

[project.theme]
language = "en"
font = false
features = ["navigation.sections", "navigation.top", "search.highlight", "content.code.copy"]

[project.plugins.search]
separator = '{separator}'

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
"""


def _toml(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _program() -> str:
    """Return Zensical of the environment that runs this."""
    found = shutil.which("zensical", path=sysconfig.get_path("scripts"))
    if found is None:
        sys.exit("zensical is not installed here; run tox -e site")
    return found


if __name__ == "__main__":
    main()
