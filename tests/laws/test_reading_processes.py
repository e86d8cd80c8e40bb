"""An index whose files other processes read answers like any other, whatever happens to them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdio import Wire
from test_indexing import LOADERS, OLD, answers, opened, write
from torture import examples
from warm_start import installed_script

from fumishirube import Budget, Fields, Loader, Root
from fumishirube.engine import file_readers
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.library import Library
from fumishirube.engine.reading_processes import ReadingProcesses
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.loaders import Markdown
from fumishirube_stages.tokenizers.bigram import Bigram

SECONDS = 30
WORDS = ("有給休暇の例外", "給付", "password", "reset", "link", "E-104", "休", "、", "é", "4月")

ONLY_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read even the smallest manual in two processes."""
    monkeypatch.setattr(file_readers, "LARGE", 1)
    monkeypatch.setattr(file_readers, "cores", lambda: 2)


@pytest.fixture
def begun(two_cores: None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of files that each task names, as the tasks are answered.

    No file is read before a process is ready: this process would take them while others start.
    """
    numbers: list[int] = []
    start, put = ReadingProcesses.__init__, ReadingProcesses._put

    def ready(self: ReadingProcesses, setup: bytes, number: int) -> None:
        start(self, setup, number)
        with self._changed:
            self._changed.wait_for(lambda: self.ready)

    def counted(self: ReadingProcesses, answer: Any) -> None:
        numbers.append(len(answer.task.files))
        put(self, answer)

    monkeypatch.setattr(ReadingProcesses, "__init__", ready)
    monkeypatch.setattr(ReadingProcesses, "_put", counted)
    return numbers


def many(manuals: Path, number: int = 400, seed: int = 0) -> None:
    """Write files of more than one task."""
    dice = random.Random(seed)
    for n in range(number):
        body = " ".join(dice.choices(WORDS, k=120))
        text = (
            f"---\ntitle: 文書{n}\n---\n# 第{n}条 {dice.choice(WORDS)}\n{body}\n## 附則\n{body}\n"
        )
        write(manuals, {f"many/{n:03}.md": text}, OLD)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a manual of many tasks, which no test changes."""
    folder = tmp_path_factory.mktemp("large")
    many(folder)
    return folder


@pytest.fixture(scope="module")
def alone(large: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """Return the answers about the large manual of an index that this process builds alone."""
    return _alone(large, tmp_path_factory.mktemp("alone"))


def children(of: int | None = None) -> set[int]:
    """Return the processes that a process, or this one, has started and that run."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == (of or os.getpid()) and state != "Z":
            found.add(int(folder.name))
    return found


@pytest.mark.slow
@pytest.mark.property
@settings(max_examples=examples(10), deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=30), min_size=2, max_size=30),
    later=st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=9),
)
def test_a_build_an_update_and_a_rebuild_answer_alike(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch_module: None,
    texts: Sequence[Sequence[str]],
    later: Sequence[Sequence[str]],
) -> None:
    folder = tmp_path_factory.mktemp("alike")
    write(folder / "manuals", {f"{n}.md": _page(n, text) for n, text in enumerate(texts)}, OLD)
    with opened(folder / "manuals", folder / "state") as indexed:
        indexed.bring_up_to_date(Budget())
        changed = {f"{n}.md": _page(n, text) for n, text in enumerate(later)}
        write(folder / "manuals", {**changed, "0.md": None}, OLD + 1)
        updated = answers(indexed.bring_up_to_date(Budget()))
    assert updated == _alone(folder / "manuals", folder / "other")


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_readers, "LARGE", 1)
        patch.setattr(file_readers, "cores", lambda: 2)
        yield


def _page(number: int, words: Sequence[str]) -> str:
    return f"# {number} {' '.join(words[:2])}\n{' '.join(words)}\n## 附則\n{''.join(words)}\n"


def _alone(manuals: Path, state: Path, loaders: Sequence[Loader] = LOADERS) -> object:
    """Return the answers of an index that this process builds alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_readers, "cores", lambda: 1)
        with opened(manuals, state, loaders) as indexed:
            return answers(indexed.bring_up_to_date(Budget()))


@pytest.mark.slow
def test_many_files_are_read_elsewhere_and_answer_alike(
    begun: list[int], large: Path, alone: object, tmp_path: Path
) -> None:
    with opened(large, tmp_path) as indexed:
        got = answers(indexed.bring_up_to_date(Budget()))
    assert sum(begun) > 50, "other processes read almost nothing"
    assert got == alone


@pytest.mark.slow
def test_what_they_read_when_time_runs_out_is_committed(
    begun: list[int], large: Path, alone: object, tmp_path: Path
) -> None:
    budget = Budget()

    def progress(done: float, total: float, message: str) -> None:
        budget.ended.set()

    with opened(large, tmp_path) as indexed:
        half = indexed.bring_up_to_date(budget, progress)
        assert half.unfinished
        assert len(half.pages) >= sum(begun) > 0
        assert answers(indexed.bring_up_to_date(Budget())) == alone


# --- loaders and tokenizers that fail elsewhere -----------------------------------------------

_MODULE = '''
import os, signal, sys, time
from fumishirube import Document, Stage, Unreadable
from fumishirube_stages.loaders import Markdown

class Elsewhere(Markdown):
    """Behaves in another way in other processes."""
    how: str = ""
    def load(self, root, source):
        if source.path.endswith("7.md") and sys.argv[0].endswith("worker.py"):
            if self.how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.how == "exits":
                sys.exit(3)
            if self.how == "raises":
                raise ZeroDivisionError
            if self.how == "gives":
                return "no document"
            if self.how == "renames":
                return super().load(root, source)._replace(path="0.md")
            if self.how == "prints":
                print("x" * 100_000, flush=True)
                sys.__stdout__.write("y" * 100_000)
            if self.how == "hangs":
                time.sleep(3600)
        if source.path.endswith("8.md") and self.how == "refuses":
            raise Unreadable("no", reason="damaged")
        if source.path.endswith("8.md") and self.how == "fails":
            raise ZeroDivisionError
        return super().load(root, source)
'''


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "code").mkdir()
    name = f"elsewhere_{random.getrandbits(40)}"
    (tmp_path / "code" / f"{name}.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(str(tmp_path / "code"))
    return __import__(name).Elsewhere


_HOW = ("dies", "exits", "raises", "gives", "renames", "prints", "hangs")


@pytest.mark.slow
@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("how", "reasons"),
    [
        *((how, set()) for how in _HOW),
        ("refuses", {"damaged"}),
        ("fails", {"loader_failed"}),
    ],
)
@pytest.mark.usefixtures("two_cores")
def test_what_fails_elsewhere_is_as_if_read_here(
    how: str,
    reasons: set[str],
    elsewhere: Any,
    large: Path,
    alone: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fumishirube.engine.reading_processes._MOST_SECONDS", 1.0)
    loaders = [elsewhere(how=how)]
    with opened(large, tmp_path / "state", loaders) as indexed:
        state = indexed.bring_up_to_date(Budget())
        got = answers(state)
    assert {out.reason for out in state.skipped} == reasons
    assert got == (_alone(large, tmp_path / "other", loaders) if reasons else alone)


@pytest.mark.slow
def test_what_cannot_be_sent_is_made_here(begun: list[int], tmp_path: Path) -> None:
    class Local(Bigram):
        """A tokenizer that no other process can import."""

    class LocalLoader(Markdown):
        """A loader that no other process can import."""

        suffixes: tuple[str, ...] = (".txt",)

    many(tmp_path / "manuals")
    write(tmp_path / "manuals", {"a.txt": "# 一\n給付\n"}, OLD)
    manual = Library(Root(tmp_path / "manuals"), [Markdown(), LocalLoader()]).manual("m")
    (tmp_path / "state").mkdir()
    fields = Fields(FIELDS, Local())
    indexed = FolderIndex(manual, lambda: Tantivy().open(Root(tmp_path / "state"), fields))
    got = answers(indexed.bring_up_to_date(Budget()))
    indexed.close()
    assert sum(begun) > 50
    loaders = [Markdown(), LocalLoader()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_readers, "cores", lambda: 1)
        with opened(tmp_path / "manuals", tmp_path / "other", loaders) as alone:
            assert got == answers(alone.bring_up_to_date(Budget()))


@pytest.mark.slow
@ONLY_LINUX
@pytest.mark.usefixtures("two_cores")
def test_no_process_is_left(tmp_path: Path) -> None:
    many(tmp_path / "manuals")
    before = children()
    with opened(tmp_path / "manuals", tmp_path / "state") as indexed:
        indexed.bring_up_to_date(Budget())
        _wait_until(lambda: children() <= before)
        write(tmp_path / "manuals", {f"many/{n:03}.md": None for n in range(9)})
        many(tmp_path / "manuals", seed=1)
        half = indexed.bring_up_to_date(Budget.of(1_200))
        del half
    _wait_until(lambda: children() <= before)


@pytest.mark.slow
@ONLY_LINUX
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core reads and writes alone")
def test_they_end_with_a_process_that_is_killed_and_never_write_to_its_output(
    tmp_path: Path,
) -> None:
    many(tmp_path / "manuals", number=1_500)
    for file in (tmp_path / "manuals" / "m").rglob("*.md"):
        file.write_text(file.read_text() * 2)
    command = [installed_script(), "index", "--workspace", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as indexing:
        _wait_until(lambda: len(children(indexing.pid)) >= 2)
        readers = children(indexing.pid)
        indexing.send_signal(signal.SIGKILL)
        assert indexing.stdout is not None
        assert indexing.stdout.read() == b"", "a reader wrote there, or still holds it open"
    _wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in readers))
    with Wire(tmp_path) as server:
        server.ok("manual_ls")
        answer = server.ok("manual_find", query="給付", manual_id="m", required_terms=["給付"])
        assert answer["inline_hits"]["items"]


def _wait_until(true: Any) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)
