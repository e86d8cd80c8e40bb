"""What surfaces and stages get beside a query: objects that a context keeps, and a budget."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from manuals import opened, write

from fumishirube import Budget, NotFound, SurfaceContext, ToolError
from fumishirube.errors import InvalidPath
from fumishirube.testing import MemoryContext


@pytest.mark.parametrize("kind", ["served", "memory"])
def test_what_a_surface_keeps_is_made_once_and_may_need_something_else_it_keeps(
    tmp_path: Path, kind: str
) -> None:
    made: list[str] = []

    def make(name: str, *needed: str) -> str:
        made.append(name)
        return name + "".join(context.keep(other, partial(make, other)) for other in needed)

    with closing(opened(write(tmp_path, {"m/a.md": "# A\n"}))) as application:
        context: SurfaceContext = application.contexts["manual"]
        if kind == "memory":
            context = MemoryContext({})
        for _ in range(2):
            assert context.keep("a", partial(make, "a", "b")) == "ab"
        assert made == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "raises"),
    [
        *(("absent", NotFound), ("a.md", NotFound), ("folder/b.md", NotFound)),
        *(("folder/", NotFound), ("./folder", NotFound), ("fold", NotFound)),
        *(("../a", InvalidPath), ("/a", InvalidPath), (".", InvalidPath), ("a\x00", InvalidPath)),
        *(("x" * 300, InvalidPath), ("c:/a", InvalidPath)),
    ],
)
def test_a_manual_in_memory_refuses_the_paths_that_one_of_files_refuses(
    tmp_path: Path, path: str, raises: type[ToolError]
) -> None:
    with closing(opened(write(tmp_path, {"m/a.md": "# A\n", "m/folder/b.md": "# B\n"}))) as served:
        manual = served.contexts["manual"].manual("m")
        documents = [manual.document(own) for own in manual.paths()]
        memory = MemoryContext({"m": documents}).manual("m")
        for either in (manual, memory):
            with pytest.raises(raises):
                either.entries(path)
            if path not in either.paths():
                for read in (either.document, either.places):
                    with pytest.raises(raises):
                        read(path)
        for folder in ("", "folder"):
            names = [[entry.path for entry in one.entries(folder)] for one in (manual, memory)]
            assert names[0] == names[1] != []


@pytest.mark.parametrize("kind", ["served", "memory"])
def test_no_files_of_an_absent_manual_are_unread(tmp_path: Path, kind: str) -> None:
    with closing(opened(write(tmp_path, {"m/a.md": "# A\n"}))) as application:
        served = application.contexts["manual"]
        context: SurfaceContext = served if kind == "served" else MemoryContext({"m": []})
        assert not context.unread_files("m")
        with pytest.raises(NotFound):
            context.unread_files("absent")


@pytest.mark.parametrize("milliseconds", [None, 60_000])
def test_what_ends_a_budget_ends_its_parts(milliseconds: int | None) -> None:
    whole = Budget.of(milliseconds)
    parts = [whole.part(30_000), whole.within(30.0), whole.part(30_000).within(10.0)]
    assert not any(part.late or part.spent for part in parts)
    whole.ended.set()
    assert all(part.late and part.spent for part in parts)
