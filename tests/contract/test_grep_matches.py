"""Each different match of a pattern, as it stands in its line."""

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


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("(?<![0-9])[0-9]{2}", {"12": 1}),
        ("^[0-9]", {"1": 1}),
        (r"\bE[0-9]", {"E1": 1}),
        ("[0-9]{2}", {"12": 1, "34": 1}),
        ("x*", {}),
    ],
)
def test_a_match_is_one_in_the_whole_line(
    tmp_path: Path, pattern: str, matches: dict[str, int]
) -> None:
    answer = grepped(
        tmp_path, {"guide/a.md": "# A\n\n1234 is E1E2\n"}, regex=pattern, matches_only=True
    )
    texts = [text for file in answer["matches"] for text in file["texts"]]
    assert {text: number for _, number, text, *_ in texts} == matches


def test_all_matches_of_a_line_are_counted(tmp_path: Path) -> None:
    line = " ".join(f"X{n:03}" for n in range(500))
    answer = grepped(
        tmp_path, {"guide/a.md": f"# A\n\n{line}\n"}, regex="X[0-9]{3}", matches_only=True
    )
    assert (answer["different_matches"], answer["complete"]) == (500, True)
