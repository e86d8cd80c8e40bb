"""What decided a search besides its words: the pipeline, the corpus, and the rest of the query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue


class PipelineSnapshot(NamedTuple):
    """A pipeline as it was: ``stages`` as the file would name them, with every setting.

    ``name`` is the key under which the file configures it, and ``surface`` who searched.
    ``makers`` are the plugins that offer the stages, each with its distribution and version.
    """

    surface: str = ""
    name: str = ""
    fingerprint: str = ""
    stages: Mapping[str, JsonValue] = {}
    makers: Mapping[str, str] = {}


class Origin(NamedTuple):
    """Where a search comes from; ``corpus`` is the fingerprint of the files that it saw.

    ``limit``, ``must`` and ``case_sensitive`` are those of its query; ``more`` says that the query
    held what no record keeps: files to stay within, or words for single stages.
    """

    recipe: PipelineSnapshot = PipelineSnapshot()
    corpus: str = ""
    limit: int | None = None
    must: tuple[str, ...] = ()
    case_sensitive: bool = False
    more: bool = False
