"""An index for which the system has no thread, no memory or no room left is kept as it was.

One of which it has lost a part is not read: the system ends whoever reads what is not there.
"""

from __future__ import annotations

import subprocess
import sys
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("resource")

BEGIN = """
import gc, os, resource, sys
from pathlib import Path
from fumishirube import Budget, Fields, Forbidden, IndexDamaged, IndexedFile, Root
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.testing import passage
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.indexes.tantivy_index.records import Generation, cache_records
from fumishirube_stages.tokenizers.bigram import Bigram

folder = Path(sys.argv[1])


def opened():
    return Tantivy().open(Root(folder), Fields(FIELDS, Bigram()))


def fill(index, number):
    words = " ".join(f"word{number}" for number in range(9_000))
    pages = [IndexedFile(f"{n}.md", "s", None, 1) for n in range(number)]
    with index.writing(Budget()) as mine:
        if mine:
            index.sync((), [(p, [passage(p.path, 1, "Title", words)]) for p in pages])
        return mine


def limit(kind, least):
    resource.setrlimit(kind, (least, resource.getrlimit(kind)[1]))


def refusal(call):
    try:
        call()
    except Forbidden as error:
        return str(error)
"""


NOBODY = """
if not os.getuid():  # to whom no limit applies
    nobody = 65534
    for file in (folder, *folder.iterdir()):
        os.chown(file, nobody, nobody)
    os.setuid(nobody)
"""


def after(steps: str) -> list[str]:
    """Return the lines that a process prints, which works on the index of a folder of its own."""
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", BEGIN + steps, folder],
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("call", ["opened()", "fill(index, 2)"])
def test_an_index_without_a_thread_is_kept_and_the_limit_is_named(call: str) -> None:
    lines = after(f"""
fill(opened(), 3)
{NOBODY}
index = opened()
limit(resource.RLIMIT_NPROC, 1)
print(refusal(lambda: {call}))
limit(resource.RLIMIT_NPROC, resource.getrlimit(resource.RLIMIT_NPROC)[1])
print(len(opened().pages()))
""")
    assert lines == [
        "the system has no thread or no memory left; raise its limits, or end other programs",
        "3",
    ]


@pytest.mark.slow
def test_an_update_without_a_thread_for_its_merge_is_kept_and_the_next_writer_begins() -> None:
    lines = after(f"""
{NOBODY}
index = opened()
for number in range(8):
    page = IndexedFile(f"{{number}}.md", "s", None, 1)
    with index.writing(Budget.of(2_900)):
        index.sync((), [(page, [passage(page.path, 1, "Title", "words")])])
        if number == 7:  # so many segments are merged
            limit(resource.RLIMIT_NPROC, 1)
limit(resource.RLIMIT_NPROC, resource.getrlimit(resource.RLIMIT_NPROC)[1])
print(len(index.pages()), fill(opened(), 3))
""")
    assert lines == ["8 True"]


@pytest.mark.slow
def test_an_index_without_room_is_written_as_soon_as_there_is_room() -> None:
    """Also in other processes: nothing of the failure holds the lock of the writer."""
    lines = after("""
gc.disable()
index = opened()
limit(resource.RLIMIT_FSIZE, 20_000)
print(refusal(lambda: fill(index, 3)))
limit(resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
print(fill(index, 3), len(opened().pages()))
""")
    assert lines == ["the disk is full, or a file may not grow further; make room", "True 3"]


@pytest.mark.slow
def test_records_for_which_there_is_no_room_leave_no_file() -> None:
    lines = after("""
limit(resource.RLIMIT_FSIZE, 20_000)
records = [[f"{number}.md", "s", None, 1, {}] for number in range(2_000)]
cache_records(folder, Generation(7, 1), records, {})
print([file.name for file in folder.iterdir()])
""")
    assert lines == ["[]"]


@pytest.mark.slow
def test_an_index_whose_files_cannot_be_opened_now_is_kept() -> None:
    """Files with other times are compared with their checksums, for which they are opened."""
    lines = after("""
fill(opened(), 3)
index = opened()
for file in folder.iterdir():
    if file.suffix != ".json":  # another time of meta.json is another commit
        os.utime(file, (1, 1))
limit(resource.RLIMIT_NOFILE, 3)
index.refresh()
limit(resource.RLIMIT_NOFILE, 1024)
print((folder / "meta.json").exists(), len(opened().pages()))
""")
    assert lines == ["True 3"]


def test_a_file_cut_short_is_noticed_though_another_process_has_committed_since() -> None:
    lines = after("""
index, other, page = opened(), opened(), IndexedFile("more.md", "s", None, 1)
fill(index, 3)
before = [*folder.glob("*.idx")]
with other.writing(Budget()):
    other.sync((), [(page, [passage(page.path, 1, "Title", "more")])])
for file in before:
    os.truncate(file, 0)
try:
    index.refresh()
except IndexDamaged as error:
    print(error)
""")
    assert lines == ["a idx file of the index is gone or damaged"]
