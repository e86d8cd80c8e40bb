"""Configurations for trying something: they leave no marks, or run a pipeline from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue, ValidationError

from fumishirube.config.classic import ClassicSections
from fumishirube.config.configuration import LoadedConfig, PipelineSpec
from fumishirube.errors import InvalidParameter


def without_state(loaded: LoadedConfig, scratch: Path) -> LoadedConfig:
    """Return a configuration that searches the same way, but leaves nothing behind.

    Trials are not what users ask: they neither become traces on disk nor statistics, and what the
    statistics have led to is not applied, so that a measurement can be repeated.
    """
    config = loaded.config
    traces = config.traces.model_copy(update={"files": False})
    file = str(scratch / "statistics.jsonl")
    adaptive = config.adaptive.model_copy(update={"tuning": False, "file": file})
    changed = config.model_copy(update={"traces": traces, "adaptive": adaptive})
    # No file of the workspace has named the scratch folder, so that nobody need trust it.
    origins = loaded.origins | {"adaptive.file": "a trial"}
    return replace(loaded, config=changed, origins=origins)


def with_pipeline(loaded: LoadedConfig, name: str, stages: Mapping[str, JsonValue]) -> LoadedConfig:
    """Return a configuration whose pipeline of this name is given, every setting included.

    Neither the environment nor the classic sections have a say in it.

    Raises:
        InvalidParameter: when it is no pipeline.
    """
    try:
        spec = PipelineSpec.model_validate(dict(stages))
    except ValidationError as error:
        raise InvalidParameter("the trace names stages in a form that is not known") from error
    config = loaded.config.model_copy(update={"pipelines": {**loaded.config.pipelines, name: spec}})
    return replace(loaded, config=config, environ={}, sections=ClassicSections())
