"""Print a block of the README: ``python tests/support/readme_blocks.py main-job``.

A block is fenced as ``bash`` and follows an HTML comment that names it: ``<!-- main-job -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def block(text: str, name: str) -> str:
    """Return the commands of the block with this name, verbatim.

    Raises:
        LookupError: when there is no such block, or more than one.
    """
    form = rf"^<!-- {re.escape(name)} -->\n+```bash\n(.*?)^```$"
    found = re.findall(form, text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise LookupError(f"there are {len(found)} blocks after <!-- {name} -->, not one")
    return str(found[0])


if __name__ == "__main__":
    try:
        sys.stdout.write(block(README.read_text(encoding="utf-8"), sys.argv[1]))
    except (IndexError, LookupError, OSError) as error:
        sys.exit(f"readme_blocks: {error}")
