"""Parsers that crash, hang, swell, print or write: the file is skipped, and the rest is served."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from fumishirube_documents import processes
from fumishirube_documents.isolated_loader import IsolatedLoader, ParsedLoader
from fumishirube_documents.processes import TimeLimit

from fumishirube import (
    Budget,
    Document,
    Fields,
    Forbidden,
    NotFound,
    Root,
    Section,
    Source,
    Unreadable,
)
from fumishirube.engine.folder_index import FolderIndex
from fumishirube.engine.indexed_files import FIELDS
from fumishirube.engine.library import Library
from fumishirube.engine.parsed_documents import ParsedDocuments, RememberingLoader
from fumishirube.parsing import PageView, Picture, Place, document_of, document_record
from fumishirube_stages.indexes.tantivy import Tantivy
from fumishirube_stages.tokenizers.bigram import Bigram

PARSER = """
import os, sys, time
from fumishirube import Document, Section, Unreadable
from fumishirube.parsing import Picture, Place
from fumishirube_documents import part_texts
from fumishirube_documents.part_texts import cached_text, send_pages
from fumishirube_documents.processes import _PNG

def pages(words, made):
    for word in words:
        def make():
            made.append(word)
            if word == "unreadable":
                raise ValueError("no text")
            return f"text of {word}"
        yield cached_text(word, make)

def drawn(data, view, settings):
    word = data.decode()
    if word == "hang":
        time.sleep(600)
    if word == "refuse":
        raise Unreadable("no such thing", reason="refused")
    if word == "document":
        return Document("", "x", "text", ())
    start = _PNG if word != "script" else b"<script>"
    rest = b"x" * (1 << 25 if word == "large" else 1)
    return Picture(start + repr(tuple(view)).encode() + rest, 1)

def parsed(data, name, settings):
    word = data.decode()
    if word == "crash":
        os.abort()
    if word == "exit":
        os._exit(0)
    if word == "hang":
        time.sleep(600)
    if word == "calculate":
        while True:
            pass
    if word == "swell":
        return [bytearray(1 << 26) for _ in range(1000)]
    if word == "raise":
        raise ValueError("/secret/path")
    if word == "refuse":
        raise Unreadable("no such thing", reason="refused")
    if word == "recurse":
        return parsed(data, name, settings)
    if word.startswith("pages "):
        made = []
        text = "\\n".join([*pages(word.split()[1:], made), f"made: {' '.join(made)}\\n"])
        return Document("", "x", text, ())
    if word == "lie":
        for message in ({"wanted": 3}, {"wanted": "x" * 9999}):
            part_texts.send(part_texts._CHANNEL.get(), message)
            assert part_texts._CHANNEL.get().receive() == b"null"
        for key, text in ((3, 4), ("one", None), ("one", "x" * 9**7)):
            part_texts.send(part_texts._CHANNEL.get(), {"made": key, "text": text})
        for read in ([5, 3], [-1, 3], ["1", 3], [1], None, [0, 10**9]):
            part_texts.send(part_texts._CHANNEL.get(), {"pages": read})
    if word == "wait":
        while not os.path.exists(os.path.join(settings["folder"], "seen")):
            send_pages(2, 5)
            time.sleep(0.05)
    if word == "noise":
        part_texts.send(part_texts._CHANNEL.get(), [])
    if word == "endless":
        part_texts._CHANNEL.get()._target.write((1 << 62).to_bytes(8, "big"))
        part_texts._CHANNEL.get()._target.flush()
    if word == "nonsense":
        return Document("", "x", "abc", (Section("t", 1, 1, 0, 99, 99, 0),))
    if word == "print":
        print("x" * 100_000); sys.stdout.flush(); os.write(1, b"noise")
    if word == "write":
        with open(os.path.join(settings["folder"], "written"), "w") as stream:
            stream.write("x" * 10)
    if word == "environment":
        word = " ".join(sorted(os.environ))
    text = f"{name} {word} {os.getpid()}\\n"
    section = Section(name, 1, 1, 0, len(text), len(text), 0)
    return Document("", "x", text, (section,), places=(Place(1, page=3, label="iii"),))
"""


class Rough(IsolatedLoader):
    """Reads files with a parser that does whatever they say."""

    parser: ClassVar[str] = "rough_parser:parsed"
    drawer: ClassVar[str] = "rough_parser:drawn"

    suffixes: tuple[str, ...] = (".x",)
    folder: str = ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rough_parser.py").write_text(PARSER)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def loader(folder: Path) -> Iterator[ParsedLoader]:
    stage = Rough(parse_seconds=20, parse_bytes=1 << 30, folder=str(folder))
    with stage.open() as running:
        yield running


def load(loader: ParsedLoader, folder: Path, word: str) -> Document:
    (folder / "a.x").write_text(word)
    return loader.load(Root(folder), Source("a.x"))


def process_of(document: Document) -> str:
    return document.text.split()[-1]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("crash", "parser_crashed"),
        ("exit", "parser_crashed"),
        ("raise", "damaged"),
        ("recurse", "damaged"),
        ("nonsense", "damaged"),
        ("noise", "parser_crashed"),
        ("endless", "parser_memory"),
        ("refuse", "refused"),
        pytest.param(
            "swell",
            "parser_memory",
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(sys.platform != "linux", reason="no such limit here"),
            ],
        ),
        pytest.param(
            "write",
            "damaged",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="no such limit here"),
        ),
    ],
)
def test_a_file_is_skipped_and_the_next_one_read(
    loader: ParsedLoader, folder: Path, word: str, reason: str
) -> None:
    with pytest.raises(Unreadable) as skipped:
        load(loader, folder, word)
    assert skipped.value.reason == reason
    assert "secret" not in str(skipped.value)
    assert load(loader, folder, "fine").text.startswith("a fine ")


def test_a_moment_without_free_files_is_no_fault_of_the_document(
    loader: ParsedLoader, folder: Path
) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest, below = max(int(file.name) for file in Path("/dev/fd").iterdir()), list[int]()
    while not below or below[-1] < highest:
        below.append(os.open(os.devnull, os.O_RDONLY))
    resource.setrlimit(resource.RLIMIT_NOFILE, (below[-1] + 6, limits[1]))  # too few for a process
    try:
        with pytest.raises(Forbidden, match="it is tried again"):
            load(loader, folder, "fine")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for handle in below:
            os.close(handle)
    assert load(loader, folder, "fine").text.startswith("a fine ")


def draw(loader: ParsedLoader, folder: Path, word: str) -> Picture:
    (folder / "a.x").write_text(word)
    return loader.picture(Root(folder), Source("a.x"), PageView(2, ("one", "two"), (1,)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "reason"),
    [("script", "damaged"), ("large", "damaged"), ("document", "damaged"), ("refuse", "refused")],
)
def test_what_is_no_picture_of_a_page_is_refused(
    loader: ParsedLoader, folder: Path, word: str, reason: str
) -> None:
    with pytest.raises(Unreadable) as refused:
        draw(loader, folder, word)
    assert refused.value.reason == reason
    assert b"(2, ('one', 'two'), (1,))" in draw(loader, folder, "fine").data


def test_only_a_loader_with_a_function_for_it_draws_pages(
    loader: ParsedLoader, folder: Path
) -> None:
    class Plain(Rough):
        """The same parser, without pictures."""

        drawer: ClassVar[str] = ""

    documents = ParsedDocuments(Root(folder / "state"))
    assert loader.draws_pages
    assert RememberingLoader(loader, "1", documents).draws_pages
    with Plain().open() as plain:
        assert not plain.draws_pages
        assert not RememberingLoader(plain, "1", documents).draws_pages


@pytest.mark.slow
@pytest.mark.parametrize("word", ["hang", "calculate"])
def test_a_parser_that_hangs_is_ended(folder: Path, word: str) -> None:
    with Rough(parse_seconds=4).open() as loader:
        load(loader, folder, "fine")
        began = time.monotonic()
        with pytest.raises(Unreadable) as skipped:
            load(loader, folder, word)
        assert skipped.value.reason == "parser_timeout"
        assert 4 <= time.monotonic() - began < 60
        assert load(loader, folder, "fine").text.startswith("a fine ")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much time it used")
def test_a_process_that_gets_too_little_of_the_processor_has_more_time() -> None:
    waits = "import time; time.sleep(6)"
    with subprocess.Popen([sys.executable, "-c", waits]) as process:
        limit = TimeLimit(process, 5.0)
        assert process.wait(60) == 0
        limit.cancel()
    assert not limit.exceeded


@pytest.mark.slow
def test_the_import_of_a_parser_is_no_part_of_its_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Rough):
        """The same parser, of a module that takes long to import."""

        parser: ClassVar[str] = "slow_parser:parsed"

    slow = "import time\ntime.sleep(10)\nfrom rough_parser import parsed\n"
    (folder / "slow_parser.py").write_text(slow)
    with Slow(parse_seconds=9).open() as loader:
        assert load(loader, folder, "fine").text.startswith("a fine ")
        monkeypatch.setattr(processes, "_START_SECONDS", 2.0)
    with Slow(parse_seconds=9).open() as loader, pytest.raises(Unreadable) as skipped:
        load(loader, folder, "fine")
    assert skipped.value.reason == "parser_timeout"


def test_the_process_stays_from_file_to_file_and_ends_with_the_loader(folder: Path) -> None:
    with Rough().open() as loader:
        first, second = load(loader, folder, "one"), load(loader, folder, "two")
        assert process_of(first) == process_of(second) != str(os.getpid())
    if sys.platform == "linux":
        assert not Path(f"/proc/{process_of(first)}").exists()


def test_what_a_parser_prints_goes_nowhere(
    loader: ParsedLoader, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert load(loader, folder, "print").text.startswith("a print ")
    assert capfd.readouterr() == ("", "")


def test_a_parser_sees_next_to_nothing_of_the_environment(
    loader: ParsedLoader, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert "SECRET_TOKEN" not in load(loader, folder, "environment").text


def test_a_parsed_document_has_its_path_its_sections_and_its_places(
    loader: ParsedLoader, folder: Path
) -> None:
    document = load(loader, folder, "fine")
    assert (document.path, document.file_type) == ("a.x", "x")
    length = len(document.text)
    assert document.sections == (Section("a", 1, 1, 0, length, length, 0),)
    assert document.places == (Place(1, page=3, label="iii"),)
    assert document_of(document_record(document), "a.x") == document


def test_files_that_somebody_has_open_are_no_documents(folder: Path) -> None:
    (folder / "~$a.x").touch()
    (folder / "A.X").touch()
    assert Rough().sources(Root(folder)) == [Source("A.X")]


@pytest.mark.slow
def test_a_file_is_parsed_once_whatever_it_is_called(folder: Path) -> None:
    state = ParsedDocuments(Root(folder / "state"))
    manual = folder / "manual"
    (manual / "b").mkdir(parents=True)
    with Rough().open() as running:
        loader = RememberingLoader(running, "1", state)

        def loaded(path: str, word: str) -> Document:
            (manual / path).write_text(word)
            return loader.load(Root(manual), Source(path))

        first = loaded("a.x", "one")
        running.processes.close()  # the next one parsed comes from another process
        assert loaded("a.x", "one") == first
        moved = loaded("b/a.x", "one")
        assert moved == first._replace(path="b/a.x")
        assert process_of(loaded("a.x", "two")) != process_of(first)
        other = RememberingLoader(running, "2", state)
        assert process_of(other.load(Root(manual), Source("b/a.x"))) != process_of(first)
        for file in (folder / "state" / "parsed").iterdir():
            file.write_bytes(b"damaged")
        assert process_of(loaded("a.x", "one")) != process_of(first)
        (manual / "a.x").unlink()
        with pytest.raises(NotFound):
            loader.load(Root(manual), Source("a.x"))


@pytest.mark.slow
def test_another_version_tries_again_what_was_skipped_and_keeps_what_was_read(
    folder: Path,
) -> None:
    asks = (
        "from fumishirube_documents.isolated_loader import IsolatedLoader as Loader\n"
        "class Rough(Loader): parser, distributions = 'x:y', ('Rough.Parser', 'nobody-has-it')\n"
        "print(Rough().fingerprint, Rough().parsed_fingerprint)"
    )

    def fingerprints(version: str) -> tuple[str, str]:
        installed = folder / f"rough_parser-{version}.dist-info"
        installed.mkdir()
        command = [sys.executable, "-c", asks]
        environ = {**os.environ, "PYTHONPATH": str(folder)}
        result = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        installed.rmdir()
        skipping, reading = result.stdout.split()
        return skipping, reading

    (old, read), (new, read_now), (same, _) = map(fingerprints, ("1.0", "1.1", "1.1"))
    assert old != new == same
    assert read == read_now


@pytest.mark.parametrize(
    ("settings", "another_index", "another_text"),
    [({}, False, False), ({"parse_seconds": 9}, True, False), ({"folder": "x"}, True, True)],
)
def test_limits_decide_what_is_skipped_but_not_what_is_read(
    settings: dict[str, object], *, another_index: bool, another_text: bool
) -> None:
    plain, other = Rough(), Rough.model_validate(settings)
    assert (plain.fingerprint != other.fingerprint) is another_index
    assert (plain.parsed_fingerprint != other.parsed_fingerprint) is another_text


def test_a_text_of_a_part_is_made_once_for_all_files(folder: Path) -> None:
    state = ParsedDocuments(Root(folder / "state"))
    with Rough().open() as running:
        loader = RememberingLoader(running, "1", state)

        def made(words: str, settings: RememberingLoader = loader) -> str:
            (folder / "a.x").write_text(f"pages {words}")
            *texts, last = settings.load(Root(folder), Source("a.x")).text.splitlines()
            assert texts == [f"text of {word}" for word in words.split()]
            return last.removeprefix("made:").strip()

        assert made("one two three") == "one two three"
        assert made("one new three") == "new"
        assert made("new", RememberingLoader(running, "other settings", state)) == ""
        with pytest.raises(Unreadable):
            made("one four unreadable")
        assert made("one four five") == "five"  # what was made before the failure is stored
        for file in (folder / "state" / "parsed").iterdir():
            file.write_bytes(file.read_bytes()[:-9])
        assert made("five") == "five"
        (folder / "a.x").write_text("lie")
        assert loader.load(Root(folder), Source("a.x")).text.startswith("a lie")
        assert made("two one") == "two one"


def test_a_text_of_a_part_is_made_each_time_where_nothing_is_cached(
    loader: ParsedLoader, folder: Path
) -> None:
    for _ in range(2):
        assert load(loader, folder, "pages one two").text.endswith("made: one two\n")


@pytest.fixture
def indexed(loader: ParsedLoader, folder: Path) -> Iterator[FolderIndex]:
    (folder / "manuals" / "m").mkdir(parents=True)
    (folder / "manuals" / "m" / "a.x").write_text("wait")
    manual = Library(Root(folder / "manuals"), (loader,)).manual("m")
    fields = Fields(FIELDS, Bigram())
    index = FolderIndex(manual, lambda: Tantivy().open(Root(folder / "state").make("m"), fields))
    yield index
    index.close()


def test_progress_names_the_page_of_a_file_that_is_being_read(
    indexed: FolderIndex, folder: Path
) -> None:
    steps: list[tuple[float, int, str]] = []

    def see(done: float, total: int, message: str) -> None:
        steps.append((done, total, message))
        (folder / "seen").touch()

    indexed.bring_up_to_date(Budget.of(None), see)
    ends = [*steps[:1], *steps[-1:]]
    assert ends == [(0.4, 1, "indexing m: a.x, page 2 of 5"), (1, 1, "indexing m")]
    (folder / "manuals" / "m" / "b.x").write_text("lie")
    steps.clear()
    indexed.bring_up_to_date(Budget.of(None), see)
    assert {step[0] for step in steps} <= {0, 1}


def test_a_call_that_cannot_wait_says_how_many_pages_are_read(
    loader: ParsedLoader, indexed: FolderIndex, folder: Path
) -> None:
    try:
        while (
            not (slow := indexed.bring_up_to_date(Budget.of(1)).slow) or slow[0].pages_read is None
        ):
            time.sleep(0.05)
    finally:
        (folder / "seen").touch()
    assert (slow[0].path, slow[0].pages_read) == ("a.x", (2, 5))


def test_a_new_revision_of_a_parser_parses_again(folder: Path) -> None:
    class Revised(Rough):
        """The same parser, after it was changed."""

        revision: ClassVar[int] = 2

    before, after = Rough(), Revised()
    assert after.fingerprint.endswith("r2")
    assert before.fingerprint != after.fingerprint != Revised(suffixes=(".y",)).fingerprint
