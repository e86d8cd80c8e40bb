"""``tox -e downstream``: a third party's tests are found and run, or it is said what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import downstream
import pytest

SCRIPT = Path(downstream.__file__)


def said(*words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_a_path_is_needed() -> None:
    code, error = said()
    assert code == 1
    assert error == f"{downstream.USAGE}\n"


def test_a_folder_that_is_no_package_is_named(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        code, error = said(str(folder))
        assert code == 1
        assert error.startswith(f"{folder}: there is no pyproject.toml\nusage: ")


@pytest.mark.parametrize("extra", [True, False])
def test_a_package_is_installed_with_its_extra_for_tests_if_it_has_one(
    tmp_path: Path, *, extra: bool
) -> None:
    said = "[project.optional-dependencies]\ntest = ['x']\n" if extra else "[project]\n"
    (tmp_path / "pyproject.toml").write_text(said)
    assert downstream.project([str(tmp_path)]) == (tmp_path.resolve(), extra)
