"""Speech recognition, a language model and speech synthesis that follow a script, and an ear that counts words."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import numpy as np
from livekit import rtc
from livekit.agents import NOT_GIVEN, Agent, AgentSession, APIConnectOptions, LanguageCode, llm, stt, tts
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, TimedString

from patchbay import Room
from patchbay.audio.frame import Samples
from patchbay.livekit import RoomIO

RATE = 24_000

Times = Literal["words", "sentences", "none"]


def word_seconds(word: str) -> tuple[float, float]:
    """The sound of a word, which depends on its letters, and the pause after it, which depends on punctuation."""
    spread = random.Random(word).uniform(0.85, 1.15)
    return round(spread * (0.1 + 0.045 * len(word)), 3), 0.25 if word[-1] in ".!?" else 0.06


def synthesize(word: str) -> bytes:
    sound, pause = word_seconds(word)
    times = np.arange(int(sound * RATE)) / RATE
    samples = (8_000 * np.sin(2 * np.pi * 440 * times)).astype("<i2")
    return samples.tobytes() + bytes(2 * int(pause * RATE))


def words_heard(samples: Samples) -> tuple[int, int]:
    """How many words began and how many ended in what a listener has recorded at 48 kHz."""
    window = 480
    loud = np.abs(samples[: len(samples) // window * window].reshape(-1, window).astype(np.int32)).max(axis=1) > 1_000
    edges = np.diff(np.concatenate([[False], loud]).astype(np.int8))
    return int((edges == 1).sum()), int((edges == -1).sum())


class ScriptedLLM(llm.LLM[Any]):
    """Says one answer after the other, word by word."""

    def __init__(self, answers: list[str]) -> None:
        super().__init__()
        self.answers = answers
        self.contexts: list[llm.ChatContext] = []

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **_: Any,
    ) -> llm.LLMStream:
        self.contexts.append(chat_ctx.copy())
        answer = self.answers[min(len(self.contexts), len(self.answers)) - 1]
        return _Answer(self, answer, chat_ctx, tools or [], conn_options)


class _Answer(llm.LLMStream):
    def __init__(
        self,
        model: llm.LLM[Any],
        answer: str,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(model, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._answer = answer

    async def _run(self) -> None:
        for word in self._answer.split():
            delta = llm.ChoiceDelta(role="assistant", content=f"{word} ")
            self._event_ch.send_nowait(llm.ChatChunk(id="answer", delta=delta))
            await asyncio.sleep(0.001)


class ScriptedTTS(tts.TTS[Any]):
    """Each word is a tone. It speaks `speed` times as fast as real time, and times words, sentences or nothing."""

    def __init__(self, times: Times = "words", *, speed: float = 20.0) -> None:
        streaming = times != "sentences"
        capabilities = tts.TTSCapabilities(streaming=streaming, aligned_transcript=times == "words")
        super().__init__(capabilities=capabilities, sample_rate=RATE, num_channels=1)
        self.times = times
        self.speed = speed

    def synthesize(
        self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> tts.ChunkedStream:
        return _Sentence(tts=self, input_text=text, conn_options=conn_options)

    def stream(self, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS) -> tts.SynthesizeStream:
        return _Speech(self, conn_options)

    async def speak(self, text: str, emitter: tts.AudioEmitter, at: float = 0.0) -> float:
        for word in text.split():
            sound, pause = word_seconds(word)
            if self.times == "words":
                emitter.push_timed_transcript(TimedString(f"{word} ", start_time=at, end_time=at + sound))
            emitter.push(synthesize(word))
            at += sound + pause
            await asyncio.sleep((sound + pause) / self.speed)
        return at


class _Sentence(tts.ChunkedStream):
    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        assert isinstance(self._tts, ScriptedTTS)
        output_emitter.initialize(request_id="1", sample_rate=RATE, num_channels=1, mime_type="audio/pcm")
        await self._tts.speak(self._input_text, output_emitter)


class _Speech(tts.SynthesizeStream):
    def __init__(self, model: ScriptedTTS, conn_options: APIConnectOptions) -> None:
        super().__init__(tts=model, conn_options=conn_options)
        self._model = model

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        output_emitter.initialize(request_id="1", sample_rate=RATE, num_channels=1, mime_type="audio/pcm", stream=True)
        output_emitter.start_segment(segment_id="1")
        at, rest = 0.0, ""
        async for piece in self._input_ch:
            if isinstance(piece, str):
                self._mark_started()
                rest += piece
                # The last word may go on.
                words, space, rest = rest.rpartition(" ")
                at = await self._model.speak(words, output_emitter, at) if space else at
        await self._model.speak(rest, output_emitter, at)
        output_emitter.end_segment()


class ScriptedSTT(stt.STT[Any]):
    """Understands "stop" whenever somebody makes a sound."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))

    async def _recognize_impl(self, *_: Any, **__: Any) -> stt.SpeechEvent:
        raise NotImplementedError

    def stream(
        self, *, language: Any = NOT_GIVEN, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> stt.RecognizeStream:
        return _Recognition(stt=self, conn_options=conn_options, sample_rate=RATE)


class _Recognition(stt.RecognizeStream):
    async def _run(self) -> None:
        quiet: float | None = None
        async for frame in self._input_ch:
            if not isinstance(frame, rtc.AudioFrame):
                continue
            if np.abs(np.frombuffer(frame.data, dtype=np.int16)).max() > 1_000:
                if quiet is None:
                    self._send(stt.SpeechEventType.START_OF_SPEECH)
                    self._send(stt.SpeechEventType.INTERIM_TRANSCRIPT)
                quiet = 0.0
            elif quiet is not None:
                quiet += frame.duration
                if quiet >= 0.1:
                    self._send(stt.SpeechEventType.FINAL_TRANSCRIPT)
                    self._send(stt.SpeechEventType.END_OF_SPEECH)
                    quiet = None

    def _send(self, kind: stt.SpeechEventType) -> None:
        data = [stt.SpeechData(LanguageCode("en"), "stop")] if "transcript" in kind.value else []
        self._event_ch.send_nowait(stt.SpeechEvent(type=kind, alternatives=data))


@asynccontextmanager
async def running(
    room: Room, answers: list[str], synthesis: ScriptedTTS | None = None
) -> AsyncIterator[tuple[AgentSession[None], RoomIO, ScriptedLLM]]:
    """A session in a room that follows a script."""
    model = ScriptedLLM(answers)
    session: AgentSession[None] = AgentSession(
        stt=ScriptedSTT(),
        vad=None,
        llm=model,
        tts=synthesis or ScriptedTTS(),
        turn_handling={
            "turn_detection": "stt",
            "endpointing": {"min_delay": 0.05, "max_delay": 0.1},
            "preemptive_generation": {"enabled": False},
        },
        aec_warmup_duration=None,
        session_close_transcript_timeout=0.1,
    )
    io = RoomIO(session, room)
    await io.start()
    await session.start(Agent(instructions="Answer."))
    try:
        yield session, io, model
    finally:
        await session.aclose()
        await io.aclose()


def spoken(session: AgentSession[None]) -> list[str]:
    """What the context says that the agent has said."""
    items = [item for item in session.history.items if isinstance(item, llm.ChatMessage)]
    return [(item.text_content or "").strip() for item in items if item.role == "assistant"]


def last_answer(session: AgentSession[None]) -> str:
    """What the context says that the agent has said last."""
    return spoken(session)[-1]
