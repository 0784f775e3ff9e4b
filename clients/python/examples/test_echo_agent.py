"""Calls the echo agent in a real gateway: pytest test_echo_agent.py."""

import asyncio

import pytest
from echo_agent import main  # async def main(url, token, options)

from patchbay.testing import Caller, RoomUnderTest

pytest_plugins = ["patchbay.testing.fixtures"]  # the gateway is $PATCHBAY_BINARY, or `patchbay` on the path


@pytest.mark.asyncio
async def test_the_agent_says_what_it_hears(room: RoomUnderTest, caller: Caller) -> None:
    agent = asyncio.create_task(main(room.url, room.token("echo"), room.options))
    await caller.wait_for_track("echo")
    started = await caller.speak("hello.wav")  # in real time
    echo = (await caller.wait_for_silence(0.5)).of("echo")
    assert echo.sound_seconds > 1.0
    assert echo.first_sound_at is not None
    assert echo.first_sound_at - started < 2.0
    agent.cancel()
