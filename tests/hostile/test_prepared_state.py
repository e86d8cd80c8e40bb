"""What came with a folder in the places of the program's own files leads nowhere, and costs little.

A clone may contain `.fumishirube` and `var`: links, and files as the program itself could have left
them. Nobody has trusted anything here.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from chapter_manuals import NAME, entry, made
from manuals import ask, fumishirube, opened, write
from team import Caller

from fumishirube import Root
from fumishirube.disk import DerivedDatabase
from fumishirube.disk.locks import take_lock
from fumishirube.disk.own_files import made_folder, open_own, own_entries, state_folder
from fumishirube.disk.rights import FolderRights
from fumishirube.engine.parsed_documents import ParsedDocuments
from fumishirube.engine.vectors.vector_file import Position, VectorFile
from fumishirube.host.crash_marks import ForeignWork
from fumishirube.host.faults import FaultLog
from fumishirube.host.people import PersonalTools
from fumishirube.host.reload.rejections import RefusalNotice, refused_reloads
from fumishirube.text import LOOSE, project
from fumishirube_chapters.projection_store import ProjectionStore, StoredProjection
from fumishirube_graph.lock import FOLDER as LOCK_FOLDER
from fumishirube_graph.lock import NAME as LOCK
from fumishirube_graph.lock import holder
from fumishirube_http.people.rates import Rates
from fumishirube_stages.indexes.tantivy_index.records import Generation, cached_records

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes of POSIX")

BAIT = {
    "package.json": b"{}",
    "4711.json": b"{}",
    "notes.md": b"# Notes\n",
    "old.json": json.dumps(
        {
            "plugin": "p",
            "distribution": "p",
            "stage": "scorer p",
            "file": "",
            "problem": "x",
            "last": 1.0,
        }
    ).encode(),
}
"""Files of a project; one looks like a very old fault of a plugin, one like a refused reload."""

COMMANDS = (("find", "leave"), ("doctor",))


class Clone(NamedTuple):
    """A workspace that came from a stranger, and a project of the user beside it."""

    workspace: Path
    project: Path

    def outside(self) -> dict[str, tuple[int, bytes]]:
        """Return all files of the project, with the times of their last change."""
        files = (path for path in self.project.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def link(self, name: str, target: Path | None = None) -> None:
        place = self.workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(target or self.project, place.parent))


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    workspace = write(tmp_path / "clone", {"m/a.md": "# Leave\nleave is granted\n"})
    project = tmp_path / "project"
    for name, content in BAIT.items():
        for path in (project / name, project / "m" / name, project / "m" / "deep" / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return Clone(workspace, project)


@pytest.mark.many_cases
@pytest.mark.parametrize(
    "name", ["reloads", "faults", "running", "traces", "parsed", "people", "vectors"]
)
def test_a_link_below_the_state_folder_is_not_followed(clone: Clone, name: str) -> None:
    clone.link(f".fumishirube/{name}")
    before = clone.outside()
    for words in COMMANDS:
        fumishirube(*words, cwd=clone.workspace)
        assert clone.outside() == before, words


def test_a_state_folder_that_trust_refuses_is_not_looked_into(clone: Clone) -> None:
    (clone.project / "reloads").mkdir()
    (clone.project / "reloads" / "17.json").write_text("{}")
    clone.link(".fumishirube")
    before = clone.outside()
    done = fumishirube("doctor", cwd=clone.workspace)
    assert "roots.state" in done.out + done.err
    assert clone.outside() == before


def test_of_refused_reloads_only_files_of_that_name_are_removed(clone: Clone) -> None:
    folder = clone.workspace / ".fumishirube" / "reloads"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text("{}")
    (folder / "4711.json").write_text("{}")
    clone.link(".fumishirube/reloads/17.json", clone.project / "package.json")
    before = clone.outside()
    assert fumishirube("doctor", cwd=clone.workspace).code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["17.json", "package.json"]
    assert clone.outside() == before


def prepared(place: Path, kind: str) -> None:
    """Put something into the place of a file that is read at a start."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "deep":
            place.write_text("[" * 100_000)
        case _:
            fault = json.loads(BAIT["old.json"])
            place.write_text(json.dumps({**fault, "last": 1e300}))


@pytest.mark.parametrize("kind", ["pipe", "deep", "of the far future"])
def test_a_fault_that_nobody_recorded_is_skipped(tmp_path: Path, kind: str) -> None:
    prepared(tmp_path / "faults" / "x.json", kind)
    assert [fault.finding for fault in FaultLog(tmp_path).faults()] == []


def test_a_refused_reload_that_nobody_recorded_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "reloads" / "17.json"
    prepared(file, "deep")
    with file.open("r+b") as holder:
        os.lseek(holder.fileno(), 1 << 30, os.SEEK_SET)
        assert take_lock(holder.fileno(), 0)
        assert [*refused_reloads(tmp_path)] == []


@pytest.mark.timeout(10)
def test_records_and_locks_are_read_from_no_pipe(tmp_path: Path) -> None:
    prepared(tmp_path / "records.cache", "pipe")
    assert cached_records(tmp_path, Generation(1)) is None
    prepared(tmp_path / LOCK_FOLDER / LOCK, "pipe")
    assert holder(tmp_path) is None


def test_own_files_are_opened_through_no_link(clone: Clone) -> None:
    before = clone.outside()
    state = clone.workspace / ".fumishirube"
    made = made_folder(state_folder(state, "a/b"))
    (made / "up").symlink_to(clone.project)
    (made / "dangling").symlink_to(clone.project / "new")
    (made / "file").symlink_to(clone.project / "notes.md")
    os.mkfifo(made / "pipe")
    (made / "folder").mkdir()
    for name in ("dangling", "file", "pipe", "folder"):
        with pytest.raises(OSError, match=r"link|no file|directory"):
            os.close(open_own(made / name, os.O_RDWR | os.O_CREAT | os.O_TRUNC))
    for path in ("a/b/up", "a/b/up/m", "a/b/file"):
        with pytest.raises(OSError, match=r"(?i)director|folder"):
            made_folder(state_folder(state, path))
        assert own_entries(state_folder(state, path), "*") == []
    os.close(open_own(made / "own", os.O_RDWR | os.O_CREAT))
    assert made / "own" in own_entries(state_folder(state, "a/b"), "*")
    assert clone.outside() == before


VECTORS = (
    "surfaces: [{use: manual}]\n"
    "pipelines: {manual: {embedder: hashing, scorers: [defaults, vector]}}\n"
)


@pytest.fixture
def embedded(clone: Clone) -> Path:
    """The file of vectors of the clone's manual, which another find has made."""
    (clone.workspace / "fumishirube.yaml").write_text(VECTORS)
    assert fumishirube("find", "leave", cwd=clone.workspace).code == 0
    (file,) = (clone.workspace / ".fumishirube" / "index" / "m").glob("vectors-*/vectors.db")
    return file


def of_version(file: Path, version: int) -> Path:
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as base, base:
        base.execute("CREATE TABLE mine (number)")
        base.execute("INSERT INTO mine VALUES (1)")
        base.execute(f"PRAGMA user_version = {version}")
    return file


def tables(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as base:
        return {name for (name,) in base.execute("SELECT name FROM sqlite_master")}


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_database_that_is_linked_as_vectors_stays(
    clone: Clone, embedded: Path, version: int
) -> None:
    mine = of_version(clone.project / "mine.db", version)
    embedded.unlink()
    clone.link(str(embedded.relative_to(clone.workspace)), mine)
    before = clone.outside()
    done = fumishirube("find", "leave", cwd=clone.workspace)
    assert (done.code, clone.outside()) == (0, before)
    assert "vectors" in tables(embedded)
    assert not embedded.is_symlink()


@pytest.mark.parametrize("version", [0, 7])
def test_vectors_of_another_format_are_made_again(
    clone: Clone, embedded: Path, version: int
) -> None:
    assert tables(of_version(embedded, version)) == {"mine"}
    assert fumishirube("find", "leave", cwd=clone.workspace).code == 0
    assert "vectors" in tables(embedded)
    assert "mine" not in tables(embedded)


def test_the_lock_of_vectors_is_no_link(clone: Clone, embedded: Path) -> None:
    embedded.unlink()
    lock = embedded.with_suffix(".lock")
    lock.unlink()
    lock.symlink_to(clone.project / "new")
    before = clone.outside()
    assert fumishirube("find", "leave", cwd=clone.workspace).code == 0
    assert clone.outside() == before


def test_an_index_behind_a_link_is_not_deleted(clone: Clone) -> None:
    clone.link(".fumishirube/index")
    before = clone.outside()
    for words in (("index",), ("index", "--rebuild"), ("find", "leave"), ("doctor",)):
        fumishirube(*words, cwd=clone.workspace)
        assert clone.outside() == before, words


def test_what_belongs_to_people_is_written_behind_no_link(clone: Clone) -> None:
    clone.link(".fumishirube/people")
    before = clone.outside()
    whole = opened(clone.workspace)
    to = {"manuals": FolderRights(frozenset({""}))}
    with closing(whole), closing(PersonalTools(whole, "aiko", to)) as tools:
        aiko, query = (
            Caller(tools.catalog),
            {"manual_id": "m", "query": "leave", "required_terms": ["leave"]},
        )
        aiko.tool("manual_ls", {})
        assert "a.md" in str(aiko.tool("manual_find", query))
    assert clone.outside() == before
    assert any("traces are not written to files" in warning for warning in whole.warnings)


MIB = 1024**2


def packed(folder: Path, key: str, text: Iterable[bytes]) -> Path:
    """Put a document into a cache, as a stranger could; its text comes in parts."""
    file = folder / "parsed" / f"{key}.json.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "wb", compresslevel=1) as stream:
        for part in text:
            stream.write(part)
    return file


@pytest.mark.slow
def test_a_document_that_unpacks_to_much_is_not_unpacked(tmp_path: Path) -> None:
    file = packed(tmp_path, "large", (b" " * MIB for _ in range(512)))
    assert file.stat().st_size < 4 * MIB
    tracemalloc.start()
    try:
        assert ParsedDocuments(Root(tmp_path)).document("large", "a.html") is None
        assert tracemalloc.get_traced_memory()[1] < 256 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", [b"[" * 100_000, b"{}", b"[]", b"7", b"", b"\xff"])
def test_a_document_that_is_none_is_missing(tmp_path: Path, text: bytes) -> None:
    packed(tmp_path, "odd", [text])
    assert ParsedDocuments(Root(tmp_path)).document("odd", "a.html") is None


def test_a_text_up_to_the_limit_is_stored_and_a_larger_one_is_not(tmp_path: Path) -> None:
    documents = ParsedDocuments(Root(tmp_path))
    for more in (0, 1):
        text = "x" * (64 * MIB + more)
        documents.put_text(str(more), text)
        assert documents.text(str(more)) == (None if more else text)


def test_a_linked_document_is_not_read(tmp_path: Path) -> None:
    documents = ParsedDocuments(Root(tmp_path / "state"))
    documents.put_text("a", "text")
    (file,) = (tmp_path / "state" / "parsed").iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").stat().st_mtime_ns
    assert documents.text("a") is None
    documents.put_text("a", "text")
    assert documents.text("a") == "text"
    assert (tmp_path / "elsewhere").stat().st_mtime_ns == before


CHAPTERS = ".fumishirube/chapters"


@pytest.mark.parametrize("name", [CHAPTERS, f"{CHAPTERS}/projections.sqlite"])
def test_projections_of_chapters_are_stored_behind_no_link(clone: Clone, name: str) -> None:
    workspace = made(clone.workspace, [entry("a", "A")], a="帝 王 切 開")
    os.utime(workspace / "manuals" / NAME / "a.txt", (1_600_000_000, 1_600_000_000))
    mine = of_version(clone.project / "projections.sqlite", 7)
    clone.link(name, clone.project if name == CHAPTERS else mine)
    before = clone.outside()
    query = {"manual_name": NAME, "query": "帝王切開", "mode": "loose"}
    with closing(opened(workspace)) as application:
        assert ask(application, "search_text", **query)["results"]
    assert clone.outside() == before
    assert tables(mine) == {"mine"}


def use_vectors(folder: Path) -> Path:
    VectorFile(state_folder(folder), "v.db").read(Position("x"))
    VectorFile(state_folder(folder), "v.db").write([("key", b"")], [])
    return folder / "v.db"


def use_projections(folder: Path) -> Path:
    store, file = ProjectionStore(state_folder(folder)), folder / "projections.sqlite"
    there = file.exists()
    store.get("m", "a", "1", LOOSE)
    assert file.exists() == there, "reading makes no file"
    store.put([StoredProjection("m", "a", "1", LOOSE, project("a", LOOSE))])
    store.close()
    return file


def use_rates(folder: Path) -> Path:
    assert Rates(folder / "rates.db").use("aiko", 1, 60) == 0
    return folder / "rates.db"


DATABASES = [(use_vectors, "identity"), (use_projections, "projections"), (use_rates, "rates")]


@pytest.mark.parametrize("view", [True, False])
@pytest.mark.parametrize(("use", "table"), DATABASES)
def test_a_database_with_what_is_not_ours_is_made_again(
    tmp_path: Path, use: Callable[[Path], Path], table: str, view: bool
) -> None:
    """A view may be endless, and a trigger do anything."""
    content = "SELECT type, sql FROM sqlite_master ORDER BY name"
    file = use(tmp_path)
    with closing(sqlite3.connect(file)) as base, base:
        ours = base.execute(content).fetchall()
        base.execute("CREATE TRIGGER more AFTER INSERT ON " + table + " BEGIN SELECT 1; END")
        if view:
            base.execute(f"ALTER TABLE {table} RENAME TO other")
            base.execute(f"CREATE VIEW {table} AS SELECT * FROM other")
    use(tmp_path)
    with closing(sqlite3.connect(file)) as base:
        assert base.execute(content).fetchall() == ours


@pytest.mark.parametrize("mark", ["user_version", "application_id"])
@pytest.mark.parametrize(("use", "table"), DATABASES)
def test_a_database_of_another_version_is_made_again(
    tmp_path: Path, use: Callable[[Path], Path], table: str, mark: str
) -> None:
    file = use(tmp_path)
    with closing(sqlite3.connect(file)) as base, base:
        base.execute(f"DELETE FROM {table}")
        ours = base.execute(f"PRAGMA {mark}").fetchone()
        base.execute(f"PRAGMA {mark} = 77")
    use(tmp_path)
    with closing(sqlite3.connect(file)) as base:
        assert base.execute(f"PRAGMA {mark}").fetchone() == ours


def test_a_database_that_is_damaged_each_time_ends_its_use(tmp_path: Path) -> None:
    damages: list[BaseException] = []

    def damaged(_: sqlite3.Connection) -> None:
        assert len(damages) < 9
        error = sqlite3.DatabaseError("always")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT_INDEX  # one of the kinds of damage
        raise error

    schema = "CREATE TABLE mine (text)"
    base = DerivedDatabase(Root(tmp_path), "a.db", schema, on_damage=damages.append)
    with closing(base), pytest.raises(sqlite3.DatabaseError, match="always"):
        base.use(damaged)
    assert damages


def test_a_database_that_became_a_file_of_another_program_meanwhile_stays(tmp_path: Path) -> None:
    file, foreign = tmp_path / "a.db", b"of another program"

    def check() -> None:
        if file.exists() and file.read_bytes() == foreign:
            raise PermissionError

    def replaced(_: sqlite3.Connection) -> None:
        file.write_bytes(foreign)
        error = sqlite3.DatabaseError("damaged")
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error

    base = DerivedDatabase(Root(tmp_path), "a.db", "CREATE TABLE mine (text)", check=check)
    with closing(base), pytest.raises(PermissionError):
        base.use(replaced)
    assert file.read_bytes() == foreign


def test_a_database_that_another_process_has_made_again_stays(tmp_path: Path) -> None:
    def rows(base: sqlite3.Connection, *more: str) -> list[str]:
        with base:
            base.executemany("INSERT INTO mine VALUES (?)", [(each,) for each in more])
        return [text for (text,) in base.execute("SELECT text FROM mine")]

    def database(on_damage: Callable[[BaseException], object]) -> DerivedDatabase:
        schema = "CREATE TABLE IF NOT EXISTS mine (text)"
        return DerivedDatabase(Root(tmp_path), "a.db", schema, on_damage=on_damage)

    faster = database(lambda _: None)
    damages: list[BaseException] = []

    def meanwhile(error: BaseException) -> None:
        damages.append(error)
        assert faster.use(lambda base: rows(base, "new")) == ["new"]

    (tmp_path / "a.db").write_bytes(b"no database" * 99)
    with closing(faster), closing(database(meanwhile)) as slower:
        assert slower.use(rows) == ["new"]
    assert len(damages) == 1


def test_a_mistake_of_the_program_is_no_damage_of_a_database(tmp_path: Path) -> None:
    with closing(DerivedDatabase(Root(tmp_path), "a.db", "CREATE TABLE mine (text)")) as base:
        base.use(lambda opened: opened.execute("INSERT INTO mine VALUES ('a')").connection.commit())
        with pytest.raises(sqlite3.ProgrammingError):
            base.use(lambda opened: opened.execute("INSERT INTO mine VALUES (?)", ()))
        assert base.use(lambda opened: [*opened.execute("SELECT * FROM mine")]) == [("a",)]


@pytest.mark.parametrize(
    "damage",
    ["ways=x'01'", "ways=NULL", "ways='x'", "ways=zeroblob(80)", "text=NULL", "ways=ways||x'01'"],
)
def test_a_damaged_projection_is_computed_again(tmp_path: Path, damage: str) -> None:
    file = use_projections(tmp_path)
    with closing(sqlite3.connect(file)) as base, base:
        base.execute(f"UPDATE projections SET {damage}")
    with closing(ProjectionStore(state_folder(tmp_path))) as store:
        assert store.get("m", "a", "1", LOOSE) is None
        use_projections(tmp_path)
        assert store.get("m", "a", "1", LOOSE) == project("a", LOOSE)


@pytest.mark.parametrize(
    "words", [("find", "leave"), ("index",), ("doctor",), ("call", "manual_ls", "{}")]
)
def test_a_new_state_folder_is_for_its_user_alone(clone: Clone, words: tuple[str, ...]) -> None:
    assert fumishirube(*words, cwd=clone.workspace).code == 0
    state = clone.workspace / ".fumishirube"
    assert not state.exists() or state.stat().st_mode & 0o777 == 0o700
    assert (clone.workspace / "manuals").stat().st_mode & 0o055
    if words[0] == "find":
        state.chmod(0o755)  # by somebody who shares it
        assert fumishirube("find", "granted", cwd=clone.workspace).code == 0
        assert state.stat().st_mode & 0o777 == 0o755


def test_the_state_of_added_folders_is_for_their_user_alone(clone: Clone, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    names = ("CONFIG", "CACHE", "DATA", "STATE")
    environ = {"HOME": str(home), **{f"XDG_{name}_HOME": str(home / name) for name in names}}
    added = clone.workspace / "manuals" / "m"
    assert fumishirube("add", "other", str(added), cwd=home, environ=environ).code == 0
    assert "other" in fumishirube("find", "leave", cwd=home, environ=environ).out
    assert (home / "CACHE" / "fumishirube").stat().st_mode & 0o777 == 0o700


def test_baselines_of_documents_make_the_state_folder_private_too(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "code.py").write_text("pass\n")
    (tmp_path / "docs" / "a.md").write_text("---\nsource_refs: [code.py]\n---\n# A\nleave\n")
    (tmp_path / "fumishirube.yaml").write_text("surfaces: [{use: graph}]\n")
    assert fumishirube("docs", "status", cwd=tmp_path).code == 0
    assert (tmp_path / ".fumishirube" / "docs-baseline.json").exists()
    assert (tmp_path / ".fumishirube").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("first", ["faults", "reloads", "chapters", "vectors"])
def test_whatever_is_written_first_makes_the_state_folder_private(
    tmp_path: Path, first: str
) -> None:
    state = tmp_path / "outer" / "state"
    match first:
        case "faults":
            FaultLog(state).record(ForeignWork("p", "p", "scorer p"), "failed")
        case "reloads":
            RefusalNotice().put(state, "because")
        case "chapters":
            store = ProjectionStore(state_folder(state, first))
            store.put([StoredProjection("m", "a", "1", LOOSE, project("a", LOOSE))])
            store.close()
        case _:
            VectorFile(state_folder(state, first), "v.db").write([], [])
    assert any(state.iterdir())
    assert state.stat().st_mode & 0o777 == 0o700
    assert state.parent.stat().st_mode & 0o777 == 0o777 & ~umask()


def umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_configuration_is_imported_through_no_link(clone: Clone) -> None:
    (clone.workspace / "config.yaml").write_text("manuals_root: manuals\n")
    clone.link("fumishirube.yaml", clone.project / "new.sh")
    before = clone.outside()
    done = fumishirube("config", "import", cwd=clone.workspace)
    assert done.code != 0
    assert "there already" in done.err
    assert clone.outside() == before
