"""Assigns timestamps and sequence numbers to the frames of one published track. Time is an argument."""

from __future__ import annotations

from dataclasses import dataclass

from .media_time import advanced, from_seconds, to_seconds

PAUSE_SECONDS = 0.2
"""A pause of this length starts a new talkspurt."""

SEGMENT_PAUSE_SECONDS = 1.0
"""Contiguous audio that stops for this long has ended, even if nobody said so."""


@dataclass(slots=True)
class Stamp:
    """The position of a frame on its track's clock."""

    timestamp: int
    starts_talkspurt: bool


class TrackNumbering:
    """Sequence numbers continue across pauses and reconnects, and timestamps never decrease.

    Audio follows the clock: a pause of 200 ms or more becomes a gap in timestamps. Contiguous audio does so only after
    the end of a segment, or a second. That is ahead audio, however slowly it is synthesized, so that the times of its
    words stay true; and unbuffered audio, which comes late and in a burst after the program has stood still.
    """

    def __init__(self, sequence: int, timestamp: int, *, contiguous: bool = False) -> None:
        self._sequence = sequence & 0xFFFF
        self.end = timestamp & 0xFFFF_FFFF
        self.contiguous = contiguous
        self._ends_at: float | None = None
        self._segment_ended = True

    def stamp(self, ticks: int, now: float) -> Stamp:
        """Assigns the position of a frame of `ticks` that was captured at `now`."""
        gap = self._gap(now)
        starts = self._ends_at is None or gap > 0
        timestamp = advanced(self.end, from_seconds(gap))
        self.end = advanced(timestamp, ticks)
        # Frames that come faster than real time cause no pause later.
        self._ends_at = max(now if self._ends_at is None else self._ends_at, now) + to_seconds(ticks)
        self._segment_ended = False
        return Stamp(timestamp, starts)

    def next_sequence(self) -> int:
        """The number of the next frame that is sent."""
        number = self._sequence
        self._sequence = (number + 1) & 0xFFFF
        return number

    def end_segment(self) -> None:
        """The next frame begins a new segment."""
        self._segment_ended = True

    def clear(self) -> None:
        """What was captured is not played: the next frame starts a talkspurt, without a pause before it."""
        self._ends_at = None
        self._segment_ended = True

    def _gap(self, now: float) -> float:
        if self._ends_at is None:
            return 0.0
        passed = now - self._ends_at
        if self.contiguous and not self._segment_ended:
            return passed if passed >= SEGMENT_PAUSE_SECONDS else 0.0
        return passed if passed >= PAUSE_SECONDS else 0.0
