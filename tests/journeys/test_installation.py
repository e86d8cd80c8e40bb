"""Advice to install an extra names the place that this program was installed from."""

from __future__ import annotations

import json
import shlex
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from fumishirube import install_command
from fumishirube.plugins.installation import command_for

WHEEL = "file:///srv/wheels/fumishirube-0.1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("recorded", "words"),
    [
        (
            {"url": "file:///home/me/fumishirube", "dir_info": {"editable": True}},
            ["-e", "/home/me/fumishirube[http]"],
        ),
        ({"url": "file:///home/me/a%20b", "dir_info": {}}, ["/home/me/a b[http]"]),
        ({"url": WHEEL, "archive_info": {}}, [f"fumishirube[http] @ {WHEEL}"]),
        (
            {
                "url": "https://example.org/f.git",
                "vcs_info": {"vcs": "git", "commit_id": "0a1b"},
            },
            ["fumishirube[http] @ git+https://example.org/f.git@0a1b"],
        ),
    ],
)
def test_the_command_installs_from_the_recorded_place(
    recorded: dict[str, Any], words: list[str]
) -> None:
    assert shlex.split(command_for("http", recorded)) == ["python", "-m", "pip", "install", *words]


@pytest.mark.parametrize("recorded", [None, {}, {"url": 1}])
def test_an_unknown_origin_is_asked_for_instead_of_guessed(
    recorded: dict[str, Any] | None,
) -> None:
    command = command_for("http", recorded)
    assert "'PATH[http]'" in command
    assert "fumishirube[http]" not in command, "nobody owns that name on an index yet"


def test_this_installation_is_named_as_pip_recorded_it() -> None:
    text = distribution("fumishirube").read_text("direct_url.json")
    if text is None:
        pytest.skip("this installation has no recorded origin")
    url = json.loads(text)["url"]
    assert str(Path(unquote(urlsplit(url).path))) in install_command("chapters")


def test_no_advice_names_a_bare_package_of_an_index() -> None:
    """Such a name would install whatever somebody else publishes under it."""
    import fumishirube  # noqa: PLC0415 - its folder is looked through

    core = Path(fumishirube.__file__).parent
    plugins = core.parents[1] / "plugins"
    files = [*core.rglob("*.py"), *plugins.rglob("*.py"), *core.rglob("*.txt")]
    own = core / "plugins" / "installation.py"
    faults = [
        f"{file.name}:{number}"
        for file in files
        if file != own
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if "install" in line and "fumishirube[" in line
    ]
    assert not faults
