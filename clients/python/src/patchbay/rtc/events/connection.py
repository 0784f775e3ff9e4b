"""The connection itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...connection.disconnection import Disconnection, DisconnectReason
from .base import RoomEvent


@dataclass(frozen=True, slots=True)
class ConnectionStateChanged(RoomEvent):
    """`connected`, `reconnecting` or `disconnected`."""

    name: ClassVar[str] = "connection_state_changed"
    state: str


@dataclass(frozen=True, slots=True)
class Reconnecting(RoomEvent):
    """The connection is lost, and the library reconnects. Callbacks get no arguments, as in LiveKit."""

    name: ClassVar[str] = "reconnecting"
    attempt: int
    delay: float
    because: Disconnection

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Reconnected(RoomEvent):
    """The connection is back. `resumed`: nothing was missed; otherwise the room was joined anew."""

    name: ClassVar[str] = "reconnected"
    resumed: bool

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing, as in LiveKit."""
        return ()


@dataclass(frozen=True, slots=True)
class Disconnected(RoomEvent):
    """The connection has ended for good. Callbacks get the reason alone, as in LiveKit."""

    name: ClassVar[str] = "disconnected"
    reason: DisconnectReason
    disconnection: Disconnection

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The reason."""
        return (self.reason,)


@dataclass(frozen=True, slots=True)
class TokenRefreshed(RoomEvent):
    """The gateway has issued another token, which the next reconnect presents."""

    name: ClassVar[str] = "token_refreshed"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing, as in LiveKit."""
        return ()


@dataclass(frozen=True, slots=True)
class ServerDraining(RoomEvent):
    """The gateway closes the connections that remain at `deadline` (seconds since 1970)."""

    name: ClassVar[str] = "server_draining"
    deadline: int
