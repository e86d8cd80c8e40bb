"""``vault_ls``: lists a folder of the vault."""

from typing import Literal

from fumishirube import Answer, Call, NotFound, Params, Tool
from fumishirube.disk import FolderEntry
from fumishirube_vault.notes import NoteStore
from fumishirube_vault.rules import NotePath, is_hidden, is_unlisted


class VaultLsParams(Params):
    """The folder; by default the vault itself."""

    path: NotePath | None = None


class VaultLsItem(Answer):
    """A folder or a note."""

    name: str
    path: str
    kind: Literal["dir", "file"]


class VaultLsAnswer(Answer):
    """The entries of a folder, folders first."""

    base_path: str | None
    items: tuple[VaultLsItem, ...]


def ls_tool(notes: NoteStore) -> Tool[VaultLsParams, VaultLsAnswer]:
    """Return the tool."""

    def run(params: VaultLsParams, _: Call) -> VaultLsAnswer:
        path = params.path or ""
        if path and is_hidden(path):
            raise NotFound("the journal of the vault is not listed", path=path)
        there = notes.root.entries(path) if path or notes.root.exists else []
        entries = sorted(filter(_listed, there), key=_order)
        items = tuple(
            VaultLsItem(
                name=entry.name, path=entry.path, kind="dir" if entry.kind == "dir" else "file"
            )
            for entry in entries
        )
        return VaultLsAnswer(base_path=params.path, items=items)

    return Tool(
        name="vault_ls",
        title="List notes",
        summary=("Lists the notes and folders directly inside a folder of the vault. Cheap."),
        params=VaultLsParams,
        answer=VaultLsAnswer,
        pages="items",
        run=run,
        examples=({}, {"path": "projects"}),
    )


def _listed(entry: FolderEntry) -> bool:
    unlisted = is_unlisted(entry.name) or is_hidden(entry.path)
    return entry.kind in ("dir", "file") and not unlisted


def _order(entry: FolderEntry) -> tuple[bool, str, str]:
    return entry.kind != "dir", entry.name.casefold(), entry.name
