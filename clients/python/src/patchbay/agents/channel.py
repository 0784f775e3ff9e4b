"""The own channel of an assistant: a WebSocket outside of rooms (docs/protocol/assistants.md)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any, Protocol

from ..connection.address import GatewayAddress
from ..connection.disconnection import Disconnection
from ..connection.reconnecting import ReconnectingSocket
from ..connection.requests import Requests
from ..connection.socket_owner import SocketSettings
from ..errors import NotConnectedError, PatchbayError, RoomEndedError

logger = logging.getLogger("patchbay")

JSON = dict[str, Any]

# Channels have no intervals of their own in `hello`; these are the gateway's.
_PING_INTERVAL, _PING_TIMEOUT = 5.0, 15.0


class ChannelOwner(Protocol):
    """Who uses a channel."""

    def channel_opened(self) -> None:
        """`hello` has arrived, for the first time or after a reconnect."""

    def channel_event(self, kind: str, data: JSON) -> None:
        """An event has arrived."""

    def channel_ended(self, disconnection: Disconnection) -> None:
        """The channel has ended for good."""


class Channel:
    """Connects, reconnects and sends requests. A channel is not resumed: its owner registers again.

    Args:
        url: the gateway.
        new_token: makes a token for each attempt, because the earlier one may have expired.
        settings: how to connect.
        owner: takes events.
    """

    def __init__(self, url: str, new_token: Callable[[], str], settings: SocketSettings, owner: ChannelOwner) -> None:
        self._new_token = new_token
        self._owner = owner
        self._pings: set[asyncio.Task[None]] = set()
        self.socket = ReconnectingSocket(self, GatewayAddress.parse(url), new_token(), settings)
        self.requests = Requests(self.socket.send, lambda: self.socket.refusal, timeout=10.0)

    async def open(self) -> None:
        """Connects.

        Raises:
            ConnectError: the gateway refused the connection, or cannot be reached.
        """
        await self.socket.open()

    async def close(self) -> None:
        """Closes the channel."""
        await self.socket.abort()

    # What the socket asks and tells.

    def websocket_url(self, address: GatewayAddress) -> str:
        """The URL of the next attempt, which is at this address."""
        self.socket.token = self._new_token()
        return address.websocket_url("/v1/events", {})

    def attempt_timeout(self) -> float:
        """Seconds for one attempt."""
        return 15.0

    def handle_text(self, text: str) -> None:
        """Handles a message."""
        try:
            message = json.loads(text)
            if self.requests.handle(message):
                return
            kind, data = str(message["type"]), message["data"]
            if kind == "hello":
                # A lost channel costs offers, so a pong has the same limit as in a room.
                nodes = data.get("nodes") or []
                self.socket.did_open(_PING_INTERVAL, _PING_TIMEOUT, resumable=True, nodes=nodes)
                self._owner.channel_opened()
            else:
                self._owner.channel_event(kind, data)
        except (ValueError, KeyError, TypeError, AttributeError, PatchbayError) as error:
            logger.warning("a message of the gateway was ignored: %r: %.200s", error, text)

    def handle_binary(self, message: bytes) -> None:
        """Channels have no media."""

    def can_send(self) -> None:
        """Channels have no media."""

    def send_ping(self) -> None:
        """Pings with a reply, which proves that the gateway lives."""
        task = asyncio.create_task(self._ping())
        self._pings.add(task)
        task.add_done_callback(self._pings.discard)

    def send_leave(self) -> None:
        """A channel is simply closed."""

    def connection_lost(self) -> None:
        """Fails the requests that will not be answered."""
        self.socket.outbox.connection_lost()
        self.requests.fail_all(NotConnectedError())

    def will_reconnect(self, attempt: int, delay: float, because: Disconnection) -> None:
        """Logs it: jobs go on meanwhile."""
        logger.info("the channel is lost (%s); attempt %d in %.1f s", because.message, attempt, delay)

    def ended(self, disconnection: Disconnection) -> None:
        """Fails everything that waits."""
        self.requests.fail_all(RoomEndedError(f"the channel has ended: {disconnection.message}"))
        self._owner.channel_ended(disconnection)

    async def _ping(self) -> None:
        try:
            await self.requests.request("ping")
        except PatchbayError:
            return
