"""Procedures of this client that other participants call."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ..errors import RequestError, RpcError
from ..limits import RPC_HANDLERS_MAX, RPC_PAYLOAD_BYTES_MAX

logger = logging.getLogger("patchbay")


@dataclass(frozen=True, slots=True)
class RpcInvocationData:
    """A call of a procedure. `response_timeout` is in seconds."""

    request_id: str
    caller_identity: str
    payload: str
    response_timeout: float


RpcHandler = Callable[[RpcInvocationData], Awaitable[str | None] | str | None]
_Answer = dict[str, Any]


class RpcMethods:
    """Registered procedures, and their calls that run.

    At most `RPC_HANDLERS_MAX` run at once; a further call is answered with an error. Answers that could not be sent
    are sent after a resume.
    """

    def __init__(self) -> None:
        self._methods: dict[str, RpcHandler] = {}
        self._running: set[asyncio.Future[None]] = set()
        self._calls = 0
        self._unsent: list[_Answer] = []
        self.respond: Callable[[_Answer], None] = lambda answer: None
        self.connected: Callable[[], bool] = lambda: False

    def register(self, name: str, handler: RpcHandler) -> None:
        """Registers a procedure, or replaces it."""
        self._methods[name] = handler

    def unregister(self, name: str) -> None:
        """Removes a procedure."""
        self._methods.pop(name, None)

    def keep(self, task: asyncio.Future[None]) -> None:
        """Keeps a task of the room until it ends or the room does."""
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def handle(self, data: dict[str, Any]) -> None:
        """Starts the procedure of the event `rpc.request`."""
        call = RpcInvocationData(
            request_id=str(data["request_id"]),
            caller_identity=str(data.get("participant", "")),
            payload=str(data.get("payload", "")),
            response_timeout=float(data.get("timeout_ms") or 10_000) / 1_000,
        )
        handler = self._methods.get(str(data.get("method")))
        if handler is None:
            self._fail(call, RpcError.ErrorCode.UNSUPPORTED_METHOD, "the callee has no such method")
        elif self._calls >= RPC_HANDLERS_MAX:
            self._fail(call, RpcError.ErrorCode.APPLICATION_ERROR, "the callee runs too many calls; try again later")
        else:
            self._calls += 1
            self.keep(asyncio.create_task(self._run(handler, call)))

    def cancel_all(self) -> None:
        """The room has ended: nobody waits for answers."""
        for task in list(self._running):
            task.cancel()
        self._unsent.clear()

    def restore(self, *, resumed: bool) -> None:
        """The connection is back. The calls of an earlier session have ended with it."""
        unsent, self._unsent = self._unsent, []
        if resumed:
            for answer in unsent:
                self.respond(answer)

    async def _run(self, handler: RpcHandler, call: RpcInvocationData) -> None:
        try:
            async with asyncio.timeout(call.response_timeout):
                result = handler(call)
                payload = await result if inspect.isawaitable(result) else result
            payload = payload or ""
            if len(payload.encode(errors="replace")) > RPC_PAYLOAD_BYTES_MAX:
                self._fail(call, RpcError.ErrorCode.RESPONSE_PAYLOAD_TOO_LARGE, "the response exceeds 15,360 bytes")
            else:
                self._answer({"request_id": call.request_id, "payload": payload})
        except RpcError as error:
            self._fail(call, error.code, error.message)
        except TimeoutError:
            # The gateway has told the caller already.
            logger.warning("a call of a procedure took longer than %g s", call.response_timeout)
        except Exception:
            logger.exception("a registered procedure raised an exception")
            self._fail(call, RpcError.ErrorCode.APPLICATION_ERROR, "the method failed")
        finally:
            self._calls -= 1

    def _fail(self, call: RpcInvocationData, code: int, message: str) -> None:
        self._answer({"request_id": call.request_id, "error": {"code": int(code), "message": message[:200]}})

    def _answer(self, answer: _Answer) -> None:
        if not self.connected():
            if len(self._unsent) < RPC_HANDLERS_MAX:
                self._unsent.append(answer)
            return
        try:
            self.respond(answer)
        except RequestError as error:
            logger.warning("the response to a call could not be sent: %s", error)
