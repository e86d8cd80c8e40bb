"""The settings of a server for people: checked together, with what to do about each fault."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from fumishirube import ConfigError
from fumishirube.serving import LoadedConfig, process_settings
from fumishirube_http.people.authentication import SignIn
from fumishirube_http.people.file import PeopleFile
from fumishirube_http.people.provider import IdentityProvider, resource_metadata
from fumishirube_http.people.users_command import people_file
from fumishirube_http.settings import check_access, host_name, is_loopback, plain_address

_WELL_KNOWN = "/.well-known/oauth-protected-resource"


@dataclass(frozen=True)
class TeamSettings:
    """The people file, the way to sign in, documents for anybody by path, and host names."""

    file: PeopleFile
    sign_in: SignIn
    documents: Mapping[str, Mapping[str, object]]
    hosts: frozenset[str]


def team_settings(options: Namespace, loaded: LoadedConfig) -> TeamSettings | None:
    """Return the settings of a server for people; ``None`` without a people file.

    Raises:
        ConfigError: when they contradict each other, or the people file cannot be used.
    """
    process = process_settings(loaded.environ)
    file = people_file(options)
    if file is None:
        _check_unused(loaded)
        return None
    if process.token:
        raise ConfigError(
            "FUMISHIRUBE_HTTP_TOKEN: with people, each has a token; unset the variable"
        )
    check_access(loaded)
    file.check_place(loaded)
    file.people()
    base = loaded.config.server.base_path.rstrip("/")
    public = _host(process.public_url)
    hosts = frozenset((*loaded.config.security.allowed_hosts, *([public] if public else [])))
    if not process.issuer:
        _check_unset(
            "it belongs to FUMISHIRUBE_ISSUER; name the issuer, or unset the variable",
            **_of_issuer(loaded),
        )
        return TeamSettings(file, SignIn(file), {}, hosts)
    if not process.public_url:
        raise ConfigError(
            "FUMISHIRUBE_PUBLIC_URL: it is needed with FUMISHIRUBE_ISSUER: the address at which "
            "people reach this server, such as https://manuals.example.com"
        )
    _check_secure("FUMISHIRUBE_ISSUER", process.issuer)
    if process.jwks_url:
        _check_secure("FUMISHIRUBE_JWKS_URL", process.jwks_url)
    resource = f"{process.public_url.rstrip('/')}{base}/mcp"
    metadata = resource_metadata(resource, process.issuer)
    provider = IdentityProvider(process.issuer, process.audience or resource, process.jwks_url)
    way = f"{process.public_url.rstrip('/')}{_WELL_KNOWN}{base}/mcp"
    sign_in = SignIn(file, provider, f'Bearer resource_metadata="{way}"')
    documents = dict.fromkeys((_WELL_KNOWN, f"{_WELL_KNOWN}{base}/mcp"), metadata)
    return TeamSettings(file, sign_in, documents, hosts)


def proxies(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the addresses of the named proxies; only they may then connect.

    Raises:
        ConfigError: for what is no IP address.
    """
    named = (process_settings(environ).proxies or "").replace(",", " ").split()
    try:
        return frozenset(plain_address(address) for address in named)
    except ValueError as error:
        raise ConfigError(
            "FUMISHIRUBE_PROXIES: expected IP addresses, separated by commas"
        ) from error


def check_no_people(loaded: LoadedConfig) -> None:
    """Check that the environment does not name people, for a server that signs nobody in.

    Raises:
        ConfigError: when it does.
    """
    _check_unset(
        "only 'fumishirube serve --http' signs people in; use it, or unset the variable",
        FUMISHIRUBE_PEOPLE=process_settings(loaded.environ).people,
    )
    _check_unused(loaded)


def _check_unused(loaded: LoadedConfig) -> None:
    """Check that nothing is set that would have no effect without people."""
    process = process_settings(loaded.environ)
    _check_unset(
        "only a server for people uses it; name the people file with --people FILE, or unset the "
        "variable",
        FUMISHIRUBE_ISSUER=process.issuer,
        FUMISHIRUBE_PROXIES=process.proxies,
        FUMISHIRUBE_PUBLIC_URL=process.public_url,
        **_of_issuer(loaded),
    )


def _of_issuer(loaded: LoadedConfig) -> dict[str, str | None]:
    """Return the variables that describe the issuer."""
    process = process_settings(loaded.environ)
    return {"FUMISHIRUBE_AUDIENCE": process.audience, "FUMISHIRUBE_JWKS_URL": process.jwks_url}


def _check_unset(why: str, **variables: str | None) -> None:
    for variable, value in variables.items():
        if value:
            raise ConfigError(f"{variable}: {why}")


def _check_secure(variable: str, url: str) -> None:
    if not _is_secure(url):
        raise ConfigError(f"{variable}: expected an https URL")


def _is_secure(url: str) -> bool:
    parts = urlsplit(url)
    local = parts.scheme == "http" and is_loopback(parts.hostname or "")
    return local or parts.scheme == "https"


def _host(url: str | None) -> str | None:
    """Return the host name of the public address, by which requests may call the server."""
    if url is None:
        return None
    parts = urlsplit(url)
    name = host_name(parts.netloc)
    if not _is_secure(url) or name is None or parts.path.strip("/") or parts.query:
        raise ConfigError("FUMISHIRUBE_PUBLIC_URL: expected https://HOST, without a path")
    return name
