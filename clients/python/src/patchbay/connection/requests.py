"""Requests with replies over a WebSocket (docs/protocol/requests.md)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from ..errors import (
    RequestError,
    RequestRefusedError,
    RequestTimeoutError,
    RequestTooLargeError,
    RpcError,
    TooManyRequestsError,
)
from ..limits import CONTROL_BYTES_MAX, REQUESTS_MAX

JSON = dict[str, Any]


class Requests:
    """The pending requests of a connection.

    Args:
        send: queues a message for the socket.
        refusal: why no request can be sent now; None if one can.
        timeout: seconds that a request waits for its reply by default.
    """

    def __init__(self, send: Callable[[str], None], refusal: Callable[[], RequestError | None], timeout: float) -> None:
        self._send = send
        self._refusal = refusal
        self._timeout = timeout
        self._pending: dict[int, asyncio.Future[JSON]] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._pending)

    def submit(self, kind: str, data: JSON) -> tuple[int, asyncio.Future[JSON]]:
        """Sends a request and returns its id, and the future of its reply.

        Raises:
            RequestError: it cannot be sent.
        """
        refusal = self._refusal()
        if refusal is not None:
            raise refusal
        if len(self._pending) >= REQUESTS_MAX:
            raise TooManyRequestsError(REQUESTS_MAX)
        self._last_id += 1
        message = encode(kind, data, self._last_id)
        future: asyncio.Future[JSON] = asyncio.get_running_loop().create_future()
        self._pending[self._last_id] = future
        self._send(message)
        return self._last_id, future

    async def request(
        self,
        kind: str,
        data: JSON | None = None,
        *,
        timeout: float | None = None,
        late: Callable[[JSON], None] | None = None,
    ) -> JSON:
        """Sends a request and returns the data of its reply.

        Args:
            kind: the request's type.
            data: its data.
            timeout: seconds to wait for the reply.
            late: undoes the request if its reply arrives when nobody waits for it any more: after the timeout or a
                cancellation.

        Raises:
            RequestError: the request was not sent, was refused, or has no reply.
        """
        number, future = self.submit(kind, data or {})
        seconds = self._timeout if timeout is None else timeout
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(future)
        except BaseException as error:
            if late is not None:
                # Also if the reply has arrived in the moment of the cancellation.
                future.add_done_callback(lambda done: _call_late(done, late))
            else:
                self._pending.pop(number, None)
                future.cancel()
            if isinstance(error, TimeoutError):
                raise RequestTimeoutError(kind, seconds) from None
            raise

    def notify(self, kind: str, data: JSON | None = None) -> None:
        """Sends a request that is not answered; drops it without a connection."""
        if self._refusal() is None:
            self._send(encode(kind, data or {}))

    def handle(self, message: JSON) -> bool:
        """Handles a reply or an error; false for other messages."""
        kind = message.get("type")
        if kind not in ("reply", "error"):
            return False
        future = self._pending.pop(message.get("re") or 0, None)
        data = message.get("data")
        if future is None or future.done() or not isinstance(data, dict):
            return True
        if kind == "reply":
            future.set_result(data)
        else:
            future.set_exception(_error(data))
        return True

    def fail_all(self, error: RequestError) -> None:
        """Fails all pending requests: the gateway does not answer them on another connection."""
        pending, self._pending = self._pending, {}
        for future in pending.values():
            if not future.done():
                future.set_exception(error)
                # Nobody may be waiting for it.
                future.exception()


def _call_late(done: asyncio.Future[JSON], late: Callable[[JSON], None]) -> None:
    if not done.cancelled() and done.exception() is None:
        late(done.result())


def encode(kind: str, data: JSON, number: int | None = None) -> str:
    """A request as JSON.

    Raises:
        RequestTooLargeError: it exceeds what the gateway reads.
    """
    message: JSON = {"type": kind, "data": data} if number is None else {"type": kind, "id": number, "data": data}
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise RequestRefusedError("invalid_argument", "a text contains half of a surrogate pair") from None
    if size > CONTROL_BYTES_MAX:
        raise RequestTooLargeError(size, CONTROL_BYTES_MAX)
    return text


def _error(data: JSON) -> Exception:
    code, message = data.get("code"), str(data.get("message", ""))
    if isinstance(code, int):
        return RpcError(code, message)
    return RequestRefusedError(str(code), message, retryable=bool(data.get("retryable")))
