"""What the outputs report when the agent's connection is lost."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from patchbay import Room
from patchbay.rtc import events
from patchbay.testing import BrokenNetwork, Caller
from patchbay.testing.fixtures import RoomUnderTest
from tests.helpers import Log
from tests.livekit.test_outputs import EIGHT, Outputs


@pytest_asyncio.fixture
async def network(room: RoomUnderTest) -> AsyncIterator[BrokenNetwork]:
    async with BrokenNetwork(room.url) as network:
        yield network


async def test_speech_continues_over_a_resume_and_is_finished_once(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        outputs, log = Outputs(agent), Log(agent)
        await outputs.say(4.0, *EIGHT)
        # Everything has been sent by now: what is on its way may be lost.
        await caller.wait_for_sound(1.5)
        network.cut()
        assert (await log.wait(events.Reconnected)).resumed
        finished = await asyncio.wait_for(outputs.audio.wait_for_playout(), 15)
        assert (round(finished.playback_position, 1), finished.interrupted) == (4.0, False)
        assert len(outputs.finished) == 1
        assert outputs.played == pytest.approx(4.0, abs=0.02)
        assert outputs.stopped == 0
        await outputs.aclose()


async def test_an_interruption_without_a_connection_uses_what_was_reported_before(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        outputs, log = Outputs(agent), Log(agent)
        await outputs.say(4.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        network.refuse()
        network.cut()
        await log.wait(events.Reconnecting)
        reported = outputs.played
        outputs.audio.clear_buffer()
        finished = await asyncio.wait_for(outputs.audio.wait_for_playout(), 4)
        assert finished.interrupted
        assert finished.playback_position == pytest.approx(reported)
        network.refuse(False)
        await outputs.aclose()


async def test_speech_that_a_new_join_has_lost_is_interrupted(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent:
        outputs, log = Outputs(agent), Log(agent)
        await outputs.say(20.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        network.refuse()
        network.cut()
        # Longer than the gateway's window for a resume.
        await asyncio.sleep(4.5)
        network.refuse(False)
        assert not (await log.wait(events.Reconnected)).resumed
        finished = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
        assert finished.interrupted
        assert 0.5 < finished.playback_position < 20
        assert outputs.stopped == 1
        await outputs.say(0.3, "next")
        finished = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
        assert (finished.interrupted, finished.synchronized_transcript) == (False, "next")
        await outputs.aclose()
