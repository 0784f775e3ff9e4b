"""Interrupted at random words, the context ends with what the listener's recording contains."""

import asyncio
import os
import random

import pytest
from pipecat.frames.frames import LLMRunFrame

from patchbay.testing import Caller, RoomUnderTest
from tests.helpers import eventually, tone
from tests.pipecat.answers import Answer, words_heard
from tests.pipecat.bot import PATIENCE, Bot, running_bot

ROUNDS = int(os.environ.get("PATCHBAY_INTERRUPTIONS", "3"))


async def interrupted_round(bot: Bot, caller: Caller, answer: Answer, after: float) -> tuple[list[str], list[str]]:
    """Lets the bot speak, interrupts it, and returns the words of the context and those of the recording."""
    loop = asyncio.get_running_loop()
    turns = len(bot.said())
    begun = loop.time()
    await caller.wait_for_sound(0.02, since=begun, timeout=PATIENCE)
    await asyncio.sleep(after)
    await caller.speak(tone(0.1))
    await eventually(lambda: len(bot.said()) > turns, PATIENCE)
    recording = caller.heard.since(begun)
    context = bot.said()[-1].lower().replace(".", "").split()
    return context, words_heard(recording, answer)


@pytest.mark.parametrize(
    ("word_times", "one_context"),
    [(True, True), (True, False), (False, True)],
    ids=["word times", "two contexts in flight", "no word times"],
)
async def test_the_context_ends_with_the_word_that_was_heard(
    room: RoomUnderTest, caller: Caller, word_times: bool, one_context: bool
) -> None:
    chance = random.Random(20_261_126)
    answers = [Answer.scripted(chance) for _ in range(ROUNDS + 1)]
    distances: list[int] = []
    async with running_bot(room, answers, word_times=word_times, one_context=one_context) as bot:
        await caller.wait_for_track("bot")
        await bot.worker.queue_frames([LLMRunFrame()])
        for answer in answers[:ROUNDS]:
            # Not before the first word is over: without one there is no message in the context.
            first = answer.seconds[answer.words[0]]
            after = chance.uniform(first + 0.1, sum(answer.seconds.values()) * 0.7)
            context, heard = await interrupted_round(bot, caller, answer, after)
            assert context == answer.words[: len(context)]
            assert heard == answer.words[: len(heard)]
            distances.append(len(context) - len(heard))
    # Shown by `pytest -s`.
    print(f"words in the context beyond those heard: {sorted(distances)}")
    # 48 of 50; a busy machine may estimate one position of a few.
    missed = [distance for distance in distances if abs(distance) > 1]
    assert len(missed) <= max(ROUNDS * 0.04, 1)
