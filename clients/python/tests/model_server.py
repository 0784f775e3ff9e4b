"""A server with the routes of an OpenAI-compatible one that the examples use."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

Requests = list[tuple[str, dict[str, Any]]]
"""The path and the body of each request, in order."""


@asynccontextmanager
async def model_server(answer: Callable[[str], tuple[str, bytes]]) -> AsyncIterator[tuple[str, Requests]]:
    """Answers each path with a content type and a body; yields the base URL and the requests."""
    requests: Requests = []
    connections: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
                body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
                path = head.split(" ")[1]
                requests.append((path, body))
                kind, content = answer(path)
                fields = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
                writer.write(fields.encode() + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/", requests
    server.close()
    for writer in connections:
        writer.close()
    await asyncio.sleep(0)
