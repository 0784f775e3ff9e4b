"""Accounts of users: registration, login, settings."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .calls import CallService
from .http import HTTPClient
from .paging import pages
from .records import decode
from .sessions import SessionService
from .speech import SpeechService

# A token that is valid for less is renewed first.
_RENEW_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token and what renews it once. Keep `refresh_token` to log in again without a password."""

    access_token: str
    refresh_token: str
    expires_in: int = 900


@dataclass(frozen=True, slots=True)
class UserSettings:
    """A user's settings."""

    logging_enabled: bool = False
    retention_days: int = 30
    has_seen_onboarding: bool = False
    shares_past_summaries: bool = False
    pushes_summaries: bool = True
    reachable_by: str = "contacts"
    voice: str | None = None
    language: str | None = None
    time_zone: str | None = None
    handle: str | None = None


@dataclass(frozen=True, slots=True)
class UserProfile:
    """A user."""

    id: str
    settings: UserSettings
    created_at: datetime
    email: str | None = None
    email_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Contact:
    """Somebody who may call: an e-mail address, an id, or `@` and a handle."""

    address: str
    name: str | None = None
    favorite: bool = False


@dataclass(slots=True)
class _Current:
    tokens: Tokens
    expires_at: float
    renewing: asyncio.Lock = field(default_factory=asyncio.Lock)


class User:
    """A user who is logged in. Access tokens are renewed as needed.

    Attributes:
        sessions, calls, speech: what the user does.
    """

    def __init__(self, http: HTTPClient, tokens: Tokens) -> None:
        self._http = http
        self._current = _Current(tokens, _expiry(tokens))
        self.sessions = SessionService(http, self.access_token)
        self.calls = CallService(http, self.access_token)
        self.speech = SpeechService(http, self.access_token)

    @property
    def tokens(self) -> Tokens:
        """The current tokens."""
        return self._current.tokens

    async def access_token(self) -> str:
        """A valid access token, for requests of your own.

        Raises:
            APIError: with status 401, when the login has ended.
        """
        current = self._current
        async with current.renewing:
            if time.monotonic() >= current.expires_at - _RENEW_SECONDS:
                # A refresh token is valid once, so a cancellation must not lose the answer.
                await asyncio.shield(asyncio.ensure_future(self._renew()))
        return current.tokens.access_token

    async def profile(self) -> UserProfile:
        """The user and its settings."""
        return decode(UserProfile, await self._send("GET", "/v1/users/me"))

    async def update_settings(self, **settings: Any) -> UserProfile:
        """Changes settings, named as in `UserSettings`; others stay."""
        return decode(UserProfile, await self._send("PATCH", "/v1/users/me", {"settings": settings}))

    async def contacts(self) -> list[Contact]:
        """All contacts, in their order."""
        return [contact async for contact in pages(self._http, self.access_token, "/v1/contacts", Contact)]

    async def set_contacts(self, contacts: list[Contact]) -> None:
        """Replaces the contacts."""
        body = [
            {"address": contact.address}
            | ({"name": contact.name} if contact.name else {})
            | ({"favorite": True} if contact.favorite else {})
            for contact in contacts
        ]
        await self._send("PUT", "/v1/contacts", {"contacts": body})

    async def change_password(self, current_password: str, new_password: str) -> None:
        """Changes the password; all other logins of the user end."""
        body = {"current_password": current_password, "new_password": new_password}
        self._adopt(decode(Tokens, await self._send("PUT", "/v1/users/me/password", body)))

    async def log_out(self) -> None:
        """Ends this login."""
        body = {"refresh_token": self._current.tokens.refresh_token}
        await self._http.json("POST", "/v1/auth/logout", body=body)

    async def delete(self) -> None:
        """Deletes the account and all its data."""
        await self._send("DELETE", "/v1/users/me")

    async def _send(self, method: str, path: str, body: Any = None) -> Any:
        return await self._http.json(method, path, token=await self.access_token(), body=body)

    async def _renew(self) -> None:
        body = {"refresh_token": self._current.tokens.refresh_token}
        self._adopt(decode(Tokens, await self._http.json("POST", "/v1/auth/refresh", body=body)))

    def _adopt(self, tokens: Tokens) -> None:
        self._current.tokens, self._current.expires_at = tokens, _expiry(tokens)


class AccountService:
    """Registers users and logs them in."""

    def __init__(self, http: HTTPClient) -> None:
        self._http = http

    async def register(self, email: str, password: str) -> User:
        """Creates an account; `APIError` with the code `email_taken` if there is one."""
        body = {"email": email, "password": password}
        return User(self._http, decode(Tokens, await self._http.json("POST", "/v1/auth/register", body=body)))

    async def log_in(self, email: str, password: str) -> User:
        """Logs in with a password."""
        body = {"email": email, "password": password}
        return User(self._http, decode(Tokens, await self._http.json("POST", "/v1/auth/token", body=body)))

    async def resume(self, refresh_token: str) -> User:
        """Continues an earlier login. The refresh token is spent; keep that of `user.tokens`."""
        body = {"refresh_token": refresh_token}
        return User(self._http, decode(Tokens, await self._http.json("POST", "/v1/auth/refresh", body=body)))

    async def forgot_password(self, email: str) -> None:
        """Has a code sent, if the address has an account."""
        await self._http.json("POST", "/v1/auth/password/forgot", body={"email": email})

    async def reset_password(self, email: str, code: str, new_password: str) -> User:
        """Sets a password with a code that was sent."""
        body = {"email": email, "code": code, "new_password": new_password}
        return User(self._http, decode(Tokens, await self._http.json("POST", "/v1/auth/password/reset", body=body)))


def _expiry(tokens: Tokens) -> float:
    return time.monotonic() + tokens.expires_in
