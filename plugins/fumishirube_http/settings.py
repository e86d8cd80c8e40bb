"""The address and the access settings of the HTTP server, checked against each other."""

from __future__ import annotations

import re
import ssl
from ipaddress import IPv6Address, ip_address

from fumishirube import ConfigError
from fumishirube.serving import LoadedConfig, process_settings

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:/@\s]+)(?::[0-9]{1,5})?")
_PORT = re.compile(r"[0-9]{1,5}")
_LAST_PORT = 65535
SHORTEST_TOKEN = 16
"""The fewest characters of a token."""


def address(loaded: LoadedConfig, requested: str | None, *, people: bool) -> tuple[str, int]:
    """Return the host and port to serve at; ``requested`` is ``HOST:PORT``, ``PORT`` or ``None``.

    ``people`` tells whether people sign in.

    Raises:
        ConfigError: for a malformed address; for one open to the network without permission, TLS
            and people.
    """
    server = loaded.config.server
    host, port = server.host.strip("[]"), server.port
    if requested:
        before, _, after = requested.rpartition(":")
        if not _PORT.fullmatch(after) or int(after) > _LAST_PORT:
            expectation = f"with a port of at most {_LAST_PORT}, such as 127.0.0.1:{port}"
            raise ConfigError(f"--http: expected HOST:PORT {expectation}; got {requested[:80]!r}")
        host, port = before.strip("[]") or host, int(after)
    if not is_loopback(host):
        _check_remote(loaded, host, people=people)
    return host, port


def tls_files(loaded: LoadedConfig) -> tuple[str, str] | None:
    """Return the files of the certificate and its key, if the environment names them.

    Raises:
        ConfigError: when only one is named, or one cannot be read.
    """
    settings = process_settings(loaded.environ)
    if settings.certificate is None and settings.key is None:
        return None
    if settings.certificate is None or settings.key is None:
        missing = "FUMISHIRUBE_TLS_KEY" if settings.certificate else "FUMISHIRUBE_TLS_CERTIFICATE"
        raise ConfigError(f"{missing}: a certificate and its key are named together")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.certificate, settings.key)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        raise ConfigError(
            "FUMISHIRUBE_TLS_CERTIFICATE: the certificate and its key cannot be read as PEM, or "
            "do not belong together"
        ) from error
    return settings.certificate, settings.key


def _check_remote(loaded: LoadedConfig, host: str, *, people: bool) -> None:
    """Raise unless a server for other machines is permitted, and its people sign in over TLS."""
    if not loaded.config.security.allow_remote:
        raise ConfigError(
            f"server.host: {host!r} is reached from other machines; set security.allow_remote, "
            "and see docs/team.md for people and TLS, or serve at 127.0.0.1"
        )
    if not people:
        raise ConfigError(
            f"--people: it is needed to serve at {host!r}, which is reached from other machines; "
            "make the file with 'fumishirube users --people FILE add NAME --read manuals'"
        )
    if tls_files(loaded) is None and not process_settings(loaded.environ).proxies:
        raise ConfigError(
            f"FUMISHIRUBE_TLS_CERTIFICATE: TLS is needed to serve at {host!r}, which is reached "
            "from other machines: name a certificate and its key (FUMISHIRUBE_TLS_KEY), or the "
            "addresses of the proxy that has TLS (FUMISHIRUBE_PROXIES)"
        )


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


def plain_address(text: str) -> str:
    """Return an IP address in its usual form; one of IPv4 inside IPv6 is that of IPv4.

    A socket for both names its IPv4 clients ``::ffff:10.0.0.1``.

    Raises:
        ValueError: for anything else.
    """
    address = ip_address(text)
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(inner or address)
