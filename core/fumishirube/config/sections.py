"""Sections of the configuration, except pipelines."""

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from fumishirube.disk.survey import ALL_BUT_HIDDEN, DEFAULT_LIMITS, Listing
from fumishirube.stages import Env
from fumishirube.traces.records import Thresholds

IGNORE_FILE = ".fumishirubeignore"
"""Ignore rules at any level of a manual; they follow those of a ``.gitignore`` beside it."""

NO_EMBEDDER = "none"
"""The name of the embedder without vectors."""


class ConfigModel(BaseModel):
    """Settings as they are written: frozen, and without unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class RootSettings(ConfigModel):
    """The folders; relative ones start at the workspace. ``runtime`` is for logs."""

    manuals: Annotated[str, Env("MANUALS_ROOT"), Env("FUMISHIRUBE_PATHS_MANUALS_DIR")] = "manuals"
    vault: Annotated[str, Env("VAULT_ROOT")] = "vault"
    docs: Annotated[str, Env("FUMISHIRUBE_DOCS_ROOT")] = "docs"
    runtime: Annotated[str, Env("FUMISHIRUBE_PATHS_RUNTIME_DIR")] = "var"
    state: Annotated[str, Env("FUMISHIRUBE_STATE_ROOT")] = ".fumishirube"


def _bytes(value: object) -> object:
    if not isinstance(value, str | bool):
        return value
    try:  # strict, for True would be one byte
        return int(TypeAdapter(ByteSize).validate_python(value, strict=isinstance(value, bool)))
    except ValidationError as error:
        message = "expected a number of bytes, such as 64 MiB"
        raise PydanticCustomError("bytes", message) from error


ByteCount = Annotated[
    int,
    BeforeValidator(_bytes),
    Field(ge=1, examples=["64 MiB"]),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}),
]
"""A size in bytes, optionally with a unit."""


class LimitSettings(ConfigModel):
    """Limits of one root: bytes of a file, depth of folders, files of a manual.

    A larger file is listed but not read; a deeper folder is not opened; a manual with more files is
    refused. All are reported.
    """

    file_bytes: Annotated[ByteCount, Env("FUMISHIRUBE_LIMIT_FILE_BYTES")] = (
        DEFAULT_LIMITS.file_bytes
    )
    depth: Annotated[int, Field(ge=1, le=200), Env("FUMISHIRUBE_LIMIT_DEPTH")] = (
        DEFAULT_LIMITS.depth
    )
    files: Annotated[int, Field(ge=1), Env("FUMISHIRUBE_LIMIT_FILES")] = DEFAULT_LIMITS.files


class ListingSettings(ConfigModel):
    """Which files of a manual are listed: hidden ones, and which ignore files apply.

    A ``.fumishirubeignore`` always applies; a ``.gitignore`` with ``gitignore``.
    """

    hidden: Annotated[bool, Env("FUMISHIRUBE_LIST_HIDDEN")] = ALL_BUT_HIDDEN.hidden
    gitignore: Annotated[bool, Env("FUMISHIRUBE_HEED_GITIGNORE")] = False

    @property
    def listing(self) -> Listing:
        """Return the listing of a root."""
        names = (".gitignore", IGNORE_FILE) if self.gitignore else (IGNORE_FILE,)
        return Listing(self.hidden, names)


class TraceSettings(ConfigModel):
    """How many traces are stored, and for how many seconds.

    ``files`` stores them on disk too; only then can another process explain a search.
    """

    keep: Annotated[int, Field(ge=1), Env("TRACE_MAX_KEEP")] = 100
    seconds: Annotated[int, Field(ge=1), Env("TRACE_TTL_SEC")] = 1800
    files: bool = True


class CacheSettings(ConfigModel):
    """Whether answers are cached, for how long, and how similar a query must be.

    ``embedder`` is the name of an embedder; with ``none`` only an equal query is answered from the
    cache. An answer with more gaps or conflicts than the limits is searched again; -1 sets no
    limit.
    """

    enabled: Annotated[bool, Env("SEM_CACHE_ENABLED")] = True
    seconds: Annotated[int, Field(ge=1), Env("SEM_CACHE_TTL_SEC")] = 1800
    keep: Annotated[int, Field(ge=1), Env("SEM_CACHE_MAX_KEEP")] = 500
    embedder: Annotated[str, Env("SEM_CACHE_EMBEDDING_PROVIDER")] = NO_EMBEDDER
    similarity: Annotated[float, Field(ge=0, le=1), Env("SEM_CACHE_SIM_THRESHOLD")] = 0.92
    gaps: Annotated[int, Field(ge=-1), Env("SEM_CACHE_MAX_SUMMARY_GAP")] = -1
    conflicts: Annotated[int, Field(ge=-1), Env("SEM_CACHE_MAX_SUMMARY_CONFLICT")] = -1


class AdaptiveSettings(ConfigModel):
    """Where statistics of searches are written, and how they tune the thresholds of thin results.

    Without ``tuning`` the thresholds stay as set here; statistics are still written. Those in the
    vault are written only while its folder exists, since a search does not create it.
    """

    tuning: Annotated[bool, Env("ADAPTIVE_TUNING")] = True
    file: Annotated[str, Field(min_length=1), Env("ADAPTIVE_STATS_PATH")] = (
        "${VAULT_ROOT}/.system/adaptive_stats.jsonl"
    )
    min_recall: Annotated[float, Field(ge=0, le=1), Env("ADAPTIVE_MIN_RECALL")] = 0.9
    candidate_low: Annotated[int, Field(ge=1, le=50), Env("ADAPTIVE_CANDIDATE_LOW_BASE")] = (
        Thresholds().candidate_low
    )
    file_bias: Annotated[float, Field(ge=0, le=1), Env("ADAPTIVE_FILE_BIAS_BASE")] = (
        Thresholds().file_bias
    )


class ServerSettings(ConfigModel):
    """The address of the HTTP server; ``base_path`` begins every route."""

    host: Annotated[str, Field(min_length=1), Env("FUMISHIRUBE_SERVER_HOST")] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535), Env("FUMISHIRUBE_SERVER_PORT")] = 8765
    base_path: Annotated[
        str,
        # No part begins with a dot: clients resolve /.. themselves, and never reach it.
        Field(pattern=r"^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$", examples=["/manuals"]),
        Env("FUMISHIRUBE_SERVER_BASE_PATH"),
    ] = "/"


class SecuritySettings(ConfigModel):
    """Which hosts may connect over HTTP, or be connected to.

    ``allow_remote`` permits addresses other than this machine's own. ``allowed_hosts`` are further
    host names by which a request may call the server.
    """

    allow_remote: Annotated[bool, Env("FUMISHIRUBE_SECURITY_ALLOW_REMOTE")] = False
    allowed_hosts: Annotated[tuple[str, ...], Env("FUMISHIRUBE_SECURITY_ALLOWED_HOSTS")] = ()
