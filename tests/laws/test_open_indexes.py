"""However many manuals are visited, few of their indexes stay open."""

from __future__ import annotations

import gc
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import manuals
import pytest

from fumishirube.config.personal import record_manuals
from fumishirube.host import indexes
from fumishirube.host.application import Application
from fumishirube.host.startup import open_application
from fumishirube.tools.calls import call_tool
from fumishirube.tools.definitions import Call

MANUALS = 10


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    monkeypatch.setattr(indexes, "MOST_OPEN", 2)
    text = "# 入院 {0}\n\n入院{0}の給付を定める。\n"
    manuals.write(tmp_path, {f"m{n}/{n}.md": text.format(n) for n in range(MANUALS)})
    opened = open_application(tmp_path, strangers=False, environ={"SEM_CACHE_ENABLED": "false"})
    yield opened
    opened.close()


def find(application: Application, manual: str) -> list[str]:
    return paths(application, manual, "入院")


def paths(application: Application, manual: str, term: str) -> list[str]:
    """Return the files of the hits, best first."""
    arguments = {"query": term, "required_terms": [term], "manual_id": manual}
    answer: Any = call_tool(application.tools["manual_find"], arguments, Call())
    assert not answer.get("degraded")
    return [item["ref"]["path"] for item in answer["inline_hits"]["items"]]


def of_engine() -> int:
    """Return the number of threads that tantivy has."""
    return sum("tantivy" in name for name in thread_names())


def thread_names() -> Iterator[str]:
    """Yield the name of each thread of this process that has not ended meanwhile."""
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            yield (task / "comm").read_text()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_threads_do_not_grow_with_the_manuals_visited(application: Application) -> None:
    gc.collect()
    before = of_engine()  # other tests of this process have some too
    for number in range(MANUALS):
        assert find(application, f"m{number}") == [f"{number}.md"]
    gc.collect()
    deadline = time.monotonic() + 20  # such a thread looks twice a second whether it may end
    while of_engine() > before + 2 + 1:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_manual_that_was_closed_is_opened_again_and_follows_its_files(
    application: Application, tmp_path: Path
) -> None:
    for number in (*range(MANUALS), 0):
        assert find(application, f"m{number}") == [f"{number}.md"]
    for number in (0, 1, MANUALS - 1):
        new = tmp_path / "manuals" / f"m{number}" / "new.md"
        new.write_text("# 通院\n\n通院も対象です。\n", encoding="utf-8")
        assert paths(application, f"m{number}", "通院") == ["new.md"]


def test_a_folder_of_the_workspace_comes_before_one_elsewhere_and_after_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere, inside = tmp_path / "elsewhere" / "m", tmp_path / "work" / "manuals" / "m"
    for folder in (elsewhere, inside.parent):
        folder.mkdir(parents=True)
    (elsewhere / "there.md").write_text("# 入院\n\n入院の給付を定める。\n", encoding="utf-8")
    environ = {"SEM_CACHE_ENABLED": "false"}
    for home in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"):
        environ[home] = str(tmp_path)
        monkeypatch.setenv(home, str(tmp_path))
    record_manuals({"m": elsewhere}, environ)
    application = open_application(tmp_path / "work", strangers=False, environ=environ)
    try:
        assert find(application, "m") == ["there.md"]
        shutil.copytree(elsewhere, inside)
        (inside / "there.md").rename(inside / "here.md")
        assert find(application, "m") == ["here.md"]
        shutil.rmtree(inside)
        assert find(application, "m") == ["there.md"]
    finally:
        application.close()


def test_all_manuals_at_once_are_searched_though_few_stay_open(application: Application) -> None:
    assert find(application, "*")


def test_of_all_manuals_in_turn_some_stay_open(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "MOST_OPEN", MANUALS - 1)
    assert find(application, "*")
    context = application.contexts["manual"]
    before = {f"m{number}": context.indexes.opened(f"m{number}") for number in range(MANUALS)}
    assert find(application, "*")
    assert any(
        indexed and context.indexes.opened(name) is indexed for name, indexed in before.items()
    )


def test_the_least_used_manual_is_closed(application: Application) -> None:
    context = application.contexts["manual"]
    for _ in range(3):
        find(application, "m0")
    used = context.indexes.opened("m0")
    for number in range(1, 4):
        find(application, f"m{number}")
    assert used is not None
    assert context.indexes.opened("m0") is used


def test_a_manual_that_was_used_much_long_ago_is_closed(application: Application) -> None:
    context = application.contexts["manual"]
    for _ in range(3):
        find(application, "m0")
    used = context.indexes.opened("m0")
    for _ in range(2):
        for number in range(1, MANUALS):
            find(application, f"m{number}")
    assert context.indexes.opened("m0") is not used


def test_manuals_used_in_turn_after_much_use_of_others_stay_open(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "MOST_OPEN", 4)
    context = application.contexts["manual"]
    for number in [*range(4)] * 9 + [*range(4, 7)] * 3:
        find(application, f"m{number}")
    before = {f"m{number}": context.indexes.opened(f"m{number}") for number in range(4, 7)}
    for name in before:
        find(application, name)
    assert all(
        indexed and context.indexes.opened(name) is indexed for name, indexed in before.items()
    )


@pytest.mark.slow
def test_calls_from_many_threads_close_no_index_under_each_other(application: Application) -> None:
    with ThreadPoolExecutor(8) as pool:
        numbers = [number * 7 % MANUALS for number in range(8 * MANUALS)]
        answers = pool.map(lambda number: find(application, f"m{number}"), numbers)
        assert [*answers] == [[f"{number}.md"] for number in numbers]
