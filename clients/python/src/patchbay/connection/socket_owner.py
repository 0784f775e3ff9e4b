"""Who uses a reconnecting socket, and how it connects."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import Protocol

from .address import GatewayAddress
from .disconnection import Disconnection


class SocketOwner(Protocol):
    """What a socket asks and tells its owner. No method may wait."""

    def websocket_url(self, address: GatewayAddress) -> str:
        """The URL of the next attempt, which is at this address."""

    def attempt_timeout(self) -> float:
        """Seconds that the next attempt may take, `hello` included."""

    def handle_text(self, text: str) -> None:
        """A control message arrived."""

    def handle_binary(self, message: bytes) -> None:
        """A binary message arrived."""

    def can_send(self) -> None:
        """The outbox takes ahead frames again."""

    def send_ping(self) -> None:
        """Proves liveness, and asks the gateway to do so."""

    def send_leave(self) -> None:
        """Asks the gateway to close the connection."""

    def connection_lost(self) -> None:
        """The connection is gone; requests on it are never answered."""

    def will_reconnect(self, attempt: int, delay: float, because: Disconnection) -> None:
        """Another attempt follows."""

    def ended(self, disconnection: Disconnection) -> None:
        """The socket has ended for good."""


@dataclass(slots=True)
class SocketSettings:
    """How a socket connects."""

    ca_file: str | None = None
    ssl_context: ssl.SSLContext | None = None
    reconnect: bool = True
