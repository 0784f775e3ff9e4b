"""Cancelled waits, a stalled event loop, listeners that raise, wrong formats and unusual orders of calls."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from patchbay import AudioFormatError, RequestRefusedError, TrackEndedError
from patchbay.livekit import AudioInput
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.livekit.outputs import EIGHT, PATIENCE, RATE, Outputs, speech


async def cancelled(work: Coroutine[Any, Any, Any], steps: int = 1) -> bool:
    """Cancels a coroutine after some steps of the event loop; false if it was faster."""
    task = asyncio.create_task(work)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


@pytest.mark.parametrize("steps", [1, 3, 8])
async def test_a_capture_that_is_cancelled_anywhere_leaves_one_track_and_an_exact_position(
    room: RoomUnderTest, caller: Caller, steps: int
) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        # The first one publishes the track; a published track takes 0.1 s per step.
        await cancelled(outputs.audio.capture_frame(speech(1.0)), steps)
        await cancelled(outputs.audio.capture_frame(speech(1.0)), steps)
        await outputs.audio.capture_frame(speech(0.2))
        outputs.audio.flush()
        finished = await outputs.playout()
        assert not finished.interrupted
        assert finished.playback_position >= 0.2
        await eventually(lambda: caller.heard.sound_seconds > finished.playback_position - 0.1)
        assert caller.heard.sound_seconds == pytest.approx(finished.playback_position, abs=0.1)
        await eventually(lambda: len(caller.room.remote_participants["helper"].track_publications) == 1)


async def test_a_capture_that_is_cancelled_while_it_waits_for_the_lead_is_followed_by_others(
    room: RoomUnderTest, caller: Caller
) -> None:
    async with Outputs(await room.join("helper", kind="agent"), lead_ms=500) as outputs:
        capturing = asyncio.create_task(outputs.audio.capture_frame(speech(12.0)))
        await caller.wait_for_sound(0.3)
        capturing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await capturing
        # As a session does when an answer is cancelled.
        outputs.audio.flush()
        outputs.audio.clear_buffer()
        assert (await outputs.playout()).interrupted
        await outputs.say(0.3, "next")
        assert (await outputs.playout()).synchronized_transcript == "next"


async def test_waits_that_are_cancelled_can_be_repeated(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = AudioInput(agent)
    assert await cancelled(anext(source), 3)
    await caller.speak(tone(0.3))
    await asyncio.wait_for(anext(source), PATIENCE)
    await cancelled(anext(source))
    await asyncio.wait_for(anext(source), PATIENCE)
    await source.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(source)
    async with Outputs(agent) as outputs:
        await outputs.say(0.5, "one")
        assert await cancelled(outputs.audio.wait_for_playout(), 3)
        assert (await outputs.playout()).synchronized_transcript == "one"


@pytest.mark.parametrize("steps", [0, 2])
async def test_a_close_that_is_cancelled_can_be_repeated(room: RoomUnderTest, caller: Caller, steps: int) -> None:
    agent = await room.join("helper", kind="agent")
    outputs = Outputs(agent)
    await outputs.audio.capture_frame(speech(5.0, *EIGHT))
    outputs.audio.clear_buffer()
    await cancelled(outputs.audio.aclose(), steps)
    await outputs.aclose()
    # It was not flushed, and yet nobody waits for it forever.
    assert (await outputs.playout()).interrupted
    assert not agent.local_participant.track_publications
    with pytest.raises(TrackEndedError):
        await outputs.audio.capture_frame(speech(0.1))


async def test_a_close_while_the_track_is_being_published_leaves_no_track(room: RoomUnderTest) -> None:
    agent = await room.join("helper", kind="agent")
    outputs = Outputs(agent)
    capturing = asyncio.create_task(outputs.audio.capture_frame(speech(0.1)))
    await asyncio.sleep(0)
    await outputs.aclose()
    await asyncio.wait([capturing])
    assert isinstance(capturing.exception(), TrackEndedError | None)
    assert not agent.local_participant.track_publications


async def test_speech_survives_an_event_loop_that_stands_still_for_two_seconds(
    room: RoomUnderTest, caller: Caller
) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(3.0, *EIGHT[:6])
        await caller.wait_for_sound(0.3)
        time.sleep(2)  # noqa: ASYNC251
        finished = await outputs.playout()
        assert (round(finished.playback_position, 1), finished.interrupted) == (3.0, False)
        assert finished.synchronized_transcript == " ".join(EIGHT[:6])
        assert outputs.played == pytest.approx(3.0, abs=0.02)
        assert len(outputs.finished) == 1
        assert outputs.stopped == 0


async def test_listeners_that_raise_harm_nobody(room: RoomUnderTest, caller: Caller) -> None:
    def fail(*_: object) -> None:
        raise ValueError("broken listener")

    def fail_otherwise(*_: object) -> None:
        # LiveKit's emitter does not catch this one.
        raise TypeError("broken listener")

    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        outputs.audio.on_stopped = fail
        for name in ("playback_started", "playback_progressed", "playback_finished"):
            outputs.audio.on(name, fail)
            outputs.audio.on(name, fail_otherwise)
        await outputs.say(0.5, "one")
        assert (await outputs.playout()).synchronized_transcript == "one"
        await outputs.say(8.0, *EIGHT)
        await caller.wait_for_sound(1.0)
        await caller.room.clear_playout(caller.room.remote_participants["helper"])
        assert (await outputs.playout()).interrupted
        assert len(outputs.finished) == 2


@pytest.mark.parametrize(("rate", "channels", "advice"), [(16_000, 1, "16000 Hz"), (RATE, 2, "24000 Hz with 2")])
async def test_a_frame_of_another_format_is_refused(
    room: RoomUnderTest, caller: Caller, rate: int, channels: int, advice: str
) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.audio.capture_frame(speech(0.1))
        assert outputs.audio.sample_rate == RATE
        with pytest.raises(AudioFormatError, match=advice):
            await outputs.audio.capture_frame(speech(0.1, rate=rate, channels=channels))
        await outputs.audio.capture_frame(speech(0.1))
        outputs.audio.flush()
        assert (await outputs.playout()).playback_position == pytest.approx(0.2)


async def test_who_may_not_publish_gets_a_typed_error_and_nobody_waits(room: RoomUnderTest) -> None:
    agent = await room.join("helper", kind="agent", can_publish=False)
    async with Outputs(agent) as outputs:
        with pytest.raises(RequestRefusedError):
            await outputs.audio.capture_frame(speech(0.1))
        outputs.audio.flush()
        assert (await outputs.playout()).playback_position == 0


async def test_a_clear_with_nothing_queued_reports_nothing(room: RoomUnderTest, caller: Caller) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        outputs.audio.flush()
        outputs.audio.clear_buffer()
        await outputs.say(0.3, "one")
        await outputs.playout()
        outputs.audio.clear_buffer()
        outputs.audio.clear_buffer()
        await outputs.say(0.3, "two")
        await outputs.playout()
        assert [(event.synchronized_transcript, event.interrupted) for event in outputs.finished] == [
            ("one", False),
            ("two", False),
        ]


Action = Callable[[Outputs], Awaitable[None]]


async def clear_again(outputs: Outputs) -> None:
    outputs.audio.clear_buffer()


async def speak_and_clear(outputs: Outputs) -> None:
    # Less than waits for a paused track.
    await outputs.say(0.8, "hardly", "heard")
    outputs.audio.clear_buffer()


async def pause_and_resume(outputs: Outputs) -> None:
    outputs.audio.pause()
    outputs.audio.resume()


@pytest.mark.parametrize(
    ("action", "paused"),
    [(clear_again, False), (speak_and_clear, False), (pause_and_resume, False), (clear_again, True)],
)
async def test_calls_during_a_clear_keep_segments_apart(
    room: RoomUnderTest, caller: Caller, action: Action, paused: bool
) -> None:
    async with Outputs(await room.join("helper", kind="agent")) as outputs:
        await outputs.say(8.0, *EIGHT)
        await caller.wait_for_sound(0.6)
        if paused:
            outputs.audio.pause()
        outputs.audio.clear_buffer()
        await action(outputs)
        outputs.audio.resume()
        await outputs.say(0.3, "next")
        await outputs.playout()
        first, *between, last = outputs.finished
        assert first.interrupted
        assert 0.4 < first.playback_position < 8
        assert all(event.interrupted and event.playback_position < 0.8 for event in between)
        assert len(between) == (action is speak_and_clear)
        assert (last.synchronized_transcript, last.interrupted) == ("next", False)
