"""A bot without models: scripted recognition, answers and synthesis."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMRunFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.settings import TTSSettings
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_transport import BaseTransport
from pipecat.turns.user_start import TranscriptionUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner

from patchbay import Room
from patchbay.pipecat import PatchbayParams, PatchbayTransport
from patchbay.testing import Caller, RoomUnderTest
from tests.pipecat.answers import RATE, Answer, sound

# How long a test waits before it fails.
PATIENCE = 30.0


class ScriptedSTT(FrameProcessor):
    """Recognizes "Stop." in any sound that follows silence."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[InputAudioRawFrame] = []
        self._quiet = 10

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if not isinstance(frame, InputAudioRawFrame):
            return
        self.heard.append(frame)
        loud = int(np.abs(np.frombuffer(frame.audio, dtype=np.int16)).max(initial=0)) > 1_000
        if loud and self._quiet > 5:
            await self.push_frame(TranscriptionFrame("Stop.", "caller", time_now_iso8601(), finalized=True))
        self._quiet = 0 if loud else self._quiet + 1


class ScriptedLLM(FrameProcessor):
    """Gives the prepared answers, one for each turn of the user."""

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__()
        self._answers = list(answers)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        if not self._answers:
            return
        await self.push_frame(LLMFullResponseStartFrame())
        for word in self._answers.pop(0).text.split():
            await self.push_frame(LLMTextFrame(f"{word} "))
        await self.push_frame(LLMFullResponseEndFrame())


class ScriptedTTS(TTSService):
    """Synthesizes tones faster than real time, with or without the times of words.

    Args:
        answers: the durations of words, by the text of the sentence.
        word_times: whether it reports times.
        one_context: whether the sentences of an answer share a context; otherwise there are two in flight.
        pace: how many times faster than real time.
    """

    def __init__(
        self, answers: list[Answer], *, word_times: bool = True, one_context: bool = True, pace: float = 10.0
    ) -> None:
        super().__init__(
            push_text_frames=not word_times,
            push_stop_frames=True,
            push_start_frame=True,
            reuse_context_id_within_turn=one_context,
            sample_rate=RATE,
            settings=TTSSettings(model="scripted", voice="scripted", language=None),
        )
        self.answers = answers
        self._word_times = word_times
        self._one_context = one_context
        self._pace = pace
        self._said: dict[str, float] = {}

    def can_generate_metrics(self) -> bool:
        return False

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        spoken = text.strip().rstrip(".").lower().split()
        answer = next(answer for answer in self.answers if spoken in answer.sentences)
        begins = self._said.get(context_id, 0.0)
        at = begins + answer.leading
        pieces, times = [np.zeros(round(answer.leading * RATE), dtype=np.int16)], []
        for word, shown in zip(spoken, text.split(), strict=True):
            times.append((shown, at))
            pieces.append(sound(word, answer.seconds[word]))
            at += answer.seconds[word]
        pieces.append(np.zeros(round(answer.trailing * RATE), dtype=np.int16))
        audio = np.concatenate(pieces)
        self._said[context_id] = begins + len(audio) / RATE
        if self._word_times:
            await self.add_word_timestamps(times, context_id)
        step = RATE // 10
        for offset in range(0, len(audio), step):
            piece = audio[offset : offset + step]
            yield TTSAudioRawFrame(piece.tobytes(), RATE, 1, context_id=context_id)
            await asyncio.sleep(len(piece) / RATE / self._pace)


class Log(FrameProcessor):
    """Keeps the frames that pass, with their times."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[tuple[float, Frame]] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if direction is FrameDirection.DOWNSTREAM:
            self.frames.append((asyncio.get_running_loop().time(), frame))
        await self.push_frame(frame, direction)

    def of(self, *kinds: type[Frame]) -> list[Frame]:
        return [frame for _, frame in self.frames if isinstance(frame, kinds)]

    def at(self, kind: type[Frame]) -> float:
        return next(at for at, frame in self.frames if isinstance(frame, kind))


@dataclass
class Bot:
    """A running pipeline."""

    context: LLMContext
    worker: PipelineWorker
    log: Log
    stt: ScriptedSTT
    running: "asyncio.Task[None]"
    errors: list[Exception | None]
    transport: PatchbayTransport = field(init=False)

    def said(self) -> list[str]:
        """What the context contains of the bot, message by message."""
        return [
            str(message["content"])
            for message in self.context.get_messages()
            if isinstance(message, dict) and message["role"] == "assistant"
        ]


def both(**more: Any) -> PatchbayParams:
    return PatchbayParams(audio_in_enabled=True, audio_out_enabled=True, **more)


async def ask(bot: Bot, caller: Caller) -> None:
    await caller.wait_for_track("bot")
    await bot.worker.queue_frames([LLMRunFrame()])


@asynccontextmanager
async def running_bot(
    room: RoomUnderTest,
    answers: list[Answer],
    *,
    params: PatchbayParams | None = None,
    url: str | None = None,
    token: str | None = None,
    joined: Room | None = None,
    **synthesis: Any,
) -> AsyncIterator[Bot]:
    """A bot in a room."""
    params = params or both()
    transport = PatchbayTransport(
        url or room.url, token or room.token("bot"), params, options=room.options, room=joined
    )
    async with running_pipeline(transport, answers, **synthesis) as bot:
        bot.transport = transport
        yield bot


@asynccontextmanager
async def running_pipeline(transport: BaseTransport, answers: list[Answer], **synthesis: Any) -> AsyncIterator[Bot]:
    """A bot on any transport of Pipecat."""
    context = LLMContext([{"role": "system", "content": "You are a bot."}])
    turns = UserTurnStrategies(
        start=[TranscriptionUserTurnStartStrategy()],
        stop=[SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.1)],
    )
    pair = LLMContextAggregatorPair(context, user_params=LLMUserAggregatorParams(user_turn_strategies=turns))
    log, stt = Log(), ScriptedSTT()
    processors = [
        transport.input(),
        stt,
        pair.user(),
        ScriptedLLM(answers),
        ScriptedTTS(answers, **synthesis),
        transport.output(),
        log,
        pair.assistant(),
    ]
    worker = PipelineWorker(
        Pipeline(processors),
        params=PipelineParams(audio_in_sample_rate=16_000, audio_out_sample_rate=RATE),
        idle_timeout_secs=None,
    )
    errors: list[Exception | None] = []

    @worker.event_handler("on_pipeline_error")
    async def on_error(_: object, frame: ErrorFrame) -> None:
        errors.append(frame.exception)

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    try:
        yield Bot(context, worker, log, stt, running, errors)
    finally:
        if not running.done():
            await worker.cancel()
        await asyncio.wait_for(running, 10)
