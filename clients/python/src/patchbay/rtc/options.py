"""How a room is joined."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from ..connection.socket_owner import SocketSettings


@dataclass(slots=True)
class RoomOptions:
    """Options of `Room.connect`.

    Attributes:
        auto_subscribe: whether to receive every track; otherwise `publication.set_subscribed(True)` subscribes.
        ca_file: a PEM file with an additional trusted authority. The environment variable `SSL_CERT_FILE` works, too.
        ssl_context: a context of your own, instead of `ca_file`.
        reconnect: whether a lost connection is resumed: at once, then with back-off, ten times.
        connect_timeout: seconds that connecting may take, TLS and `hello` included.
        request_timeout: seconds that a request waits for its reply.
    """

    auto_subscribe: bool = True
    ca_file: str | None = None
    ssl_context: ssl.SSLContext | None = None
    reconnect: bool = True
    connect_timeout: float = 15.0
    request_timeout: float = 10.0

    @property
    def socket_settings(self) -> SocketSettings:
        """The part that concerns the socket."""
        return SocketSettings(self.ca_file, self.ssl_context, self.reconnect)
