"""Which hosts, web pages and proxies may send requests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from fumishirube_http.problems import Problem, forbidden, invalid, reply
from fumishirube_http.settings import host_name, is_loopback, plain_address

TEST_HOST = "testserver"
"""The host name of requests by Starlette's test client."""
_DIRECT = ("none", "same-origin")
"""Values of Sec-Fetch-Site for requests by the user, or by a page of this server."""


class AllowedHostsMiddleware:
    """Passes on allowed requests, and answers all others with an error.

    If there are ``proxies``, only they may connect. Foreign web pages are refused: a name rebound
    to this machine's address (DNS rebinding) is not an allowed host, the Origin of another site is
    not ours, and without an Origin the browser says that another site's page sends the request.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Sequence[str], proxies: Collection[str] = ()
    ) -> None:
        self._app = app
        self._proxies = proxies
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or answer it with an error."""
        if scope["type"] == "http":
            problem = self._problem(scope)
            if problem is not None:
                await reply(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> Problem | None:
        if self._proxies and not self._is_proxy(scope):
            return forbidden("this server answers its proxy alone")
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if not self._is_host(name) and not (name == TEST_HOST and _in_process(scope)):
            message = "name this host in security.allowed_hosts, or call it 127.0.0.1"
            return invalid(f"the Host header names no host of this server; {message}")
        origins = headers.getlist("origin")
        # Browsers send no Origin with images, scripts, frames and links.
        direct = origins or headers.get("sec-fetch-site", "none") in _DIRECT
        if not direct or not all(self._is_ours(origin) for origin in origins):
            message = "requests of other sites' pages are refused; open this address by yourself"
            return forbidden(message)
        return None

    def _is_proxy(self, scope: Scope) -> bool:
        try:
            return plain_address((scope.get("client") or ("",))[0]) in self._proxies
        except ValueError:
            return False

    def _is_ours(self, origin: str) -> bool:
        scheme, _, rest = origin.partition("://")
        return scheme in ("http", "https") and self._is_host(host_name(rest))

    def _is_host(self, name: str | None) -> bool:
        """Return whether a name is of this server; an address, unlike a name, cannot be rebound."""
        return name is not None and (name in self._hosts or is_loopback(name))


def _in_process(scope: Scope) -> bool:
    """Return whether a request came from an in-process test client, which has no IP address."""
    client = scope.get("client")
    if client is None:
        return False
    try:
        ip_address(client[0])
    except ValueError:
        return True
    return False
