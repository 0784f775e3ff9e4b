"""Room tokens and tokens for the HTTP API, as LiveKit's SDK builds them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Self

from ..errors import TokenError

DEFAULT_TTL = timedelta(hours=6)
_LEEWAY_SECONDS = 60


@dataclass(slots=True)
class VideoGrants:
    """What a token permits (docs/protocol/connecting.md, "Token"). The names are LiveKit's."""

    room_create: bool | None = None
    room_list: bool | None = None
    room_record: bool | None = None
    room_admin: bool | None = None
    room_join: bool | None = None
    room: str = ""
    can_publish: bool = True
    can_subscribe: bool = True
    can_publish_data: bool = True
    can_publish_sources: list[str] | None = None
    can_update_own_metadata: bool | None = None
    hidden: bool | None = None
    agent: bool | None = None


@dataclass(slots=True)
class RoomAgentDispatch:
    """An assistant that is sent to the room that a token opens."""

    agent_name: str = ""
    metadata: str = ""


@dataclass(slots=True)
class RoomConfiguration:
    """The room that a token opens. None means the gateway's default; timeouts are in seconds."""

    empty_timeout: int | None = None
    departure_timeout: int | None = None
    max_participants: int | None = None
    metadata: str | None = None
    agents: list[RoomAgentDispatch] = field(default_factory=list)


class AccessToken:
    """Builds a token.

        token = AccessToken(key, secret).with_identity("alice").with_grants(
            VideoGrants(room_join=True, room="lobby")).to_jwt()

    Args:
        api_key: the issuer; the environment variable `PATCHBAY_API_KEY` by default.
        api_secret: its secret; `PATCHBAY_API_SECRET` by default.

    Raises:
        TokenError: key or secret are missing.
    """

    def __init__(self, api_key: str | None = None, api_secret: str | None = None) -> None:
        self._key, self._secret = credentials(api_key, api_secret)
        self._identity = ""
        self._ttl = DEFAULT_TTL
        self._claims: dict[str, Any] = {}

    def with_identity(self, identity: str) -> Self:
        """The participant's identity, unique in the room."""
        self._identity = identity
        return self

    def with_ttl(self, ttl: timedelta | int) -> Self:
        """How long the token is valid; an integer is in seconds."""
        self._ttl = ttl if isinstance(ttl, timedelta) else timedelta(seconds=ttl)
        return self

    def with_grants(self, grants: VideoGrants) -> Self:
        """What the token permits."""
        self._claims["video"] = _camel(grants)
        return self

    def with_name(self, name: str) -> Self:
        """The participant's name for display."""
        self._claims["name"] = name
        return self

    def with_kind(self, kind: str) -> Self:
        """The participant's kind: `standard`, `agent`, …."""
        self._claims["kind"] = kind
        return self

    def with_metadata(self, metadata: str) -> Self:
        """The participant's metadata."""
        self._claims["metadata"] = metadata
        return self

    def with_attributes(self, attributes: dict[str, str]) -> Self:
        """The participant's attributes."""
        self._claims["attributes"] = attributes
        return self

    def with_room_config(self, config: RoomConfiguration) -> Self:
        """The room that this token opens, if it opens one."""
        claims = _camel(config)
        claims["agents"] = [_camel(agent) for agent in config.agents]
        self._claims["roomConfig"] = claims
        return self

    def with_session(self, session_id: str) -> Self:
        """The session that the token is bound to."""
        self._claims["session_id"] = session_id
        return self

    def with_text(self, text: bool) -> Self:
        """Whether human-readable text may be sent to the participant; not to a car's display, for example."""
        self._claims["patchbay"] = {"text": text}
        return self

    def with_sha256(self, sha256: str) -> Self:
        """The digest of a body that the token signs."""
        self._claims["sha256"] = sha256
        return self

    def to_jwt(self) -> str:
        """The token.

        Raises:
            TokenError: it would admit to a room without an identity.
        """
        video = self._claims.get("video", {})
        if video.get("roomJoin") and (not self._identity or not video.get("room")):
            raise TokenError(
                "a token with room_join needs an identity and a room; call with_identity, set VideoGrants.room"
            )
        now = int(time.time())
        claims = {"iss": self._key, "nbf": now, "exp": now + int(self._ttl.total_seconds())} | self._claims
        if self._identity:
            claims["sub"] = self._identity
        return sign(claims, self._secret)


@dataclass(frozen=True, slots=True)
class Claims:
    """A verified token's claims. `raw` has all of them."""

    issuer: str
    identity: str
    video: dict[str, Any]
    sha256: str
    raw: dict[str, Any]


class TokenVerifier:
    """Verifies tokens that are signed with one key."""

    def __init__(self, api_key: str | None = None, api_secret: str | None = None) -> None:
        self._key, self._secret = credentials(api_key, api_secret)

    def verify(self, token: str) -> Claims:
        """Returns the claims of a valid token.

        Raises:
            TokenError: the token is malformed, forged or expired.
        """
        parts = token.split(".")
        if len(parts) != 3:
            raise TokenError("this is no token; pass the header's value without a scheme")
        signed = f"{parts[0]}.{parts[1]}"
        expected = _signature(signed, self._secret)
        if not hmac.compare_digest(expected, parts[2]):
            raise TokenError("the token's signature is wrong; check the API secret")
        try:
            head, claims = (json.loads(_decoded(part)) for part in parts[:2])
            algorithm, issuer = head["alg"], claims["iss"]
            expiry, start = int(claims["exp"]), int(claims.get("nbf", 0))
        except (ValueError, KeyError, TypeError) as error:
            raise TokenError(f"the token is malformed: {error!r}") from error
        now = time.time()
        if algorithm != "HS256":
            raise TokenError(f"the token's algorithm is {algorithm}, and HS256 is expected")
        if issuer != self._key:
            raise TokenError(f"the token was issued with the key {issuer}, and {self._key} is expected")
        if now > expiry + _LEEWAY_SECONDS:
            raise TokenError("the token has expired; compare the clocks of both machines")
        if now < start - _LEEWAY_SECONDS:
            raise TokenError("the token is not valid yet; compare the clocks of both machines")
        return Claims(issuer, claims.get("sub", ""), claims.get("video") or {}, claims.get("sha256", ""), claims)


def sign(claims: dict[str, Any], secret: str) -> str:
    """A JWT with HS256 (RFC 7515)."""
    head = {"alg": "HS256", "typ": "JWT"}
    signed = ".".join(_encoded(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
    return f"{signed}.{_signature(signed, secret)}"


def credentials(api_key: str | None, api_secret: str | None) -> tuple[str, str]:
    """Key and secret, from the environment where they are not given."""
    key = api_key or os.environ.get("PATCHBAY_API_KEY", "")
    secret = api_secret or os.environ.get("PATCHBAY_API_SECRET", "")
    if not key or not secret:
        raise TokenError(
            "there is no API key; pass api_key and api_secret, or set PATCHBAY_API_KEY and PATCHBAY_API_SECRET"
        )
    return key, secret


def _camel(values: Any) -> dict[str, Any]:
    """A dataclass as JSON with camel case, without what is None."""
    result = {}
    for item in fields(values):
        value = getattr(values, item.name)
        if value is not None:
            first, *rest = item.name.split("_")
            result[first + "".join(word.capitalize() for word in rest)] = value
    return result


def _signature(signed: str, secret: str) -> str:
    return _encoded(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
