"""Speech ahead of real time: playout, marks, clears, and what the listener has heard."""

import asyncio

import numpy as np
import pytest

from patchbay import AudioError, AudioFrame, MarkStatus, TranscriptSegment, TranscriptWord
from patchbay.rtc import events
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import Log, eventually, publish, sweep, tone


def words(start: int, text: str, ms_each: int) -> list[TranscriptWord]:
    spoken = text.split()
    return [
        TranscriptWord(word, start + index * ms_each * 48, start + (index + 1) * ms_each * 48)
        for index, word in enumerate(spoken)
    ]


async def test_a_listener_hears_ahead_speech_at_its_own_pace_and_completely(
    room: RoomUnderTest, caller: Caller
) -> None:
    agent = await room.join("helper", kind="agent")
    log = Log(agent)
    source = await publish(agent, ahead=True)
    await source.capture_frame(sweep(1.0))
    assert source.queued_duration > 0.5
    await source.wait_for_playout()
    heard = (await caller.wait_for_silence(0.3)).of("helper")
    assert sum(piece.frame.samples_per_channel for piece in heard.frames) >= 48_000
    paces = [later.at - earlier.at for earlier, later in zip(heard.frames, heard.frames[1:], strict=False)]
    assert sum(paces) >= 0.9
    finished = await log.wait(events.PlayoutFinished)
    assert (round(finished.played_ms), finished.estimated) == (1_000, False)


async def test_a_clear_tells_what_was_heard_in_milliseconds_and_characters(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    log = Log(agent)
    source = await publish(agent, ahead=True)
    text = "Hello there, my friend. How are you today?"
    start = await source.capture_frame(tone(4.0))
    segment = TranscriptSegment("s1", text, final=True, words=words(start, text, 500))
    await agent.local_participant.publish_transcription(segment)
    await caller.wait_for_sound(1.2)
    played = await source.clear_queue("barge-in")
    assert not played.estimated
    assert 1_000 <= played.played_ms < 3_000
    assert played.played_ms + played.discarded_ms == pytest.approx(4_000, abs=40)
    heard_words = int(played.played_ms // 500)
    assert played.text == text[: played.characters]
    assert len((played.text or "").split()) == heard_words
    # The gateway has come to the same result.
    revised = await log.wait(events.TranscriptionReceived)
    assert (revised.segments[0].spoken, revised.segments[0].spoken_chars) == ("interrupted", played.characters)
    # Nothing of the old epoch is heard afterwards.
    loop = asyncio.get_running_loop()
    await asyncio.sleep(0.1)
    cleared_at = loop.time()
    await asyncio.sleep(0.4)
    assert caller.heard.since(cleared_at).sound_seconds == 0
    # What is captured next is played.
    await source.capture_frame(tone(0.5))
    await source.wait_for_playout()
    assert caller.heard.since(cleared_at).sound_seconds == pytest.approx(0.5, abs=0.06)


async def test_a_clear_with_nothing_queued_has_heard_nothing(room: RoomUnderTest) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    played = await source.clear_queue()
    assert (played.played_ms, played.played_ts, played.characters) == (0, None, None)


async def test_two_clears_in_flight_have_each_an_answer(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(3.0))
    await caller.wait_for_sound(0.3)
    first, second = source.clear_queue(), source.clear_queue()
    played = await first
    assert played.played_ms > 0
    assert (await second).played_ms == 0
    await source.capture_frame(tone(0.3))
    await source.wait_for_playout()


async def test_clears_need_not_be_awaited(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(2.0))
    await caller.wait_for_sound(0.2)
    source.clear_queue()
    await source.capture_frame(tone(0.2))
    await source.wait_for_playout()


async def test_marks_resolve_when_they_are_heard_or_cleared(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(0.4))
    first = source.add_mark("sentence")
    await source.capture_frame(tone(3.0))
    second = source.add_mark("sentence")
    assert await first is MarkStatus.PLAYED
    assert not second.done()
    await source.clear_queue()
    assert await second is MarkStatus.CLEARED


async def test_the_listener_may_stop_the_speaker(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    log = Log(agent)
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(3.0))
    await caller.wait_for_sound(0.2)
    await caller.room.clear_playout(caller.room.remote_participants["helper"], "stop")
    cleared = await log.wait(events.PlayoutCleared)
    assert (cleared.by, cleared.reason) == ("caller", "stop")
    assert source.queued_duration == 0
    before = caller.heard.sound_seconds
    await source.capture_frame(tone(0.3))
    await source.wait_for_playout()
    assert caller.heard.sound_seconds - before > 0.2


async def test_a_held_speaker_waits_and_continues_where_it_stopped(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    await source.capture_frame(tone(1.5))
    await caller.wait_for_sound(0.3)
    await agent.local_participant.set_hold(True)
    await asyncio.sleep(0.5)
    quiet = caller.heard.sound_seconds
    assert quiet < 1.4
    await source.capture_frame(tone(0.2))
    await agent.local_participant.set_hold(False)
    await source.wait_for_playout()
    assert caller.heard.sound_seconds == pytest.approx(1.7, abs=0.1)


async def test_what_is_captured_while_the_track_is_muted_is_played_afterwards(
    room: RoomUnderTest, caller: Caller
) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    track = next(iter(agent.local_participant.track_publications.values())).track
    await source.capture_frame(tone(0.5))
    # Not awaited: frames must not be sent between the request and its event either.
    muting = track.mute()
    await asyncio.sleep(0)
    await source.capture_frame(tone(1.0))
    await muting
    await asyncio.sleep(0.5)
    assert caller.heard.sound_seconds < 0.6
    await track.unmute()
    await source.wait_for_playout()
    assert caller.heard.sound_seconds == pytest.approx(1.5, abs=0.05)


async def test_a_source_waits_when_its_lead_is_used_up(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True, lead_ms=500)
    capturing = asyncio.create_task(source.capture_frame(tone(4.0)))
    await caller.wait_for_sound(0.2)
    assert not capturing.done()
    assert source.queued_duration < 2.0
    await source.clear_queue()
    capturing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await capturing
    await source.clear_queue()
    await source.capture_frame(tone(0.1))
    await source.wait_for_playout()


async def test_a_live_source_paces_itself_and_has_no_marks(room: RoomUnderTest, caller: Caller) -> None:
    alice = await room.join("alice")
    source = await publish(alice)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await source.capture_frame(sweep(1.5))
    await source.wait_for_playout()
    # It cannot be over earlier than in real time.
    assert loop.time() - started >= 1.4
    with pytest.raises(AudioError, match="mode `ahead`"):
        source.add_mark("x")
    heard = (await caller.wait_for_silence(0.3)).of("alice")
    assert len(heard.samples) == 72_000
    played = await source.clear_queue()
    # What was sent after a stall of the machine is a talkspurt of its own.
    assert played.estimated
    assert 0 < round(played.played_ms) <= 1_500


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 44_100])
async def test_speech_at_any_rate_is_heard_at_its_length(room: RoomUnderTest, caller: Caller, rate: int) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True, rate=rate)
    for _ in range(10):
        await source.capture_frame(tone(0.05, rate))
    await source.wait_for_playout()
    await eventually(lambda: caller.heard.sound_seconds >= 0.48)
    samples = caller.heard.samples.astype(np.float64)[4_800:19_200]
    crossings = np.count_nonzero(np.diff(np.signbit(samples))) / (len(samples) / 48_000)
    # Each piece of 50 ms begins with the same phase: 20 whole periods of 400 Hz.
    assert crossings == pytest.approx(800, abs=20)


async def test_opus_packets_pass_through_unchanged(room: RoomUnderTest) -> None:
    from patchbay import OpusStream

    alice, bob = await room.join("alice"), await room.join("bob")
    source = await publish(alice)
    await eventually(lambda: bob.remote_participants["alice"].track_publications)
    track = next(iter(bob.remote_participants["alice"].track_publications.values())).track
    stream = OpusStream(track)
    packets = [bytes([0xF8, 0xFF, 0xFE]), bytes([0xF8, 0xFF, 0xFD])]
    for packet in packets:
        await source.capture_packet(packet, level=20)
    received = [await anext(stream) for _ in packets]
    assert [frame.packet for frame in received] == packets
    assert [frame.level for frame in received] == [20, 20]
    assert received[1].timestamp - received[0].timestamp == 960
    await stream.aclose()
    assert [frame async for frame in stream] == []


async def test_frames_of_another_format_are_refused_with_a_remedy(room: RoomUnderTest) -> None:
    alice = await room.join("alice")
    source = await publish(alice)
    with pytest.raises(AudioError, match="AudioResampler"):
        await source.capture_frame(tone(0.1, 16_000))
    with pytest.raises(AudioError, match="with 2; resample"):
        await source.capture_frame(tone(0.1, channels=2))
    with pytest.raises(AudioError, match="Opus packet"):
        await source.capture_packet(b"")
    with pytest.raises(AudioError, match="1489 bytes"):
        await source.capture_packet(b"\xf8" + bytes(1_488))
    with pytest.raises(AudioError, match="16-bit"):
        AudioFrame(b"\x00" * 5, 48_000, 1, 2)
    await source.capture_frame(AudioFrame.create(48_000, 1, 0))
