"""A bot without models: scripted recognition, answers and synthesis, and ears that read its words from audio."""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
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
from pipecat.turns.user_start import TranscriptionUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner

from patchbay import Room
from patchbay.pipecat import PatchbayParams, PatchbayTransport
from patchbay.testing import Recording
from patchbay.testing.fixtures import RoomUnderTest

RATE = 24_000
FRAME_SECONDS = 0.02
WORDS = (
    *("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while"),
    *("seventeen", "elephants", "patiently", "consider", "another", "extraordinary", "proposal"),
)


@dataclass
class Answer:
    """What the bot says: sentences, and the sound and time of each word."""

    sentences: list[list[str]]
    seconds: dict[str, float]
    leading: float
    trailing: float

    @classmethod
    def scripted(cls, chance: random.Random, words: int = 16) -> "Answer":
        chosen = list(WORDS[:words])
        seconds = {word: (0.08 + 0.03 * len(word)) * chance.uniform(0.8, 1.2) for word in chosen}
        # Whole frames of 20 ms, so that a frame belongs to one word.
        seconds = {word: round(value / FRAME_SECONDS) * FRAME_SECONDS for word, value in seconds.items()}
        middle = words // 2
        return cls(
            [chosen[:middle], chosen[middle:]], seconds, chance.randrange(0, 6) * 0.02, chance.randrange(0, 20) * 0.02
        )

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence]

    @property
    def text(self) -> str:
        return " ".join(" ".join(sentence).capitalize() + "." for sentence in self.sentences)


def pitch(word: str) -> int:
    return 300 + 150 * WORDS.index(word)


def sound(word: str, seconds: float) -> np.ndarray[Any, np.dtype[np.int16]]:
    times = np.arange(round(seconds * RATE)) / RATE
    return (8_000 * np.sin(2 * np.pi * pitch(word) * times)).astype(np.int16)


def words_heard(recording: Recording, answer: Answer) -> list[str]:
    """The words most of whose sound is in a recording."""
    seconds: dict[str, float] = dict.fromkeys(answer.words, 0.0)
    for heard in recording.frames:
        samples = heard.frame.samples.astype(np.float64)
        if len(samples) < 480 or not heard.is_sound:
            continue
        spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 48_000))
        loudest = int(np.argmax(spectrum))
        word = min(answer.words, key=lambda word: abs(pitch(word) - loudest))
        seconds[word] += heard.frame.duration
    return [word for word in answer.words if seconds[word] >= answer.seconds[word] * 0.6]


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

    transport: PatchbayTransport
    context: LLMContext
    worker: PipelineWorker
    log: Log
    stt: ScriptedSTT
    running: "asyncio.Task[None]"
    errors: list[Exception | None]

    def said(self) -> list[str]:
        """What the context contains of the bot, message by message."""
        return [
            str(message["content"])
            for message in self.context.get_messages()
            if isinstance(message, dict) and message["role"] == "assistant"
        ]


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
    params = params or PatchbayParams(audio_in_enabled=True, audio_out_enabled=True)
    transport = PatchbayTransport(
        url or room.url, token or room.token("bot"), params, options=room.options, room=joined
    )
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
        yield Bot(transport, context, worker, log, stt, running, errors)
    finally:
        if not running.done():
            await worker.cancel()
        await asyncio.wait_for(running, 10)
