"""Configurations for trials: without traces on disk, or with another pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import JsonValue, ValidationError

from fumishirube.config.classic import ClassicSections
from fumishirube.config.configuration import LoadedConfig, PipelineSpec
from fumishirube.errors import InvalidParameter


def without_state(loaded: LoadedConfig, scratch: Path) -> LoadedConfig:
    """Return a configuration that searches the same way, but writes nothing to disk.

    Trials write neither traces nor statistics, and use no tuned thresholds, so that measurements
    are repeatable.
    """
    config = loaded.config
    traces = config.traces.model_copy(update={"files": False})
    file = str(scratch / "statistics.jsonl")
    adaptive = config.adaptive.model_copy(update={"tuning": False, "file": file})
    changed = config.model_copy(update={"traces": traces, "adaptive": adaptive})
    # The scratch folder is not named by a file of the workspace, so it needs no trust.
    origins = loaded.origins | {"adaptive.file": "a trial"}
    return replace(loaded, config=changed, origins=origins)


def with_pipeline(loaded: LoadedConfig, name: str, stages: Mapping[str, JsonValue]) -> LoadedConfig:
    """Return a configuration with this pipeline, every setting included.

    Environment and classic sections do not change it.

    Raises:
        InvalidParameter: when it is not a pipeline.
    """
    try:
        spec = PipelineSpec.model_validate(dict(stages))
    except ValidationError as error:
        raise InvalidParameter("the trace names stages in a form that is not known") from error
    config = loaded.config.model_copy(update={"pipelines": {**loaded.config.pipelines, name: spec}})
    return replace(loaded, config=config, environ={}, sections=ClassicSections())
