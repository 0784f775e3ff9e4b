"""Receives webhooks of the gateway (docs/protocol/webhooks.md)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from ..errors import TokenError
from .access_token import TokenVerifier


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A verified webhook.

    Attributes:
        event: what happened, such as `room_started`, `session_ended` or `call_answered`.
        id: the same in every attempt to deliver it: skip those you have handled.
        created_at: seconds since 1970.
        data: all members, such as `room`, `participant`, `track`, `session`, `call`.
    """

    event: str
    id: str
    created_at: int
    data: dict[str, Any]

    @property
    def room_name(self) -> str:
        """The room that the event is about; empty if it is about none."""
        room = self.data.get("room") or {}
        about = self.data.get("session") or self.data.get("call") or {}
        return str(room.get("name") or about.get("roomName") or "")


class WebhookReceiver:
    """Verifies that a webhook comes from the gateway.

        receiver = WebhookReceiver(TokenVerifier(key, secret))
        event = receiver.receive(body, request.headers["Authorization"])

    Answer 2xx when the event is handled, 410 to give it up; anything else is delivered again.
    """

    def __init__(self, token_verifier: TokenVerifier) -> None:
        self._verifier = token_verifier

    def receive(self, body: str | bytes, auth_token: str) -> WebhookEvent:
        """Returns the event.

        Args:
            body: the request's body, exactly as it arrived.
            auth_token: the header `Authorization`.

        Raises:
            TokenError: the webhook is not signed with the key, was changed, or is none.
        """
        data = body.encode() if isinstance(body, str) else body
        claims = self._verifier.verify(auth_token.removeprefix("Bearer ").strip())
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        if not hmac.compare_digest(digest, str(claims.sha256)):
            raise TokenError(
                "the webhook's body is not the one that was signed; verify it before it is parsed or changed"
            )
        try:
            event = json.loads(data)
            return WebhookEvent(str(event["event"]), str(event["id"]), int(event.get("createdAt", 0)), event)
        except (ValueError, KeyError, TypeError) as error:
            raise TokenError(f"the webhook is signed, but has another form than expected: {error!r}") from error
