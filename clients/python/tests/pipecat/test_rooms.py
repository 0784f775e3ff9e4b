"""Messages, keys, transcripts and several speakers in the room of a bot."""

import asyncio

import numpy as np
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    InputDTMFFrame,
    InputTransportMessageFrame,
    OutputDTMFFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    TranscriptionFrame,
    UserAudioRawFrame,
)

from patchbay import TranscriptSegment
from patchbay.rtc import events
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import Log as RoomLog
from tests.helpers import eventually, tone
from tests.pipecat.answers import answer
from tests.pipecat.bot import PATIENCE, Bot, ask, both, running_bot


def speakers_heard(bot: Bot) -> set[str | None]:
    """Whose sound has arrived; None for mixed sound."""
    return {
        frame.user_id if isinstance(frame, UserAudioRawFrame) else None
        for frame in bot.stt.heard
        if np.abs(np.frombuffer(frame.audio, dtype=np.int16)).max(initial=0) > 1_000
    }


async def hear_from(bot: Bot, expected: set[str | None]) -> None:
    await eventually(lambda: expected <= speakers_heard(bot), PATIENCE)


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
