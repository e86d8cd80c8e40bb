"""The file of baselines: the hashes of documents, and of their sources at that time."""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Baseline(BaseModel):
    """The hash of a document, and those of its sources at that time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    doc: str
    sources: dict[str, str]


class BaselineFile(BaseModel):
    """The content of a file of baselines; ``new`` until ``stale`` has said so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    new: bool = False
    documents: dict[str, Baseline]


def written_baselines(baselines: dict[str, Baseline], *, new: bool) -> bytes:
    """Return the content of a file of baselines, which mentions only that it is new."""
    file = BaselineFile(version=1, new=new, documents=baselines)
    content = file.model_dump(exclude=set() if new else {"new"})
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def parsed_baselines(written: bytes) -> BaselineFile:
    """Return the content of a file of baselines.

    Raises:
        ValueError: when it is damaged, or of a later version.
    """
    try:
        return BaselineFile.model_validate(json.loads(written))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
