"""A session of LiveKit Agents in a room: what it hears, says, publishes, and keeps in its context."""

import asyncio

from patchbay.rtc import events
from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import Log, eventually, tone
from tests.livekit.outputs import PATIENCE
from tests.livekit.scripted import last_answer, running, words_heard

ANSWER = "Good morning. The train to Vienna leaves at eight, and it arrives at noon, or a little later if it rains."


async def test_an_answer_is_heard_completely_and_kept(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    answer = "Good morning."
    async with running(agent, [answer]) as (session, _, _):
        log = Log(caller.room)
        await session.generate_reply(user_input="When?")
        assert last_answer(session) == answer
        assert words_heard(caller.heard.of("helper").samples)[0] == len(answer.split())
        segments = [event.segments[0] for event in log.events if isinstance(event, events.TranscriptionReceived)]
        assert segments[-1].text.strip() == answer
        assert segments[-1].final
        assert [word.text for word in segments[-1].words or []] == ["Good", "morning"]


async def test_a_user_who_talks_interrupts_and_the_context_ends_with_what_was_heard(
    room: RoomUnderTest, caller: Caller
) -> None:
    agent = await room.join("helper", kind="agent")
    async with running(agent, [ANSWER, "Fine."]) as (session, _, model):
        session.generate_reply(user_input="When?")
        await caller.wait_for_sound(1.0)
        await caller.speak(tone(0.3))
        await eventually(lambda: len(model.contexts) == 2, PATIENCE)
        _, complete = words_heard(caller.heard.of("helper").samples)
        heard = [item for item in model.contexts[1].items if item.type == "message"]
        assert [message.role for message in heard[-3:]] == ["user", "assistant", "user"]
        text = (heard[-2].text_content or "").strip()
        assert ANSWER.startswith(text)
        assert abs(len(text.split()) - complete) <= 1
        assert heard[-2].interrupted


async def test_text_of_users_is_answered_and_their_speech_is_published(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    async with running(agent, ["Yes."]) as (session, _, model):
        log = Log(caller.room)
        await caller.room.local_participant.send_text("Is it late?")
        await caller.wait_for_sound(0.1, timeout=PATIENCE)
        assert "Is it late?" in str(model.contexts[0].items[-1])
        await caller.speak(tone(0.3))
        said = await log.wait(
            events.TranscriptionReceived, lambda event: event.segments[0].role == "user" and event.segments[0].final
        )
        assert (said.segments[0].text, said.segments[0].participant) == ("stop", "caller")
        await eventually(lambda: caller.room.remote_participants["helper"].agent_state == "listening", PATIENCE)
        assert session.agent_state == "listening"


async def test_a_listener_who_stops_the_agent_interrupts_the_session(room: RoomUnderTest, caller: Caller) -> None:
    agent = await room.join("helper", kind="agent")
    async with running(agent, [ANSWER]) as (session, _, _):
        speech = session.generate_reply(user_input="When?")
        await caller.wait_for_sound(1.0)
        await caller.room.clear_playout(caller.room.remote_participants["helper"], "stop")
        await asyncio.wait_for(speech.wait_for_playout(), PATIENCE)
        assert speech.interrupted
        _, complete = words_heard(caller.heard.of("helper").samples)
        assert abs(len(last_answer(session).split()) - complete) <= 1
