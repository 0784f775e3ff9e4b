"""What the outputs report when the agent's connection is lost."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from patchbay import Room
from patchbay.rtc import events
from patchbay.testing import BrokenNetwork, Caller, RoomUnderTest
from tests.helpers import Log, eventually
from tests.livekit.outputs import EIGHT, PATIENCE, Outputs


@pytest_asyncio.fixture
async def network(room: RoomUnderTest) -> AsyncIterator[BrokenNetwork]:
    async with BrokenNetwork(room.url) as network:
        yield network


async def test_speech_continues_over_a_resume_and_is_finished_once(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent, Outputs(agent) as outputs:
        log = Log(agent)
        await outputs.say(2.5, *EIGHT[:5])
        # Everything has been sent by now: frames in flight may be lost.
        await caller.wait_for_sound(1.0)
        network.cut()
        assert (await log.wait(events.Reconnected)).resumed
        finished = await outputs.playout()
        assert (round(finished.playback_position, 1), finished.interrupted) == (2.5, False)
        assert len(outputs.finished) == 1
        assert outputs.played == pytest.approx(2.5, abs=0.02)
        assert outputs.stopped == 0


async def test_a_clear_whose_connection_is_lost_still_reports_what_was_heard(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent, Outputs(agent) as outputs:
        log = Log(agent)
        await outputs.say(8.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        outputs.audio.clear_buffer()
        network.cut()
        assert (await log.wait(events.Reconnected)).resumed
        finished = await outputs.playout()
        assert finished.interrupted
        assert len(outputs.finished) == 1
        await caller.wait_for_silence(0.5)
        assert finished.playback_position == pytest.approx(caller.heard.sound_seconds, abs=0.5)


async def test_an_interruption_without_a_connection_uses_the_last_report_and_still_silences_the_speech(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent, Outputs(agent) as outputs:
        log = Log(agent)
        await outputs.say(20.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        network.refuse()
        network.cut()
        await log.wait(events.Reconnecting)
        reported = outputs.played
        outputs.audio.clear_buffer()
        finished = await outputs.playout()
        assert finished.interrupted
        assert finished.playback_position == pytest.approx(reported)
        network.refuse(False)
        await log.wait(events.Reconnected)
        await caller.wait_for_silence(0.5)
        assert caller.heard.sound_seconds < 19


async def test_speech_that_a_new_join_has_lost_is_interrupted(
    room: RoomUnderTest, caller: Caller, network: BrokenNetwork
) -> None:
    async with Room.connect(network.url, room.token("helper"), room.options) as agent, Outputs(agent) as outputs:
        log = Log(agent)
        await outputs.say(20.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        network.refuse()
        network.cut()
        await eventually(lambda: "helper" not in caller.room.remote_participants, PATIENCE)
        network.refuse(False)
        assert not (await log.wait(events.Reconnected)).resumed
        finished = await outputs.playout()
        assert finished.interrupted
        assert 0.5 < finished.playback_position < 20
        assert outputs.stopped == 1
        await outputs.say(0.3, "next")
        finished = await outputs.playout()
        assert (finished.interrupted, finished.synchronized_transcript) == (False, "next")
