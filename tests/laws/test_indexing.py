"""Indexes follow the disk: by whatever way, they answer like one that was made anew."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torture import examples

from fumishirube import (
    Bool,
    Budget,
    Corpus,
    Document,
    Everything,
    Fields,
    Holds,
    Loader,
    Pages,
    Phrase,
    Query,
    Root,
    Source,
    Stage,
    Term,
    Unreadable,
)
from fumishirube.engine import file_loads
from fumishirube.engine.folder_index import FolderIndex, _FolderUpdate
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.library import Library
from fumishirube.engine.pipeline import NamedStage, Pipeline
from fumishirube.engine.recoverable_index import IndexState
from fumishirube.errors import Cancelled, IndexDamaged
from fumishirube_stages.fusers.required_terms import RequiredTerms
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.loaders import Json, Markdown, TocText
from fumishirube_stages.scorers.lexical import Lexical
from fumishirube_stages.scorers.phrase import PhraseScorer
from fumishirube_stages.tokenizers.bigram import Bigram

LOADERS = (Markdown(), TocText(), Json())
PIPELINE = Pipeline(
    [NamedStage("lexical", Lexical()), NamedStage("phrase", PhraseScorer())],
    [NamedStage("required-terms", RequiredTerms())],
    [],
    strict=True,
)
QUERIES = (Query("有給休暇の例外"), Query("password reset"), Query("休", ("給付",)), Query("E-104"))
CLAUSES = (
    Term("password"),
    Phrase(("有給", "給休", "休暇")),
    Holds("休"),
    Everything(),
)

OLD = 1_700_000_000_000_000_000
"""A time of change so long ago that a stamp tells all."""


@contextmanager
def opened(
    manuals: Path, state: Path, loaders: Sequence[Loader] = LOADERS, **settings: Any
) -> Iterator[FolderIndex]:
    """Open the manual ``m`` and its index, as a process that starts does."""
    manual = Library(Root(manuals), loaders).manual("m")
    stage, fields = Tantivy(**settings), Fields(FIELDS, Bigram())
    indexed = FolderIndex(manual, lambda: stage.open(Root(state).make("m"), fields))
    try:
        yield indexed
    finally:
        indexed.close()


def answers(state: IndexState) -> object:
    """Return all that can be asked: the files, the clauses, and rankings with their scores."""
    corpus = state.corpus
    words = sorted({*corpus.terms("有給休暇の例外 給付 password reset link E-104 4月"), "absent"})
    return (
        state.files,
        state.skipped,
        corpus.size,
        [sorted(f.passage.key for f in corpus.search(c, 1000)) for c in CLAUSES],
        [corpus.count(clause) for clause in CLAUSES],
        dict(corpus.frequencies(words)),
        [round(corpus.average_length(name), 9) for name in FIELDS],
        [ranked(query, corpus) for query in QUERIES],
    )


def found(state: IndexState) -> list[tuple[str, int]]:
    corpus = state.corpus
    return sorted(one.passage.key for one in corpus.search(Everything(), corpus.size))


def ranked(query: Query, corpus: Corpus) -> object:
    ranking, _, report, _ = PIPELINE.run(Query(query.text, query.required), corpus)
    return [
        (hit.passage, hit.score, hit.coverage, hit.matched, sorted(hit.labels))
        for hit in ranking.hits
    ], report


def rebuilt(manuals: Path, folder: Path) -> object:
    """Return the answers of an index that is made of what is there now."""
    shutil.rmtree(folder, ignore_errors=True)
    with opened(manuals, folder) as fresh:
        return answers(fresh.bring_up_to_date(Budget()))


def write(manuals: Path, files: Mapping[str, str | bytes | None], at: int | None = None) -> None:
    """Write files, or delete those that are ``None``; all changed at one time, if it is given."""
    for path, content in files.items():
        file = manuals / "m" / path
        if content is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if at is not None:
            os.utime(file, ns=(at, at))


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    write(folder, SAMPLE, OLD)
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


TEXTS: tuple[str | bytes, ...] = (
    "# 休暇\n有給休暇は10日。\n## 例外\n試用期間中は有給休暇を取得できない。\n",
    "# 休暇\n有給休暇は20日。\n## 例外\n試用期間中は有給休暇を取得できない。\n",
    "# Sign in\nType your password.\n\n# Password reset\nUse the reset link.\n",
    "no heading, but a password\n",
    "# 見出しだけ\n\n# 給付\n給付は4月から。\n",
    "",
    "給付の有給休暇。\n".encode("cp932"),
    b"\xff\xfe\x00",
)
TOC = json.dumps({"toc": [{"id": "1", "title": "給付の章", "file": "chapter.txt"}]})
OTHER_TOC = json.dumps({"toc": [{"id": "1", "title": "password の章", "file": "chapter.txt"}]})
SAMPLE: dict[str, str | bytes | None] = {
    "a.md": TEXTS[0],
    "sub/b.md": TEXTS[2],
    "codes.json": '{"E-104": {"意味": "password の期限切れ"}}',
    "00_目次.json": TOC,
    "chapter.txt": "入院給付は有給休暇とは別に支払う。\n",
    "ignored.bin": b"\0",
}

# --- an update is a rebuild -----------------------------------------------------------------

PATHS = ("a.md", "sub/b.md", "c.md", "codes.json", "chapter.txt", "規程/休暇.md")
edits = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(PATHS), st.sampled_from(TEXTS)),
    st.tuples(st.just("write"), st.just("00_目次.json"), st.sampled_from([TOC, OTHER_TOC, "{"])),
    st.tuples(st.just("delete"), st.sampled_from((*PATHS, "00_目次.json")), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(PATHS), st.sampled_from(PATHS)),
    st.tuples(st.just("touch"), st.sampled_from(PATHS), st.none()),
)


def edit(manuals: Path, verb: str, path: str, other: Any, at: int) -> None:
    file = manuals / "m" / path
    if verb == "write":
        write(manuals, {path: other}, at)
    elif verb == "delete":
        file.unlink(missing_ok=True)
    elif file.exists() and verb == "rename":
        target = manuals / "m" / other
        target.parent.mkdir(parents=True, exist_ok=True)
        file.replace(target)
    elif file.exists():
        os.utime(file, ns=(at, at))


@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=3))
def test_an_update_answers_like_a_rebuild_scores_included(
    tmp_path: Path, rounds: list[list[tuple[str, str, Any]]]
) -> None:
    manuals, state = tmp_path / "manuals", tmp_path / "state"
    for folder in (manuals, state):
        shutil.rmtree(folder, ignore_errors=True)
    write(manuals, SAMPLE, OLD)
    at = OLD
    with opened(manuals, state) as indexed:
        indexed.bring_up_to_date(Budget())
        for round_ in rounds:
            for verb, path, other in round_:
                at += 1_000_000_000
                edit(manuals, verb, path, other, at)
            assert answers(indexed.bring_up_to_date(Budget())) == rebuilt(manuals, tmp_path / "new")
    with opened(manuals, state) as again:
        assert answers(again.bring_up_to_date(Budget())) == rebuilt(manuals, tmp_path / "new")


def test_the_order_of_files_does_not_matter(tmp_path: Path) -> None:
    orders = (list(SAMPLE), list(SAMPLE)[::-1], sorted(SAMPLE))
    got = []
    for number, order in enumerate(orders):
        manuals = tmp_path / str(number)
        write(manuals, {path: SAMPLE[path] for path in order}, OLD)
        got.append(rebuilt(manuals, tmp_path / f"state {number}"))
    assert got[0] == got[1] == got[2]


def test_one_file_at_a_time_is_all_at_once(tmp_path: Path, state: Path) -> None:
    manuals = tmp_path / "manuals"
    (manuals / "m").mkdir(parents=True)
    with opened(manuals, state) as indexed:
        for path in sorted(SAMPLE, reverse=True):
            write(manuals, {path: SAMPLE[path]}, OLD)
            last = indexed.bring_up_to_date(Budget())
        assert answers(last) == rebuilt(manuals, tmp_path / "new")


def test_a_build_in_turns_ranks_as_one_at_once(tmp_path: Path, state: Path) -> None:
    manuals, rolls = tmp_path / "manuals", Random(5)
    (manuals / "m").mkdir(parents=True)
    clause = Bool(should=(Term("password"), Term("reset")))
    with opened(manuals, state) as indexed:
        for turn in range(10):
            for number in range(20):
                words = rolls.choices(
                    ["password", "reset", "link", "sign"], k=rolls.randint(60, 400)
                )
                write(manuals, {f"{turn}-{number}.md": " ".join(words)}, OLD)
            last = indexed.bring_up_to_date(Budget())
        got = last.corpus.search(clause, 200)
    with opened(manuals, tmp_path / "new") as fresh:
        once = fresh.bring_up_to_date(Budget()).corpus.search(clause, 200)
    assert got == once


def test_an_empty_manual_has_an_index(tmp_path: Path, state: Path) -> None:
    (tmp_path / "manuals" / "m").mkdir(parents=True)
    with opened(tmp_path / "manuals", state) as indexed:
        got = indexed.bring_up_to_date(Budget())
        assert (got.files, got.corpus.size, got.skipped, got.degraded) == (0, 0, (), None)


# --- only what changed is read --------------------------------------------------------------


class Counting(Stage):
    """Reads Markdown, and counts how often; a text may say what goes wrong."""

    def sources(self, root: Root) -> Iterable[Source]:
        return Markdown().sources(root)

    def load(self, root: Root, source: Source) -> Document:
        READ.append(source.path)
        document = Markdown().load(root, source)
        if "CANCEL" in document.text:
            BUDGETS[-1].cancelled.set()
        if "STAY" in document.text:
            STAYING.set()
            assert GOING.wait(30)
        if "UNREADABLE" in document.text:
            raise Unreadable("no", reason="scanned")
        if "BROKEN" in document.text:
            raise ZeroDivisionError
        return document


STAYING, GOING = Event(), Event()
READ: list[str] = []
BUDGETS: list[Budget] = []


@pytest.fixture
def counted(manuals: Path, state: Path) -> Iterator[FolderIndex]:
    READ.clear()
    with opened(manuals, state, (Counting(),)) as indexed:
        yield indexed


def test_only_changed_files_are_read(counted: FolderIndex, manuals: Path) -> None:
    counted.bring_up_to_date(Budget())
    assert sorted(READ) == ["a.md", "sub/b.md"]
    READ.clear()
    counted.bring_up_to_date(Budget())
    assert READ == []
    write(manuals, {"a.md": TEXTS[2], "c.md": TEXTS[3], "sub/b.md": None}, OLD + 1)
    got = counted.bring_up_to_date(Budget())
    assert sorted(READ) == ["a.md", "c.md"]
    assert got.corpus.size == 3


def test_a_process_that_starts_reads_nothing_again(
    manuals: Path, state: Path, counted: FolderIndex
) -> None:
    counted.bring_up_to_date(Budget())
    READ.clear()
    with opened(manuals, state, (Counting(),)) as again:
        assert again.bring_up_to_date(Budget()).corpus.size == 4
    assert READ == []


def test_a_quick_second_edit_is_seen_though_the_clock_stood_still(
    counted: FolderIndex, manuals: Path
) -> None:
    """Same size, same time: within the coarseness of a clock only the content tells."""
    now = time.time_ns()
    for text in ("# 一\nalpha\n", "# 一\ngamma\n", "# 一\ndelta\n"):
        write(manuals, {"a.md": text}, now)
        corpus = counted.bring_up_to_date(Budget()).corpus
        assert corpus.count(Term(text.split()[-1])).number == 1
        assert len(corpus.search(Pages(("a.md",)), 9)) == 1


def test_a_touched_file_has_the_same_sections(counted: FolderIndex, manuals: Path) -> None:
    before = answers(counted.bring_up_to_date(Budget()))
    os.utime(manuals / "m" / "a.md", ns=(OLD + 5, OLD + 5))
    assert answers(counted.bring_up_to_date(Budget())) == before


def test_a_changed_toc_renames_its_chapters(manuals: Path, state: Path) -> None:
    with opened(manuals, state) as indexed:
        indexed.bring_up_to_date(Budget())
        write(manuals, {"00_目次.json": OTHER_TOC}, OLD + 1)
        page = indexed.bring_up_to_date(Budget()).corpus.page("chapter.txt")
        assert [passage.title for passage in page] == ["password の章"]


def test_a_toc_that_is_completed_though_the_clock_stood_still_names_its_chapters(
    manuals: Path, state: Path
) -> None:
    with opened(manuals, state) as indexed:
        for toc, title in ((" " * len(TOC), []), (TOC, ["給付の章"])):
            write(manuals, {"00_目次.json": toc}, time.time_ns() // 10**9 * 10**9)
            page = indexed.bring_up_to_date(Budget()).corpus.page("chapter.txt")
            assert [passage.title for passage in page] == title


def test_a_toc_that_may_be_read_again_names_its_chapters(manuals: Path, state: Path) -> None:
    """A change of permissions changes neither the size nor the time of a file."""
    toc = manuals / "m" / "00_目次.json"
    toc.chmod(0o000)
    if os.access(toc, os.R_OK):
        pytest.skip("this user may read all")
    with opened(manuals, state) as indexed:
        assert indexed.bring_up_to_date(Budget()).corpus.page("chapter.txt") == []
        toc.chmod(0o644)
        (passage,) = indexed.bring_up_to_date(Budget()).corpus.page("chapter.txt")
        assert passage.title == "給付の章"


# --- what cannot be read --------------------------------------------------------------------


def test_a_file_that_cannot_be_read_is_skipped_with_its_reason(
    counted: FolderIndex, manuals: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(manuals, {"x.md": "UNREADABLE", "y.md": "BROKEN", "z.md": b"\xff\xfe\x00"}, OLD)
    got = counted.bring_up_to_date(Budget())
    assert [(left.path, left.reason) for left in got.skipped] == [
        ("x.md", "scanned"),
        ("y.md", "loader_failed"),
        ("z.md", "undecodable"),
    ]
    assert (got.files, got.corpus.size, got.degraded) == (5, 4, None)
    assert "a loader failed on a file" in caplog.text
    READ.clear()
    counted.bring_up_to_date(Budget())
    assert READ == [], "it is not tried again until it changes"
    write(manuals, {"x.md": "readable", "y.md": None}, OLD + 1)
    assert [left.path for left in counted.bring_up_to_date(Budget()).skipped] == ["z.md"]


# --- time -----------------------------------------------------------------------------------


def _many(manuals: Path, number: int) -> None:
    write(manuals, {f"many/{n:04}.md": f"# 第{n}条\n給付 {n}\n" for n in range(number)}, OLD)


def test_when_time_runs_out_the_rest_follows_at_the_next_call(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    _many(manuals, 300)
    told: list[tuple[int, int, str]] = []
    with opened(manuals, state) as indexed:
        got = indexed.bring_up_to_date(Budget.of(0), lambda *said: told.append(said))
        assert got.degraded
        assert "time ran out" in got.degraded
        done, total, what = told[-1]
        assert 0 < done < total == 305
        assert got.unfinished
        assert what == "indexing m"
        assert len(found(got)) <= done
        got = indexed.bring_up_to_date(Budget())
        assert got.degraded is None
        assert answers(got) == rebuilt(manuals, tmp_path / "new")


class NeverSound:
    """An open index that says that its files are damaged, whatever is in them."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def refresh(self) -> None:
        raise IndexDamaged("always")


def test_an_index_that_is_lost_again_and_again_is_not_rebuilt_without_end(
    manuals: Path, state: Path
) -> None:
    _many(manuals, 300)
    folder, fields = Root(state).make("m"), Fields(FIELDS, Bigram())

    def emptied() -> Any:
        for file in folder.path.iterdir():
            file.unlink()
        return NeverSound(Tantivy().open(folder, fields))

    with closing(FolderIndex(Library(Root(manuals), LOADERS).manual("m"), emptied)) as indexed:
        left = [indexed.bring_up_to_date(Budget.of(0)) for _ in range(4)]
    assert all(got.degraded and "time ran out" in got.degraded for got in left)
    assert [got.unfinished for got in left] == [True, True, False, False]


def test_progress_rises_to_the_number_of_changed_files(manuals: Path, state: Path) -> None:
    _many(manuals, 600)
    told: list[tuple[int, int, str]] = []
    with opened(manuals, state) as indexed:
        indexed.bring_up_to_date(Budget(), lambda *said: told.append(said))
    assert [done for done, _, _ in told] == sorted({done for done, _, _ in told})
    assert told[-1][:2] == (605, 605)


def test_a_cancelled_update_leaves_the_last_commit(counted: FolderIndex, manuals: Path) -> None:
    before = answers(counted.bring_up_to_date(Budget()))
    BUDGETS.append(Budget())
    write(manuals, {"b.md": "# CANCEL\n給付\n", "c.md": TEXTS[0]}, OLD)
    with pytest.raises(Cancelled):
        counted.bring_up_to_date(BUDGETS[-1])
    for path in ("b.md", "c.md"):
        (manuals / "m" / path).unlink()
    assert answers(counted.bring_up_to_date(Budget())) == before


def test_files_that_are_named_go_first(counted: FolderIndex, manuals: Path) -> None:
    pages = {"z/交通費 精算.md": "# 精算\n", "z/交通費.md": "# 例\n", "e f g h i j.md": "# e\n"}
    write(manuals, pages, OLD)
    counted.bring_up_to_date(Budget.of(0), wanted="交通費の精算 e f g h i j")
    assert READ[0] == "z/交通費 精算.md"


# --- other calls ----------------------------------------------------------------------------


@pytest.fixture
def updating(counted: FolderIndex, manuals: Path) -> Iterator[IndexState]:
    """Keep an update of another thread under way; give the state before it."""
    before = counted.bring_up_to_date(Budget())
    STAYING.clear()
    GOING.clear()
    write(manuals, {"a.md": TEXTS[2], "b.md": "# STAY\n給付\n"}, OLD + 1)
    with ThreadPoolExecutor(1) as other:
        update = other.submit(counted.bring_up_to_date, Budget())
        try:
            assert STAYING.wait(30)
            yield before
        finally:
            GOING.set()
            assert update.result(30).degraded is None


def test_who_finds_another_call_updating_answers_from_the_last_state(
    counted: FolderIndex, updating: IndexState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_loads, "GRACE_SECONDS", 60.0)
    got = counted.bring_up_to_date(Budget.of(50))
    assert got.degraded == "another call is updating the index; this is the state before"
    assert not got.unfinished
    assert got.slow == (), "the file has not been loading for long"
    assert found(got) == found(updating)
    assert [(left.path, left.reason) for left in got.skipped] == [("b.md", "time_budget")]
    assert (got.files, got.fingerprint) == (updating.files + 1, updating.fingerprint)


def test_who_finds_another_call_updating_names_the_stage_that_delays_it(
    counted: FolderIndex, updating: IndexState
) -> None:
    def delay(owner: int | None, began: float) -> str:
        assert owner not in (None, threading.get_ident())
        assert began < time.monotonic()
        return "a stage has been at work"

    got = counted.bring_up_to_date(Budget.of(50), delay=delay)
    assert got.degraded == "a stage has been at work; this is the state before"
    assert found(got) == found(updating)


def test_who_waits_for_another_call_can_still_be_cancelled(
    counted: FolderIndex, updating: IndexState
) -> None:
    assert updating.degraded is None
    budget = Budget()
    with ThreadPoolExecutor(1) as waiting:
        answer = waiting.submit(counted.bring_up_to_date, budget)
        assert not answer.done()
        budget.cancelled.set()
        with pytest.raises(Cancelled):
            answer.result(30)


# --- damage ---------------------------------------------------------------------------------


def _damages(folder: Path) -> list[tuple[str, Path]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(how, file) for file in files for how in ("halved", "emptied", "gone", "scribbled")]


def _damage(how: str, file: Path) -> None:
    data = file.read_bytes()
    if how == "gone":
        file.unlink()
    elif how == "scribbled":
        file.write_bytes(bytes(255 - byte for byte in data))
    else:
        file.write_bytes(data[: len(data) // 2] if how == "halved" else b"")


@pytest.mark.slow
def test_an_index_with_any_damaged_file_is_remade(manuals: Path, tmp_path: Path) -> None:
    """Derived state costs time, never an answer."""
    expected = rebuilt(manuals, tmp_path / "sound")
    failed = []
    for how, file in _damages(tmp_path / "sound"):
        shutil.copytree(tmp_path / "sound", tmp_path / "damaged", dirs_exist_ok=False)
        _damage(how, tmp_path / "damaged" / file.relative_to(tmp_path / "sound"))
        try:
            with opened(manuals, tmp_path / "damaged") as indexed:
                if answers(indexed.bring_up_to_date(Budget())) != expected:
                    failed.append(f"{file.suffix or file.name} {how}: another answer")
        except Exception as error:
            failed.append(f"{file.suffix or file.name} {how}: {error!r}"[:160])
        shutil.rmtree(tmp_path / "damaged")
    assert not failed, "\n".join(failed)


def test_an_index_that_was_thrown_away_is_made_again(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    with opened(manuals, state) as indexed:
        indexed.bring_up_to_date(Budget())
    shutil.rmtree(state)
    with opened(manuals, state) as indexed:
        assert answers(indexed.bring_up_to_date(Budget())) == rebuilt(manuals, tmp_path / "new")


# --- other processes ------------------------------------------------------------------------

_WRITER = """
import sys
from pathlib import Path
sys.path[:0] = {tests!r}
from fumishirube import Budget
import test_indexing as t
with t.opened(Path({manuals!r}), Path({state!r})) as indexed:
    with indexed._index.writing(Budget()) as mine:
        print(mine, flush=True)
        sys.stdin.readline()
print("done", flush=True)
"""

_INDEXER = """
import itertools, sys
from pathlib import Path
sys.path[:0] = {tests!r}
from fumishirube import Budget
import test_indexing as t
print("ready", flush=True)
with t.opened(Path({manuals!r}), Path({state!r})) as indexed:
    for number in itertools.count():
        for n in range(0, 300, 7):
            text = f"# 第{{n}}条\\n給付 {{n}} round {{number}}\\n"
            t.write(Path({manuals!r}), {{f"many/{{n:04}}.md": text}}, t.OLD + number)
        indexed.bring_up_to_date(Budget())
"""


@contextmanager
def other_process(code: str, manuals: Path, state: Path) -> Iterator[subprocess.Popen[str]]:
    tests = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
    script = code.format(tests=tests, manuals=str(manuals), state=str(state))
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=pipe, stdout=pipe, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() in {"True", "ready"}
        try:
            yield process
        finally:
            process.kill()


def test_who_finds_the_writer_busy_answers_from_the_last_state(manuals: Path, state: Path) -> None:
    with opened(manuals, state, writer_wait_ms=60_000) as indexed:
        before = indexed.bring_up_to_date(Budget())
        with other_process(_WRITER, manuals, state) as writer:
            write(manuals, {"new.md": "# 新しい\npassword\n"}, OLD)
            started = time.monotonic()
            got = indexed.bring_up_to_date(Budget.of(200))
            assert time.monotonic() - started < 20
            assert got.degraded == "another process is updating the index; this is the state before"
            assert found(got) == found(before)
            writer.communicate("go on\n", timeout=30)
        got = indexed.bring_up_to_date(Budget())
        assert got.degraded is None
        assert set(found(got)) - set(found(before)) == {("new.md", 1)}


def test_a_file_that_is_gone_is_not_found_though_the_writer_is_busy(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    with opened(manuals, state) as one, opened(manuals, state, writer_wait_ms=0) as other:
        other.bring_up_to_date(Budget())
        with one._index.writing(Budget()):
            write(manuals, {"a.md": None, "chapter.txt": None})
            got = other.bring_up_to_date(Budget.of(50))
        assert got.degraded == "another process is updating the index; this is the state before"
        corpus, words = got.corpus, ["休暇", "password", "absent"]
        assert {path for path, _ in found(got)} == {"sub/b.md", "codes.json"}
        assert (got.files, [*got.pages]) == (3, ["00_目次.json", "codes.json", "sub/b.md"])
        assert [corpus.page(path) for path in ("a.md", "chapter.txt")] == [(), ()]
        with opened(manuals, tmp_path / "new") as fresh:
            expected = fresh.bring_up_to_date(Budget()).corpus
        assert corpus.size == expected.size
        assert corpus.frequencies(words) == expected.frequencies(words)
        assert [*map(corpus.count, CLAUSES)] == [*map(expected.count, CLAUSES)]


def test_nothing_to_write_needs_no_writer(manuals: Path, state: Path) -> None:
    with opened(manuals, state) as indexed:
        before = answers(indexed.bring_up_to_date(Budget()))
        with other_process(_WRITER, manuals, state):
            got = indexed.bring_up_to_date(Budget.of(200))
            assert (got.degraded, answers(got)) == (None, before)


def test_another_process_s_update_is_taken_in(manuals: Path, state: Path) -> None:
    with opened(manuals, state) as one, opened(manuals, state) as other:
        one.bring_up_to_date(Budget())
        other.bring_up_to_date(Budget())
        write(manuals, {"new.md": TEXTS[2]}, OLD)
        expected = answers(one.bring_up_to_date(Budget()))
        assert answers(other.bring_up_to_date(Budget())) == expected


def test_who_waited_for_the_same_update_by_another_process_answers_like_it(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    waiting_loaders = (Counting(), *LOADERS)
    with (
        opened(manuals, state, waiting_loaders) as one,
        opened(manuals, state, waiting_loaders, writer_wait_ms=20_000) as other,
    ):
        one.bring_up_to_date(Budget())
        other.bring_up_to_date(Budget())
        write(manuals, {"new.md": TEXTS[2]}, OLD)
        READ.clear()
        with ThreadPoolExecutor(1) as waiting:
            with one._index.writing(Budget()):
                answer = waiting.submit(other.bring_up_to_date, Budget())
                time.sleep(0.2)
                one._update(_FolderUpdate(one.manual.sweep(), Budget()))
                assert READ == ["new.md"]
            assert answers(answer.result(30)) == rebuilt(manuals, tmp_path / "new")
            assert READ == ["new.md"], "the other process has read it"


def test_what_a_killed_writer_left_half_done_does_not_stop_the_next_one(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    """It died when its new files were written, and its commit was not."""

    def update() -> object:
        with opened(manuals, state) as indexed:
            return answers(indexed.bring_up_to_date(Budget()))

    update()
    shutil.copytree(state, tmp_path / "before")
    write(manuals, {"a.md": TEXTS[1]}, OLD + 1)
    update()
    commit = state / "m" / "meta.json"
    shutil.copy(tmp_path / "before" / "m" / "meta.json", commit)
    shutil.copytree(tmp_path / "before", state, dirs_exist_ok=True, ignore=_the_list_of_files)
    assert update() == rebuilt(manuals, tmp_path / "new")
    assert update() == rebuilt(manuals, tmp_path / "new")


def _the_list_of_files(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == ".managed.json"]


@pytest.mark.slow
def test_what_hurried_updates_wrote_is_merged_and_other_processes_can_write_then(
    manuals: Path, state: Path, tmp_path: Path
) -> None:
    """Calls of a server have three seconds; a merge that ends with its call is made in vain."""
    _many(manuals, 300)
    with opened(manuals, state) as one, opened(manuals, state, writer_wait_ms=20_000) as other:
        one.bring_up_to_date(Budget())
        for turn in range(20):
            write(manuals, {f"many/{turn:04}.md": TEXTS[0]}, OLD + turn)
            one.bring_up_to_date(Budget.of(2_900))
        until = time.monotonic() + 60
        while _segments(state) >= 8:
            assert time.monotonic() < until, "the segments of twenty updates were not merged"
            time.sleep(0.05)
        assert answers(one.bring_up_to_date(Budget())) == rebuilt(manuals, tmp_path / "one")
        write(manuals, {"a.md": "# 新しい\npassword\n"}, OLD)
        got = other.bring_up_to_date(Budget())
        assert (got.degraded, answers(got)) == (None, rebuilt(manuals, tmp_path / "other"))


def _segments(state: Path) -> int:
    return len(json.loads((state / "m" / "meta.json").read_text(encoding="utf-8"))["segments"])


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    "milliseconds", [60, *(pytest.param(n, marks=pytest.mark.slow) for n in (0, 150, 400))]
)
def test_a_process_that_is_killed_leaves_a_state_that_can_be_used(
    manuals: Path, state: Path, tmp_path: Path, milliseconds: int
) -> None:
    _many(manuals, 300)
    with other_process(_INDEXER, manuals, state) as indexer:
        time.sleep(milliseconds / 1000)
        indexer.send_signal(signal.SIGKILL)
        assert indexer.wait(10) == -signal.SIGKILL
    with opened(manuals, state, writer_wait_ms=0) as indexed:
        got = indexed.bring_up_to_date(Budget())
        assert got.degraded is None, "no lock stays behind"
        assert answers(got) == rebuilt(manuals, tmp_path / "new")
