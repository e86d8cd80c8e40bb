"""Which stages a pipeline has: the lists of the file, and the defaults of a surface."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field, model_validator

from fumishirube.config.sections import ConfigModel
from fumishirube.errors import ConfigError
from fumishirube.plugins.registry import DEFAULTS, KINDS

SINGLE_KINDS = {"tokenizers": "tokenizer", "embedders": "embedder", "indexes": "index"}
"""Kinds of which a pipeline uses one stage, and their keys in YAML."""

PIPELINE_KEYS = {
    kind.kind_name: SINGLE_KINDS.get(kind.kind_name, kind.kind_name)
    for kind in KINDS
    if kind.kind_name != "surfaces"
}


class Use(ConfigModel):
    """A stage of a pipeline, or a surface: its registered name, and its settings.

    The name alone is enough for one without settings.
    """

    use: str
    alias: Annotated[str | None, Field(alias="as")] = None
    settings: dict[str, Any] = Field(alias="with", default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"use": value} if isinstance(value, str) else value

    @property
    def name(self) -> str:
        """The name of this use: ``as``, or else ``use``."""
        return self.alias or self.use


class PipelineSpec(ConfigModel):
    """The stages of a pipeline. A kind that is not set keeps the surface's default.

    A list takes the place of the default list. It may contain that list as ``defaults``; another
    stage in it that has the name of a default one takes its place.
    """

    loaders: tuple[Use, ...] | None = None
    tokenizer: Use | None = None
    embedder: Use | None = None
    index: Use | None = None
    scorers: tuple[Use, ...] | None = None
    fusers: tuple[Use, ...] | None = None
    refiners: tuple[Use, ...] | None = None

    def uses(self, key: str) -> Iterator[tuple[str, Use]]:
        """Yield the stages under a key, each with its place in the list, such as ``[0]``."""
        chosen: Use | tuple[Use, ...] | None = getattr(self, key)
        if isinstance(chosen, Use):
            yield "", chosen
        elif chosen is not None:
            yield from ((f"[{number}]", use) for number, use in enumerate(chosen))


def listed_uses(
    written: Sequence[tuple[str, Use]], default: Sequence[Use]
) -> Iterator[tuple[str, Use]]:
    """Yield the stages that a list chooses, each with its place in that list, such as ``[0]``.

    A stage that ``defaults`` brings has its name after that place: ``[0].cutoff``.
    """
    if all(use.use != DEFAULTS for _, use in written):
        yield from written
        return
    own = {use.name: (place, use) for place, use in written}
    usual = {use.name for use in default}
    for place, use in written:
        if use.use == DEFAULTS:
            yield from (own.get(each.name, (f"{place}.{each.name}", each)) for each in default)
        elif use.name not in usual:
            yield place, use


def check_list(uses: Sequence[Use], coordinate: str) -> None:
    """Check that a list of stages has no name twice, and ``defaults`` no name and no settings."""
    check_distinct(uses, coordinate)
    for place, use in enumerate(uses):
        if use.use == DEFAULTS and (use.alias or use.settings):
            raise ConfigError(
                "'defaults' takes neither 'as' nor 'with'; name the stage that has the settings",
                at=f"{coordinate}[{place}]",
            )


def check_distinct(uses: Sequence[Use], coordinate: str) -> None:
    """Raise a :class:`ConfigError` if a name occurs twice."""
    names = [use.name for use in uses]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ConfigError(
                f"{name!r} is used twice; give one of them another 'as'",
                at=f"{coordinate}[{place}]",
            )
