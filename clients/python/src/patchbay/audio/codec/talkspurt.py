"""Energy-based voice activity, for the level byte and the flags of frames."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..frame import Samples

_MARGIN_DB = 9.0
_GATE_DB = -55.0
_HANGOVER_SECONDS = 0.2
_FLOOR_RANGE_DB = (-75.0, -20.0)
_FLOOR_RISE_DB_PER_SECOND = 3.0
SILENCE_DB = -127.0


@dataclass(frozen=True, slots=True)
class VoiceActivity:
    """What a detector found in one frame.

    Attributes:
        level: -dBov as RFC 6464 has it, 0 to 127; 127 is silence.
        voice: whether the frame is part of a talkspurt, pauses between words included.
        starts, ends: whether it is the first or the last frame of one.
    """

    level: int
    voice: bool
    starts: bool
    ends: bool


class TalkspurtDetector:
    """Finds talkspurts frame by frame.

    A frame is loud if it is 9 dB above an adaptive noise floor and above -55 dBov. A talkspurt lasts until 200 ms
    pass without a loud frame. The floor follows a quieter background at once and a louder one at 3 dB/s.
    """

    def __init__(self) -> None:
        self._floor = -60.0
        self._left: float | None = None

    @property
    def talking(self) -> bool:
        """Whether a talkspurt is in progress."""
        return self._left is not None

    def classify(self, samples: Samples, seconds: float) -> VoiceActivity:
        """Classifies the next frame."""
        decibels = level_db(samples)
        loud = decibels > max(self._floor + _MARGIN_DB, _GATE_DB)
        self._adapt(decibels, seconds)
        was_talking = self.talking
        if loud:
            self._left = _HANGOVER_SECONDS
        elif self._left is not None:
            self._left = self._left - seconds if self._left > seconds + 1e-9 else None
        return VoiceActivity(
            level=min(max(round(-decibels), 0), 127),
            voice=was_talking or self.talking,
            starts=self.talking and not was_talking,
            ends=was_talking and not self.talking,
        )

    def reset(self) -> None:
        """Ends the talkspurt; the noise floor stays."""
        self._left = None

    def _adapt(self, decibels: float, seconds: float) -> None:
        if decibels < self._floor:
            # A quiet frame proves that the background is quiet; a loud one proves nothing.
            self._floor = (self._floor + decibels) / 2
        else:
            self._floor = min(decibels, self._floor + _FLOOR_RISE_DB_PER_SECOND * seconds)
        self._floor = min(max(self._floor, _FLOOR_RANGE_DB[0]), _FLOOR_RANGE_DB[1])


def level_db(samples: Samples) -> float:
    """The level of a frame in dBov, 0 to -127."""
    if not len(samples):
        return SILENCE_DB
    wide = samples.astype(np.float64)
    mean = float(np.dot(wide, wide)) / len(wide)
    return max(10.0 * math.log10(mean / 32_768**2), SILENCE_DB) if mean > 0 else SILENCE_DB
