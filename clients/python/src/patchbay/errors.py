"""The exceptions of this library. Each message says what happened and what to do about it."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class PatchbayError(Exception):
    """Base class of all exceptions of this library."""


class ConnectFailure(StrEnum):
    """What kept a connection from being established."""

    BAD_URL = "bad_url"
    UNREACHABLE = "unreachable"
    UNTRUSTED = "untrusted"
    REFUSED = "refused"
    TIMEOUT = "timeout"


class ConnectError(PatchbayError):
    """A connection to the gateway could not be established.

    Attributes:
        kind: what went wrong.
        status: the HTTP status of a refusal, otherwise None.
        code: the gateway's error code, such as `token_expired`, otherwise None.
    """

    def __init__(
        self, kind: ConnectFailure, message: str, *, status: int | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.code = code

    @property
    def retryable(self) -> bool:
        """Whether the same attempt may succeed later without a change by the caller."""
        match self.kind:
            case ConnectFailure.UNREACHABLE | ConnectFailure.TIMEOUT:
                return True
            case ConnectFailure.REFUSED:
                return self.status == 429 or (self.status or 0) >= 500
            case _:
                return False


class RequestError(PatchbayError):
    """A request over the WebSocket failed. The subclasses say why.

    Attributes:
        retryable: whether the same request may succeed later.
    """

    retryable = False


class RequestRefusedError(RequestError):
    """The gateway refused a request.

    Attributes:
        code: the code of docs/protocol/errors.md, such as `not_allowed`.
        message: the gateway's explanation.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False) -> None:
        super().__init__(f"the gateway refused the request: {message} ({code})")
        self.code = code
        self.message = message
        self.retryable = retryable


class RequestTimeoutError(RequestError):
    """No reply arrived in time."""

    retryable = True

    def __init__(self, request: str, seconds: float) -> None:
        super().__init__(f"the gateway did not answer {request} within {seconds:g} s; it may have been carried out")


class NotConnectedError(RequestError):
    """The connection is lost, or was lost before the reply arrived."""

    retryable = True

    def __init__(
        self, message: str = "the connection to the gateway is lost; repeat the request after the reconnect"
    ) -> None:
        super().__init__(message)


class RoomEndedError(RequestError):
    """The room was left, or the gateway ended the connection."""

    def __init__(self, message: str = "the connection has ended; connect again") -> None:
        super().__init__(message)


class TooManyRequestsError(RequestError):
    """The limit on pending requests is reached."""

    retryable = True

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} requests are already pending; wait for their replies")


class RequestTooLargeError(RequestError):
    """The request exceeds the size of a text message."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the request has {size} bytes as JSON, and the gateway accepts {limit}; send less")


class RpcErrorCode(IntEnum):
    """LiveKit's codes of failed procedure calls."""

    UNSUPPORTED_METHOD = 1400
    RECIPIENT_NOT_FOUND = 1401
    REQUEST_PAYLOAD_TOO_LARGE = 1402
    APPLICATION_ERROR = 1500
    RESPONSE_TIMEOUT = 1502
    RECIPIENT_DISCONNECTED = 1503
    RESPONSE_PAYLOAD_TOO_LARGE = 1504


class RpcError(RequestError):
    """A remote procedure failed. Raise it in a handler to choose code and message of a failure.

    Attributes:
        code: one of `RpcErrorCode`, or a number that the callee chose.
        message: for people.
        data: what the callee added; always None over this gateway.
    """

    ErrorCode = RpcErrorCode

    def __init__(self, code: int, message: str, data: str | None = None) -> None:
        super().__init__(f"the remote procedure failed: {message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class ProtocolError(PatchbayError):
    """A message of the gateway lacks required fields or has another form."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}; check that gateway and library have compatible versions")


class AudioError(PatchbayError):
    """Audio has the wrong format, or cannot be encoded or decoded."""


class AudioFormatError(AudioError, ValueError):
    """A frame's rate, channels or size does not fit."""


class OpusError(AudioError):
    """Opus is not available, or refused its input."""


class TrackEndedError(PatchbayError):
    """The track is not published any more."""

    def __init__(self, message: str = "the track is not published any more; publish it again") -> None:
        super().__init__(message)


class APIError(PatchbayError):
    """An HTTP route answered with an error.

    Attributes:
        status: the HTTP status; 0 if there was no response.
        code: the gateway's error code; `unreachable` if there was no response.
        request_id: the `X-Request-ID` of the response, which is also in the gateway's log.
        retry_after: seconds to wait before a retry, if the gateway names them.
    """

    def __init__(
        self, status: int, code: str, message: str, *, request_id: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(f"{message} (HTTP {status}, {code})" if status else message)
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in (0, 408, 429) or self.status >= 502 or self.retry_after is not None


class TokenError(PatchbayError):
    """A token or a signature is not valid."""
