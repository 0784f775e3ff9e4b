"""What the transport passes on, and when."""

import asyncio
import random
from typing import Any

import numpy as np
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.audio.mixers.base_audio_mixer import BaseAudioMixer
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    InputDTMFFrame,
    InputTransportMessageFrame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    OutputDTMFFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    TranscriptionFrame,
    TTSSpeakFrame,
    TTSTextFrame,
    UserAudioRawFrame,
)

from patchbay import TranscriptSegment
from patchbay.pipecat import PatchbayParams
from patchbay.rtc import events
from patchbay.testing import BrokenNetwork, Caller
from patchbay.testing.fixtures import RoomUnderTest
from tests.helpers import Log as RoomLog
from tests.helpers import eventually, tone
from tests.pipecat.bot import Answer, Bot, running_bot, words_heard

PATIENCE = 20.0


def answer(words: int = 6, seed: int = 1) -> Answer:
    return Answer.scripted(random.Random(seed), words)


def both(**more: Any) -> PatchbayParams:
    return PatchbayParams(audio_in_enabled=True, audio_out_enabled=True, **more)


async def ask(bot: Bot, caller: Caller) -> None:
    await caller.wait_for_track("bot")
    await bot.worker.queue_frames([LLMRunFrame()])


def speakers_heard(bot: Bot) -> set[str | None]:
    """Whose sound has arrived; None for mixed sound."""
    return {
        frame.user_id if isinstance(frame, UserAudioRawFrame) else None
        for frame in bot.stt.heard
        if np.abs(np.frombuffer(frame.audio, dtype=np.int16)).max(initial=0) > 1_000
    }


async def hear_from(bot: Bot, expected: set[str | None]) -> None:
    await eventually(lambda: expected <= speakers_heard(bot), PATIENCE)


async def test_words_and_states_follow_what_the_listener_hears(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(12)
    async with running_bot(room, [script], pace=50.0) as bot:
        await ask(bot, caller)
        await eventually(lambda: bot.log.of(BotStoppedSpeakingFrame), PATIENCE)
        first, last = caller.heard.first_sound_at, caller.heard.last_sound_at
        assert first is not None
        assert last is not None
        # Synthesis took a fiftieth of the time. Margins are wide, for busy machines.
        assert bot.log.at(BotStartedSpeakingFrame) < last
        assert bot.log.at(BotStoppedSpeakingFrame) > last - 0.5
        times = [at for at, frame in bot.log.frames if isinstance(frame, TTSTextFrame)]
        assert len(times) == 12
        assert times[0] < last
        ends = first + np.cumsum([script.seconds[word] for word in script.words])
        assert min(np.array(times) - ends) > -0.5
        assert words_heard(caller.heard, script) == script.words
        order = [type(frame) for frame in bot.log.of(TTSTextFrame, LLMFullResponseEndFrame, BotStoppedSpeakingFrame)]
        assert order[:12] == [TTSTextFrame] * 12
        await eventually(bot.said, PATIENCE)
        assert bot.said() == [script.text]


async def test_a_held_call_blocks_no_write_and_continues(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(12)
    async with running_bot(room, [script], params=both(lead_secs=0.5)) as bot:
        await ask(bot, caller)
        await caller.wait_for_sound(0.3)
        await bot.transport.room.local_participant.set_hold(True)
        await asyncio.sleep(1.5)
        assert len(bot.log.of(TTSTextFrame)) < 12
        await bot.transport.room.local_participant.set_hold(False)
        await eventually(lambda: len(bot.log.of(TTSTextFrame)) == 12, PATIENCE)
        assert bot.transport.output().is_usable
        assert words_heard(caller.heard, script) == script.words


async def test_a_resumed_connection_goes_unnoticed(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(10)
    async with (
        BrokenNetwork(room.url) as network,
        running_bot(room, [script], url=network.url, pace=100.0) as bot,
    ):
        await ask(bot, caller)
        await caller.wait_for_sound(0.3)
        network.cut()
        await eventually(bot.said, PATIENCE)
        assert bot.said() == [script.text]
        assert words_heard(caller.heard, script) == script.words


async def test_the_listener_may_stop_the_bot(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(12)
    async with running_bot(room, [script]) as bot:
        await ask(bot, caller)
        await caller.wait_for_sound(1.2)
        await caller.room.clear_playout(caller.room.remote_participants["bot"], "stop")
        await eventually(bot.said, PATIENCE)
        context = bot.said()[0].lower().replace(".", "").split()
        heard = words_heard(caller.heard, script)
        assert context == script.words[: len(context)]
        assert abs(len(context) - len(heard)) <= 2


async def test_the_end_waits_until_everything_was_heard(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(8)
    async with running_bot(room, [script], pace=100.0) as bot:
        await ask(bot, caller)
        await caller.wait_for_sound(0.1)
        await bot.worker.queue_frames([EndFrame()])
        await asyncio.wait_for(bot.running, PATIENCE)
        assert words_heard(caller.heard, script) == script.words
        assert bot.said() == [script.text]
        assert not bot.transport.room.isconnected()


async def test_a_cancelled_bot_leaves_the_room_at_once(room: RoomUnderTest, caller: Caller) -> None:
    async with running_bot(room, [answer()]) as bot:
        await ask(bot, caller)
        await caller.wait_for_sound(0.1)
        await bot.worker.cancel()
        await asyncio.wait_for(bot.running, PATIENCE)
        assert not bot.transport.room.isconnected()
    await eventually(lambda: "bot" not in caller.room.remote_participants)


async def test_without_a_listener_the_context_is_complete(room: RoomUnderTest) -> None:
    script = answer()
    async with running_bot(room, [script]) as bot:
        await eventually(bot.transport.room.isconnected)
        await bot.worker.queue_frames([LLMRunFrame()])
        await eventually(bot.said, PATIENCE)
        assert bot.said() == [script.text]


async def test_uninterruptible_speech_plays_on(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(6)
    async with running_bot(room, [script]) as bot:
        await caller.wait_for_track("bot")
        notice = TTSSpeakFrame(script.text.split(". ")[0] + ".")
        notice.interruptible = False
        await bot.worker.queue_frames([notice])
        await caller.wait_for_sound(0.1)
        await caller.speak(tone(0.1))
        await eventually(lambda: bot.log.of(BotStoppedSpeakingFrame), PATIENCE)
        assert words_heard(caller.heard, script)[:3] == script.sentences[0]


async def test_rtvi_messages_travel_as_data(room: RoomUnderTest, caller: Caller) -> None:
    log = RoomLog(caller.room)
    async with running_bot(room, []) as bot:
        await caller.wait_for_track("bot")
        local = caller.room.local_participant
        await local.publish_data("no JSON", topic="rtvi-ai")
        await local.publish_data('{"label":"rtvi-ai","type":"custom","id":"1"}', topic="rtvi-ai")
        await eventually(lambda: bot.log.of(InputTransportMessageFrame), PATIENCE)
        [message] = bot.log.of(InputTransportMessageFrame)
        assert getattr(message, "message", None) == {"label": "rtvi-ai", "type": "custom", "id": "1"}
        urgent = OutputTransportMessageUrgentFrame({"now": 1})
        await bot.worker.queue_frames([OutputTransportMessageFrame({"later": 2}), urgent])
        for text in ('{"now": 1}', '{"later": 2}'):
            received = await log.wait(events.DataReceived, lambda event, text=text: event.packet.text == text)  # type: ignore[misc]
            assert received.packet.topic == "rtvi-ai"


async def test_keys_travel_both_ways(room: RoomUnderTest, caller: Caller) -> None:
    log = RoomLog(caller.room)
    async with running_bot(room, []) as bot:
        pressed: list[tuple[str, str]] = []

        @bot.transport.event_handler("on_dtmf_event")
        async def on_dtmf(_: object, digit: str, identity: str) -> None:
            pressed.append((digit, identity))

        await caller.wait_for_track("bot")
        await caller.room.local_participant.publish_dtmf(digit="4#A")
        await eventually(lambda: len(pressed) == 3, PATIENCE)
        assert pressed == [("4", "caller"), ("#", "caller"), ("A", "caller")]
        buttons = [getattr(frame, "button", None) for frame in bot.log.of(InputDTMFFrame)]
        # Pipecat has no letters.
        assert buttons == [KeypadEntry.FOUR, KeypadEntry.POUND]
        await bot.worker.queue_frames([OutputDTMFFrame(buttons=[KeypadEntry.ONE, KeypadEntry.STAR])])
        await log.wait(events.SipDtmfReceived, lambda event: event.dtmf.digit == "1")
        await log.wait(events.SipDtmfReceived, lambda event: event.dtmf.digit == "*")


async def test_several_speakers_are_mixed_or_kept_separate(room: RoomUnderTest, caller: Caller) -> None:
    other = await room.call("other")
    wanted: dict[str, set[str | None]] = {"mix": {None}, "separate": {"caller", "other"}, "other": {"other"}}
    for speakers, expected in wanted.items():
        async with running_bot(room, [], params=both(speakers=speakers)) as bot:
            await caller.wait_for_track("bot")
            await asyncio.gather(caller.speak(tone(0.3)), other.speak(tone(0.3)))
            await hear_from(bot, expected)
            assert (None in speakers_heard(bot)) == (speakers == "mix")
        await eventually(lambda: "bot" not in caller.room.remote_participants)


async def test_transcripts_are_published_and_received(room: RoomUnderTest, caller: Caller) -> None:
    script = answer(6)
    async with running_bot(room, [script], params=both(transcripts_in=True)) as bot:
        await ask(bot, caller)
        await eventually(bot.said, PATIENCE)
        await eventually(lambda: any(segment.final for segment in caller.room.transcript), PATIENCE)
        assert " ".join(segment.text for segment in caller.room.transcript) == script.text
        segment = TranscriptSegment("u1", "Good morning.", role="user", final=True)
        await caller.room.local_participant.publish_transcription(segment)
        await eventually(
            lambda: "Good morning." in [m["content"] for m in bot.context.get_messages() if isinstance(m, dict)],
            PATIENCE,
        )
        assert not bot.log.of(TranscriptionFrame)


async def test_an_unreachable_room_makes_the_transport_unusable(room: RoomUnderTest) -> None:
    async with running_bot(room, [], token="no token") as bot:
        await eventually(lambda: not bot.transport.output().is_usable, PATIENCE)


async def test_a_room_that_was_joined_before_is_not_left(room: RoomUnderTest, caller: Caller) -> None:
    script = answer()
    joined = await room.join("bot", kind="agent")
    async with running_bot(room, [script], joined=joined) as bot:
        await ask(bot, caller)
        await eventually(bot.said, PATIENCE)
        assert bot.said() == [script.text]
    assert joined.isconnected()
    await eventually(lambda: not caller.room.remote_participants["bot"].track_publications)


class Background(BaseAudioMixer):
    """A quiet hum behind the speech."""

    async def start(self, sample_rate: int) -> None:
        pass

    async def stop(self) -> None:
        pass

    async def process_frame(self, frame: Frame) -> None:
        pass

    async def mix(self, audio: bytes) -> bytes:
        return (np.frombuffer(audio, dtype=np.int16) + 20).astype(np.int16).tobytes()


async def test_speech_over_a_background_waits_for_little_of_it(room: RoomUnderTest, caller: Caller) -> None:
    script = answer()
    async with running_bot(room, [script], params=both(audio_out_mixer=Background())) as bot:
        await caller.wait_for_track("bot")
        await asyncio.sleep(1.0)
        [published] = bot.transport.room.local_participant.track_publications.values()
        # With the lead of speech it would be 10 s.
        assert published.track.audio_source.queued_duration < 3.0
        await bot.worker.queue_frames([LLMRunFrame()])
        await eventually(bot.said, PATIENCE)
        assert bot.said() == [script.text]
        assert bot.transport.output().is_usable
