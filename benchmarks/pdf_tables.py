"""How many cells of tables in PDFs are in the right row, below the right header.

    python benchmarks/pdf_tables.py --tables 50

Tables are made, with rules and without; the cells of some have several lines. Needs the package
fumishirube-documents with its extra ``test``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from fumishirube_documents import Pdf

from fumishirube import Root, Source

sys.path.append(str(Path(__file__).parents[1] / "plugins/packages/fumishirube-documents/tests"))
from made_tables import pdf_of, right_cells, rows_of


def main() -> None:
    """Print the share of each kind of table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--tables", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=1)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, Pdf().open() as loader:
        for wrapped in (False, True):
            for ruled in (True, False):
                chance = random.Random(asked.seed)
                right = total = 0
                for _ in range(asked.tables):
                    rows = rows_of(chance)
                    data = pdf_of(rows, ruled=ruled, wrapped=wrapped, chance=chance)
                    Path(folder, "a.pdf").write_bytes(data)
                    text = loader.load(Root(Path(folder)), Source("a.pdf")).text
                    its_right, its_total = right_cells(rows, text)
                    right, total = right + its_right, total + its_total
                lines = "several lines" if wrapped else "one line"
                kind = "ruled" if ruled else "unruled"
                print(f"{kind}, cells of {lines}: {right / total:.3f} of {total} cells")


if __name__ == "__main__":
    main()
