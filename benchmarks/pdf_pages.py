"""How much of a printed manual is in its text as served, and whether each line is on its page.

    python benchmarks/pdf_pages.py manual.pdf [--text manual.txt.gz]

With a text edition: the share of its strings of four characters that the served text holds, without
its tables (lines that begin with a bar), whose lines run across the cells; and the same of those
strings that the PDF has too, as `pdftotext` or `pdftotext -raw` gives it, because numbers of notes,
pages and figures differ. Always: of 500 random lines, the share whose text one of both gives for
their page; of a row of a table, that of each cell. All compare letters and digits only, after NFKC.
Lists what was left out as running heads. Needs the package fumishirube-documents, and pdftotext on
the path.
"""

from __future__ import annotations

import argparse
import gzip
import random
import resource
import subprocess
import unicodedata
from pathlib import Path

from fumishirube_documents import Pdf

from fumishirube import Document, Root, Source
from fumishirube.parsing import place_at

LENGTH = 4
LINES = 500
SHORTEST = 8


def main() -> None:
    """Print the figures of each file."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("pdf", type=Path)
    arguments.add_argument("--text", type=Path, help="its text edition, plain or .gz")
    arguments.add_argument("--missing", type=int, default=10, help="how many to print")
    asked = arguments.parse_args()
    with Pdf(parse_seconds=600).open() as loader:
        document = loader.load(Root(asked.pdf.parent), Source(asked.pdf.name))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)  # the process has ended
    seconds = used.ru_utime + used.ru_stime
    pages = max(place.page or 0 for place in document.places)
    print(f"{asked.pdf.name}: {pages} pages, {1000 * seconds / pages:.1f} ms of CPU a page")
    heads = [remark.message for remark in document.remarks if remark.code == "running_head"]
    print(*heads, sep="\n")
    if asked.text:
        _print_share(document, asked.pdf, asked.text, asked.missing)
    _print_lines(document, asked.pdf, asked.missing)


def _print_share(document: Document, pdf: Path, edition: Path, most: int) -> None:
    data = edition.read_bytes()
    text = (gzip.decompress(data) if edition.suffix == ".gz" else data).decode()
    wanted = _bare("".join(line for line in text.split("\n") if not line.startswith("|")))
    served = _strings(_bare(document.text))
    strings = [wanted[at : at + LENGTH] for at in range(len(wanted) - LENGTH + 1)]
    missing = [string for string in strings if string not in served]
    print(
        f"strings of {LENGTH} characters: {1 - len(missing) / len(strings):.4f} of {len(strings)}"
    )
    printed = _strings(_printed(pdf)) | _strings(_printed(pdf, "-raw"))
    both = [string for string in strings if string in printed]
    absent = [string for string in both if string not in served]
    print(f"of {len(both)} that pdftotext gives too: {1 - len(absent) / len(both):.4f}")
    print("missing:", *random.Random(1).sample(missing, min(most, len(missing))))


def _print_lines(document: Document, pdf: Path, most: int) -> None:
    lines = [
        (number, _parts(line))
        for number, line in enumerate(document.text.split("\n"), start=1)
        if len(_bare(line)) >= SHORTEST
    ]
    chosen = random.Random(1).sample(lines, min(LINES, len(lines)))
    absent = []
    pages: dict[int, tuple[str, str]] = {}
    for number, parts in chosen:
        place = place_at(document.places, number)
        assert place is not None
        assert place.page is not None
        if place.page not in pages:
            only = ("-f", str(place.page), "-l", str(place.page))
            pages[place.page] = _printed(pdf, *only), _printed(pdf, "-raw", *only)
        if not all(any(part in text for text in pages[place.page]) for part in parts):
            absent.append((place.page, "".join(parts)))
    print(f"lines on their page: {1 - len(absent) / len(chosen):.4f} of {len(chosen)}")
    for page, line in absent[:most]:
        print(f"  page {page}: {line}")


def _parts(line: str) -> list[str]:
    """Return the cells of a row, or the line."""
    return [_bare(cell) for cell in (line.split(" | ") if line.startswith("| ") else [line])]


def _printed(pdf: Path, *options: str) -> str:
    command = ["pdftotext", *options, str(pdf), "-"]
    return _bare(subprocess.run(command, capture_output=True, check=True).stdout.decode())


def _strings(text: str) -> set[str]:
    return {text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)}


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


if __name__ == "__main__":
    main()
