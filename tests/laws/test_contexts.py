"""What surfaces and stages get beside a query: objects that a context keeps, and a budget."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from manuals import opened, write

from fumishirube import Budget, SurfaceContext
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


@pytest.mark.parametrize("milliseconds", [None, 60_000])
def test_what_ends_a_budget_ends_its_parts(milliseconds: int | None) -> None:
    whole = Budget.of(milliseconds)
    parts = [whole.part(30_000), whole.within(30.0), whole.part(30_000).within(10.0)]
    assert not any(part.late or part.spent for part in parts)
    whole.ended.set()
    assert all(part.late and part.spent for part in parts)
