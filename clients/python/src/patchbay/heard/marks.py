"""Which positions of a track are watched, so that playout reports them."""

from __future__ import annotations

GRID_TICKS = 12_000
"""Without other marks, a position every 250 ms of audio is watched: it keeps the lead and the estimate current."""

MARKS_MAX = 512
"""Positions that are watched at once; further ones wait until some of these were heard."""


class PositionMarks:
    """The positions to watch, each once, the earliest first.

    Args:
        position: the track's position at the beginning.
    """

    def __init__(self, position: int) -> None:
        self._grid = position
        self._wanted: set[int] = set()
        self._watched: set[int] = set()

    def wrote_to(self, position: int) -> None:
        """Audio was written up to a position."""
        if position - self._grid >= GRID_TICKS:
            self._grid = position
            self.want(position)

    def want(self, position: int) -> None:
        """A frame waits for a position."""
        if position not in self._watched:
            self._wanted.add(position)

    def take(self, heard: int) -> list[int]:
        """The positions to watch from now on; those before `heard` need no watching any more."""
        self._watched = {position for position in self._watched if position > heard}
        wanted = sorted(position for position in self._wanted if position > heard)
        taken = wanted[: MARKS_MAX - len(self._watched)]
        self._wanted = set(wanted[len(taken) :])
        self._watched.update(taken)
        return taken
