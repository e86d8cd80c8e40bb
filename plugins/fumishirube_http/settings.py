"""The address and the access settings of the HTTP server, checked against each other."""

from __future__ import annotations

import re
from ipaddress import ip_address

from fumishirube import ConfigError
from fumishirube.serving import LoadedConfig, process_settings

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The host names of this machine."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::[0-9]{1,5})?")
_PORT = re.compile(r"[0-9]{1,5}")
_LAST_PORT = 65535
SHORTEST_TOKEN = 16
"""The fewest characters of a token."""


def address(loaded: LoadedConfig, requested: str | None) -> tuple[str, int]:
    """Return the host and port to serve at; ``requested`` is ``HOST:PORT``, ``PORT`` or ``None``.

    Raises:
        ConfigError: for a malformed address; for one open to the network without permission or
            token.
    """
    server, security = loaded.config.server, loaded.config.security
    host, port = server.host.strip("[]"), server.port
    if requested:
        before, _, after = requested.rpartition(":")
        if not _PORT.fullmatch(after) or int(after) > _LAST_PORT:
            expectation = f"with a port of at most {_LAST_PORT}, such as 127.0.0.1:{port}"
            raise ConfigError(f"--http: expected HOST:PORT {expectation}; got {requested[:80]!r}")
        host, port = before.strip("[]") or host, int(after)
    if not is_loopback(host):
        if not security.allow_remote:
            raise ConfigError(
                f"server.host: {host!r} is reached from other machines; set "
                "security.allow_remote and FUMISHIRUBE_HTTP_TOKEN, or serve at 127.0.0.1"
            )
        if not process_settings(loaded.environ).token:
            raise ConfigError(
                f"FUMISHIRUBE_HTTP_TOKEN: it is needed to serve at {host!r}, "
                "which is reached from other machines"
            )
    return host, port


def check_access(loaded: LoadedConfig) -> None:
    """Raise a :class:`ConfigError` for a malformed host name, or a short token."""
    for place, host in enumerate(loaded.config.security.allowed_hosts):
        if host_name(host) != host.lower():
            raise ConfigError(
                f"security.allowed_hosts[{place}]: expected a host name without a port, "
                f"got {host[:80]!r}"
            )
    token = process_settings(loaded.environ).token
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise ConfigError(
            f"FUMISHIRUBE_HTTP_TOKEN: use at least {SHORTEST_TOKEN} characters, such as "
            "'python -c \"import secrets; print(secrets.token_urlsafe())\"' prints"
        )


def host_name(value: str) -> str | None:
    """Return the host of ``host:port`` in lower case; ``None`` if the value is malformed."""
    match = _HOST.fullmatch(value.strip().lower())
    return match["name"] if match else None


def is_loopback(host: str) -> bool:
    """Return whether a name or address is of this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
