"""Where the audio of one segment of speech lies on its track's clock."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.media_time import TICKS_PER_SECOND, advanced, from_seconds, ticks_between, to_seconds

# The encoder's frames of 20 ms shift positions by less than two of them; what is longer is a pause.
_PAUSE_TICKS = TICKS_PER_SECOND * 4 // 100


@dataclass(frozen=True, slots=True)
class _Run:
    """Audio without a pause in it: its offset in the segment and its timestamp, both in ticks."""

    offset: int
    timestamp: int


class Timeline:
    """Maps offsets in the captured audio of a segment to timestamps of the track, and back.

    They differ where the capture paused: a track's clock runs on, and the segment's audio does not. Offsets are in
    seconds.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._ticks = 0

    @property
    def duration(self) -> float:
        """Seconds that were captured."""
        return to_seconds(self._ticks)

    def add(self, timestamp: int, seconds: float) -> None:
        """Adds audio that was captured, with the timestamp that the source gave it."""
        pause = 0 if not self._runs else ticks_between(self._end, timestamp)
        if not self._runs or pause > _PAUSE_TICKS:
            self._runs.append(_Run(self._ticks, timestamp))
        self._ticks += from_seconds(seconds)

    def timestamp(self, offset: float) -> int | None:
        """The timestamp up to which the track has to be played for this offset; None before any audio."""
        if not self._runs:
            return None
        ticks = min(from_seconds(offset), self._ticks)
        run = next((run for run in reversed(self._runs) if run.offset < ticks), self._runs[0])
        return advanced(run.timestamp, ticks - run.offset)

    def played(self, timestamp: int | None) -> float:
        """Seconds of the segment that were played when the track was played up to a timestamp; None is not at all."""
        if timestamp is None:
            return 0.0
        played = 0
        for index, run in enumerate(self._runs):
            since = ticks_between(run.timestamp, timestamp)
            if since <= 0:
                break
            end = self._runs[index + 1].offset if index + 1 < len(self._runs) else self._ticks
            played = min(run.offset + since, end)
        return to_seconds(played)

    @property
    def _end(self) -> int:
        run = self._runs[-1]
        return advanced(run.timestamp, self._ticks - run.offset)
