"""How long a folder of many PDFs takes to index, and how soon its first files are found.

    python benchmarks/many_pdfs.py [--files 300] [--pages 100] [--cores 2]

Makes the files, then builds the index twice: by `fumishirube index`, and by a server over stdio
that is asked for a word of each file until it finds all. The memory is the most resident memory of
the server, and of it and its parsers together, after any call (Linux). Needs the package
fumishirube-documents, and reportlab.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from multiprocessing import Pool
from pathlib import Path

from processes import Served, console, resident

LINES = 40
WORDS_A_LINE = 12
_QUESTION = {"manual_id": "shop", "budget": {"time_ms": 2000}}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--cores", type=int, help="use only so many (Linux)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "many-pdfs")
    options = parser.parse_args()
    workspace = options.cache / f"{options.files}x{options.pages}"
    _make(workspace / "manuals" / "shop", options.files, options.pages)
    if options.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    pages = options.files * options.pages
    _forget(workspace)
    _print_command(workspace, pages)
    _forget(workspace)
    _print_server(workspace, options.files)


def _make(folder: Path, files: int, pages: int) -> None:
    if folder.exists():
        return
    part = folder.with_name(".part")
    part.mkdir(parents=True, exist_ok=True)
    with Pool() as pool:
        pool.starmap(_write, [(part, number, pages) for number in range(files)])
    part.rename(folder)


def _write(folder: Path, number: int, pages: int) -> None:
    """Write a PDF of text; the word ``keyN`` is at the end of file N only."""
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415 - not needed for made files

    dice = random.Random(number)
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "e", "ori", "unda") for c in "lmnrst"]
    canvas = Canvas(str(folder / f"{number:03}.pdf"), invariant=1)
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica", 18)
        canvas.drawString(72, 780, " ".join(dice.choices(words, k=3)))
        canvas.setFont("Helvetica", 10)
        for line in range(LINES):
            text = " ".join(dice.choices(words, k=WORDS_A_LINE))
            text += f" key{number}x" * (page == pages and line == LINES - 1)
            canvas.drawString(72, 750 - 17 * line, text)
        canvas.showPage()
    canvas.save()


def _forget(workspace: Path) -> None:
    shutil.rmtree(workspace / ".fumishirube", ignore_errors=True)


def _print_command(workspace: Path, pages: int) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    command = [console(), "index", "--workspace", str(workspace)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"index: {seconds:.1f} s, {1000 * seconds / pages:.1f} ms a page")
    print(f"  CPU of all processes: {cpu:.1f} s, {1000 * cpu / pages:.1f} ms a page")


def _print_server(workspace: Path, files: int) -> None:
    missing, longest, calls, most, most_of_all = list(range(files)), 0.0, 0, 0.0, 0.0
    began = time.perf_counter()
    with Served(workspace) as server:
        while missing:
            asked = time.perf_counter()
            word = f"key{missing[0]}x"
            answer = server.call(
                "manual_find", {**_QUESTION, "query": word, "required_terms": [word]}
            )
            now = time.perf_counter()
            longest, calls = max(longest, now - asked), calls + 1
            most = max(most, server.memory)
            most_of_all = max(most_of_all, server.memory + _of_children(server.process.pid))
            hits = answer["inline_hits"]["items"]
            if any(hit["ref"]["path"] == f"{missing[0]:03}.pdf" for hit in hits):
                if len(missing) == files:
                    print(f"server: the first file is found after {now - began:.1f} s")
                missing.pop(0)
            else:
                time.sleep(1.0)
        print(f"  the last one after {time.perf_counter() - began:.1f} s")
        print(f"  {calls} calls, the longest took {longest:.1f} s")
        print(f"  memory: {most:.0f} MB, with the parsers {most_of_all:.0f} MB")


def _of_children(parent: int) -> float:
    """Return the resident memory of the processes that a process has started, in megabytes."""
    total = 0.0
    for listed in Path(f"/proc/{parent}/task").glob("*/children"):
        children: list[str] = []
        with suppress(OSError):  # the thread has just ended
            children = listed.read_text().split()
        for child in children:
            with suppress(OSError, StopIteration):  # it has just ended
                total += resident(int(child))
    return total


if __name__ == "__main__":
    main()
