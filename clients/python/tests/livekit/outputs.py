"""Both outputs without a session, speech with times of words, and what the audio output has reported."""

import asyncio
from typing import Any, Self

from livekit import rtc
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT, TimedString
from livekit.agents.voice import io

from patchbay import Room
from patchbay.livekit import AudioOutput, TextOutput
from tests.helpers import tone

RATE = 24_000
EIGHT = ["one", "two", "three", "four", "five", "six", "seven", "eight"]

# How long a test waits before it fails.
PATIENCE = 30.0


def speech(seconds: float, *words: str, rate: int = RATE, channels: int = 1) -> rtc.AudioFrame:
    """A tone, and words of half a second each."""
    frame = tone(seconds, rate, channels)
    sound = rtc.AudioFrame(bytes(frame.data), rate, channels, frame.samples_per_channel)
    timed = [TimedString(f"{word} ", start_time=0.5 * n, end_time=0.5 * (n + 1)) for n, word in enumerate(words)]
    sound.userdata[USERDATA_TIMED_TRANSCRIPT] = timed
    return sound


class Outputs:
    """Both outputs and what the audio output has reported; `async with` closes them."""

    def __init__(self, room: Room, **options: Any) -> None:
        self.stopped = 0
        self.audio = AudioOutput(room, on_stopped=self._stop, **options)
        self.text = TextOutput(self.audio)
        self.events: list[Any] = []
        for name in ("playback_started", "playback_progressed", "playback_finished"):
            self.audio.on(name, self.events.append)

    def _stop(self) -> None:
        self.stopped += 1

    @property
    def finished(self) -> list[io.PlaybackFinishedEvent]:
        return [event for event in self.events if isinstance(event, io.PlaybackFinishedEvent)]

    @property
    def progress(self) -> list[io.PlaybackProgressedEvent]:
        return [event for event in self.events if isinstance(event, io.PlaybackProgressedEvent)]

    @property
    def played(self) -> float:
        return sum(event.duration for event in self.progress)

    async def say(self, seconds: float, *words: str) -> None:
        await self.text.capture_text(" ".join(words))
        self.text.flush()
        await self.audio.capture_frame(speech(seconds, *words))
        self.audio.flush()

    async def playout(self) -> io.PlaybackFinishedEvent:
        return await asyncio.wait_for(self.audio.wait_for_playout(), PATIENCE)

    async def aclose(self) -> None:
        await self.text.aclose()
        await self.audio.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
