"""Settings of one process, which only the environment decides."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fumishirube.config.validation import build_model
from fumishirube.stages import Env


class ProcessSettings(BaseModel):
    """Settings that no file of a workspace may set: secrets, addresses, and logging.

    ``token`` must be in every request to the HTTP server. ``backend`` is the server to which tools
    are forwarded, each call within ``timeout`` seconds, ``retries`` included.

    ``people`` is the file of the people who may use the HTTP server. ``certificate`` and ``key``
    are its TLS files; ``proxies`` are the addresses from which a proxy with TLS connects instead.
    ``public_url`` is how people reach it. ``issuer``, ``audience`` and ``jwks_url`` belong to the
    identity provider whose tokens count too. Requests in progress have ``grace`` seconds to end
    when the server is stopped. Tools are listed without ``output_schemas`` for clients that show
    these to the model. Without ``reload``, changes of the configuration wait for the next start.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    token: Annotated[str | None, Env("FUMISHIRUBE_HTTP_TOKEN")] = None
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"] | None, Env("FUMISHIRUBE_LOG_LEVEL")
    ] = None
    output_schemas: Annotated[bool, Env("FUMISHIRUBE_OUTPUT_SCHEMAS")] = True
    reload: Annotated[bool, Env("FUMISHIRUBE_RELOAD")] = True
    backend: Annotated[str | None, Env("MANUAL_TOOLS_BASE_URL")] = None
    timeout: Annotated[float, Field(gt=0, le=3600), Env("FUMISHIRUBE_BRIDGE_TIMEOUT_SECONDS")] = (
        10.0
    )
    retries: Annotated[int, Field(ge=0, le=10), Env("FUMISHIRUBE_BRIDGE_RETRIES")] = 2
    people: Annotated[str | None, Env("FUMISHIRUBE_PEOPLE")] = None
    certificate: Annotated[str | None, Env("FUMISHIRUBE_TLS_CERTIFICATE")] = None
    key: Annotated[str | None, Env("FUMISHIRUBE_TLS_KEY")] = None
    proxies: Annotated[str | None, Env("FUMISHIRUBE_PROXIES")] = None
    public_url: Annotated[str | None, Env("FUMISHIRUBE_PUBLIC_URL")] = None
    issuer: Annotated[str | None, Env("FUMISHIRUBE_ISSUER")] = None
    audience: Annotated[str | None, Env("FUMISHIRUBE_AUDIENCE")] = None
    jwks_url: Annotated[str | None, Env("FUMISHIRUBE_JWKS_URL")] = None
    grace: Annotated[float, Field(ge=0, le=600), Env("FUMISHIRUBE_GRACE_SECONDS")] = 1.0


def process_settings(environ: Mapping[str, str]) -> ProcessSettings:
    """Return the settings.

    Raises:
        ConfigError: naming the variable whose value is unusable.
    """
    return build_model(ProcessSettings, {}, "", environ, {})
