"""The same bot over Pipecat's own WebSocket transport, interrupted at random words. Not part of the suite:

PATCHBAY_INTERRUPTIONS=50 .venv/bin/pytest -s tests/pipecat/websocket_comparison.py
"""

import asyncio
import random
import socket
from collections import deque
from collections.abc import AsyncIterator

import numpy as np
import pytest
import websockets
from pipecat.frames.frames import InterruptionFrame, LLMRunFrame
from pipecat.frames.protobufs import frames_pb2
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.transports.websocket.server import (
    SingleClientWebsocketServerParams,
    SingleClientWebsocketServerTransport,
)

from patchbay import AudioFrame
from patchbay.testing import Recording
from patchbay.testing.recording import HeardFrame
from tests.helpers import eventually, tone
from tests.pipecat.answers import RATE, Answer, words_heard
from tests.pipecat.bot import PATIENCE, Bot, running_pipeline
from tests.pipecat.test_interruptions import ROUNDS

STEP = 0.02


class Listener:
    """Plays what it receives, after a jitter buffer, and forgets what it has not played when it is interrupted."""

    def __init__(self, connection: websockets.ClientConnection, jitter_buffer: float) -> None:
        self.heard = Recording()
        self._connection = connection
        self._samples: deque[bytes] = deque()
        self._jitter_buffer = round(jitter_buffer / STEP)
        self._speech: deque[bytes] = deque()
        self.tasks = [asyncio.create_task(work) for work in (self._receive(), self._play(), self._speak())]

    def speak(self, audio: bytes) -> None:
        step = round(16_000 * STEP) * 2
        self._speech.extend(audio[offset : offset + step] for offset in range(0, len(audio), step))

    async def _receive(self) -> None:
        rest = b""
        step = round(RATE * STEP) * 2
        async for message in self._connection:
            frame = frames_pb2.Frame.FromString(message)  # type: ignore[attr-defined]
            if frame.WhichOneof("frame") == "interruption":
                self._samples.clear()
                rest = b""
            elif frame.WhichOneof("frame") == "audio":
                rest += frame.audio.audio
                while len(rest) >= step:
                    self._samples.append(rest[:step])
                    rest = rest[step:]

    async def _play(self) -> None:
        playing = False
        async for at in ticks():
            playing = bool(self._samples) and (playing or len(self._samples) > self._jitter_buffer)
            if not playing:
                continue
            samples = np.frombuffer(self._samples.popleft(), dtype=np.int16).repeat(48_000 // RATE)
            self.heard.frames.append(HeardFrame(at, "bot", None, AudioFrame.from_samples(samples, 48_000)))

    async def _speak(self) -> None:
        async for _ in ticks():
            frame = frames_pb2.Frame()  # type: ignore[attr-defined]
            frame.audio.audio = self._speech.popleft() if self._speech else bytes(round(16_000 * STEP) * 2)
            frame.audio.sample_rate, frame.audio.num_channels = 16_000, 1
            await self._connection.send(frame.SerializeToString())


async def ticks() -> AsyncIterator[float]:
    loop = asyncio.get_running_loop()
    at = loop.time()
    while True:
        at += STEP
        await asyncio.sleep(max(at - loop.time(), 0))
        yield at


async def interrupted_round(bot: Bot, listener: Listener, answer: Answer, after: float) -> int:
    """How many words of an interrupted answer the context contains beyond those that were heard."""
    said, interruptions = len(bot.said()), len(bot.log.of(InterruptionFrame))
    await eventually(lambda: listener.heard.sound_seconds > 0, PATIENCE)
    await asyncio.sleep(after)
    listener.speak(bytes(tone(0.1, 16_000).data))
    await eventually(lambda: len(bot.log.of(InterruptionFrame)) > interruptions, PATIENCE)
    heard, listener.heard = words_heard(listener.heard, answer), Recording()
    # The aggregator is behind the log.
    await asyncio.sleep(0.05)
    context = " ".join(bot.said()[said:]).split()
    return len(context) - len(heard)


@pytest.mark.parametrize(
    ("word_times", "one_context"),
    [(True, True), (True, False), (False, True)],
    ids=["word times", "two contexts in flight", "no word times"],
)
async def test_the_context_and_what_was_heard(word_times: bool, one_context: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    params = SingleClientWebsocketServerParams(
        audio_in_enabled=True, audio_out_enabled=True, serializer=ProtobufFrameSerializer()
    )
    transport = SingleClientWebsocketServerTransport(params, host="127.0.0.1", port=port)
    ready = asyncio.Event()

    @transport.event_handler("on_websocket_ready")
    async def on_ready(_: object) -> None:
        ready.set()

    chance = random.Random(20_261_126)
    answers = [Answer.scripted(chance) for _ in range(ROUNDS + 1)]
    distances: list[int] = []
    async with running_pipeline(transport, answers, word_times=word_times, one_context=one_context) as bot:
        await asyncio.wait_for(ready.wait(), PATIENCE)
        async with websockets.connect(f"ws://127.0.0.1:{port}") as connection:
            listener = Listener(connection, jitter_buffer=0.06)
            await bot.worker.queue_frames([LLMRunFrame()])
            for answer in answers[:ROUNDS]:
                first = answer.seconds[answer.words[0]]
                after = chance.uniform(first + 0.1, sum(answer.seconds.values()) * 0.7)
                distances.append(await interrupted_round(bot, listener, answer, after))
            for task in listener.tasks:
                task.cancel()
    print(f"words in the context beyond those heard: {sorted(distances)}")
