"""Tokens of an identity provider: JWTs that it has signed for this server (RFC 9068, RFC 9728)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import httpx2
import jwt

_log = logging.getLogger("fumishirube.http")

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
"""Signatures with a private key; a shared secret, or none, never counts."""
FRESH = 600.0
"""Seconds for which the provider's keys are not fetched again."""
PAUSE = 10.0
"""Seconds between two fetches: tokens with unknown keys cannot make the server fetch more."""
LEEWAY = 30.0
"""Seconds by which the clocks may differ."""
_SECONDS = 5.0
_UNUSABLE = (httpx2.HTTPError, jwt.PyJWTError, ValueError, LookupError, TypeError, AttributeError)
"""What an answer of the provider may raise, whatever JSON it is."""
_MOST = 1024 * 1024
_LONGEST = 16 * 1024


class VerifiedToken(NamedTuple):
    """Whom a token is for, and until when it counts, in seconds of the Unix epoch."""

    subject: str
    expires: float


class IdentityProvider:
    """Checks signature, issuer, audience and times of a token with the provider's public keys.

    Without ``jwks_url``, the keys are where the issuer's OpenID configuration says.
    """

    def __init__(
        self,
        issuer: str,
        audience: str,
        jwks_url: str | None = None,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._issuer = issuer
        self._audience = audience
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: Mapping[str | None, jwt.PyJWK] = {}
        self._fetched = -FRESH
        self._lock = Lock()

    def knows(self, token: str) -> bool:
        """Tell whether a token names a known key, so that it need not wait for one."""
        try:
            return (
                len(token) <= _LONGEST and jwt.get_unverified_header(token).get("kid") in self._keys
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return False

    def verified(self, token: str) -> VerifiedToken | None:
        """Return whom a token is for, and how long; ``None`` if it does not count here."""
        if len(token) > _LONGEST:
            return None
        try:
            header = jwt.get_unverified_header(token)
            key = self._key(header.get("kid"))
            if key is None or header.get("alg") not in ALGORITHMS:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError):
            return None
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            return None
        return VerifiedToken(subject, float(claims["exp"]) + LEEWAY)

    def _key(self, identity: str | None) -> jwt.PyJWK | None:
        """Return a key of the provider, fetched again if it is unknown or the keys are old.

        A known key does not wait while another thread fetches.
        """
        if not self._lock.acquire(blocking=identity not in self._keys):
            return self._keys.get(identity)
        try:
            age = self._clock() - self._fetched
            if age >= FRESH or (identity not in self._keys and age >= PAUSE):
                try:
                    self._keys = self._fetch()
                except _UNUSABLE as error:
                    _log.warning("the identity provider's keys: %s", type(error).__name__)
                finally:
                    self._fetched = self._clock()
            return self._keys.get(identity)
        finally:
            self._lock.release()

    def _fetch(self) -> Mapping[str | None, jwt.PyJWK]:
        with httpx2.Client(timeout=_SECONDS, follow_redirects=False) as client:
            keys = _json(client, self._jwks_url or self._discovered(client))["keys"]
        usable = {}
        for described in keys:
            if described.get("use", "sig") == "sig" and described.get("kty") != "oct":
                try:
                    usable[described.get("kid")] = jwt.PyJWK(described)
                except jwt.PyJWTError:
                    continue  # of an algorithm that is unknown here
        return usable

    def _discovered(self, client: httpx2.Client) -> str:
        """Return the address of the keys in the issuer's OpenID configuration."""
        described = _json(client, f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if described["issuer"] != self._issuer:
            raise ValueError("the configuration is of another issuer")
        address: str = described["jwks_uri"]
        if self._issuer.startswith("https://") and not address.startswith("https://"):
            raise ValueError("the keys are not behind https")
        return address


def resource_metadata(resource: str, issuer: str) -> Mapping[str, object]:
    """Return the metadata of a protected resource, which tell clients where to sign in."""
    return {
        "resource": resource,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "Fumishirube",
    }


def _json(client: httpx2.Client, address: str) -> Any:
    with client.stream("GET", address) as response:
        response.raise_for_status()
        content = b""
        for part in response.iter_bytes():
            content += part
            if len(content) > _MOST:
                raise ValueError("the answer is too large")
    return httpx2.Response(200, content=content).json()
