"""Decides when frames may be sent. Time is an argument."""

from __future__ import annotations


class Pacer:
    """Keeps the audio that was sent at most `lead` seconds ahead of real time."""

    def __init__(self, lead: float) -> None:
        self.lead = lead
        self._ends: float | None = None

    def due(self, now: float) -> float:
        """When the next frame may be sent; not before `now`."""
        return now if self._ends is None else max(self._ends - self.lead, now)

    def sent(self, seconds: float, now: float) -> None:
        """Counts a frame of this duration."""
        self._ends = max(now if self._ends is None else self._ends, now) + seconds

    def remaining(self, now: float) -> float:
        """Seconds until everything that was sent has been played in real time."""
        return 0.0 if self._ends is None else max(self._ends - now, 0.0)

    def reset(self) -> None:
        """Forgets what was sent: it is not played."""
        self._ends = None
