"""The example runs as it is, with a server that has the routes of OpenAI which it uses."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio

from patchbay.testing import Caller
from patchbay.testing.fixtures import RoomUnderTest
from tests.helpers import eventually, tone

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipecat_bot.py"
Requests = list[tuple[str, dict[str, Any]]]
# Each word takes one and a half seconds.
ANSWER = "four tiny blue cats."


@pytest_asyncio.fixture
async def model() -> AsyncIterator[tuple[str, Requests]]:
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
                kind, answer = "audio/pcm", bytes(tone(6.0, 24_000).data)
                if path.endswith("completions"):
                    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
                    choice = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
                    kind = "text/event-stream"
                    answer = f"data: {json.dumps(chunk | {'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()
                writer.write(
                    f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
                    + answer
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/", requests
    server.close()
    for writer in connections:
        writer.close()
    await asyncio.sleep(0)


async def test_the_bot_answers_text_and_forgets_what_was_not_heard(
    room: RoomUnderTest, caller: Caller, model: tuple[str, Requests]
) -> None:
    base_url, requests = model
    variables = os.environ | {
        "SSL_CERT_FILE": room.gateway.ca_file,
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "none",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLE), room.url, room.token("bot"), env=variables
    )

    def asked() -> list[list[dict[str, str]]]:
        return [body["messages"] for path, body in requests if path.endswith("completions")]

    try:
        # Loading the detector of voice activity takes a while.
        await caller.wait_for_track("bot", timeout=60)
        await caller.room.local_participant.send_text("Count.")
        await caller.wait_for_sound(3.2, timeout=30)
        await caller.room.clear_playout(caller.room.remote_participants["bot"], "stop")
        await eventually(lambda: any(segment.final for segment in caller.room.transcript), 20)
        await asyncio.sleep(0.5)
        await caller.room.local_participant.send_text("What did I hear?")
        await eventually(lambda: len(asked()) == 2, 20)
        said = [message["content"] for message in asked()[1][1:]]
        assert said == ["Count.", "four tiny", "What did I hear?"]
    finally:
        await caller.hang_up()
        try:
            await asyncio.wait_for(process.wait(), 15)
        except TimeoutError:
            process.kill()
            raise
