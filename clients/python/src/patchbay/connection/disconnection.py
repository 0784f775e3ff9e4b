"""Why connections end, and whether to reconnect (docs/protocol/close-codes.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..errors import ConnectError


class DisconnectReason(StrEnum):
    """LiveKit's reasons for the end of a participant."""

    UNKNOWN_REASON = "UNKNOWN_REASON"
    CLIENT_INITIATED = "CLIENT_INITIATED"
    DUPLICATE_IDENTITY = "DUPLICATE_IDENTITY"
    SERVER_SHUTDOWN = "SERVER_SHUTDOWN"
    PARTICIPANT_REMOVED = "PARTICIPANT_REMOVED"
    ROOM_DELETED = "ROOM_DELETED"
    STATE_MISMATCH = "STATE_MISMATCH"
    JOIN_FAILURE = "JOIN_FAILURE"
    MIGRATION = "MIGRATION"
    SIGNAL_CLOSE = "SIGNAL_CLOSE"
    ROOM_CLOSED = "ROOM_CLOSED"
    USER_UNAVAILABLE = "USER_UNAVAILABLE"
    USER_REJECTED = "USER_REJECTED"
    CONNECTION_TIMEOUT = "CONNECTION_TIMEOUT"
    MEDIA_FAILURE = "MEDIA_FAILURE"
    AGENT_ERROR = "AGENT_ERROR"

    @classmethod
    def parse(cls, text: object) -> DisconnectReason:
        """The reason of this name; `UNKNOWN_REASON` for one of a later version."""
        return cls(text) if isinstance(text, str) and text in cls.__members__ else cls.UNKNOWN_REASON


_BY_CODE = {
    1000: DisconnectReason.CLIENT_INITIATED,
    1002: DisconnectReason.STATE_MISMATCH,
    1007: DisconnectReason.STATE_MISMATCH,
    1009: DisconnectReason.STATE_MISMATCH,
    4001: DisconnectReason.SERVER_SHUTDOWN,
    4002: DisconnectReason.MEDIA_FAILURE,
    4003: DisconnectReason.CONNECTION_TIMEOUT,
    4004: DisconnectReason.STATE_MISMATCH,
    4005: DisconnectReason.MIGRATION,
    4100: DisconnectReason.JOIN_FAILURE,
    4102: DisconnectReason.ROOM_CLOSED,
    4103: DisconnectReason.PARTICIPANT_REMOVED,
    4104: DisconnectReason.DUPLICATE_IDENTITY,
    4105: DisconnectReason.JOIN_FAILURE,
    4106: DisconnectReason.STATE_MISMATCH,
}

# Proxies close with these codes when they lose their own connection.
_PROXY_CODES = {1001, 1011, 1012, 1013, 1014}
# 1005 and 1006 mean that there was no code (RFC 6455 section 7.1.5).
_NO_CODE = {None, 1005, 1006}


@dataclass(frozen=True, slots=True)
class Disconnection:
    """The end of a connection.

    Attributes:
        reason: LiveKit's reason.
        message: a sentence for people.
        code: the WebSocket close code, if there was one.
        retryable: whether reconnecting makes sense.
        error: why an attempt to connect failed, if that was the end.
    """

    reason: DisconnectReason
    message: str
    code: int | None = None
    retryable: bool = False
    error: ConnectError | None = None

    @classmethod
    def left(cls) -> Disconnection:
        """This client left."""
        return cls(DisconnectReason.CLIENT_INITIATED, "this client left")

    @classmethod
    def closed(cls, code: int | None, phrase: str = "", reason: DisconnectReason | None = None) -> Disconnection:
        """The connection was closed with a code, or broke without one."""
        if code in _NO_CODE:
            return cls(DisconnectReason.SIGNAL_CLOSE, "the connection was lost", None, retryable=True)
        assert code is not None
        retryable = 4000 <= code <= 4099 or code in _PROXY_CODES
        known = reason or _BY_CODE.get(code, DisconnectReason.SIGNAL_CLOSE)
        detail = f": {phrase}" if phrase else ""
        return cls(known, f"the gateway closed the connection{detail} ({code})", code, retryable)

    @classmethod
    def silent(cls) -> Disconnection:
        """The gateway stopped answering."""
        return cls(DisconnectReason.CONNECTION_TIMEOUT, "the gateway did not answer pings", None, retryable=True)

    @classmethod
    def overloaded(cls) -> Disconnection:
        """The socket took no messages for so long that the queue of control messages is full."""
        return cls(
            DisconnectReason.MEDIA_FAILURE,
            "the connection is too slow for its messages",
            None,
            retryable=True,
        )

    @classmethod
    def attempt_failed(cls, error: ConnectError) -> Disconnection:
        """An attempt to connect failed."""
        return cls(DisconnectReason.JOIN_FAILURE, error.message, None, error.retryable, error)

    @classmethod
    def gave_up(cls, last: Disconnection, attempts: int) -> Disconnection:
        """All attempts to reconnect failed."""
        return cls(
            last.reason,
            f"gave up after {attempts} attempts to reconnect: {last.message}",
            last.code,
            False,
            last.error,
        )

    @classmethod
    def crashed(cls, error: BaseException) -> Disconnection:
        """A fault of this library ended the connection."""
        return cls(DisconnectReason.UNKNOWN_REASON, f"the client library failed: {error!r}; please report it")
