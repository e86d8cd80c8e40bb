"""The manuals in the cluster: which there are, and the removal of those whose folder is gone."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fumishirube import Fields, IndexDamaged
from fumishirube_opensearch.cluster import Cluster
from fumishirube_opensearch.generations import IndexRecord
from fumishirube_opensearch.lease import RecordStore, Writer
from fumishirube_opensearch.names import index_name, meta_name

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

_MOST_MANUALS = 10_000
"""The engine returns no more at a time."""


def stored_manuals(settings: OpenSearch, fields: Fields) -> Sequence[str]:
    """Return the manuals whose files are stored for servers with these settings, sorted.

    Raises:
        Unavailable: when the cluster does not answer.
    """
    cluster = Cluster(settings)
    try:
        return sorted(_records(cluster, settings, fields))
    finally:
        cluster.close()


def forget_manuals(
    settings: OpenSearch, origin: str, present: Collection[str], fields: Fields
) -> Sequence[str]:
    """Delete the manuals of one workspace that are not present; return their ids, sorted.

    One that another process writes at this moment stays until the next call.

    Raises:
        Unavailable: when the cluster does not answer.
    """
    cluster = Cluster(settings)
    try:
        records = _records(cluster, settings, fields)
        gone = [name for name, row in records.items() if row.get("origin") == origin]
        return [
            manual
            for manual in sorted({*gone} - {*present})
            if _forgotten(cluster, settings, manual, origin, fields)
        ]
    finally:
        cluster.close()


def _forgotten(
    cluster: Cluster, settings: OpenSearch, manual: str, origin: str, fields: Fields
) -> bool:
    """Empty the record of a manual, and delete its indexes; ``False`` if another one writes."""
    name = index_name(settings, manual, fields)
    store = RecordStore(cluster, meta_name(settings), name)
    writer = Writer.of(store, secrets.token_hex(8), settings.lease_seconds)
    if writer is None:
        return False
    try:
        before = writer.record
        if (before.manual, before.origin) != (manual, origin):
            return False
        # Without a commit, as if there had never been one; numbers are used only once.
        writer.replace(lambda now: IndexRecord(next=now.next, lease=now.lease))
    finally:
        writer.release()
    indexes = [before.index, *before.retired, *cluster.index_names(f"{name}-vectors-*")]
    for index in indexes:
        if index is not None:
            cluster.delete_index(index)
    return True


def _records(
    cluster: Cluster, settings: OpenSearch, fields: Fields
) -> Mapping[str, Mapping[str, Any]]:
    """Return the records of the manuals whose files are stored, by their id."""
    body = {"query": {"match_all": {}}, "size": _MOST_MANUALS, "_source": ["manual", "origin"]}
    try:
        (answer,) = cluster.searches(meta_name(settings), [body], whole=False)
    except IndexDamaged:  # nothing has been indexed yet
        return {}
    rows = ((hit["_id"], hit["_source"]) for hit in answer["hits"]["hits"])
    return {
        manual: row
        for key, row in rows
        # Others of the same manual are for servers with other settings.
        if (manual := row.get("manual")) and key == index_name(settings, manual, fields)
    }
