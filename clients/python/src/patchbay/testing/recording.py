"""What a caller has heard, with the time of each piece."""

from __future__ import annotations

import wave
from dataclasses import dataclass, field

import numpy as np

from ..audio.codec.talkspurt import level_db
from ..audio.frame import AudioFrame, Samples

SOUND_DB = -50.0
"""Quieter frames count as silence."""


@dataclass(frozen=True, slots=True)
class HeardFrame:
    """20 ms of what was heard.

    Attributes:
        at: when it began to play, by the event loop's clock.
        participant: who said it.
        timestamp: its position on the track's 48 kHz clock; None for concealed loss.
        frame: the samples.
    """

    at: float
    participant: str
    timestamp: int | None
    frame: AudioFrame

    @property
    def is_sound(self) -> bool:
        """Whether it is louder than silence."""
        return level_db(self.frame.samples) > SOUND_DB


@dataclass(slots=True)
class Recording:
    """Frames in the order in which they were heard."""

    frames: list[HeardFrame] = field(default_factory=list)

    def of(self, participant: str) -> Recording:
        """What one participant said."""
        return Recording([heard for heard in self.frames if heard.participant == participant])

    def since(self, at: float) -> Recording:
        """What was heard from a time on."""
        return Recording([heard for heard in self.frames if heard.at >= at])

    @property
    def samples(self) -> Samples:
        """All samples, one after the other."""
        if not self.frames:
            return np.zeros(0, dtype=np.int16)
        return np.concatenate([heard.frame.samples for heard in self.frames])

    @property
    def sound_seconds(self) -> float:
        """The duration of what is louder than silence."""
        return sum(heard.frame.duration for heard in self.frames if heard.is_sound)

    @property
    def first_sound_at(self) -> float | None:
        """When the first sound was heard."""
        return next((heard.at for heard in self.frames if heard.is_sound), None)

    @property
    def last_sound_at(self) -> float | None:
        """When the last sound began."""
        return next((heard.at for heard in reversed(self.frames) if heard.is_sound), None)

    def save(self, path: str) -> None:
        """Writes a WAV file at 48 kHz, mono."""
        with wave.open(path, "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(48_000)
            writer.writeframes(self.samples.tobytes())
