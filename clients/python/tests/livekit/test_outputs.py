"""Input and outputs without a session: what they report, in the order in which they report it."""

import asyncio

import pytest
from livekit import rtc
from livekit.agents.voice import io

from patchbay import TrackEndedError
from patchbay.livekit import AudioInput
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.livekit.outputs import EIGHT, PATIENCE, Outputs, speech


async def test_progress_is_reported_without_gaps_while_the_listener_hears_it(
    room: RoomUnderTest, caller: Caller
) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(1.0, "one", "two")
        finished = await outputs.playout()
        assert (round(finished.playback_position, 2), finished.interrupted) == (1.0, False)
        assert finished.synchronized_transcript == "one two"
        kinds = [type(event) for event in outputs.events]
        assert kinds[0] is io.PlaybackStartedEvent
        assert kinds[-1] is io.PlaybackFinishedEvent
        offset = 0.0
        for event in outputs.progress:
            assert event.offset == pytest.approx(offset)
            offset += event.duration
        assert offset == pytest.approx(1.0, abs=0.01)
        assert len(outputs.progress) >= 4


async def test_nothing_is_reported_as_heard_before_somebody_listens(room: RoomUnderTest) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(5.0, *EIGHT)
        outputs.audio.clear_buffer()
        finished = await outputs.playout()
        assert finished.interrupted
        # The gateway plays for nobody in real time.
        assert finished.playback_position < 4.0


async def test_each_of_several_segments_is_finished_once_and_in_order(room: RoomUnderTest, caller: Caller) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(0.3, "one")
        await outputs.say(0.5, "two")
        await outputs.playout()
        assert [event.synchronized_transcript for event in outputs.finished] == ["one", "two"]
        assert [round(event.playback_position, 1) for event in outputs.finished] == [0.3, 0.5]


async def test_a_clear_reports_what_was_heard_and_what_follows_is_played(room: RoomUnderTest, caller: Caller) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(8.0, *EIGHT)
        await caller.wait_for_sound(1.2)
        outputs.audio.clear_buffer()
        event = await outputs.playout()
        heard = caller.heard.sound_seconds
        assert event.interrupted
        assert event.playback_position == pytest.approx(heard, abs=0.5)
        assert event.synchronized_transcript == " ".join(EIGHT[: int(event.playback_position / 0.5)])
        assert outputs.played == pytest.approx(event.playback_position, abs=0.01)
        await outputs.say(0.3, "next")
        event = await outputs.playout()
        assert (event.interrupted, event.synchronized_transcript) == (False, "next")
        assert outputs.stopped == 0


async def test_a_clear_cancels_a_capture_that_waits_for_the_lead(room: RoomUnderTest, caller: Caller) -> None:
    async with Outputs(await room.join("helper", kind="agent"), lead_ms=500) as outputs:
        capturing = asyncio.create_task(outputs.audio.capture_frame(speech(12.0)))
        await caller.wait_for_sound(0.3)
        assert not capturing.done()
        outputs.audio.clear_buffer()
        await asyncio.wait_for(capturing, PATIENCE)
        outputs.audio.flush()
        assert (await outputs.playout()).interrupted
        await caller.wait_for_silence(0.5)
        assert caller.heard.sound_seconds < 10


async def test_paused_speech_continues_where_it_was_paused(room: RoomUnderTest, caller: Caller) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(2.0, "one", "two", "three", "four")
        await caller.wait_for_sound(0.3)
        outputs.audio.pause()
        await caller.wait_for_silence(0.5)
        assert caller.heard.sound_seconds < 1.9
        assert outputs.finished == []
        outputs.audio.resume()
        event = await outputs.playout()
        assert (round(event.playback_position, 1), event.interrupted) == (2.0, False)
        assert caller.heard.sound_seconds == pytest.approx(2.0, abs=0.1)


async def test_speech_is_interrupted_when_the_room_ends(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    async with Outputs(agent) as outputs:
        await outputs.say(8.0, "one", "two")
        await caller.wait_for_sound(0.3)
        await agent.disconnect()
        assert (await outputs.playout()).interrupted
        with pytest.raises(TrackEndedError):
            await outputs.audio.capture_frame(speech(0.1))
        outputs.audio.flush()
        await outputs.playout()


async def test_input_follows_one_participant_after_the_other_without_gaps(room: RoomUnderTest) -> None:
    agent = await room.join("helper", kind="agent")
    source = AudioInput(agent)
    frames: list[rtc.AudioFrame] = []

    async def listen() -> None:
        async for frame in source:
            frames.append(frame)

    listening = asyncio.create_task(listen())
    first = await room.call("first")
    await first.speak(tone(0.3))
    await eventually(lambda: source.participant_identity == "first")
    # The pause after the sound is filled.
    await eventually(lambda: sum(frame.duration for frame in frames) > 0.6, PATIENCE)
    assert {(frame.sample_rate, frame.num_channels) for frame in frames} == {(24_000, 1)}
    source.on_detached()
    count = len(frames)
    await asyncio.sleep(0.2)
    assert len(frames) == count
    source.on_attached()
    await first.hang_up()
    second = await room.call("second")
    await second.speak(tone(0.3))
    await eventually(lambda: source.participant_identity == "second" and len(frames) > count, PATIENCE)
    await agent.disconnect()
    await asyncio.wait_for(listening, PATIENCE)
