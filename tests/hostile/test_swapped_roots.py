"""A root that is swapped for a link while a server runs leads nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from documents import documents
from manuals import write
from stdio import Fumishirube, Wire


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return write(tmp_path / "outside", {"secret/plan.md": "# Plan\n\nThe password is hunter2.\n"})


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write(tmp_path / "inside", {"guide/a.md": "# A\n\nA word.\n"})


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """Return a workspace whose roots are in a folder in it."""
    workspace = tmp_path / "inside"
    write(workspace / "inner", {"guide/a.md": "# A\n\nA word.\n"})
    settings = "roots: {manuals: inner/manuals, vault: inner/vault}\n"
    (workspace / "fumishirube.yaml").write_text(settings)
    return workspace


def test_manuals_behind_the_link_are_not_read(workspace: Path, outside: Path) -> None:
    with Fumishirube(workspace) as server:
        assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["guide"]
        (workspace / "manuals").rename(workspace / "before")
        (workspace / "manuals").symlink_to(outside / "manuals")
        calls: dict[str, dict[str, Any]] = {
            "manual_ls": {},
            "manual_scan": {"manual_id": "secret", "path": "plan.md"},
            "manual_grep": {"manual_id": "secret", "any": ["hunter2"]},
        }
        for name, arguments in calls.items():
            answer = server.refused(name, **arguments)
            assert answer["code"] in ("forbidden", "not_found")
            assert "hunter2" not in str(answer)


def test_notes_are_not_written_behind_the_link(workspace: Path, outside: Path) -> None:
    with Fumishirube(workspace) as server:
        (workspace / "vault").symlink_to(outside)
        answer = server.refused("vault_create", path="note.md", content="text")
        assert answer["code"] == "forbidden"
        assert not (outside / "note.md").exists()
        assert not (outside / ".system").exists()


def test_nothing_is_read_or_written_behind_a_link_in_place_of_a_folder_above(
    inside: Path, outside: Path
) -> None:
    with Fumishirube(inside) as server:
        server.ok("manual_ls")
        server.ok("vault_create", path="first.md", content="text")
        (inside / "inner").rename(inside / "before")
        (outside / "vault").mkdir()
        (inside / "inner").symlink_to(outside)
        for name, arguments in (
            ("manual_ls", {}),
            ("manual_scan", {"manual_id": "secret", "path": "plan.md"}),
            ("vault_create", {"path": "note.md", "content": "text"}),
            ("vault_ls", {}),
        ):
            assert server.refused(name, **arguments)["code"] in ("forbidden", "not_found")
        assert list((outside / "vault").iterdir()) == []
        (inside / "inner").unlink()
        (inside / "before").rename(inside / "inner")
        assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["guide"]


def test_nothing_is_made_behind_a_link_in_place_of_a_folder_above(
    inside: Path, outside: Path
) -> None:
    before = [*outside.iterdir()]
    with Fumishirube(inside) as server:
        server.ok("vault_create", path="first.md", content="text")
        (inside / "inner").rename(inside / "before")
        (inside / "inner").symlink_to(outside)
        refused = server.refused("vault_create", path="new/note.md", content="text")
    assert refused["code"] == "forbidden"
    assert refused["message"] == "symbolic links are not followed"
    assert [*outside.iterdir()] == before


def test_another_folder_may_take_the_place_of_one_above(inside: Path) -> None:
    with Fumishirube(inside) as server:
        server.ok("manual_ls")
        (inside / "inner").rename(inside / "before")
        write(inside / "inner", {"other/b.md": "# B\n\nA word.\n"})
        assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["other"]


def test_a_root_may_be_a_link_from_the_start(workspace: Path, tmp_path: Path) -> None:
    (workspace / "manuals").rename(tmp_path / "elsewhere")
    (workspace / "manuals").symlink_to(tmp_path / "elsewhere")
    with Fumishirube(workspace, FUMISHIRUBE_TRUST="true") as server:
        assert [item["id"] for item in server.ok("manual_ls")["items"]] == ["guide"]


@pytest.mark.parametrize("lock", ["true", "false"])
@pytest.mark.parametrize("swapped", ["inner", "inner/docs"])
def test_documents_behind_the_link_are_missing(tmp_path: Path, swapped: str, lock: str) -> None:
    inside = documents(tmp_path / "inside" / "inner", {"a.md": "# A\n\nA word.\n"}).parent
    documents(tmp_path / "outside", {"plan.md": "# Plan\n\nThe password is hunter2.\n"})
    settings = f"surfaces: [{{use: graph, with: {{lock: {lock}}}}}]\nroots: {{docs: inner/docs}}\n"
    (inside / "fumishirube.yaml").write_text(settings)
    with Wire(inside) as server:
        assert server.ok("ubp_list_pages")["total"] == 1
        (inside / swapped).rename(inside / "before")
        other = tmp_path / "outside" / ("docs" if swapped.endswith("docs") else "")
        (inside / swapped).symlink_to(other)
        calls = {
            "ubp_list_pages": {},
            "ubp_get_page": {"filepath": "plan.md"},
            "ubp_search": {"query": "hunter2"},
        }
        for name, arguments in calls.items():
            answer = server.request("tools/call", {"name": name, "arguments": arguments})
            error = answer["result"]["_meta"]["fumishirube/error"]
            assert (error["code"], error["details"]) == (-32603, {"reason": "docs_missing"})
        (inside / swapped).unlink()
        (inside / "before").rename(inside / swapped)
        assert server.ok("ubp_list_pages")["total"] == 1
