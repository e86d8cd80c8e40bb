"""An index that the command line builds anew answers a server all the time."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from manuals import ask, opened, write
from stdio import Fumishirube

FILES = {f"guide/{n}.md": f"# File {n}\n\nneedle{n} in common words\n" for n in range(60)}
REBUILDS = 3


@pytest.mark.slow
def test_finds_find_while_the_index_is_built_anew(tmp_path: Path) -> None:
    workspace = write(tmp_path, FILES)
    command = [sys.executable, "-m", "fumishirube", "--workspace", str(workspace)]
    with Fumishirube(workspace) as server:
        server.ok("manual_ls")
        for turn in range(REBUILDS):
            with subprocess.Popen([*command, "index", "--rebuild"], stdout=subprocess.PIPE) as run:
                number = 0
                while run.poll() is None:
                    number += 1
                    word = f"fresh{turn}x{number}"
                    file = workspace / "manuals" / "guide" / f"{number % 60}.md"
                    file.write_text(f"# File\n\n{word} in common words\n", encoding="utf-8")
                    found = server.ok(
                        "manual_find", query=word, manual_id="guide", required_terms=[word]
                    )
                    hits = found["inline_hits"]["items"]
                    assert word in str(hits) or "degraded" in found
                assert run.returncode == 0


def test_a_server_answers_from_an_index_that_was_rebuilt_over_files_with_the_same_times(
    tmp_path: Path,
) -> None:
    file = write(tmp_path, {"m/a.md": "# A\n\nalpha common\n"}) / "manuals" / "m" / "a.md"
    os.utime(file, (1_700_000_000, 1_700_000_000))
    with closing(opened(tmp_path)) as served, closing(opened(tmp_path)) as other:

        def texts() -> list[str]:
            asked = {"query": "common", "manual_id": "m", "required_terms": ["common"]}
            (hit,) = ask(served, "manual_find", **asked)["inline_hits"]["items"]
            read = ask(served, "manual_read", ref={"manual_id": "m", "path": "a.md"})
            return [hit["lines"][0][1], read["text"].splitlines()[-1]]

        assert texts() == ["alpha common"] * 2
        file.write_text("# A\n\nbravo common\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        other.contexts["manual"].rebuild("m")
        assert texts() == ["bravo common"] * 2
