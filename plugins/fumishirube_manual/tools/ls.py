"""``manual_ls``: lists the manuals, or a folder of one."""

import base64
import binascii
from typing import Annotated, Literal

from pydantic import Field

from fumishirube import Answer, Call, InvalidParameter, NotFound, Params, SurfaceContext, Tool
from fumishirube.disk import FolderEntry, clean_name, clean_path
from fumishirube.text import nfc
from fumishirube.tools import OrAbsent
from fumishirube_manual.arguments import ROOT_ID, note_discovery
from fumishirube_manual.coverage import UnreadRow, unread_rows
from fumishirube_manual.surface import ManualSurface

_FOLDER, _FILE = "dir", "file"


class ManualLsParams(Params):
    """The folder to list."""

    id: Annotated[
        str | None, Field(description="'manuals' (default), a manual's id, or a folder's.")
    ] = None


class ManualLsItem(Answer):
    """A manual, a folder, or a file."""

    id: str
    name: str
    kind: Literal["dir", "file"]
    path: OrAbsent[str] = None
    file_type: OrAbsent[str] = None


class ManualLsAnswer(Answer):
    """The content of a folder.

    For a manual also its ``unread_files``, which no loader reads.
    """

    id: str
    items: tuple[ManualLsItem, ...]
    unread_files: OrAbsent[tuple[UnreadRow, ...]] = None


def ls_tool(
    context: SurfaceContext, settings: ManualSurface
) -> Tool[ManualLsParams, ManualLsAnswer]:
    """Return the tool; any successful call enables the other manual tools in its session."""

    def run(params: ManualLsParams, call: Call) -> ManualLsAnswer:
        folder_id = _folder_id(params.id)
        if folder_id == ROOT_ID:
            items = [ManualLsItem(id=name, name=name, kind="dir") for name in context.manuals()]
        else:
            items = _children(context, folder_id)
        note_discovery(call.session)
        manual = folder_id != ROOT_ID and "::" not in folder_id
        return ManualLsAnswer(
            id=folder_id,
            items=tuple(items),
            unread_files=unread_rows(context, settings, folder_id) if manual else None,
        )

    return Tool(
        name="manual_ls",
        title="List manuals",
        summary=(
            "Lists the manuals, or what lies directly in one or in a folder: the ids that the "
            "other manual_* tools take. Cheap."
        ),
        params=ManualLsParams,
        answer=ManualLsAnswer,
        pages="items",
        run=run,
        examples=({}, {"id": "handbook"}),
    )


def _folder_id(raw: str | None) -> str:
    if not raw:
        return ROOT_ID
    folder_id = nfc(raw.strip())
    if folder_id.startswith(f"{_FOLDER}::"):
        return folder_id
    if folder_id.startswith(f"{_FILE}::"):
        raise InvalidParameter(
            "a file cannot be listed; read it with manual_read or manual_scan", parameter="id"
        )
    return clean_name(folder_id, "id")


def _children(context: SurfaceContext, folder_id: str) -> list[ManualLsItem]:
    manual_id, path = _decoded(folder_id) if "::" in folder_id else (folder_id, "")
    manual = context.manual(manual_id)
    try:
        entries = manual.entries(path)
    except NotFound as error:
        raise NotFound("folder not found", path=path or None) from error
    return [_item(manual_id, entry) for entry in entries]


def _item(manual_id: str, entry: FolderEntry) -> ManualLsItem:
    if entry.kind == "dir":
        return ManualLsItem(
            id=_encoded(_FOLDER, manual_id, entry.path), name=entry.name, kind="dir"
        )
    return ManualLsItem(
        id=_encoded(_FILE, manual_id, entry.path),
        name=entry.name,
        kind="file",
        path=entry.path,
        file_type=entry.name.rpartition(".")[2].lower(),
    )


def _encoded(kind: str, manual_id: str, path: str) -> str:
    coded = base64.urlsafe_b64encode(path.encode()).rstrip(b"=").decode()
    return f"{kind}::{manual_id}::{coded}"


def _decoded(folder_id: str) -> tuple[str, str]:
    """Return the manual and the path of a folder's id."""
    _, _, rest = folder_id.partition("::")
    manual_id, _, coded = rest.partition("::")
    if manual_id and coded and "::" not in coded:
        try:
            path = base64.b64decode(coded + "=" * (-len(coded) % 4), altchars=b"-_", validate=True)
            place = clean_name(manual_id, "id"), clean_path(path.decode(), "id")
        except (binascii.Error, UnicodeDecodeError):
            pass
        else:
            if _encoded(_FOLDER, *place) == folder_id:  # each folder has one id
                return place
    raise InvalidParameter("id is no folder id; take one from manual_ls", parameter="id")
