"""A TCP connection between client and gateway that can be broken."""

from __future__ import annotations

import asyncio
from typing import Self
from urllib.parse import urlsplit


class BrokenNetwork:
    """Forwards connections to a gateway, until they are told to break.

        async with BrokenNetwork(gateway.url) as network:
            room = await Room.connect(network.url, token, options)
            network.cut()

    Args:
        url: the gateway.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 443)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._replying = asyncio.Event()
        self._replying.set()
        self._refusing = False
        self.url = ""
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"wss://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self.flow()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Breaks all connections."""
        for writer in list(self._writers):
            writer.transport.abort()

    def refuse(self, refusing: bool = True) -> None:
        """Whether new connections break at once."""
        self._refusing = refusing

    def stall(self) -> None:
        """Forwards nothing, without breaking connections, as when a phone has no network."""
        self._flowing.clear()

    def hold_replies(self) -> None:
        """Forwards only what the client sends."""
        self._replying.clear()

    def flow(self) -> None:
        """Forwards everything again."""
        self._flowing.set()
        self._replying.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._refusing:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        for source, sink, gate in ((reader, far_writer, self._flowing), (far_reader, writer, self._replying)):
            task = asyncio.create_task(self._forward(source, sink, gate))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _forward(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, gate: asyncio.Event) -> None:
        try:
            while data := await source.read(65_536):
                await self._flowing.wait()
                await gate.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.transport.abort()
            self._writers.discard(sink)
