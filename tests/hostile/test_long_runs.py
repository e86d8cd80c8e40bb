"""Long runs of lines, blanks or marks in files are read in time that their length asks for."""

from __future__ import annotations

from pathlib import Path

import pytest
from manuals import write
from stdio import Fumishirube


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_matches_at_the_end_of_a_long_file_with_blocks_for_some_readers(tmp_path: Path) -> None:
    """The lines above each of them were added up, which took over a minute."""
    matches = "".join(f"match {number}\n" for number in range(3_000))
    text = f"{'text' * 4}\n" * 400_000 + f"::: zone linux\n{matches}::: zone-end\n"
    with Fumishirube(write(tmp_path, {"m/a.md": text})) as server:
        answer = {"total": 0}
        while not answer["total"]:  # a busy machine may not read the file within one call
            answer = server.ok("manual_grep", manual_id="*", any=["match"], max_chars=50_000)
    assert answer["total"] == 3_000
    (group,) = answer["groups"]
    assert group["section"] == "[zone linux]"
    assert len(group["lines"]) > 2_000


RUN = 100_000
LINES = {
    "title.org": f"* Alpha{' ' * RUN}beta",
    "tags.org": f"* Alpha\tbeta{' ' * RUN}:x:y",
    "title.adoc": f"= Alpha{' ' * RUN}beta",
    "mark.md": f"# Alpha beta\n\nThe alpha.\n\n{':' * RUN}x",
    "next.md": f"# Alpha beta\n\nThe alpha.\n\n# Next{' ' * RUN}heading",
}


@pytest.mark.many_cases
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LINES)
def test_a_file_with_a_long_run_is_found_and_its_lines_too(tmp_path: Path, name: str) -> None:
    """Each run was looked at from every character of it, which took minutes."""
    with Fumishirube(write(tmp_path, {f"m/{name}": f"{LINES[name]}\n\nThe alpha.\n"})) as server:
        server.ok("manual_ls")
        found = server.ok("manual_find", query="alpha beta", manual_id="m", required_terms=["beta"])
        assert found["inline_hits"]["total"]
        lines = server.ok("manual_grep", any=["alpha"], manual_id="m", max_chars=50_000)
        assert lines["total"] >= 2
