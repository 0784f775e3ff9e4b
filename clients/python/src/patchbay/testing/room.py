"""A room of the gateway under test."""

from __future__ import annotations

import itertools
from contextlib import AsyncExitStack
from typing import Any

from ..rtc.options import RoomOptions
from ..rtc.room import Room
from .caller import Caller
from .gateway import Gateway

_numbers = itertools.count(1)


class RoomUnderTest:
    """A room that exists from the first join on. What joins by `join` leaves at the end of the test."""

    def __init__(self, gateway: Gateway, stack: AsyncExitStack) -> None:
        self.gateway = gateway
        self.name = f"test-{next(_numbers)}"
        self._stack = stack

    @property
    def url(self) -> str:
        """The gateway's URL."""
        return self.gateway.url

    @property
    def options(self) -> RoomOptions:
        """Options that trust the gateway."""
        return self.gateway.options()

    def token(self, identity: str, *, kind: str = "agent", **grants: Any) -> str:
        """A token for this room."""
        return self.gateway.token(identity, self.name, kind=kind, **grants)

    async def join(
        self, identity: str, *, kind: str = "standard", options: RoomOptions | None = None, **grants: Any
    ) -> Room:
        """Joins as a participant."""
        token = self.token(identity, kind=kind, **grants)
        return await self._stack.enter_async_context(Room.connect(self.url, token, options or self.options))

    async def call(self, identity: str = "caller") -> Caller:
        """Joins as a caller."""
        caller = await Caller.connect(self.url, self.token(identity, kind="standard"), self.options)
        self._stack.push_async_callback(caller.hang_up)
        return caller
