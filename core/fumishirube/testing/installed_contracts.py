"""The contracts of installed stages, which ``fumishirube conform`` runs with pytest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fumishirube.plugins.discovery import load_plugins
from fumishirube.testing.contract import StageContract
from fumishirube.testing.embedders import EmbedderContract
from fumishirube.testing.fusers import FuserContract
from fumishirube.testing.indexes import IndexContract
from fumishirube.testing.loaders import LoaderContract
from fumishirube.testing.refiners import RefinerContract
from fumishirube.testing.scorers import ScorerContract
from fumishirube.testing.surfaces import SurfaceContract
from fumishirube.testing.tokenizers import TokenizerContract

CONTRACTS: Mapping[str, type[Any]] = {
    "loaders": LoaderContract,
    "tokenizers": TokenizerContract,
    "embedders": EmbedderContract,
    "indexes": IndexContract,
    "scorers": ScorerContract,
    "fusers": FuserContract,
    "refiners": RefinerContract,
    "surfaces": SurfaceContract,
}
"""The contract of each kind."""


def contracts(file: Path, module: str) -> dict[str, type[StageContract[Any]]]:
    """Return a test class for each stage that a JSON file names.

    An entry has the ``class`` to make, the ``kind`` and ``name`` of the stage, its ``settings``,
    and for a loader the folder of the ``files`` to load. The classes belong to ``module``.
    """
    registry = load_plugins().registry
    made: dict[str, type[StageContract[Any]]] = {}
    for entry in json.loads(file.read_text(encoding="utf-8")):
        offer = registry[entry["kind"]].take(entry["name"], "conform")
        attributes = {"stage": offer.stage.model_validate(entry["settings"]), "__module__": module}
        if entry["files"] is not None:
            attributes["files"] = _files_method(Path(entry["files"]))
        made[entry["class"]] = type(entry["class"], (CONTRACTS[entry["kind"]],), attributes)
    return made


def _files_method(folder: Path) -> Any:
    contents = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    return lambda _: contents
