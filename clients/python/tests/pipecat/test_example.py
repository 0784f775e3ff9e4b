"""The example runs as it is, with a server that has the routes of OpenAI which it uses."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.model_server import Requests, model_server

EXAMPLE = Path(__file__).parents[2] / "examples" / "pipecat_bot.py"
# Each word takes one and a half seconds.
ANSWER = "four tiny blue cats."


@pytest_asyncio.fixture
async def model() -> AsyncIterator[tuple[str, Requests]]:
    def answer(path: str) -> tuple[str, bytes]:
        if not path.endswith("completions"):
            return "audio/pcm", bytes(tone(6.0, 24_000).data)
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        choice = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
        return "text/event-stream", f"data: {json.dumps(chunk | {'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()

    async with model_server(answer) as served:
        yield served


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
