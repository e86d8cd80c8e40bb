"""Requests to the cluster, and the errors that their failures become."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from opensearchpy import exceptions

from fumishirube import Budget, Forbidden, FumishirubeError, IndexDamaged
from fumishirube_opensearch.connection import Unavailable, client_of, request_error

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

T = TypeVar("T")

_KNN = "org.opensearch.knn.plugin.KNNPlugin"
_REFUSED = 429
_TIMES_OUT = frozenset({429, 502, 503, 504})
_ERRORS = {"filter_path": "errors,items.*.status,items.*.error"}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0


class Stored(NamedTuple):
    """A document by its id, with the version that the next write must name."""

    body: Mapping[str, Any]
    seq_no: int
    primary_term: int


class VectorSearch(NamedTuple):
    """A search of an index of vectors, with a text that changes with what is in it."""

    within: str
    commit: str
    body: Mapping[str, Any]


class WriteConflict(Exception):
    """Another process has written the document since it was read."""


class Cluster:
    """The client of one cluster; safe to use from several threads."""

    def __init__(self, settings: OpenSearch) -> None:
        self._patience = settings.request_seconds
        self._client = client_of(settings)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, index: str, key: str) -> Stored | None:
        """Return a document as last written, or ``None``."""
        try:
            reply = self._reply(lambda: self._client.get(index=index, id=key))
        except exceptions.NotFoundError:
            return None
        return Stored(reply["_source"], reply["_seq_no"], reply["_primary_term"])

    def put(self, index: str, key: str, body: Mapping[str, Any], after: Stored | None) -> Stored:
        """Write a document that is unchanged since it was read, or does not exist.

        Raises:
            WriteConflict: when another process wrote first. A write whose answer was lost may
                conflict with itself.
        """
        if after is None:
            condition: dict[str, Any] = {"op_type": "create"}
        else:
            condition = {"if_seq_no": after.seq_no, "if_primary_term": after.primary_term}
        try:
            reply = self._reply(
                lambda: self._client.index(index=index, id=key, body=body, params=condition)
            )
        except exceptions.ConflictError as error:
            raise WriteConflict from error
        return Stored(body, reply["_seq_no"], reply["_primary_term"])

    def store(self, index: str, key: str, body: Mapping[str, Any]) -> None:
        """Write a document, whatever is there."""
        self._reply(lambda: self._client.index(index=index, id=key, body=body))

    def index_names(self, pattern: str) -> Sequence[str]:
        """Return the names of the indexes that match a pattern with ``*``."""
        return [*self._reply(lambda: self._client.indices.get(index=pattern))]

    def make_index(self, name: str, body: Mapping[str, Any]) -> None:
        """Create an index unless it exists."""
        try:
            self._reply(lambda: self._client.indices.create(index=name, body=body))
        except exceptions.RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise

    def has_index(self, name: str) -> bool:
        """Tell whether an index of this name exists."""
        return bool(self._reply(lambda: self._client.indices.exists(index=name)))

    def delete_index(self, name: str) -> None:
        """Delete an index if it exists."""
        self._reply(
            lambda: self._client.indices.delete(index=name, params={"ignore_unavailable": "true"})
        )

    def refresh(self, name: str, budget: Budget) -> None:
        """Make all writes searchable, in every copy of every shard."""

        def verb() -> None:
            reply = self._client.indices.refresh(index=name)
            if reply["_shards"]["failed"]:
                raise exceptions.TransportError(503, "some shards were not refreshed", reply)

        self._insist(verb, budget)

    def searches(
        self, index: str, bodies: Sequence[Mapping[str, Any] | VectorSearch], *, whole: bool
    ) -> list[Any]:
        """Send several searches in one round trip; return their answers in order.

        With ``whole``, terms are weighed by their frequencies in all shards together. The answer
        of a search of vectors may be an error.

        Raises:
            IndexDamaged: when the index is gone.
        """
        kind = {"search_type": "dfs_query_then_fetch"} if whole else {}
        rows: list[Mapping[str, Any]] = []
        for body in bodies:
            if isinstance(body, VectorSearch):
                rows += [{"index": body.within}, body.body]
            else:
                rows += [kind, body]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        reply = self._reply(lambda: self._client.msearch(index=index, body=lines))
        answers = list(reply["responses"])
        for body, answer in zip(bodies, answers, strict=True):
            if "error" in answer and not isinstance(body, VectorSearch):
                raise search_error(answer)
        return answers

    def all_hits(self, index: str, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield every hit of a search with a ``sort``, in requests of its ``size``.

        Raises:
            IndexDamaged: when the index is gone, or a shard of it.
        """
        hits: Sequence[Mapping[str, Any]] = ()
        while True:
            after = {"search_after": hits[-1]["sort"]} if hits else {}
            (answer,) = self.searches(index, [{**body, **after}], whole=False)
            if answer["_shards"]["failed"]:
                raise IndexDamaged("a shard of the index does not answer")
            hits = answer["hits"]["hits"]
            yield from hits
            if len(hits) < body["size"]:
                return

    def bulk(self, index: str, lines: bytes, budget: Budget) -> None:
        """Write documents; repeat more slowly those that the cluster is too busy for.

        Raises:
            Forbidden: when the cluster does not accept them before the deadline, or refuses them.
        """
        waiting = lines

        def verb() -> None:
            nonlocal waiting
            reply = self._client.bulk(index=index, body=waiting, params=_ERRORS)
            waiting = _refused(waiting, reply["items"]) if reply["errors"] else b""
            if waiting:
                raise exceptions.TransportError(_REFUSED, "too many writes", {})

        self._insist(verb, budget)

    @property
    def multiplies(self) -> bool:
        """Whether its BM25 has the factor ``k1 + 1``, as versions before 3 do."""
        if self._major is None:
            self._major = int(self._reply(self._client.info)["version"]["number"].split(".")[0])
        return self._major < 3

    _major: int | None = None

    def nodes_without_knn(self) -> Sequence[str]:
        """Return the names of the nodes that lack the k-NN plugin, sorted."""
        reply = self._reply(lambda: self._client.nodes.info(metric="plugins"))
        return sorted(
            node["name"]
            for node in reply["nodes"].values()
            if not any(plugin["classname"] == _KNN for plugin in node["plugins"])
        )

    def _insist(self, verb: Callable[[], None], budget: Budget) -> None:
        """Repeat a request while the cluster is too busy, each time after a longer pause."""
        pause, until = _FIRST_PAUSE, time.monotonic() + 3 * self._patience
        while True:
            try:
                return verb()
            except exceptions.TransportError as error:
                again = (
                    isinstance(error, exceptions.ConnectionError) or error.status_code in _TIMES_OUT
                )
                if not again or budget.spent or time.monotonic() > until:
                    raise request_error(error) from error
            budget.check()
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _reply(self, verb: Callable[[], T]) -> T:
        """Send a request once; a failure of the cluster becomes an error that says so."""
        try:
            return verb()
        except (exceptions.NotFoundError, exceptions.ConflictError, exceptions.RequestError):
            raise
        except exceptions.TransportError as error:
            raise request_error(error) from error


def _refused(lines: bytes, items: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the lines of the writes that the cluster was too busy for.

    Raises:
        Forbidden: for any other failure.
    """
    # Only a line feed ends a line: texts may contain other separators.
    rows, again, at = lines.split(b"\n"), list[bytes](), 0
    for item in items:
        ((action, result),) = item.items()
        width = 1 if action == "delete" else 2
        status = result["status"]
        if status in _TIMES_OUT:
            again += rows[at : at + width]
        elif "error" in result and status != 404:
            raise Forbidden(f"the cluster refuses a section: {result['error'].get('type')}")
        at += width
    return b"".join(row + b"\n" for row in again)


def vector_note(cluster: Cluster, *, wanted: bool) -> tuple[bool, str]:
    """Return whether the cluster compares vectors, and a part of a sentence that says why.

    Raises:
        Unavailable: when the cluster does not answer.
    """
    if not wanted:
        return False, "by this server, as its configuration says (knn: false)"
    try:
        nodes = cluster.nodes_without_knn()
    except Unavailable:
        raise
    except Forbidden:
        reason = "its user may not ask which plugins the nodes have (cluster:monitor/nodes/info)"
        return False, f"by this server: {reason}"
    if nodes:
        return False, f"by this server: no k-NN plugin on the nodes {', '.join(nodes)}"
    return True, "by the cluster: in a k-NN field, by HNSW of Lucene"


def search_error(answer: Mapping[str, Any]) -> FumishirubeError:
    """Return the error that an answer to a search is."""
    kind = answer["error"].get("type")
    if kind == "index_not_found_exception":
        return IndexDamaged("the index is gone from the cluster")
    return Unavailable(f"the cluster cannot search: {kind}; see its health")
