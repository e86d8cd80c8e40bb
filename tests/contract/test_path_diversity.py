"""One large file does not crowd out the others, and each setting of that changes rows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from manuals import ask, opened, write

PHRASE = "annual travel allowance"
CROWD = {
    "m/big.md": "".join(f"# Part {n}\n{PHRASE} {n}. {PHRASE}.\n" for n in range(200)),
    **{
        f"m/small{n:02}.md": f"# Small {n}\nThe {PHRASE} of office {n} is paid.\n"
        for n in range(30)
    },
}
OTHERS = {"m/others.md": "".join(f"# Other {n}\nSomething else.\n" for n in range(2000))}
SEVERAL = OTHERS | {
    f"m/f{n:02}.md": "".join(f"# Part {n} {p}\n{PHRASE}. {'word ' * (n + p)}\n" for p in range(12))
    for n in range(12)
}


def rows(workspace: Path, **environ: str) -> list[tuple[str, int, float]]:
    application = opened(workspace, **environ)
    asked = {"manual_id": "m", "query": PHRASE, "required_terms": ["allowance"]}
    found = ask(application, "manual_find", **asked)
    page: Any = ask(application, "manual_hits", trace_id=found["trace_id"], limit=1000)
    application.close()
    return [(r["ref"]["path"], r["ref"]["start_line"], r["score"]) for r in page["items"]]


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("several"), dict(SEVERAL))


@pytest.fixture(scope="module")
def usual(several: Path) -> list[tuple[str, int, float]]:
    return rows(several)


def test_a_large_file_leaves_places_to_others(tmp_path: Path) -> None:
    paths = Counter(path for path, _, _ in rows(write(tmp_path, dict(CROWD))))
    assert len(paths) == 31
    assert paths["big.md"] < 25


@pytest.mark.many_cases
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MANUAL_FIND_PER_FILE_CANDIDATE_CAP", "1"),
        ("MANUAL_FIND_PER_FILE_CANDIDATE_CAP", "12"),
        ("MANUAL_FIND_EXPLORATION_ENABLED", "false"),
        ("MANUAL_FIND_EXPLORATION_RATIO", "0.6"),
        ("MANUAL_FIND_EXPLORATION_MIN_CANDIDATES", "20"),
        ("MANUAL_FIND_EXPLORATION_SCORE_SCALE", "0.9"),
    ],
)
def test_each_variable_changes_rows(
    several: Path, usual: list[tuple[str, int, float]], variable: str, value: str
) -> None:
    assert rows(several, **{variable: value}) != usual
    assert rows(several) == usual
