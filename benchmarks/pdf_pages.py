"""How much of a printed manual is in its text as served, and whether each line is on its page.

    python benchmarks/pdf_pages.py manual.pdf [--text manual.txt.gz]

With a text edition: the share of its strings of four characters that the served text holds, the
kinds of the others, and the share of those that the PDF has too, as ``pdftotext`` or ``pdftotext
-raw`` gives it. Tables of the edition are read cell by cell, because its lines run across cells.
Always: of 500 random lines, and of all, the share whose text one of both gives for their page; of a
row of a table, that of each cell. It leaves out letters beyond the edges of pages, so that the same
is counted of a copy with wider pages. All compare letters and digits only, after NFKC. Lists what
was left out. Needs the package fumishirube-documents, and pdftotext on the path, for Japanese with
poppler-data.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import resource
import subprocess
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pypdfium2
from fumishirube_documents import Pdf

from fumishirube import Document, Root, Source
from fumishirube.parsing import place_at

LENGTH = 4
LINES = 500
SHORTEST = 8
WIDER = 2000
KINDS = {
    "titles of references, where the PDF has numbers": re.compile(
        r"「[^」]*」|\d+\s*章[^「」を]{0,40}"
    ),
    "numbers of notes": re.compile(r"\^?\s*\[\d+\]"),
    "numbers of tables and figures": re.compile(r"[表図]\s*\d+\.\d+"),
}
ACROSS = "across two paragraphs, cells or entries"
OTHER = "others"
_RULE = re.compile(r"[|+][-+=]")
_OPENS = re.compile(r"[*•o] |\^\[\d+\]|(?:[*] *)?(?:[\dA-Z]+(?:\.\d+)*\.|[表図]\d+\.\d+) ")


class Letter(NamedTuple):
    """A letter of a text edition: its block, such as a paragraph or a cell, and its kind."""

    sign: str
    block: int
    kind: str


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
    print(*(remark.message for remark in document.remarks), sep="\n")
    if asked.text:
        _print_share(document, asked.pdf, asked.text, asked.missing)
    _print_lines(document, asked.pdf, asked.missing)


def _print_share(document: Document, pdf: Path, edition: Path, most: int) -> None:
    data = edition.read_bytes()
    text = (gzip.decompress(data) if edition.suffix == ".gz" else data).decode()
    letters = [*_letters(_blocks(text))]
    wanted = "".join(letter.sign for letter in letters)
    served = _strings(_bare(document.text))
    printed = {
        part for page in zip(*_printed(pdf), strict=True) for p in page for part in _strings(p)
    }
    strings = [wanted[at : at + LENGTH] for at in range(len(wanted) - LENGTH + 1)]
    missing = [at for at, string in enumerate(strings) if string not in served]
    print(f"strings of {LENGTH} characters: {_share(len(missing), len(strings))}")
    kinds = [_kind(letters[at : at + LENGTH]) for at in missing]
    for kind, count in Counter(kinds).most_common():
        print(f"  not served, {kind}: {count}, {count / len(strings):.4f}")
    both = [string for string in strings if string in printed]
    absent = [string for string in both if string not in served]
    print(f"of those that pdftotext gives too: {_share(len(absent), len(both))}")
    others = [strings[at] for at, kind in zip(missing, kinds, strict=True) if kind == OTHER]
    print(f"{OTHER}:", *random.Random(1).sample(others, min(most, len(others))))


def _share(missing: int, total: int) -> str:
    return f"{1 - missing / total:.4f} of {total}"


def _kind(letters: Sequence[Letter]) -> str:
    if len({letter.block for letter in letters}) > 1:
        return ACROSS
    return next((letter.kind for letter in letters if letter.kind), OTHER)


def _letters(blocks: Sequence[str]) -> Iterator[Letter]:
    for number, block in enumerate(blocks):
        text = unicodedata.normalize("NFKC", block)
        kinds = [""] * len(text)
        for kind, pattern in KINDS.items():
            for match in pattern.finditer(text):
                kinds[match.start() : match.end()] = [kind] * len(match[0])
        for sign, kind in zip(text, kinds, strict=True):
            if sign.isalnum():
                yield Letter(sign, number, kind)


def _blocks(edition: str) -> list[str]:
    """Return the paragraphs, cells of tables, and entries of lists and contents of an edition."""
    lines = [line.strip() for line in edition.split("\n")]
    blocks = []
    for in_table, group in groupby(
        lines, key=lambda line: line[:1] in {"|", "+"} and line[-1:] in "|+"
    ):
        blocks += [*(_cells if in_table else _paragraphs)([*group])]
    return blocks


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    block: list[str] = []
    for line in lines:
        if block and (not line or _OPENS.match(line)):
            yield "\n".join(block)
            block = []
        if line:
            block.append(line)
    if block:
        yield "\n".join(block)


def _cells(lines: Sequence[str]) -> Iterator[str]:
    for ruled, group in groupby(lines, key=lambda line: _RULE.match(line) is not None):
        if ruled:
            continue
        rows = [line[1:-1].split("|") for line in group]
        if len({*map(len, rows)}) == 1:
            yield from (
                "".join(cell.strip() for cell in cells) for cells in zip(*rows, strict=True)
            )
        else:  # a cell holds a bar
            yield from ("".join(row) for row in rows)


def _print_lines(document: Document, pdf: Path, most: int) -> None:
    lines = [
        (number, _parts(line))
        for number, line in enumerate(document.text.split("\n"), start=1)
        if len(_bare(line)) >= SHORTEST
    ]
    chosen = {*random.Random(1).sample(lines, min(LINES, len(lines)))}
    with tempfile.TemporaryDirectory() as folder:
        for name, file in (("", pdf), (", with wider pages", _wider(pdf, Path(folder)))):
            pages = [*zip(*_printed(file), strict=True)]
            absent = [line for line in lines if not _is_printed(document, line, pages)]
            some = sum(line in chosen for line in absent)
            print(f"lines on their page{name}: {_share(some, len(chosen))}", end="; ")
            print(_share(len(absent), len(lines)))
    for number, parts in absent[:most]:
        place = place_at(document.places, number)
        print(f"  page {place and place.page}: {' '.join(parts)}")


def _is_printed(
    document: Document, line: tuple[int, tuple[str, ...]], pages: Sequence[Sequence[str]]
) -> bool:
    place = place_at(document.places, line[0])
    assert place is not None
    assert place.page is not None
    return all(any(part in text for text in pages[place.page - 1]) for part in line[1])


def _parts(line: str) -> tuple[str, ...]:
    """Return the cells of a row, or the line."""
    cells = line.split(" | ") if line.startswith("| ") else [line]
    return tuple(_bare(cell) for cell in cells)


def _wider(pdf: Path, folder: Path) -> Path:
    """Write a copy of a PDF with wider pages."""
    file = pypdfium2.PdfDocument(pdf)
    for number in range(len(file)):
        page = file[number]
        left, bottom, right, top = page.get_mediabox()
        box = left - WIDER, bottom - WIDER, right + WIDER, top + WIDER
        page.set_mediabox(*box)
        page.set_cropbox(*box)
    file.save(folder / pdf.name)
    return folder / pdf.name


def _printed(pdf: Path) -> list[list[str]]:
    """Return the pages as ``pdftotext`` gives them, and as ``pdftotext -raw`` does."""
    editions = []
    for options in ([], ["-raw"]):
        command = ["pdftotext", *options, str(pdf), "-"]
        printed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        editions.append([*map(_bare, printed.split("\f"))])
    return editions


def _strings(text: str) -> set[str]:
    return {text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)}


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


if __name__ == "__main__":
    main()
