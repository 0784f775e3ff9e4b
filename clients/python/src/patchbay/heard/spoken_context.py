"""Where the audio of one synthesis request lies on its track."""

from __future__ import annotations

from dataclasses import dataclass

from ..protocol.media_time import TICKS_PER_SECOND

_NANOSECONDS = 1_000_000_000


@dataclass(slots=True)
class _Piece:
    offset: int
    position: int
    ticks: int


class SpokenContext:
    """Maps times within the speech of one synthesis request to positions on the track's clock.

    Offsets are ticks of 48 kHz since the first sample of the request's speech. Positions are known as soon as the audio
    was written; pauses of a slow synthesis lie between the pieces.

    Attributes:
        arrived: ticks that the synthesis has delivered.
        written: ticks that were written to the track.
        told: the end of the last text without times.
        ended: whether everything that was delivered has been written.
        keep: whether it survives an interruption.
    """

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._baseline: int | None = None
        self.arrived = 0
        self.written = 0
        self.told = 0
        self.ended = False
        self.keep = False

    def begin(self, clock_ns: int) -> None:
        """The first audio or the first word arrives; presentation times count from here."""
        if self._baseline is None:
            self._baseline = clock_ns

    def word_offset(self, pts_ns: int) -> int:
        """The offset of a word. The estimated beginning cannot be later than a word."""
        if self._baseline is None or pts_ns < self._baseline:
            self._baseline = pts_ns
        return self.clamped_offset(pts_ns)

    def clamped_offset(self, pts_ns: int) -> int:
        """The offset of another presentation time; 0 if it precedes the speech."""
        if self._baseline is None:
            return 0
        return max(pts_ns - self._baseline, 0) * TICKS_PER_SECOND // _NANOSECONDS

    def wrote(self, position: int, ticks: int) -> None:
        """Audio of the request was written to the track."""
        last = self._pieces[-1] if self._pieces else None
        if last is not None and last.position + last.ticks == position:
            last.ticks += ticks
        else:
            self._pieces.append(_Piece(self.written, position, ticks))
        self.written += ticks

    def locate(self, offset: int) -> int | None:
        """The position of an offset; None as long as it was not written."""
        for piece in self._pieces:
            if offset <= piece.offset + piece.ticks:
                return piece.position + max(offset - piece.offset, 0)
        if self.ended and self._pieces:
            return self._pieces[-1].position + self._pieces[-1].ticks
        return None

    def offset(self, position: int) -> int:
        """How much of the request's audio lies before a position."""
        return sum(min(max(position - piece.position, 0), piece.ticks) for piece in self._pieces)
