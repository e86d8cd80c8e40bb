"""Settings of HTTP: the address of the server, and its clients."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from fumishirube.stages import Env


class _HostingModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class ServerSettings(_HostingModel):
    """The address of the HTTP server; ``base_path`` begins every route."""

    host: Annotated[str, Field(min_length=1), Env("FUMISHIRUBE_SERVER_HOST")] = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65535), Env("FUMISHIRUBE_SERVER_PORT")] = 8765
    base_path: Annotated[
        str, Field(pattern=r"^(/[A-Za-z0-9._~-]+)*/?$"), Env("FUMISHIRUBE_SERVER_BASE_PATH")
    ] = "/"


class SecuritySettings(_HostingModel):
    """Which hosts may connect over HTTP, or be connected to.

    ``allow_remote`` permits addresses other than this machine's own. ``allowed_hosts`` are further
    host names by which a request may call the server.
    """

    allow_remote: Annotated[bool, Env("FUMISHIRUBE_SECURITY_ALLOW_REMOTE")] = False
    allowed_hosts: Annotated[tuple[str, ...], Env("FUMISHIRUBE_SECURITY_ALLOWED_HOSTS")] = ()
