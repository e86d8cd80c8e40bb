"""The names of manuals in the cluster, the same on all machines."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from fumishirube import Fields, Root, Stage
from fumishirube.text import FOLDING

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_ORIGIN = "opensearch-origin"
"""The file in the state of a workspace with what distinguishes it from others."""
_UNSAFE = re.compile(r"[^a-z0-9]+")


def manual_of(folder: Root) -> str:
    """Return the manual of a folder for an index.

    The folder ends in ``index``, the manual and the fingerprint of its pipeline; where that is on
    a machine, and which stages search it, changes nothing in the index.
    """
    parts = PurePath(folder.path).parts
    if "index" not in parts[:-1]:
        return parts[-1]
    last = len(parts) - 1 - parts[::-1].index("index")
    return "/".join(parts[last + 1 : -1] or parts[last + 1 :])


def origin_of(folder: Root) -> str:
    """Return a name of the workspace that a folder of its state belongs to: other ones differ."""
    parts = PurePath(folder.path).parts
    last = len(parts) - 1 - parts[::-1].index("index") if "index" in parts else len(parts)
    file = Path(*parts[:last], _ORIGIN)
    file.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), file.open("x", encoding="ascii") as new:
        new.write(secrets.token_hex(16))
    return file.read_text("ascii")


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
