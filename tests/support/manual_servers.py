"""Servers of a workspace whose manuals hold whatever a listing or a search meets.

A test module asks for them with ``pytest_plugins = ["manual_servers"]`` and the fixtures' names.
All share one workspace, as its first searches take seconds; a server is of one module, as what was
read and searched before changes answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from manual_tools import CONTRACT, GUIDE, PASSPORT, decomposed
from manuals import RULES, write
from stdio import Fumishirube, Wire

LONG = "長い名前" * 20
HUGE = 64 * 1024 * 1024 + 1
UNDECODABLE = b"\x81\xff\xfe\x80 \xff\xff"
FILES: dict[str, str | bytes] = {
    "m1/rules.md": RULES,
    "m2/other.md": "# 別の規程\nこちらも対象外です。\n",
    "odd/policy.json": '{"対象": "全員"}\n',
    "odd/broken.md": UNDECODABLE,
    "odd/broken.json": UNDECODABLE,
    "odd/notes.txt": "対象外のメモ\n",
    "odd/UPPER.MD": "preamble\n\n# One\ntext\n",
    "odd/plain.md": "",
    "odd/.hidden.md": "# 隠し\n対象外\n",
    "odd/.hidden/deep/secret.md": "# 隠し\n対象外\n",
    "odd/sub/inner.md": RULES,
    "odd/sub/2/inner.md": RULES,
    "odd/subject.md": RULES,
    **{
        f"wide/{'ab'[number > 100]}/{LONG}/{number:03}-{LONG}.md": f"# {number}\n対象\n"
        for number in range(201)
    },
    f"{decomposed(GUIDE)}/{decomposed(PASSPORT)}": RULES,
    "root.md": RULES,
    **{f"{skipped}/rules.md": RULES for skipped in (".dot", "aa::b", "manuals")},
}


@pytest.fixture(scope="session")
def contract_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("contract")
    manuals = write(root, FILES) / "manuals"
    odd = manuals / "odd"
    (manuals / "m1/sub").mkdir()
    with (odd / "huge.md").open("wb") as huge:
        huge.truncate(HUGE)
    links = {
        manuals / "linked": manuals / "m1",
        odd / "link.md": odd / "subject.md",
        odd / "linkdir": odd / "sub",
        odd / "dangling.md": odd / "nowhere.md",
    }
    for link, target in links.items():
        link.symlink_to(target)
    return root


@pytest.fixture(scope="module")
def contract_server(contract_workspace: Path) -> Iterator[Fumishirube]:
    """A connection that has listed the manuals."""
    with Fumishirube(contract_workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected


@pytest.fixture(scope="module")
def contract_wire(contract_workspace: Path) -> Iterator[Wire]:
    """The same, with a client that sends any JSON."""
    with Wire(contract_workspace, FUMISHIRUBE_SURFACE_EXTRAS=CONTRACT) as connected:
        connected.ok("manual_ls")
        yield connected
