"""Arithmetic on the 48 kHz clock of tracks, which wraps at 2^32, and on sequence numbers, which wrap at 2^16."""

from __future__ import annotations

TICKS_PER_SECOND = 48_000
TICKS_PER_MS = 48


def advanced(timestamp: int, ticks: int) -> int:
    """The timestamp `ticks` later."""
    return (timestamp + ticks) & 0xFFFF_FFFF


def ticks_between(earlier: int, later: int) -> int:
    """Ticks from one timestamp to another; negative if `later` precedes `earlier`."""
    return ((later - earlier + 0x8000_0000) & 0xFFFF_FFFF) - 0x8000_0000


def sequence_distance(earlier: int, later: int) -> int:
    """Frames from one sequence number to another; negative if `later` precedes `earlier`."""
    return ((later - earlier + 0x8000) & 0xFFFF) - 0x8000


def epoch_distance(earlier: int, later: int) -> int:
    """Clears from one epoch to another; negative if `later` precedes `earlier`."""
    return ((later - earlier + 0x80) & 0xFF) - 0x80


def to_ms(ticks: int) -> float:
    """The milliseconds of a number of ticks."""
    return ticks / TICKS_PER_MS


def to_seconds(ticks: int) -> float:
    """The seconds of a number of ticks."""
    return ticks / TICKS_PER_SECOND


def from_seconds(seconds: float) -> int:
    """The number of ticks that is nearest to a number of seconds."""
    return round(seconds * TICKS_PER_SECOND)
