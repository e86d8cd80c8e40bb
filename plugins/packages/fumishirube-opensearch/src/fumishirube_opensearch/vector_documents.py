"""Vectors as documents of the cluster."""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from fumishirube_opensearch import OpenSearch

Write: TypeAlias = tuple[Mapping[str, Any], Mapping[str, Any]]
"""The id of a document, perhaps with its version, and the document."""

FoundPiece: TypeAlias = tuple[str, str, int, float]
"""A piece of a section: the path and the stamp of its file, its number, and its similarity."""


class PieceVector(NamedTuple):
    """A vector: of which section of its file, numbered from 0, and a hash of the embedded text."""

    number: int
    key: str
    vector: Sequence[float]


class FileVectors(NamedTuple):
    """Vectors of a file at one stamp: all of them if it is ``complete``, else some."""

    path: str
    stamp: str
    pieces: Sequence[PieceVector]
    complete: bool


def vector_index_body(settings: OpenSearch, size: int) -> Mapping[str, Any]:
    """Return the settings and fields of an index of vectors with so many dimensions."""
    method = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct"}
    keyword = {"type": "keyword"}
    return {
        "settings": {
            "number_of_shards": settings.shards,
            "number_of_replicas": settings.replicas,
            "refresh_interval": "-1",
            "index.knn": True,
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"excludes": ["vector"]},
            "properties": {
                "kind": keyword,
                "of": keyword,
                "stamp": keyword,
                "number": {"type": "integer", "index": False},
                "key": keyword,
                "at": {"type": "long"},
                "data": {"type": "object", "enabled": False},
                "vector": {"type": "knn_vector", "dimension": size, "method": method},
            },
        },
    }


def piece_documents(file: FileVectors) -> Iterator[Write]:
    """Yield a document for each vector of a file."""
    for place, piece in enumerate(file.pieces):
        key = sha256(f"{file.path}\0{file.stamp}\0{place}\0{piece.key}".encode()).hexdigest()[:32]
        yield (
            {"_id": key},
            {
                "kind": "piece",
                "of": file.path,
                "stamp": file.stamp,
                "number": piece.number,
                "key": piece.key,
                "data": b64encode(array("f", piece.vector).tobytes()).decode(),
                "vector": [*piece.vector],
            },
        )


def file_marker(path: str, stamp: str, commit: int) -> Write:
    """Return the document that says at which stamp a file is complete."""
    key = f"file-{sha256(path.encode()).hexdigest()[:32]}"
    action = {"_id": key, "version": commit, "version_type": "external_gte"}
    return action, {"kind": "file", "of": path, "stamp": stamp, "at": commit}


def similar_piece(hit: Mapping[str, Any]) -> FoundPiece:
    """Return the piece of a hit."""
    # The engine's score of an inner product x is 1 + x, and 1 / (1 - x) below 0.
    source, score = hit["_source"], hit["_score"]
    similarity = score - 1 if score >= 1 else 1 - 1 / score
    return source["of"], source["stamp"], source["number"], similarity


def unpacked_vector(text: str) -> Sequence[float]:
    """Return a vector as it was stored for further use."""
    vector = array("f")
    vector.frombytes(b64decode(text))
    return vector
