"""Tokens of an identity provider: a real HTTP server with keys, and a server that trusts it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from http_server import SECONDS
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from people_server import TeamServer, names
from starlette.datastructures import Headers

from fumishirube_http.people.authentication import CHECKED_AT_ONCE, SignIn
from fumishirube_http.people.file import PeopleFile
from fumishirube_http.people.provider import FRESH, LEEWAY, PAUSE, IdentityProvider
from fumishirube_http.problems import Problem

PUBLIC = "https://manuals.example"
AUDIENCE = f"{PUBLIC}/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"


class Issuer:
    """An identity provider at a free port of this machine; it signs with its newest key."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.fetched = 0
        self.broken = False
        self.answers = Event()
        self.answers.set()
        self.reached = Event()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.reached.set()
                issuer.answers.wait()
                known = {
                    "/.well-known/openid-configuration": issuer.configuration,
                    "/keys": issuer.jwks,
                }
                answer = known.get(self.path)
                self.send_response(500 if issuer.broken else 200 if answer else 404)
                self.end_headers()
                self.wfile.write(json.dumps(answer() if answer else {}).encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self.rotate("first")

    def configuration(self) -> dict[str, str]:
        return {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}

    def jwks(self) -> dict[str, Any]:
        self.fetched += 1
        keys = [
            {**json.loads(_algorithm(key).to_jwk(key.public_key())), "kid": kid, "use": "sig"}
            for kid, key in self.keys.items()
        ]
        shared = {"kty": "oct", "kid": "shared", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}
        return {"keys": [*keys, shared, {"kty": "new", "kid": "unknown"}]}

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Answer nothing while the body runs."""
        self.reached.clear()
        self.answers.clear()
        try:
            yield
        finally:
            self.answers.set()

    def rotate(self, kid: str) -> None:
        """Sign with a new key."""
        curve = len(self.keys) % 2
        self.keys[kid] = (
            ec.generate_private_key(ec.SECP256R1())
            if curve
            else rsa.generate_private_key(public_exponent=65537, key_size=2048)
        )

    def token(self, subject: str = "42", kid: str = "", key: Any = None, **claims: Any) -> str:
        """Return a signed token; a claim of ``None`` is left out."""
        kid = kid or [*self.keys][-1]
        key = key or self.keys[kid]
        now = int(time.time())
        usual = {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 300}
        stated = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(stated, key, algorithm=algorithm, headers={"kid": kid})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def subject(provider: IdentityProvider, token: str) -> str | None:
    """Return whom a token is for."""
    verified = provider.verified(token)
    return verified.subject if verified else None


def _algorithm(key: Any) -> Any:
    return RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.mark.slow
def test_people_of_the_provider_have_the_rights_of_the_people_file(
    issuer: Issuer, tmp_path: Path
) -> None:
    provider = {"FUMISHIRUBE_ISSUER": issuer.url, "FUMISHIRUBE_PUBLIC_URL": PUBLIC}
    with TeamServer(tmp_path, **provider) as team:
        added = team.users("add", "gen", "--subject", "42", "--read", "manuals/契約編")
        assert added.out == ""
        team.tokens["gen"] = issuer.token()
        assert names(team.call("gen", "manual_ls")) == ["契約編"]
        assert names(team.call("aiko", "manual_ls")) == ["給付編"]

        unknown = team.client.post("/mcp", json={}, headers={"host": "manuals.example"})
        assert unknown.status_code == 401
        way = unknown.headers["www-authenticate"]
        assert way == f'Bearer resource_metadata="{PUBLIC}{METADATA}"'
        metadata = team.client.get(METADATA).json()
        assert metadata["resource"] == AUDIENCE
        assert metadata["authorization_servers"] == [issuer.url]

        team.tokens["nobody"] = issuer.token("43")
        assert team.call("nobody", "manual_ls").status_code == 403
        team.tokens["late"] = issuer.token(exp=int(time.time()) - 60)
        assert team.call("late", "manual_ls").status_code == 401
        assert team.session("gen")
        assert issuer.token()[-20:] not in team.log
        assert [line["person"] for line in team.audit() if "person" in line][:1] == ["gen"]


@pytest.mark.slow
def test_a_session_ends_when_its_person_has_another_subject(issuer: Issuer, tmp_path: Path) -> None:
    provider = {"FUMISHIRUBE_ISSUER": issuer.url, "FUMISHIRUBE_PUBLIC_URL": PUBLIC}
    with TeamServer(tmp_path, **provider) as team:
        team.users("add", "gen", "--subject", "42", "--read", "manuals/契約編")
        team.tokens["gen"] = issuer.token("42")
        session = team.session("gen")
        assert team.mcp("gen", "tools/list", session).status_code == 200
        team.people.write_text(team.people.read_text().replace('"42"', '"43"'))
        assert team.call("gen", "manual_ls").status_code == 403
        team.tokens["gen"] = issuer.token("43")
        assert names(team.call("gen", "manual_ls")) == ["契約編"]
        assert team.mcp("gen", "tools/list", session).status_code == 404


@pytest.mark.slow
def test_an_open_stream_ends_with_its_token(issuer: Issuer, tmp_path: Path) -> None:
    provider = {"FUMISHIRUBE_ISSUER": issuer.url, "FUMISHIRUBE_PUBLIC_URL": PUBLIC}
    with TeamServer(tmp_path, **provider) as team:
        team.users("add", "gen", "--subject", "42", "--read", "manuals/契約編")
        team.tokens["gen"] = issuer.token()
        session = team.session("gen")
        # The clocks may differ by some seconds, so that this token counts for four more.
        team.tokens["late"] = issuer.token(exp=int(time.time() - LEEWAY) + 4)
        began = time.monotonic()
        with _stream(team, "late", session) as ending:
            assert ending.status_code == 200
            assert b"error" not in b"".join(ending.iter_raw())
        assert 1 < time.monotonic() - began < SECONDS
        assert team.mcp("late", "tools/list", session).status_code == 401
        with _stream(team, "gen", session) as again:
            assert again.status_code == 200
        assert '"result"' in team.mcp("gen", "tools/list", session).text


def _stream(team: TeamServer, name: str, session: str) -> AbstractContextManager[httpx2.Response]:
    headers = {**team.headers(name), "accept": "text/event-stream", "mcp-session-id": session}
    return team.client.stream("GET", "/mcp", headers=headers)


@pytest.mark.slow
def test_an_issuer_that_does_not_answer_holds_up_nobody_else(
    issuer: Issuer, tmp_path: Path
) -> None:
    provider = {"FUMISHIRUBE_ISSUER": issuer.url, "FUMISHIRUBE_PUBLIC_URL": PUBLIC}
    with TeamServer(tmp_path, **provider) as team:
        session = team.session("aiko")
        stranger = issuer.token(kid="unknown", key=issuer.keys["first"])
        headers = {"authorization": f"Bearer {stranger}"}
        refused: list[int] = []

        def knock() -> None:
            refused.append(client.get(f"{team.url}/docs", headers=headers).status_code)

        # One client: each makes a TLS context, which takes longer than the issuer is waited for.
        client = httpx2.Client(
            timeout=SECONDS, trust_env=False, limits=httpx2.Limits(max_connections=60)
        )
        strangers = [Thread(target=knock) for _ in range(60)]
        with issuer.silent():
            began = time.monotonic()
            for thread in strangers:
                thread.start()
            assert issuer.reached.wait(SECONDS)
            assert team.mcp("aiko", "tools/list", session).status_code == 200
            waiting = time.monotonic() - began < 5  # the issuer is given up after that
            assert not (waiting and refused)
        for thread in strangers:
            thread.join(SECONDS)
        client.close()
        assert refused == [401] * 60


def test_known_keys_count_while_the_issuer_does_not_answer(issuer: Issuer) -> None:
    now = 1000.0
    provider = IdentityProvider(issuer.url, AUDIENCE, clock=lambda: now)
    assert subject(provider, issuer.token()) == "42"
    now += PAUSE
    stranger = issuer.token(kid="unknown", key=issuer.keys["first"])
    with issuer.silent():
        fetching = Thread(target=provider.verified, args=(stranger,))
        fetching.start()
        assert issuer.reached.wait(SECONDS)
        assert subject(provider, issuer.token()) == "42"
        assert fetching.is_alive()
    fetching.join(SECONDS)


def test_tokens_with_unknown_keys_hold_up_no_known_one(issuer: Issuer, tmp_path: Path) -> None:
    now = 1000.0
    provider = IdentityProvider(issuer.url, AUDIENCE, clock=lambda: now)
    assert subject(provider, issuer.token()) == "42"
    now += PAUSE
    people = PeopleFile(tmp_path / "people.json")
    people.change(lambda nobody: nobody)
    sign_in = SignIn(people, provider)
    stranger = issuer.token(kid="unknown", key=issuer.keys["first"])

    async def status(token: str) -> int:
        with pytest.raises(Problem) as refused:
            await sign_in.person(Headers({"authorization": f"Bearer {token}"}))
        return refused.value.status

    async def crowd() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(CHECKED_AT_ONCE):
                group.start_soon(status, stranger)
            with issuer.silent():
                await anyio.to_thread.run_sync(issuer.reached.wait, SECONDS)
                with anyio.fail_after(2):
                    assert await status(issuer.token()) == 403, "known, but nobody here"

    anyio.run(crowd)


def test_only_tokens_made_for_this_server_by_this_issuer_count(issuer: Issuer) -> None:
    provider = IdentityProvider(issuer.url, AUDIENCE)
    assert subject(provider, issuer.token()) == "42"
    assert subject(provider, issuer.token(aud=["other", AUDIENCE])) == "42"
    now = int(time.time())
    for claims in (
        {"aud": "https://other.example"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": now - 120},
        {"exp": None},
        {"nbf": now + 120},
        {"sub": None},
        {"sub": ""},
    ):
        assert subject(provider, issuer.token(**claims)) is None, claims
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert subject(provider, issuer.token(key=stranger)) is None
    assert subject(provider, issuer.token()[:-4] + "AAAA") is None
    for rubbish in ("", "a.b.c", "x" * 100_000, "..", "é.ü.ß"):
        assert subject(provider, rubbish) is None


def test_no_signature_and_no_shared_secret_counts(issuer: Issuer) -> None:
    provider = IdentityProvider(issuer.url, AUDIENCE)
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    for kid in (*issuer.keys, "shared", None):
        headers = {"kid": kid} if kid else {}
        assert subject(provider, jwt.encode(claims, None, "none", headers)) is None
        for secret in (b"secret-secret-secret-secret-secret", b"x" * 64):
            assert subject(provider, jwt.encode(claims, secret, "HS256", headers)) is None


@pytest.mark.slow
def test_new_keys_are_fetched_and_unknown_ones_not_too_often(issuer: Issuer) -> None:
    now = 1000.0
    provider = IdentityProvider(issuer.url, AUDIENCE, f"{issuer.url}/keys", clock=lambda: now)
    assert subject(provider, issuer.token()) == "42"
    issuer.rotate("second")
    assert subject(provider, issuer.token()) is None
    now += PAUSE
    assert subject(provider, issuer.token()) == "42"
    assert subject(provider, issuer.token(kid="first")) == "42"
    fetched = issuer.fetched
    for _ in range(20):
        assert subject(provider, issuer.token(kid="third", key=issuer.keys["first"])) is None
    assert issuer.fetched == fetched

    del issuer.keys["first"]
    now += FRESH
    assert subject(provider, issuer.token(kid="second")) == "42"
    issuer.broken = True
    now += FRESH
    assert subject(provider, issuer.token()) == "42"


@pytest.mark.many_cases
@pytest.mark.parametrize("keys", [["no key"], [None], "keys", None, 1])
def test_keys_that_are_none_let_nobody_in(issuer: Issuer, keys: Any) -> None:
    issuer.jwks = lambda: {"keys": keys}  # type: ignore[method-assign]
    provider = IdentityProvider(issuer.url, AUDIENCE)
    assert subject(provider, issuer.token()) is None


def test_a_configuration_of_another_issuer_is_not_used(issuer: Issuer) -> None:
    provider = IdentityProvider(f"{issuer.url}/", AUDIENCE)
    assert subject(provider, issuer.token(iss=f"{issuer.url}/")) is None
