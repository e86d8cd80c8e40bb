"""Reads mutated documents of each format, and counts what became of them.

    python benchmarks/document_mutants.py --count 1000 --seed 1

A mutant is a valid file with changed bytes, a missing or repeated part, an early end, or, in a
packed format, such a change in one of its files, packed again. Each is loaded as a server loads it.
A mutant is either read, or skipped with a reason; anything else ends the run with the seed of that
mutant. Needs the package fumishirube-documents with its extra ``test``.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import docx
from fumishirube_documents import Docx, Epub, Html, OldSheets, Pdf, Pptx, Xlsx
from fumishirube_documents.isolated_loader import IsolatedLoader

from fumishirube import Root, Source, Unreadable

sys.path.append(str(Path(__file__).parents[1] / "plugins/packages/fumishirube-documents/tests"))
import samples

PAGE = """<!DOCTYPE html><html lang="ja"><head><title>Shop</title></head><body><main>
<h1 id="a">Prices</h1><p>All <b>prices</b> are in euros &amp; cents.</p>
<table><tr><th>Item</th><th>Price</th></tr><tr><td>Bolt</td><td>1.20</td></tr></table>
<ol><li>one<ul><li>two</li></ul></li></ol><pre><code class="language-sh">ls -l</code></pre>
<h2>休暇</h2><p>年次有給休暇は十日とする。</p></main></body></html>"""
INTERESTING = (b"\0", b"\xff" * 4, b"9999999999", b"-1", b"<", b">", b"/", b"]]>", b"%PDF", b"PK")


def main() -> None:
    """Print what became of the mutants of each format."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--count", type=int, default=1000, help="mutants of each format")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--seconds", type=float, default=10, help="the limit of each")
    arguments.add_argument("formats", nargs="*", help="such as pdf; default: all")
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for suffix, (original, stage) in originals().items():
            if not asked.formats or suffix in asked.formats:
                limited = stage.model_copy(update={"parse_seconds": asked.seconds})
                run(Path(folder), suffix, original, limited, asked.count, asked.seed)


def originals() -> dict[str, tuple[bytes, IsolatedLoader]]:
    """Return a valid file of each format, with its loader."""
    return {
        "pdf": (samples.report(), Pdf()),
        "docx": (word_document(), Docx()),
        "pptx": (samples.slides(), Pptx()),
        "xlsx": (samples.workbook(), Xlsx()),
        "ods": (samples.workbook(), OldSheets()),
        "html": (PAGE.encode(), Html()),
        "epub": (samples.book(), Epub()),
    }


def word_document() -> bytes:
    """Return a document with headings, a list and a table."""
    document = docx.Document()
    document.add_heading("Prices", 1)
    document.add_paragraph("All prices are in euros.", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for number, text in enumerate(("Item", "Price", "Bolt", "1.20")):
        table.cell(number // 2, number % 2).text = text
    document.add_heading("休暇", 2)
    document.add_paragraph("年次有給休暇は十日とする。")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def run(
    folder: Path, suffix: str, original: bytes, stage: IsolatedLoader, count: int, seed: int
) -> None:
    """Load mutants of one format, and print a line."""
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    path = folder / f"a.{suffix}"
    with stage.open() as loader:
        for number in range(count):
            path.write_bytes(mutant(original, random.Random(f"{suffix} {seed} {number}")))
            began = time.perf_counter()
            try:
                loader.load(Root(folder), Source(path.name))
                outcomes["read"] += 1
            except Unreadable as error:
                outcomes[error.reason] += 1
            except Exception:
                print(f"{suffix}: mutant {number} of seed {seed}", file=sys.stderr)
                raise
            slowest = max(slowest, time.perf_counter() - began)
        path.write_bytes(original)
        assert loader.load(Root(folder), Source(path.name)).text, "the original is not read"
    path.unlink()
    shares = ", ".join(f"{reason} {number}" for reason, number in outcomes.most_common())
    print(f"{suffix}: {count} mutants: {shares}; slowest {slowest:.1f} s", flush=True)


def mutant(data: bytes, chance: random.Random) -> bytes:
    """Return a file with one to three changes; half of those of a package are inside it."""
    for _ in range(chance.randint(1, 3)):
        if data.startswith(b"PK") and chance.random() < 0.7:
            data = repacked(data, chance)
        else:
            data = chance.choice(CHANGES)(data, chance)
    return data


def repacked(data: bytes, chance: random.Random) -> bytes:
    """Return a package with a change in one file, or without it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            files = {name: package.read(name) for name in package.namelist()}
    except Exception:  # a damaged package raises anything; change its bytes instead
        return _changed(data, chance)
    if not files:
        return data
    name = chance.choice(sorted(files))
    if chance.random() < 0.1:
        del files[name]
    else:
        files[name] = chance.choice(CHANGES)(files[name], chance)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for each, content in files.items():
            package.writestr(each, content)
    return buffer.getvalue()


def _changed(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 10, 100)) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _removed(data: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(data) + 1)
    return data[:first] + data[first + chance.randrange(1, 200) :]


def _repeated(data: bytes, chance: random.Random) -> bytes:
    first = chance.randrange(len(data) + 1)
    end = first + chance.randrange(1, 400)
    return data[:end] + data[first:end] * chance.choice((1, 2, 300)) + data[end:]


def _inserted(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(INTERESTING) + data[place:]


def _other_number(data: bytes, chance: random.Random) -> bytes:
    digits = [place for place, byte in enumerate(data[:200_000]) if 48 <= byte <= 57]
    if not digits:
        return data
    place = chance.choice(digits)
    return data[:place] + chance.choice((b"0", b"-1", b"99999", b"2147483648")) + data[place + 1 :]


CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _changed,
    _cut,
    _removed,
    _repeated,
    _inserted,
    _other_number,
)


if __name__ == "__main__":
    main()
