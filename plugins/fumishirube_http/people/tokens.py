"""The tokens of people: made here, so that they cannot be guessed, and stored as hashes."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

_BYTES = 32
_ID_BYTES = 8
_FORM = re.compile(r"fumi_([0-9a-f]{16})_[A-Za-z0-9_-]{43}", re.ASCII)
_NO_HASH = hashlib.sha256(b"").hexdigest()


def new_token() -> tuple[str, str]:
    """Return a token with 256 random bits, and the public id inside it.

    A token is never chosen by a person. So a plain SHA-256 suffices: there is no list of likely
    tokens to try, which slow hashes are made against.
    """
    identity = secrets.token_hex(_ID_BYTES)
    return f"fumi_{identity}_{secrets.token_urlsafe(_BYTES)}", identity


def token_id(token: str) -> str | None:
    """Return the public id inside a token; ``None`` if it is no token of people."""
    match = _FORM.fullmatch(token)
    return match[1] if match else None


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def is_token(token: str, stored: str | None) -> bool:
    """Tell whether a token has the stored hash; takes as long without one, or with another."""
    same = hmac.compare_digest(token_hash(token), stored or _NO_HASH)
    return same and stored is not None
