"""Input and outputs without a session: what they report, in the order in which they report it."""

import asyncio
from typing import Any

import pytest
from livekit import rtc
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT, TimedString
from livekit.agents.voice import io

from patchbay import AudioFormatError, Room, TrackEndedError
from patchbay.livekit import AudioInput, AudioOutput, TextOutput
from patchbay.testing import Caller
from patchbay.testing.fixtures import RoomUnderTest
from tests.helpers import eventually, tone

RATE = 24_000
EIGHT = ["one", "two", "three", "four", "five", "six", "seven", "eight"]


def speech(seconds: float, *words: str, rate: int = RATE) -> rtc.AudioFrame:
    """A tone, and words of half a second each."""
    frame = tone(seconds, rate)
    sound = rtc.AudioFrame(bytes(frame.data), rate, 1, frame.samples_per_channel)
    timed = [TimedString(f"{word} ", start_time=0.5 * n, end_time=0.5 * (n + 1)) for n, word in enumerate(words)]
    sound.userdata[USERDATA_TIMED_TRANSCRIPT] = timed
    return sound


class Outputs:
    """Both outputs and what the audio output has reported."""

    def __init__(self, room: Room) -> None:
        self.stopped = 0
        self.audio = AudioOutput(room, on_stopped=self._stop)
        self.text = TextOutput(self.audio)
        self.events: list[Any] = []
        for name in ("playback_started", "playback_progressed", "playback_finished"):
            self.audio.on(name, self.events.append)

    def _stop(self) -> None:
        self.stopped += 1

    @property
    def finished(self) -> list[io.PlaybackFinishedEvent]:
        return [event for event in self.events if isinstance(event, io.PlaybackFinishedEvent)]

    @property
    def played(self) -> float:
        return sum(event.duration for event in self.events if isinstance(event, io.PlaybackProgressedEvent))

    async def say(self, seconds: float, *words: str) -> None:
        await self.text.capture_text(" ".join(words))
        self.text.flush()
        await self.audio.capture_frame(speech(seconds, *words))
        self.audio.flush()

    async def aclose(self) -> None:
        await self.text.aclose()
        await self.audio.aclose()


async def test_progress_is_reported_without_gaps_while_the_listener_hears_it(
    room: RoomUnderTest, caller: Caller
) -> None:
    outputs = Outputs(await room.join("helper", kind="agent"))
    await outputs.say(1.0, "one", "two")
    finished = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
    assert (round(finished.playback_position, 2), finished.interrupted) == (1.0, False)
    assert finished.synchronized_transcript == "one two"
    kinds = [type(event) for event in outputs.events]
    assert kinds[0] is io.PlaybackStartedEvent
    assert kinds[-1] is io.PlaybackFinishedEvent
    offset = 0.0
    for event in outputs.events[1:-1]:
        assert event.offset == pytest.approx(offset)
        offset += event.duration
    assert offset == pytest.approx(1.0, abs=0.01)
    assert len(outputs.events) >= 6
    await outputs.aclose()


async def test_each_of_several_segments_is_finished_once_and_in_order(room: RoomUnderTest, caller: Caller) -> None:
    outputs = Outputs(await room.join("helper", kind="agent"))
    await outputs.say(0.3, "one")
    await outputs.say(0.5, "two")
    await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
    assert [event.synchronized_transcript for event in outputs.finished] == ["one", "two"]
    assert [round(event.playback_position, 1) for event in outputs.finished] == [0.3, 0.5]
    await outputs.aclose()


async def test_a_clear_reports_what_was_heard_and_what_follows_is_played(room: RoomUnderTest, caller: Caller) -> None:
    outputs = Outputs(await room.join("helper", kind="agent"))
    await outputs.say(4.0, *EIGHT)
    await caller.wait_for_sound(1.2)
    outputs.audio.clear_buffer()
    outputs.audio.clear_buffer()
    event = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
    heard = caller.heard.sound_seconds
    assert event.interrupted
    assert event.playback_position == pytest.approx(heard, abs=0.3)
    assert event.synchronized_transcript == " ".join(EIGHT[: int(event.playback_position / 0.5)])
    assert outputs.played == pytest.approx(event.playback_position, abs=0.01)
    await outputs.say(0.3, "next")
    event = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
    assert (event.interrupted, event.synchronized_transcript) == (False, "next")
    assert outputs.stopped == 0
    await outputs.aclose()


async def test_a_clear_cancels_a_capture_that_waits_for_the_lead(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    audio = AudioOutput(agent, lead_ms=500)
    capturing = asyncio.create_task(audio.capture_frame(speech(6.0)))
    await caller.wait_for_sound(0.3)
    assert not capturing.done()
    audio.clear_buffer()
    await asyncio.wait_for(capturing, 5)
    audio.flush()
    event = await asyncio.wait_for(audio.wait_for_playout(), 5)
    assert event.interrupted
    await asyncio.sleep(0.5)
    quiet = caller.heard.sound_seconds
    await asyncio.sleep(0.5)
    assert caller.heard.sound_seconds == quiet
    await audio.aclose()


async def test_paused_speech_continues_where_it_was_paused(room: RoomUnderTest, caller: Caller) -> None:
    outputs = Outputs(await room.join("helper", kind="agent"))
    await outputs.say(2.0, "one", "two", "three", "four")
    await caller.wait_for_sound(0.5)
    outputs.audio.pause()
    await asyncio.sleep(1.0)
    quiet = caller.heard.sound_seconds
    await asyncio.sleep(0.5)
    assert caller.heard.sound_seconds == quiet < 1.9
    assert outputs.finished == []
    outputs.audio.resume()
    event = await asyncio.wait_for(outputs.audio.wait_for_playout(), 10)
    assert (round(event.playback_position, 1), event.interrupted) == (2.0, False)
    assert caller.heard.sound_seconds == pytest.approx(2.0, abs=0.1)
    await outputs.aclose()


async def test_speech_that_a_listener_stops_is_reported_as_interrupted(room: RoomUnderTest, caller: Caller) -> None:
    outputs = Outputs(await room.join("helper", kind="agent"))
    await outputs.say(4.0, *EIGHT)
    await caller.wait_for_sound(1.2)
    await caller.room.clear_playout(caller.room.remote_participants["helper"], "stop")
    event = await asyncio.wait_for(outputs.audio.wait_for_playout(), 5)
    assert event.interrupted
    assert outputs.stopped == 1
    assert event.playback_position == pytest.approx(caller.heard.sound_seconds, abs=0.3)
    await outputs.aclose()


async def test_speech_is_interrupted_when_the_room_ends(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    outputs = Outputs(agent)
    await outputs.say(4.0, "one", "two")
    await caller.wait_for_sound(0.3)
    await agent.disconnect()
    event = await asyncio.wait_for(outputs.audio.wait_for_playout(), 5)
    assert event.interrupted
    with pytest.raises(TrackEndedError):
        await outputs.audio.capture_frame(speech(0.1))
    outputs.audio.flush()
    await asyncio.wait_for(outputs.audio.wait_for_playout(), 5)
    await outputs.aclose()


async def test_a_frame_of_another_format_is_refused(room: RoomUnderTest) -> None:
    audio = AudioOutput(await room.join("helper", kind="agent"))
    await audio.capture_frame(speech(0.1))
    assert audio.sample_rate == RATE
    with pytest.raises(AudioFormatError, match="16000 Hz"):
        await audio.capture_frame(speech(0.1, rate=16_000))
    await audio.aclose()


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
    await asyncio.sleep(0.5)
    assert {(frame.sample_rate, frame.num_channels) for frame in frames} == {(24_000, 1)}
    # The pause after the sound is filled.
    assert sum(frame.duration for frame in frames) > 0.6
    source.on_detached()
    count = len(frames)
    await asyncio.sleep(0.2)
    assert len(frames) == count
    source.on_attached()
    await first.hang_up()
    second = await room.call("second")
    await second.speak(tone(0.3))
    await eventually(lambda: source.participant_identity == "second" and len(frames) > count)
    await agent.disconnect()
    await asyncio.wait_for(listening, 5)
