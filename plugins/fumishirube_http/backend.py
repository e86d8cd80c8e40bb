"""The configuration of the backend, the server that runs the tools."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from fumishirube import ConfigError
from fumishirube.serving import LoadedConfig, process_settings
from fumishirube_http.settings import is_loopback

_VARIABLE = "MANUAL_TOOLS_BASE_URL"


@dataclass(frozen=True)
class Backend:
    """The address, token and limits of a backend; ``name`` is its name in messages."""

    url: str
    name: str
    timeout: float
    retries: int
    token: str | None = None


def configured_backend(loaded: LoadedConfig) -> Backend | None:
    """Return the backend in the environment variable, or ``None``.

    Raises:
        ConfigError: when its address is not allowed.
    """
    settings = process_settings(loaded.environ)
    if settings.backend is None:
        return None
    server = loaded.config.server
    url = f"http://127.0.0.1:{server.port}{server.base_path.rstrip('/')}"
    if settings.backend != "default":
        url = _checked(settings.backend, remote=loaded.config.security.allow_remote)
    name = urlsplit(url).netloc
    return Backend(url, name, settings.timeout, settings.retries, settings.token)


def _checked(url: str, *, remote: bool) -> str:
    """Return an allowed address. Messages never repeat it, because it may contain secrets."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{_VARIABLE}: it is no URL") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(f"{_VARIABLE}: expected an http or https URL, or 'default'")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"{_VARIABLE}: leave out the user and the password; the token goes into "
            "FUMISHIRUBE_HTTP_TOKEN"
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"{_VARIABLE}: leave out what begins with '?' or '#'")
    if not remote and not is_loopback(host):
        raise ConfigError(
            f"{_VARIABLE}: {host[:80]!r} is another machine; set security.allow_remote to ask it"
        )
    return url.rstrip("/")
