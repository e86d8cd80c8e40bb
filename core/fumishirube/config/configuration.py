"""The configuration: defaults, ``fumishirube.yaml`` and the environment, as typed models."""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, ValidationError

from fumishirube.config.classic import FILE as CLASSIC
from fumishirube.config.classic import ClassicSections, merge_classic, source_places
from fumishirube.config.glossary import FILE as GLOSSARY
from fumishirube.config.glossary import Glossary, read_glossary
from fumishirube.config.personal import OwnManuals, own_folders, own_manuals
from fumishirube.config.pipelines import PipelineSpec, Use
from fumishirube.config.sections import (
    AdaptiveSettings,
    CacheSettings,
    ConfigModel,
    LimitSettings,
    ListingSettings,
    RootSettings,
    SecuritySettings,
    ServerSettings,
    TraceSettings,
)
from fumishirube.config.trust import Trust, trust_for, trust_store
from fumishirube.config.validation import build_model
from fumishirube.config.yaml_file import YamlDocument, read_yaml
from fumishirube.disk.folders import mode_at
from fumishirube.errors import ConfigError, InvalidParameter
from fumishirube.stages import Env

FILE = "fumishirube.yaml"


class Config(ConfigModel):
    """The whole configuration; every field has a default, and no file is needed.

    Without ``surfaces``, the default surfaces are used. ``allow_file_scope`` is reserved and has no
    effect: manuals are read section by section.
    """

    version: Literal[1] = 1
    strict: Annotated[bool, Env("FUMISHIRUBE_STRICT")] = False
    roots: RootSettings = RootSettings()
    allow_file_scope: Annotated[bool, Env("ALLOW_FILE_SCOPE")] = False
    limits: LimitSettings = LimitSettings()
    listing: ListingSettings = ListingSettings()
    traces: TraceSettings = TraceSettings()
    cache: CacheSettings = CacheSettings()
    adaptive: AdaptiveSettings = AdaptiveSettings()
    server: ServerSettings = ServerSettings()
    security: SecuritySettings = SecuritySettings()
    pipelines: dict[str, PipelineSpec] = Field(default_factory=dict)
    surfaces: tuple[Use, ...] = ()


@dataclass(frozen=True)
class LoadedConfig:
    """A configuration, its files, and the values that the environment decided.

    The path of the ``workspace`` has no links. ``origins`` maps coordinates to variables, and
    ``written`` to files with lines. ``adopted`` are the files of other programs. ``own`` are the
    manuals outside the workspace.
    """

    config: Config
    workspace: Path
    file: Path | None
    environ: Mapping[str, str]
    origins: dict[str, str] = field(default_factory=dict)
    sections: ClassicSections = field(default_factory=ClassicSections)
    alone_as: str | None = None
    adopted: tuple[str, ...] = ()
    written: dict[str, str] = field(default_factory=dict)
    trust: Trust = field(default_factory=Trust)
    own: OwnManuals = field(default_factory=OwnManuals)
    glossary: Glossary = field(default_factory=Glossary)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """The roots with links resolved, once: a link in the place of a root later leads nowhere."""

    @property
    def inputs(self) -> list[Path]:
        """The files that decide the configuration, existing or not."""
        others = [self.workspace / name for name in (CLASSIC, GLOSSARY, *self.adopted)]
        own = (*self.own.files, trust_store(self.environ))
        return [self.file or self.workspace / FILE, *others, *own]

    def folder(self, name: str) -> Path:
        """Return a root, or the ``workspace``, as an absolute path with links resolved."""
        if name == "workspace":
            return self.workspace
        if name not in RootSettings.model_fields:
            raise ValueError(
                f"{name!r} is none of workspace, {', '.join(RootSettings.model_fields)}"
            )
        relative: str = getattr(self.config.roots, name)
        return self.folders.get(name) or (self.workspace / relative).resolve()

    def origin(self, coordinate: str) -> str:
        """Return where a setting comes from: a variable, a file and line, or ``default``."""
        decided = (self.origins[c] for c in upwards(coordinate) if c in self.origins)
        return next(decided, self.written.get(coordinate, "default"))

    def alone(self, only: Use) -> Self:
        """Return this configuration with one surface alone, configured or not."""
        matching = (use for use in self.config.surfaces if use.use == only.use)
        use = next(matching, Use(use=only.use))
        settings = {**use.settings, **only.settings}
        merged_use = use.model_copy(update={"settings": settings})
        # Settings of other surfaces are ignored.
        config = self.config.model_copy(update={"surfaces": (merged_use,)})
        return replace(self, config=config, alone_as=only.use)

    def with_pipeline(self, name: str, stages: Mapping[str, JsonValue]) -> Self:
        """Return this configuration with that pipeline, every setting included.

        Environment and classic sections do not change it, and there is no glossary.

        Raises:
            InvalidParameter: when it is not a pipeline.
        """
        try:
            spec = PipelineSpec.model_validate(dict(stages))
        except ValidationError as error:
            raise InvalidParameter("the trace names stages in a form that is not known") from error
        changed = {"pipelines": {**self.config.pipelines, name: spec}}
        config = self.config.model_copy(update=changed)
        sections, glossary = ClassicSections(), Glossary()
        return replace(self, config=config, environ={}, sections=sections, glossary=glossary)

    def with_default_surfaces(self, names: Iterable[str]) -> Self:
        """Return this configuration with these surfaces, unless it names its own."""
        if "surfaces" in self.config.model_fields_set:
            return self
        uses = tuple(Use(use=name) for name in names)
        return replace(self, config=self.config.model_copy(update={"surfaces": uses}))

    def statistics(self) -> Path:
        """Return the file of the statistics; a relative path starts at the workspace."""
        vault = str((self.workspace / self.config.roots.vault).resolve())
        return self.workspace / self.config.adaptive.file.replace("${VAULT_ROOT}", vault)


def load_config(
    workspace: Path,
    file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    classic: bool = False,
    trusted: bool = False,
    folders: Mapping[str, Path] | None = None,
) -> LoadedConfig:
    """Read the configuration of a workspace, with its ``classic`` file if requested.

    With ``trusted``, paths may lead outside the workspace. ``folders`` are the only manuals, by id,
    instead of those of the workspace.

    Raises:
        ConfigError: with the coordinate or the variable that is unusable.
    """
    environ = os.environ if environ is None else environ
    workspace = workspace.resolve()
    path = file.absolute() if file is not None else workspace / FILE
    if file is not None:
        _require_file(file)
    classic_file = workspace / CLASSIC
    written = _document(path)
    further = _document(classic_file) if classic else YamlDocument(CLASSIC)
    values, sections = merge_classic(written.values, path.name, further)
    origins: dict[str, str] = {}
    places = source_places(further) | source_places(written)
    with locating_errors(places):
        config = build_model(Config, values, "", environ, origins)
        own = own_manuals(origins, environ, folders)
        replaced = own_folders(config.roots, workspace, origins, environ, own)
        config = config.model_copy(update={"roots": replaced})
        resolved = resolved_roots(config.roots, workspace, origins)
        if "roots.state" in origins:
            own = replace(own, state=resolved["state"])
    trust = trust_for(workspace, (path, classic_file), environ, trusted=trusted)
    return LoadedConfig(
        config,
        workspace,
        path if path.is_file() else None,
        environ,
        origins,
        sections,
        written=places,
        trust=trust,
        own=own,
        glossary=read_glossary(workspace),
        folders=resolved,
    )


def _document(file: Path) -> YamlDocument:
    """Read a file if there is one; what is none is not taken for the defaults."""
    if file.is_file():
        return read_yaml(file)
    if os.path.lexists(file):
        raise ConfigError(f"{file.name}: it is no file, or a link that leads to none; remove it")
    return YamlDocument(file.name)


def _require_file(file: Path) -> None:
    name = file.name
    problem = f"--config: there is no file {name!r}"
    try:
        if S_ISREG(mode_at(file)):
            return
    except PermissionError:
        problem = f"--config: the folder of {name!r} may not be entered; change its permissions"
    except OSError:  # a name that is too long, or links in a ring
        pass
    raise ConfigError(problem)


def resolved_roots(
    roots: RootSettings, workspace: Path, origins: Mapping[str, str]
) -> Mapping[str, Path]:
    """Return the roots with links resolved; refuse what is no folder, and state among documents."""
    resolved: dict[str, Path] = {}
    for name, folder in roots.model_dump().items():
        source = origins.get(f"roots.{name}", f"roots.{name}")
        if not folder.strip():
            usual = RootSettings.model_fields[name].default
            raise ConfigError(f"it is empty; name a folder, such as {usual!r}", at=source)
        try:
            resolved[name] = (workspace / folder).resolve()
            names_file = S_ISREG(mode_at(resolved[name]))
        except PermissionError as error:
            problem = "it may not be entered; change the permissions of the folders above it"
            raise ConfigError(problem, at=source) from error
        except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL, links in a ring
            ring = isinstance(error, RuntimeError) or getattr(error, "errno", 0) == errno.ELOOP
            problem = "symbolic links lead in a ring" if ring else "no folder can have this name"
            raise ConfigError(problem, at=source) from error
        if names_file:
            raise ConfigError("it names a file; a folder is needed", at=source)
    for name in ("manuals", "docs"):
        if shows(resolved[name], resolved["state"]):
            raise ConfigError(
                f"it is in the folder of {name}, so that traces would be documents; name another",
                at=origins.get("roots.state", "roots.state"),
            )
    return resolved


def shows(folder: Path, other: Path) -> bool:
    """Tell whether the other one is that folder, or is in it and not hidden."""
    inside = other.parts[len(folder.parts) :]
    return other.is_relative_to(folder) and not any(part.startswith(".") for part in inside)


@contextmanager
def locating_errors(written: Mapping[str, str]) -> Iterator[None]:
    """Say the file and line of a setting in errors about it, unless they are known."""
    try:
        yield
    except ConfigError as error:
        places = (written[c] for c in upwards(error.at) if c in written)
        error.place = error.place or next(places, "")
        raise


def upwards(coordinate: str) -> Iterator[str]:
    """Yield a coordinate and its parents, innermost first."""
    yield coordinate
    for end in range(len(coordinate) - 1, 0, -1):
        if coordinate[end] in ".[":
            yield coordinate[:end]


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
