"""Files below a root: names, listings, locks, watches and durable writes."""

from fumishirube.disk.databases import DerivedDatabase
from fumishirube.disk.folders import FolderEntry, is_settled
from fumishirube.disk.locks import take_lock
from fumishirube.disk.names import (
    LITERAL,
    OFFICE_LOCKS,
    OTHERS,
    clean_name,
    clean_new_path,
    clean_path,
    is_below,
)
from fumishirube.disk.own_files import made_folder, open_own, read_own, refuse_link
from fumishirube.disk.rights import FolderRights
from fumishirube.disk.scratch import ScratchFolder, replace_file
from fumishirube.disk.stored import StoredFile
from fumishirube.disk.survey import UnlistedReason
from fumishirube.disk.watches import Watch
from fumishirube.disk.writes import WritableRoot, content_hash, is_unfinished

__all__ = [
    "LITERAL",
    "OFFICE_LOCKS",
    "OTHERS",
    "DerivedDatabase",
    "FolderEntry",
    "FolderRights",
    "ScratchFolder",
    "StoredFile",
    "UnlistedReason",
    "Watch",
    "WritableRoot",
    "clean_name",
    "clean_new_path",
    "clean_path",
    "content_hash",
    "is_below",
    "is_settled",
    "is_unfinished",
    "made_folder",
    "open_own",
    "read_own",
    "refuse_link",
    "replace_file",
    "take_lock",
]
