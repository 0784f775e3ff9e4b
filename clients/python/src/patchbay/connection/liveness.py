"""Decides when to ping, when a connection is dead, and when to reconnect. Time is an argument."""

from __future__ import annotations

from enum import Enum, auto

PONG_TIMEOUT = 4.0
"""Seconds that a ping may stay unanswered while the session can be resumed. TCP alone would take minutes."""

STALL_SECONDS = 1.0
"""A caller that is late by this much has stood still itself: the gateway's silence proves nothing."""

RECONNECT_ATTEMPTS_MAX = 10


class Verdict(Enum):
    """What to do about a connection now."""

    NOTHING = auto()
    PING = auto()
    DEAD = auto()


class Heartbeat:
    """The liveness of one connection (docs/protocol/resuming.md, "Liveness")."""

    def __init__(self, interval: float, timeout: float, now: float, pong_timeout: float | None = PONG_TIMEOUT) -> None:
        self._interval = interval
        self._timeout = timeout
        self._pong_timeout = pong_timeout
        self._received = now
        self._next_ping = now
        self._unanswered: float | None = None

    def did_receive(self, now: float) -> None:
        """Anything arrived from the gateway."""
        self._received = now
        self._unanswered = None

    @property
    def deadline(self) -> float:
        """When to ask for the next verdict."""
        return min(self._next_ping, self._dead_at)

    def verdict(self, now: float) -> Verdict:
        """Decides at or after `deadline`."""
        if now - self.deadline >= STALL_SECONDS:
            # What arrived meanwhile has not been read yet.
            self._received = now
            self._unanswered = None
        if now >= self._dead_at:
            return Verdict.DEAD
        if now < self._next_ping:
            return Verdict.NOTHING
        self._next_ping = now + self._interval
        if self._unanswered is None:
            self._unanswered = now
        return Verdict.PING

    @property
    def _dead_at(self) -> float:
        dead = self._received + self._timeout
        if self._pong_timeout is None or self._unanswered is None:
            return dead
        return min(dead, self._unanswered + self._pong_timeout)


def reconnect_delay(attempt: int, random: float) -> float | None:
    """Seconds to wait before an attempt, 1 for the first; None to give up.

    The schedule of LiveKit's clients: 0, 0.3, 1.2, 2.7 and 4.8 s, then 7 s each; ten attempts take about 50 s.

    Args:
        attempt: the number of the attempt since the connection was lost.
        random: a number from 0 to 1. From the third attempt on it adds up to 1 s, so that the clients of one
            gateway do not return in the same moment.
    """
    if attempt > RECONNECT_ATTEMPTS_MAX:
        return None
    delay = min(0.3 * (attempt - 1) ** 2, 7.0)
    return delay + random if attempt >= 3 else delay
