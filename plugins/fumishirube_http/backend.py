"""The server at which tools run, if the environment names one."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from fumishirube import ConfigError
from fumishirube.serving import LoadedConfig, process_settings
from fumishirube_http.addresses import is_loopback

_VARIABLE = "MANUAL_TOOLS_BASE_URL"


@dataclass(frozen=True)
class Backend:
    """The server that is asked; ``name`` is how messages call it."""

    url: str
    name: str
    timeout: float
    retries: int
    token: str | None = None


def configured_backend(loaded: LoadedConfig) -> Backend | None:
    """Return the backend that the environment names, if it does.

    Raises:
        ConfigError: when it is no address that may be asked.
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
    """Return an address that may be asked; no message repeats it, for it may hold secrets."""
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
