"""Plays an ahead track at its own pace and reports how far it was heard. Time is an argument."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from ..protocol.frames import Frame, packet_ticks
from ..protocol.media_time import (
    advanced,
    epoch_distance,
    from_seconds,
    sequence_distance,
    ticks_between,
    to_ms,
    to_seconds,
)
from .inbox import ReceivedFrame

LEAD_SECONDS = 0.3
"""The gateway releases frames at most this early, so no frame is held for longer."""

REPORT_SECONDS = 0.2
_LATE_SECONDS = 0.2
# Sums of durations are not exact.
_ROUNDING_SECONDS = 0.001


@dataclass(slots=True)
class PlayoutReport:
    """One `playout.progress`."""

    epoch: int
    played_ts: int | None
    buffered_ms: float


class AheadPlayout:
    """The schedule of an ahead track (docs/protocol/media.md, "Queues and pacing").

    The gateway's lead is the whole buffer: the first frame plays at once, and timestamps decide from then on. A gap
    in them is silence.
    """

    def __init__(self) -> None:
        self._queue: deque[tuple[ReceivedFrame, int]] = deque()
        self._epoch: int | None = None
        self._sequence: int | None = None
        # The track's position and the time at which everything that was taken has been played.
        self._end: int | None = None
        self._ends_at: float | None = None
        self._reported: PlayoutReport | None = None
        self._reported_at = 0.0
        self._reported_playing = False
        self.output_delay = 0.0

    def insert(self, item: ReceivedFrame) -> bool:
        """Adds a frame; false for one of an older epoch, a repetition, or a damaged one."""
        frame = item.frame
        if self._epoch is not None and (distance := epoch_distance(self._epoch, frame.epoch)) != 0:
            if distance < 0:
                return False
            self.clear(frame.epoch)
        self._epoch = frame.epoch
        last = self._queue[-1][0].frame.sequence if self._queue else self._sequence
        if last is not None and sequence_distance(last, frame.sequence) <= 0:
            return False
        try:
            ticks = packet_ticks(frame.packet)
        except ValueError:
            return False
        self._queue.append((item, ticks))
        return True

    def due(self, now: float) -> float | None:
        """When the next frame begins to play; None if there is none."""
        if not self._queue:
            return None
        item, _ = self._queue[0]
        if self._ends_at is None or self._end is None:
            return now
        if now - self._ends_at > _LATE_SECONDS or (now >= self._ends_at and item.arrived_at >= self._ends_at):
            return now
        gap = max(to_seconds(ticks_between(self._end, item.frame.timestamp)), 0.0)
        held_until = max(item.arrived_at + LEAD_SECONDS, self._ends_at)
        return min(self._ends_at + gap, held_until)

    def take(self, now: float) -> Frame:
        """Removes the next frame, which begins to play."""
        begins = self.due(now)
        item, ticks = self._queue.popleft()
        begins = now if begins is None else min(begins, now)
        if now - begins > _LATE_SECONDS:
            begins = now
        self._sequence = item.frame.sequence
        self._end = advanced(item.frame.timestamp, ticks)
        self._ends_at = begins + to_seconds(ticks)
        return item.frame

    def clear(self, epoch: int) -> None:
        """Discards everything of older epochs."""
        if self._epoch is not None and epoch_distance(self._epoch, epoch) <= 0:
            return
        self._queue = deque(entry for entry in self._queue if entry[0].frame.epoch == epoch)
        self._epoch = epoch
        self._sequence = self._end = self._ends_at = None

    @property
    def dry_at(self) -> float | None:
        """When everything that was taken has been heard, if nothing follows."""
        if self._queue or self._ends_at is None or not self._reported_playing:
            return None
        return self._ends_at + self.output_delay

    def report(self, now: float) -> PlayoutReport | None:
        """The report that is due now: every 200 ms, when playout stops, and at once in a new epoch."""
        if self._epoch is None:
            return None
        unheard = 0.0 if self._ends_at is None else max(self._ends_at + self.output_delay - now, 0.0)
        if unheard < _ROUNDING_SECONDS:
            unheard = 0.0
        playing = self._end is not None and (unheard > 0 or bool(self._queue))
        played = None if self._end is None else advanced(self._end, -from_seconds(unheard))
        queued = sum(ticks for _, ticks in self._queue)
        report = PlayoutReport(self._epoch, played, round(unheard * 1_000 + to_ms(queued), 1))
        if not self._is_due(report, playing, now):
            return None
        self._reported, self._reported_at, self._reported_playing = report, now, playing
        return report

    def _is_due(self, report: PlayoutReport, playing: bool, now: float) -> bool:
        if self._reported is None:
            return playing
        if report.epoch != self._reported.epoch:
            return True
        if playing:
            return not self._reported_playing or now - self._reported_at >= REPORT_SECONDS - _ROUNDING_SECONDS
        return self._reported_playing
