"""One WebSocket to the gateway that reconnects after a loss, with back-off and heartbeats."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence
from enum import Enum, auto

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from ..errors import ConnectError, ConnectFailure, NotConnectedError, RequestError, RoomEndedError
from .address import GatewayAddress
from .disconnection import Disconnection, DisconnectReason
from .liveness import PONG_TIMEOUT, RECONNECT_ATTEMPTS_MAX, Heartbeat, Verdict, reconnect_delay
from .outbox import Outbox
from .socket_owner import SocketOwner, SocketSettings
from .targets import NODE_TIMEOUT, ReconnectTargets
from .websocket import open_websocket, timed_out, tls_context

logger = logging.getLogger("patchbay")

# Seconds that the gateway may take to close the connection after a leave.
_LEAVE_TIMEOUT = 2.0


class Phase(Enum):
    """Where a socket is in its life."""

    CONNECTING = auto()
    OPEN = auto()
    BACKING_OFF = auto()
    ENDED = auto()


class ReconnectingSocket:
    """Connects, reads and writes in one task, until `leave` or a reason not to reconnect."""

    def __init__(self, owner: SocketOwner, address: GatewayAddress, token: str, settings: SocketSettings) -> None:
        self._owner = owner
        self._targets = ReconnectTargets(address)
        self._settings = settings
        self.token = token
        self.phase = Phase.CONNECTING
        self.outbox = Outbox()
        self._wake_writer = asyncio.Event()
        self._leaving = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self._attempt_limit: asyncio.Timeout | None = None
        self._connection: ClientConnection | None = None
        self._heartbeat: Heartbeat | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._lost_because: Disconnection | None = None
        # The number of the current attempt to reconnect; 0 while connected.
        self.attempt = 0

    @property
    def address(self) -> GatewayAddress:
        """Where the socket is connected, or connects with the current attempt."""
        return self._targets.address(self.attempt)

    @property
    def refusal(self) -> RequestError | None:
        """Why nothing can be sent now; None if something can."""
        if self.phase is Phase.ENDED or self._leaving.is_set():
            return RoomEndedError()
        return None if self.phase is Phase.OPEN else NotConnectedError()

    async def open(self) -> None:
        """Connects and returns once the owner has called `did_open`.

        Raises:
            ConnectError: the first attempt failed.
        """
        self._task = asyncio.create_task(self._run(), name=f"patchbay {self.address}")
        try:
            await asyncio.shield(self._opened)
        except BaseException:
            await self.abort()
            raise

    def did_open(
        self, ping_interval: float, ping_timeout: float, *, resumable: bool, nodes: Sequence[object] = ()
    ) -> None:
        """`hello` has arrived.

        Args:
            ping_interval: seconds between pings.
            ping_timeout: seconds of silence after which the connection is dead.
            resumable: whether the session can be resumed.
            nodes: URLs of other nodes of a cluster.
        """
        self._targets.connected(self.address, nodes)
        if self._attempt_limit is not None:
            self._attempt_limit.reschedule(None)
        self.phase = Phase.OPEN
        self.attempt = 0
        pong_timeout = PONG_TIMEOUT if resumable and self._settings.reconnect else None
        self._heartbeat = Heartbeat(max(ping_interval, 0.1), max(ping_timeout, 1.0), self._now(), pong_timeout)
        self._beat()
        self._wake_writer.set()
        if not self._opened.done():
            self._opened.set_result(None)

    def send(self, message: str) -> None:
        """Queues a control message; a full queue ends the connection."""
        if not self.outbox.add_control(message):
            self._lose(Disconnection.overloaded())
        self._wake_writer.set()

    def wake(self) -> None:
        """Frames were added to the outbox."""
        self._wake_writer.set()

    async def leave(self) -> None:
        """Leaves and returns once the connection is closed."""
        if self._task is None:
            return
        if self.phase is Phase.OPEN and not self._leaving.is_set():
            self._owner.send_leave()
        self._leaving.set()
        try:
            if self.phase is Phase.OPEN:
                await asyncio.wait({self._task}, timeout=_LEAVE_TIMEOUT)
        finally:
            await self.abort()

    async def abort(self) -> None:
        """Ends the socket without asking the gateway."""
        self._leaving.set()
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()
            await asyncio.wait({self._task})

    # The task.

    async def _run(self) -> None:
        outcome = Disconnection.left()
        try:
            outcome = await self._connect_repeatedly()
        except asyncio.CancelledError:
            pass
        except Exception as error:
            logger.exception("the connection to %s ended by a fault of the client library", self.address)
            outcome = Disconnection.crashed(error)
        finally:
            self.phase = Phase.ENDED
            if not self._opened.done():
                self._opened.cancel()
            self._owner.ended(outcome)

    async def _connect_repeatedly(self) -> Disconnection:
        attempts = 0
        while True:
            outcome = await self._attempt()
            if self._leaving.is_set():
                return Disconnection.left()
            if not self._opened.done():
                error = outcome.error or _closed_before_hello(outcome)
                self._opened.set_exception(error)
                return Disconnection.attempt_failed(error)
            if not self._settings.reconnect or not (outcome.retryable or self._passes_over(outcome)):
                return outcome
            attempts = self.attempt + 1
            delay = reconnect_delay(attempts, random.random())
            if delay is None:
                return Disconnection.gave_up(outcome, RECONNECT_ATTEMPTS_MAX)
            if outcome.reason is DisconnectReason.MIGRATION:
                self._targets.leave()
            self.attempt = attempts
            self.phase = Phase.BACKING_OFF
            self._owner.will_reconnect(attempts, delay, outcome)
            try:
                await asyncio.wait_for(self._leaving.wait(), delay)
                return Disconnection.left()
            except TimeoutError:
                self.phase = Phase.CONNECTING

    def _passes_over(self, outcome: Disconnection) -> bool:
        """Whether another node could not be used, for example because its certificate is not trusted.

        The next address is tried then. Only an answer of the node ends the socket.
        """
        return outcome.error is not None and outcome.error.status is None and not self._targets.is_current(self.address)

    async def _attempt(self) -> Disconnection:
        """Connects once and returns why the connection ended or was not established."""
        seconds = self._owner.attempt_timeout()
        address = self.address
        if self.attempt > 0 and len(self._targets.addresses) > 1:
            seconds = min(seconds, NODE_TIMEOUT)
        self._lost_because = None
        try:
            async with asyncio.timeout(seconds) as self._attempt_limit:
                context = self._settings.ssl_context or tls_context(self._settings.ca_file)
                connection = await open_websocket(
                    address, self._owner.websocket_url(address), self.token, context, seconds
                )
                return await self._converse(connection)
        except ConnectError as error:
            return Disconnection.attempt_failed(error)
        except TimeoutError:
            return Disconnection.attempt_failed(timed_out(address, seconds))
        finally:
            self._attempt_limit = None
            self._owner.connection_lost()

    async def _converse(self, connection: ClientConnection) -> Disconnection:
        self._connection = connection
        writer = asyncio.create_task(self._write(connection))
        try:
            while True:
                message = await connection.recv()
                if self._heartbeat is not None:
                    self._heartbeat.did_receive(self._now())
                if isinstance(message, str):
                    self._owner.handle_text(message)
                else:
                    self._owner.handle_binary(message)
        except ConnectionClosed as error:
            if self._lost_because is not None:
                return self._lost_because
            received = error.rcvd
            return Disconnection.closed(received.code if received else None, received.reason if received else "")
        finally:
            self.phase = Phase.CONNECTING
            self._connection = None
            self._heartbeat = None
            if self._timer is not None:
                self._timer.cancel()
            writer.cancel()
            connection.transport.abort()
            await asyncio.wait({writer})

    async def _write(self, connection: ClientConnection) -> None:
        try:
            while True:
                was_full = not self.outbox.has_room
                message = self.outbox.pop() if self.phase is Phase.OPEN else None
                if was_full and self.outbox.has_room:
                    self._owner.can_send()
                if message is None:
                    self._wake_writer.clear()
                    await self._wake_writer.wait()
                else:
                    await connection.send(message)
        except ConnectionClosed:
            pass

    # Liveness.

    def _beat(self) -> None:
        heartbeat = self._heartbeat
        if heartbeat is None:
            return
        match heartbeat.verdict(self._now()):
            case Verdict.DEAD:
                self._lose(Disconnection.silent())
                return
            case Verdict.PING:
                self._owner.send_ping()
            case Verdict.NOTHING:
                pass
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(heartbeat.deadline, self._beat)

    def _lose(self, because: Disconnection) -> None:
        if self._connection is not None and self._lost_because is None:
            self._lost_because = because
            self._connection.transport.abort()

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def _closed_before_hello(outcome: Disconnection) -> ConnectError:
    return ConnectError(
        ConnectFailure.REFUSED, f"the gateway accepted the connection and then closed it: {outcome.message}"
    )
