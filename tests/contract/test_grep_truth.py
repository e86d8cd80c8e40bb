"""What ``manual_grep`` says of its lines and matches is true of the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manuals import write
from stdio import Fumishirube


def grepped(folder: Path, files: dict[str, str], **arguments: Any) -> dict[str, Any]:
    """Return the answer of `manual_grep` about some files."""
    with Fumishirube(write(folder, files)) as server:
        server.ok("manual_ls")
        answer: dict[str, Any] = server.ok("manual_grep", manual_id="guide", **arguments)
        return answer


@pytest.mark.parametrize("context", [None, 1, 2, 3])
def test_different_lines_near_each_other_are_not_equal(tmp_path: Path, context: int | None) -> None:
    text = "# T\n\nfoo alpha\nfoo beta\n"
    files = {"guide/a.md": text, "guide/b.md": text}
    answer = grepped(tmp_path, files, any=["foo"], context=context)
    assert (answer["total"], answer["different"]) == (4, 2)
    (group,) = answer["groups"]
    assert group["also"] == {"3": ["b.md#L3"], "4": ["b.md#L4"]}
    assert group["lines"][-2:] == [[3, "foo alpha"], [4, "foo beta"]]
