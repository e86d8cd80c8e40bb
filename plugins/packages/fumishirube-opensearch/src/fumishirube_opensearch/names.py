"""The names of manuals in the cluster, the same on all machines."""

from __future__ import annotations

import os
import re
import secrets
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING

from fumishirube import Fields, Root, Stage
from fumishirube.disk import made_folder, open_own, take_lock
from fumishirube.text import FOLDING

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_ORIGIN = "opensearch-origin"
"""The file in the state of a workspace with what distinguishes it from others."""
_ORIGIN_LENGTH = 32
_LOCK_SECONDS = 10
_UNSAFE = re.compile(r"[^a-z0-9]+")


def manual_of(folder: Root) -> str:
    """Return the manual of a folder for an index.

    Below that of state it is ``index``, the manual and the fingerprint of its pipeline; where that
    is on a machine, and which stages search it, changes nothing in the index.
    """
    return "/".join(PurePath(folder.below).parts[1:-1]) or folder.path.name


def origin_of(folder: Root) -> str:
    """Return a name of the workspace whose state a folder is in: other ones differ.

    A name of which only a part was written, as on a full disk, is replaced.

    Raises:
        OSError: when it can be neither read nor written, or a link is in its place.
    """
    file = made_folder(Root(folder.top, private=True)) / _ORIGIN
    handle = open_own(file, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    with os.fdopen(handle, "r+", encoding="ascii") as stream:
        stream.seek(0)  # Windows locks the byte that the file is at
        take_lock(stream.fileno(), _LOCK_SECONDS)
        origin = stream.read()
        if len(origin) < _ORIGIN_LENGTH:
            origin = secrets.token_hex(_ORIGIN_LENGTH // 2)
            stream.truncate(0)
            stream.write(origin)
    return origin


def index_name(settings: OpenSearch, manual: str, fields: Fields) -> str:
    """Return what the names of a manual's indexes begin with, and the id of its record."""
    tokenizer = fields.tokenizer
    divided = (
        tokenizer.fingerprint if isinstance(tokenizer, Stage) else type(tokenizer).__qualname__
    )
    files = "files" if settings.files else ""
    layout = (str(settings.layout), str(FOLDING), files)
    identity = "\0".join((manual, *fields.names, divided, *layout))
    readable = _UNSAFE.sub("-", manual.lower()).strip("-")[:40] or "manual"
    return f"{settings.namespace}-{readable}-{sha256(identity.encode()).hexdigest()[:12]}"


def meta_name(settings: OpenSearch) -> str:
    """Return the name of the index that has the records."""
    return f"{settings.namespace}-meta"
