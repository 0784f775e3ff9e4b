"""A Patchbay client in Python, written from docs/protocol alone: it shares no code with the gateway.

It uses the package `websockets`. Every received message is checked against the contract (see `contract.py`); deviations are
collected in `violations` and fail the run at the end.
"""

import asyncio
import json
import socket as socket_module
import ssl
import struct
from dataclasses import dataclass
from urllib.parse import urlencode

import websockets
from websockets.asyncio.client import connect as open_websocket

import contract

SUBPROTOCOL = "patchbay.v1"

# Flags of a frame.
START, END, DTX, FEC, DISCONTINUITY = 0x80, 0x40, 0x20, 0x10, 0x08


@dataclass(frozen=True)
class Frame:
    """One Opus packet with its 12-byte header."""

    alias: int
    sequence: int
    timestamp: int
    payload: bytes
    flags: int = 0
    level: int = 30
    voice: bool = True
    epoch: int = 0

    HEADER = struct.Struct(">BBHHBBI")

    @property
    def bytes(self) -> bytes:
        level = (0x80 if self.voice else 0) | self.level
        head = self.HEADER.pack(
            0x41, self.flags, self.alias, self.sequence & 0xFFFF, level, self.epoch, self.timestamp & 0xFFFFFFFF
        )
        return head + self.payload

    @classmethod
    def parse(cls, message: bytes) -> "Frame":
        kind, flags, alias, sequence, level, epoch, timestamp = cls.HEADER.unpack_from(message)
        if kind != 0x41:
            raise ValueError(f"the first byte of a frame is {kind:#x}, expected 0x41")
        return cls(alias, sequence, timestamp, message[12:], flags, level & 0x7F, level >= 0x80, epoch)


def bundle(frames: list[bytes]) -> bytes:
    return bytes([0x42, len(frames)]) + b"".join(struct.pack(">H", len(frame)) + frame for frame in frames)


def unbundle(message: bytes) -> list[bytes]:
    """Returns the frames of a binary message, bundled or not."""
    if message[0] != 0x42:
        return [message]
    frames, offset = [], 2
    for _ in range(message[1]):
        (length,) = struct.unpack_from(">H", message, offset)
        frames.append(message[offset + 2 : offset + 2 + length])
        offset += 2 + length
    if offset != len(message) or not frames:
        raise ValueError("a bundle's lengths are inconsistent")
    return frames


class Rejected(Exception):
    """The gateway rejected the WebSocket handshake."""

    def __init__(self, response):
        self.status = response.status_code
        self.body = json.loads(response.body or b"null")
        self.code = self.body["code"]
        self.header = response.headers.get("X-Patchbay-Error")
        super().__init__(f"{self.status} {self.code}")


class RequestError(Exception):
    """A request was answered with an `error`."""

    def __init__(self, data: dict):
        self.code, self.message, self.retryable = data["code"], data["message"], data["retryable"]
        super().__init__(f"{self.code}: {self.message}")


class Client:
    """One participant. `await Client.connect(…)` returns a client that has received its `hello`."""

    def __init__(self, socket, last_seq: int | None = None):
        self.socket = socket
        self.hello: dict = {}
        # Received events and their arrival times (loop clock).
        self.events: list[tuple[str, dict]] = []
        self.event_times: list[float] = []
        self.consumed: set[int] = set()
        # Received binary messages and their frames, with arrival times (loop clock).
        self.messages: list[tuple[float, bytes]] = []
        self.frames: list[tuple[float, bytes]] = []
        self.close_code: int | None = None
        # Of the last event. A resumed connection continues from there; a fresh join restarts.
        self.last_seq = last_seq or 0
        self.may_restart = last_seq is not None
        self.next_id = 1
        self.answers: dict[int, asyncio.Future] = {}
        self.unmatched_errors: list[dict] = []
        self.changed = asyncio.Condition()
        self.tasks = [asyncio.create_task(self._receive())]

    @classmethod
    async def connect(
        cls, url: str, token: str | None, *, tls: ssl.SSLContext, token_in: str = "header", query: dict | None = None,
        path: str = "/v1/rtc", subprotocols: tuple[str, ...] = (SUBPROTOCOL,), source: str | None = None,
        headers: dict | None = None, compression: str | None = None, pings: bool = True,
        resume: tuple[str, int] | None = None,
    ) -> "Client":
        """Connects a participant. `resume`: a resume token, and the seq of the last event received."""
        if resume:
            query = (query or {}) | {"resume": resume[0], "last_seq": resume[1]}
        query, headers, subprotocols = dict(query or {}), dict(headers or {}), list(subprotocols)
        if token is not None:
            match token_in:
                case "header": headers["Authorization"] = f"Bearer {token}"
                case "subprotocol": subprotocols.append(f"patchbay.bearer.{token}")
                case "query": query["access_token"] = token
        address = url + path + (f"?{urlencode(query)}" if query else "")
        options = {"local_addr": (source, 0)} if source else {}
        try:
            socket = await open_websocket(
                address, ssl=tls, subprotocols=subprotocols or None, additional_headers=headers, compression=compression,
                ping_interval=None, proxy=None, max_size=1 << 20, max_queue=None, open_timeout=20, close_timeout=5, **options,
            )
        except websockets.exceptions.InvalidStatus as rejection:
            raise Rejected(rejection.response) from None
        client = cls(socket, resume and resume[1])
        client.hello = await client.event("hello")
        if pings:
            client.tasks.append(asyncio.create_task(client._ping()))
        return client

    # Sending.

    async def request(self, kind: str, /, **data) -> dict:
        """Sends a request and waits for its reply."""
        number = self.next_id
        self.next_id += 1
        future = self.expect_answer(number)
        await self.send_message({"type": kind, "id": number, "data": data})
        return await asyncio.wait_for(future, 30)

    def expect_answer(self, number: int) -> asyncio.Future:
        """Returns a future for the reply to a request with this id that is sent separately."""
        return self.answers.setdefault(number, asyncio.get_running_loop().create_future())

    async def send_message(self, message) -> None:
        """Sends a string as a text message, or an object as JSON."""
        await self.socket.send(message if isinstance(message, str) else json.dumps(message))

    async def publish(self, **data) -> dict:
        return (await self.request("track.publish", **data))["track"]

    async def send(self, frame: Frame | bytes) -> None:
        await self.socket.send(frame.bytes if isinstance(frame, Frame) else frame)

    async def leave(self) -> None:
        await self.socket.close()
        await self.closed()

    async def send_bundled(self, frames: list[Frame]) -> None:
        """Sends frames immediately, fifty to a bundle."""
        for start in range(0, len(frames), 50):
            await self.send(bundle([frame.bytes for frame in frames[start : start + 50]]))

    def abort(self, *, reset: bool = False) -> None:
        """Drops the connection without a close frame: with FIN, or with a TCP reset."""
        if reset:
            linger = struct.pack("ii", 1, 0)
            self.socket.transport.get_extra_info("socket").setsockopt(socket_module.SOL_SOCKET, socket_module.SO_LINGER, linger)
        self.socket.transport.abort()

    # Receiving.

    async def event(self, kind: str, /, timeout: float = 20, **fields) -> dict:
        """Waits for the first event of this type with these fields that was not consumed before."""

        def find():
            for index, (name, data) in enumerate(self.events):
                if index not in self.consumed and name == kind and all(data.get(key) == value for key, value in fields.items()):
                    self.consumed.add(index)
                    return data
            return None

        return await self.until(find, timeout, f"event {kind} {fields or ''}")

    def has_event(self, kind: str, /, **fields) -> bool:
        return any(name == kind and all(data.get(key) == value for key, value in fields.items()) for name, data in self.events)

    def time_of(self, kind: str, /, **fields) -> float:
        """Returns the arrival time of the last event of this type with these fields."""
        for at, (name, data) in zip(reversed(self.event_times), reversed(self.events)):
            if name == kind and all(data.get(key) == value for key, value in fields.items()):
                return at
        raise AssertionError(f"no event {kind} {fields or ''}")

    async def receive_frames(self, count: int, alias: int | None = None, timeout: float = 20) -> list[bytes]:
        """Waits for at least this many frames, of one track or of all."""

        def find():
            frames = self.received_frames(alias)
            return frames if len(frames) >= count else None

        return await self.until(find, timeout, f"{count} frames (have {len(self.received_frames(alias))})")

    def received_frames(self, alias: int | None = None) -> list[bytes]:
        return [frame for _, frame in self.frames if alias is None or Frame.parse(frame).alias == alias]

    async def closed(self, timeout: float = 20) -> int:
        """Waits for the end of the connection and returns the close code."""
        return await self.until(lambda: self.close_code, timeout, "the end of the connection")

    async def until(self, find, timeout: float, what: str):
        async def wait():
            async with self.changed:
                while (found := find()) is None:
                    if self.close_code is not None:
                        raise AssertionError(f"closed with {self.close_code} while waiting for {what}")
                    await self.changed.wait()
                return found

        try:
            return await asyncio.wait_for(wait(), timeout)
        except TimeoutError:
            raise AssertionError(f"timed out after {timeout} s waiting for {what}") from None

    # Internals.

    async def _receive(self) -> None:
        try:
            async for message in self.socket:
                if isinstance(message, bytes):
                    self._handle_binary(message)
                else:
                    self._handle_text(json.loads(message))
                async with self.changed:
                    self.changed.notify_all()
        except websockets.exceptions.ConnectionClosed:
            pass
        except Exception as error:
            contract.violation(f"unreadable message from the gateway: {error!r}")
        self.close_code = self.socket.close_code or 1006
        for future in self.answers.values():
            if not future.done():
                future.set_exception(AssertionError(f"closed with {self.close_code} before the reply"))
                future.exception()
        for task in self.tasks[1:]:
            task.cancel()
        async with self.changed:
            self.changed.notify_all()

    def _handle_binary(self, message: bytes) -> None:
        if not self.has_event("hello"):
            contract.violation("a frame before hello")
        now = asyncio.get_running_loop().time()
        self.messages.append((now, message))
        contract.check_message(message)
        for frame in unbundle(message):
            self.frames.append((now, frame))

    def _handle_text(self, message: dict) -> None:
        kind = message["type"]
        if kind in ("reply", "error"):
            contract.check_answer(message)
            number, data = message["re"], message["data"]
            if number is None:
                self.unmatched_errors.append(data)
                return
            future = self.answers.pop(number, None)
            if future is None:
                contract.violation(f"a reply to {number}, which is not pending: {message}")
            elif kind == "reply":
                future.set_result(data)
            else:
                future.set_exception(RequestError(data))
                future.exception()
            return
        contract.check_event(message)
        if self.may_restart and kind == "hello" and message["data"].get("resumed") is False:
            self.last_seq = 0
        self.may_restart = False
        if message["seq"] != self.last_seq + 1:
            contract.violation(f"{kind} has seq {message['seq']} after {self.last_seq}")
        self.last_seq = message["seq"]
        self.events.append((kind, message["data"]))
        self.event_times.append(asyncio.get_running_loop().time())

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(self.hello["ping_interval_ms"] / 1000)
            await self.send_message({"type": "ping", "data": {"t": 1}})
