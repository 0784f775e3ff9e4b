"""What the transport says, and when it passes on what belongs to it."""

import asyncio

import numpy as np
from pipecat.audio.mixers.base_audio_mixer import BaseAudioMixer
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    EndFrame,
    Frame,
    LLMFullResponseEndFrame,
    LLMRunFrame,
    TTSSpeakFrame,
    TTSTextFrame,
)

from patchbay.testing import BrokenNetwork, Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.pipecat.answers import answer, words_heard
from tests.pipecat.bot import PATIENCE, ask, both, running_bot


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
