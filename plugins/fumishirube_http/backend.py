"""The backend, a server that runs the tools: its configuration, and serving through it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from fumishirube import ConfigError
from fumishirube.commands import Application
from fumishirube.serving import LoadedConfig, ToolWrapper, process_settings, serve_stdio
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
    if parts.scheme not in ("http", "https") or not host or not url.isprintable():
        raise ConfigError(f"{_VARIABLE}: expected an http or https URL, or 'default'")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(
            f"{_VARIABLE}: leave out the user and the password; the token goes into "
            "FUMISHIRUBE_HTTP_TOKEN"
        )
    if "?" in url or "#" in url:
        raise ConfigError(f"{_VARIABLE}: leave out what begins with '?' or '#'")
    if not remote and not is_loopback(host):
        raise ConfigError(
            f"{_VARIABLE}: {host[:80]!r} is another machine; set security.allow_remote to ask it"
        )
    return url.rstrip("/")


def add_arguments(parser: ArgumentParser) -> None:
    """Add no option: a command line would show the secrets of the address."""


def run(options: Namespace) -> int:
    """Serve over standard input and output; the backend runs the tools with endpoints."""
    return serve_stdio(options, _through)


def _through(application: Application) -> ToolWrapper:
    from fumishirube_http.bridge import bridge_tools  # noqa: PLC0415 - its client takes a while

    return partial(bridge_tools, backend=configured_backend(application.loaded))
