"""Authentication: which person makes a request, by the bearer token that it sends."""

from __future__ import annotations

import logging
from typing import NamedTuple

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import Headers

from fumishirube import ConfigError
from fumishirube_http.people.file import People, PeopleFile
from fumishirube_http.people.provider import IdentityProvider
from fumishirube_http.people.records import Person
from fumishirube_http.people.tokens import is_token, token_id
from fumishirube_http.problems import Problem, forbidden, unauthorized
from fumishirube_http.server_token import bearer_token

CHECKED_AT_ONCE = 8
"""Tokens of the provider that are checked at once, and as many more that may wait for its keys."""

_log = logging.getLogger("fumishirube.http")


class SignedIn(NamedTuple):
    """A person and the name; until when the token counts, in seconds of the Unix epoch."""

    name: str
    person: Person
    expires: float | None = None


class SignIn:
    """Finds the person of a request in the people file, by token or by subject.

    ``challenge`` is the header with which a client learns how to sign in.
    """

    def __init__(
        self, file: PeopleFile, provider: IdentityProvider | None = None, challenge: str = "Bearer"
    ) -> None:
        self._file = file
        self._provider = provider
        self._challenge = challenge
        self._checks = CapacityLimiter(CHECKED_AT_ONCE)
        self._waiting = CapacityLimiter(CHECKED_AT_ONCE)

    async def person(self, headers: Headers) -> SignedIn:
        """Return the person of a request.

        Raises:
            Problem: a 401 without a token that counts, a 403 for a token of the provider whose
                subject is nobody here, a 503 while the people file cannot be used.
        """
        try:
            people = self._file.people()
        except ConfigError as error:
            _log.error("%s", error)
            body = {"error": "unavailable", "message": "signing in does not work at present"}
            raise Problem(503, body, {"retry-after": "5"}) from error
        token = bearer_token(headers)
        if not token:
            raise self._unauthorized("send the header 'Authorization: Bearer TOKEN'")
        identity = token_id(token)
        if identity is not None:
            return self._by_token(people, identity, token)
        if self._provider is None:
            raise self._unauthorized("this token does not count")
        return await self._by_subject(people, token)

    def _by_token(self, people: People, identity: str, token: str) -> SignedIn:
        owners = (
            SignedIn(name, person)
            for name, person in people.items()
            if person.token and person.token.id == identity
        )
        owner = next(owners, None)
        stored = owner.person.token if owner else None
        same = is_token(token, stored.sha256 if stored else None)
        if owner is None or stored is None or not same or not stored.counts():
            raise self._unauthorized("this token does not count")
        return owner._replace(expires=stored.expires.timestamp() if stored.expires else None)

    async def _by_subject(self, people: People, token: str) -> SignedIn:
        assert self._provider is not None
        limiter = self._checks if self._provider.knows(token) else self._waiting
        verified = await to_thread.run_sync(self._provider.verified, token, limiter=limiter)
        if verified is None:
            raise self._unauthorized("this token does not count")
        for name, person in people.items():
            if person.subject == verified.subject:
                return SignedIn(name, person, verified.expires)
        raise forbidden("you are known to the identity provider, but have no rights here")

    def _unauthorized(self, message: str) -> Problem:
        return unauthorized(message, self._challenge)
