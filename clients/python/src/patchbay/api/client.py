"""The HTTP API of a gateway."""

from __future__ import annotations

import os
from typing import Self

from .access_token import credentials
from .accounts import AccountService, Tokens, User
from .assistants import AssistantService, administrator_token
from .http import HTTPClient
from .rooms import AgentDispatchService, RoomService
from .speech import SpeechService


class PatchbayAPI:
    """All services of a gateway.

        async with PatchbayAPI("https://voice.example.org", key, secret) as api:
            for room in await api.room.list_rooms(): ...

    Args:
        url: the gateway; the environment variable `PATCHBAY_URL` by default.
        api_key, api_secret: sign the tokens of administrators; `PATCHBAY_API_KEY` and `PATCHBAY_API_SECRET` by default.
            Users need none: `accounts` works without.
        ca_file: a PEM file with an additional trusted authority.
        timeout: seconds that a request may take.

    Attributes:
        accounts: registers users and logs them in; a `User` has sessions, calls and clips.
        room, agent_dispatch, assistants, speech: for administrators.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        api_secret: str | None = None,
        *,
        ca_file: str | None = None,
        timeout: float = 15.0,
    ) -> None:
        self._http = HTTPClient(url or os.environ.get("PATCHBAY_URL", ""), ca_file=ca_file, timeout=timeout)
        self._credentials = (api_key, api_secret)
        self.accounts = AccountService(self._http)

    @property
    def room(self) -> RoomService:
        """Rooms and participants."""
        return RoomService(self._http, *credentials(*self._credentials))

    @property
    def agent_dispatch(self) -> AgentDispatchService:
        """Assistants that are sent to rooms."""
        return AgentDispatchService(self._http, *credentials(*self._credentials))

    @property
    def assistants(self) -> AssistantService:
        """Definitions of assistants."""
        return AssistantService(self._http, *credentials(*self._credentials))

    @property
    def speech(self) -> SpeechService:
        """The clips that administrators and assistants share."""
        key, secret = credentials(*self._credentials)

        async def token() -> str:
            return administrator_token(key, secret)

        return SpeechService(self._http, token)

    def user(self, tokens: Tokens) -> User:
        """A user whose tokens you have kept."""
        return User(self._http, tokens)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
