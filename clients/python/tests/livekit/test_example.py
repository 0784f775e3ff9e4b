"""The example runs as it is, with scripted models."""

import asyncio
import os
import sys
from pathlib import Path

from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import tone
from tests.livekit.models import GREETING

PACKAGE = Path(__file__).parents[2]


async def test_the_agent_greets_yields_and_remembers_what_was_heard(room: RoomUnderTest, caller: Caller) -> None:
    variables = {
        "SSL_CERT_FILE": room.gateway.ca_file,
        "AGENT_MODELS": "tests.livekit.models",
        "PYTHONPATH": str(PACKAGE),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(PACKAGE / "examples" / "livekit_agent.py"),
        room.url,
        room.token("helper"),
        env=os.environ | variables,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        # LiveKit Agents ignores interruptions during the first 3 s, because of echo cancellation.
        await caller.wait_for_sound(3.2, timeout=60)
        await caller.speak(tone(0.3))
        async with asyncio.timeout(60):
            lines = [(await process.stdout.readline()).decode().strip() for _ in range(3)]
    finally:
        process.terminate()
        await process.wait()
    greeting, user, answer = lines
    said = greeting.removeprefix("assistant: ")
    assert GREETING.startswith(said)
    # Each word has 0.1 to 0.5 s of sound.
    assert 6 <= len(said.split()) < len(GREETING.split())
    assert (user, answer) == ("user: stop", "assistant: Very well.")
