"""Answers that are interrupted at a random word: the context ends with the words that the listener has heard.

There are ten of them. `INTERRUPTIONS=50 ./check -s -k within_one_word` measures more, and other kinds of synthesis.
"""

import asyncio
import os
import random
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from livekit.agents import SpeechCreatedEvent
from livekit.agents.voice import SpeechHandle

from patchbay.testing import RoomUnderTest
from patchbay.testing.gateway import Gateway
from patchbay.testing.recording import Recording
from tests.helpers import eventually, tone
from tests.livekit.outputs import PATIENCE
from tests.livekit.scripted import ScriptedTTS, Times, running, word_seconds, words_heard

WORDS = """a the to we it train ticket arrives leaves morning evening station platform Vienna Bratislava reservation
conductor seven eleven because however without between restaurant compartment is on at by quickly"""
INTERRUPTIONS = int(os.environ.get("INTERRUPTIONS", "10"))
ROOMS = 5
PER_ROOM = INTERRUPTIONS // ROOMS


@dataclass
class Interruption:
    """What the context and the listener's recording say of one answer."""

    context: int
    begun: int
    complete: int

    @property
    def error(self) -> int:
        """Words by which the context differs from those that were heard to their end."""
        return abs(self.context - self.complete)


def answer(rng: random.Random) -> str:
    words = rng.choices(WORDS.split(), k=rng.randint(12, 24))
    return " ".join(word + rng.choices(["", ",", "."], [8, 1, 1])[0] for word in words)


async def interrupted(gateway: Gateway, times: Times, seed: int) -> list[Interruption]:
    """Interrupts the answers of one room: by the user's voice if the seed is odd, otherwise by the program."""
    rng = random.Random(seed)
    answers = [answer(rng) for _ in range(PER_ROOM + 1)]
    results = []
    # With a slow one the audio is not complete when it is interrupted.
    synthesis = ScriptedTTS(times, speed=rng.choice([1.3, 3, 20]))
    async with AsyncExitStack() as stack:
        room = RoomUnderTest(gateway, stack)
        agent, caller = await room.join("helper", kind="agent"), await room.call()
        session, _, _ = await stack.enter_async_context(running(agent, answers, synthesis))
        speeches: list[SpeechHandle] = []
        ends: list[int] = []

        @session.on("speech_created")
        def created(event: SpeechCreatedEvent) -> None:
            speeches.append(event.speech_handle)
            event.speech_handle.add_done_callback(lambda _: ends.append(len(caller.heard.frames)))

        for number in range(PER_ROOM):
            words, start = answers[number].split(), ends[-1] if ends else 0
            if seed % 2 == 0 or number == 0:
                session.generate_reply(user_input="Go on.")
            await eventually(lambda start=start: Recording(caller.heard.frames[start:]).sound_seconds > 0, PATIENCE)  # type: ignore[misc]
            await asyncio.sleep(sum(sum(word_seconds(word)) for word in words[: rng.randint(1, len(words) - 6)]))
            if seed % 2:
                # The next answer follows when the user has been silent for a moment.
                await caller.speak(tone(0.3))
            else:
                await session.interrupt()
            await eventually(lambda number=number: len(ends) > number, PATIENCE)  # type: ignore[misc]
            context = " ".join(
                item.text_content or "" for item in speeches[number].chat_items if item.type == "message"
            )
            assert answers[number].startswith(context.strip())
            heard = Recording(caller.heard.frames[start : ends[number]])
            results.append(Interruption(len(context.split()), *words_heard(heard.samples)))
    return results


measured = pytest.mark.skipif(INTERRUPTIONS < 50, reason="estimates need a larger sample")


@pytest.mark.parametrize(
    ("times", "required"),
    [
        pytest.param("words", 0.96, id="with-times-of-words"),
        # Estimates from the speech so far.
        pytest.param("sentences", 0.8, id="with-times-of-sentences", marks=measured),
        pytest.param("none", 0.8, id="without-times", marks=measured),
    ],
)
async def test_the_context_ends_within_one_word_of_what_was_heard(
    gateway: Gateway, times: Times, required: float
) -> None:
    rooms = await asyncio.gather(*(interrupted(gateway, times, seed) for seed in range(ROOMS)))
    results = [result for room in rooms for result in room]
    exact = sum(result.error == 0 for result in results)
    within = sum(result.error <= 1 for result in results)
    print(f"\ntimes of {times}: of {len(results)} interruptions {exact} exact, {within} within one word")
    assert len(results) == ROOMS * PER_ROOM
    # A single outlier is allowed in a small sample.
    assert within >= min(required * len(results), len(results) - 1), results
