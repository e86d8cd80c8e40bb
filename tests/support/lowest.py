"""Write the lowest versions that the project says it works with, as constraints for pip.

``python tests/support/lowest.py lowest.txt && pip install -c lowest.txt -e '.[test]'``
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
EXTRAS = ("chapters", "http", "testing", "test")

_BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^]]*\])?>=(?P<version>[0-9][0-9.]*)")


def lowest(text: str) -> list[str]:
    """Return ``name==version`` for every dependency, the tests' own included.

    Raises:
        ValueError: when a dependency has no lower bound.
    """
    project = tomllib.loads(text)["project"]
    extras = [name for extra in EXTRAS for name in project["optional-dependencies"][extra]]
    found = []
    for requirement in [*project["dependencies"], *extras]:
        if requirement.startswith(f"{project['name']}["):
            continue
        bound = _BOUND.match(requirement)
        if bound is None:
            raise ValueError(f"{requirement!r} has no lower bound")
        found.append(f"{bound['name']}=={bound['version']}")
    return found


if __name__ == "__main__":
    constraints = "\n".join(lowest(PROJECT.read_text(encoding="utf-8"))) + "\n"
    Path(sys.argv[1]).write_text(constraints, encoding="utf-8")
