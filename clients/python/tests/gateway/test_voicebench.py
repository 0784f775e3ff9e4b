"""The adapter for voicebench reports what an assistant in a room does."""

import asyncio

import numpy as np
from voicebench.bench import run_benchmark
from voicebench.scenario import parse_scenario

from patchbay import AudioSource, AudioStream, RemoteAudioTrack
from patchbay.testing import RoomUnderTest
from tests.helpers import publish, tone

SCENARIO = {
    "name": "room",
    "tail_ms": 500,
    "turns": [
        {"id": "question", "audio": {"synth": "speech", "duration_ms": 1_000}, "response_timeout_ms": 10_000},
        {
            "id": "barge-in",
            "audio": {"synth": "speech", "duration_ms": 1_500, "seed": 1},
            "start": {"after": "agent_speech_start", "delay_ms": 700},
            "expect": "stop",
            "max_stop_ms": 5_000,
        },
    ],
}


async def answer(track: RemoteAudioTrack, source: AudioSource) -> None:
    """Answers each utterance with a long tone, and yields to the next one."""
    loud, quiet, speaks = 0, 0, False
    async for event in AudioStream(track, fill_silence=True):
        if np.abs(event.frame.samples.astype(np.int32)).max() > 1_000:
            loud, quiet = loud + 1, 0
        else:
            quiet += 1
        if speaks and loud >= 10:
            await source.clear_queue("barge-in")
            return
        if not speaks and loud >= 10 and quiet >= 25:
            await source.capture_frame(tone(8.0))
            loud, speaks = 0, True


async def test_a_scenario_of_voicebench_is_played_to_an_assistant(room: RoomUnderTest) -> None:
    agent = await room.join("helper", kind="agent")
    source = await publish(agent, ahead=True)
    answers: list[asyncio.Task[None]] = []
    agent.on("track_subscribed", lambda track, *_: answers.append(asyncio.create_task(answer(track, source))))
    result = await run_benchmark(
        parse_scenario(SCENARIO),
        adapter="examples.voicebench_adapter:PatchbayAdapter",
        options={"url": room.url, "token": room.token("user", kind="standard"), "ca_file": room.gateway.ca_file},
    )
    question, barge_in = result.sessions[0].turns
    assert question.responded
    assert barge_in.stopped
    await asyncio.gather(*answers)
