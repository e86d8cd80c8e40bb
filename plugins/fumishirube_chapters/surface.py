"""The surface over chapters with a table of contents."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, field_validator

from fumishirube import (
    ClassicKey,
    ConfigError,
    ContentsLoader,
    Diagnostic,
    Env,
    InvalidPath,
    Root,
    Stage,
    SurfaceContext,
    Tool,
)
from fumishirube.disk import clean_path
from fumishirube.tools import listed

MODES = ("plain", "regex", "loose")
"""The scorers of ``search_text``, named by its ``mode``."""
EXCEPTIONS = "exceptions"
MOST_RESULTS = 100

_MANUAL = "{manual}/"
_REMEDY = "mend the file, or what the table of contents says of it"


class LocationSettings(NamedTuple):
    """The file of a table of contents in a manual's folder, and which links are followed.

    Nothing outside the folders in ``allowed`` is read.
    """

    toc: str
    allowed: Sequence[Path]
    links: bool = False


class ChaptersSurface(Stage):
    """Offers tools over manuals whose chapters are listed in ``00_目次.json``.

    ``path_pattern`` is the path of that file below ``manuals/``, the root of the manuals. At most
    ``max_sections_in_memory`` chapters stay in memory, for ``section_ttl_seconds``. Their
    projections are stored in ``cache_file``, else below ``chapters/`` in ``indices_dir``, else in
    the folder of derived state; a ``cache_file`` with anything else is left as it is. With
    ``allow_symlink``, links are followed into ``allowed_roots`` (default: the root of the
    manuals). Without ``cursor`` in ``extras``, long lists are returned whole; MCP clients see the
    tool ``resolve_reference`` only with the setting of this name.
    """

    root: ClassVar[str] = "manuals"
    place_settings: ClassVar[tuple[str, ...]] = ("allowed_roots", "cache_file", "indices_dir")
    server_name: ClassVar[str] = "manual-tools"
    instructions: ClassVar[str] = (
        "Manuals in chapters: begin with list_manuals and get_toc. Read chapters with get_section; "
        "find them with search_text, in mode 'loose' for scanned text, and check find_exceptions."
    )
    uses: ClassVar[tuple[str, ...]] = ("loaders", "scorers")
    pipeline: ClassVar[Mapping[str, Any]] = {
        "loaders": [{"use": "toc-text"}],
        "scorers": [*({"use": mode} for mode in MODES), {"use": EXCEPTIONS}],
    }

    extras: Annotated[
        tuple[Literal["cursor"], ...], Env("FUMISHIRUBE_SURFACE_EXTRAS", shared=True)
    ] = ("cursor",)
    resolve_reference: Annotated[bool, Env("FUMISHIRUBE_CHAPTERS_RESOLVE_REFERENCE")] = False
    max_results: Annotated[
        int,
        Field(ge=1, le=MOST_RESULTS),
        Env("FUMISHIRUBE_SEARCH_MAX_RESULTS"),
        ClassicKey("search.max_results"),
    ] = 10
    engine: Annotated[
        Literal["regex"], Env("FUMISHIRUBE_SEARCH_ENGINE"), ClassicKey("search.engine")
    ] = "regex"
    section_ttl_seconds: Annotated[
        int,
        Field(ge=0),
        Env("FUMISHIRUBE_CACHE_SECTION_TTL_SECONDS"),
        ClassicKey("cache.section_ttl_seconds"),
    ] = 300
    max_sections_in_memory: Annotated[
        int,
        Field(ge=0),
        Env("FUMISHIRUBE_CACHE_MAX_SECTIONS_IN_MEMORY"),
        ClassicKey("cache.max_sections_in_memory"),
    ] = 4000
    cache_file: Annotated[str | None, Env("FUMISHIRUBE_CACHE_FILE"), ClassicKey("cache.file")] = (
        None
    )
    indices_dir: Annotated[
        str | None, Env("FUMISHIRUBE_PATHS_INDICES_DIR"), ClassicKey("paths.indices_dir")
    ] = None
    allowed_roots: Annotated[
        tuple[str, ...],
        Env("FUMISHIRUBE_SECURITY_ALLOWED_ROOTS", paths=True),
        ClassicKey("security.allowed_roots"),
    ] = ()
    allow_symlink: Annotated[
        bool, Env("FUMISHIRUBE_SECURITY_ALLOW_SYMLINK"), ClassicKey("security.allow_symlink")
    ] = False
    toc_source: Annotated[
        Literal["json_only"], Env("FUMISHIRUBE_TOC_SOURCE"), ClassicKey("toc.source")
    ] = "json_only"
    path_pattern: Annotated[
        str, Env("FUMISHIRUBE_TOC_PATH_PATTERN"), ClassicKey("toc.path_pattern")
    ] = "manuals/{manual}/00_目次.json"

    @field_validator("path_pattern")
    @classmethod
    def _inside(cls, value: str) -> str:
        _, manual, rest = value.partition(_MANUAL)
        try:
            if not manual or "{" in rest or "}" in rest:
                raise InvalidPath("no manual, or more than one")
            clean_path(rest)
        except InvalidPath as error:
            raise ValueError(
                "must be 'manuals/{manual}/' and a file inside the manual's folder"
            ) from error
        return value

    def unused(self, key: str, name: str, stage: object) -> str | None:
        """Return why a scorer or loader has no effect here, or ``None``."""
        if key == "scorers" and name not in (*MODES, EXCEPTIONS):
            return f"the tools use scorers called {', '.join(MODES)} and {EXCEPTIONS}"
        if key == "loaders" and not isinstance(stage, ContentsLoader):
            return "it reads no tables of contents"
        return None

    def tools(self, context: SurfaceContext) -> Sequence[Tool[Any, Any]]:
        """Return the tools, in the order in which clients list them."""
        from fumishirube_chapters.tool_list import tools

        return listed(tools(context, self), self.extras)

    def lifespan(self, context: SurfaceContext) -> AbstractContextManager[None]:
        """Validate all manuals once, in a thread, and log what is wrong."""
        from fumishirube_chapters.tool_list import reader, validated

        return validated(reader(context, self))

    def diagnostics(self, context: SurfaceContext) -> Sequence[Diagnostic]:
        """Validate all manuals, and return the problems of tables of contents and files."""
        from fumishirube_chapters.tool_list import reader

        chapter_reader = reader(context, self)
        chapter_reader.validate()
        problems = chapter_reader.library.diagnostics()
        return [Diagnostic(f"manual {name}", message, _REMEDY) for name, message in problems]

    def locations(self, context: SurfaceContext) -> LocationSettings:
        """Return where tables of contents are, and which links are followed.

        Raises:
            ConfigError: when these settings would exclude every file.
        """
        workspace, manuals = context.folder("workspace").path, context.root.path
        prefix, _, toc = self.path_pattern.partition(_MANUAL)
        if prefix != "manuals/" and (workspace / prefix).resolve() != manuals:
            raise ConfigError(
                f"path_pattern: {self.path_pattern!r} does not begin with the root of the manuals; "
                "write manuals/{manual}/00_目次.json"
            )
        allowed = [(workspace / folder).resolve() for folder in self.allowed_roots] or [manuals]
        if not any(manuals.is_relative_to(folder) for folder in allowed):
            raise ConfigError(
                "allowed_roots: the root of the manuals lies outside all of them, so that nothing "
                "could be read; add it, or name none"
            )
        return LocationSettings(clean_path(toc), allowed, self.allow_symlink)

    def projections_file(self, context: SurfaceContext) -> tuple[Root, str]:
        """Return the folder of the file of projections, and its name.

        What a setting names was checked with its links resolved.
        """
        workspace, folder = context.folder("workspace").path, context.folder("state")
        if self.cache_file is not None:
            file = Path(os.path.realpath(workspace / self.cache_file))
            return Root(file.parent), file.name
        if self.indices_dir is not None:
            folder = Root(Path(os.path.realpath(workspace / self.indices_dir)))
        return folder.folder_below("chapters"), "projections.sqlite"
