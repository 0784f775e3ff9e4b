"""Encoded frames that wait for their time. Time is an argument."""

from __future__ import annotations

from collections import deque

from ..protocol.frames import FrameFlags
from ..protocol.pacing import Pacer
from .speech_encoder import EncodedFrame

HOLD_BACK_SECONDS = 0.06
"""How long the last frame waits to learn that it is the last: the end of a talkspurt is marked on it."""


class SourceQueue:
    """The queue of one source: frames leave in order, at most `pacer.lead` ahead of real time.

    Args:
        capacity: seconds of audio; beyond it `capture_frame` waits. One frame always has room.
        pacer: decides when a frame may leave.
        holds_back: whether the last frame waits for `flush` or the next frame. For ahead tracks, where it delays
            nothing.
    """

    def __init__(self, capacity: float, pacer: Pacer, *, holds_back: bool) -> None:
        self._capacity = capacity
        self._pacer = pacer
        self._holds_back = holds_back
        self._frames: deque[EncodedFrame] = deque()
        self._flushed = False
        self._pushed_at = 0.0
        self.seconds = 0.0

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def has_room(self) -> bool:
        """Whether more may be captured."""
        return not self._frames or self.seconds < self._capacity

    def configure(self, lead: float, *, holds_back: bool) -> None:
        """Adapts to the mode of the track that the source is published with."""
        self._pacer.lead = lead
        self._holds_back = holds_back

    def push(self, frame: EncodedFrame, now: float) -> None:
        """Adds a frame."""
        self._frames.append(frame)
        self.seconds += frame.seconds
        self._flushed = False
        self._pushed_at = now

    def flush(self) -> None:
        """The last frame ends its talkspurt."""
        self._flushed = True
        if self._frames and self._holds_back:
            self._frames[-1].flags |= FrameFlags.END

    def due(self, now: float) -> float | None:
        """When the next frame may leave; None if there is none."""
        if not self._frames:
            return None
        due = self._pacer.due(now)
        if self._holds_back and len(self._frames) == 1 and not self._flushed:
            due = max(due, self._pushed_at + HOLD_BACK_SECONDS)
        return due

    def pop(self, now: float) -> EncodedFrame:
        """Removes the next frame."""
        frame = self._frames.popleft()
        self.seconds = max(self.seconds - frame.seconds, 0.0) if self._frames else 0.0
        self._pacer.sent(frame.seconds, now)
        return frame

    def unplayed(self, now: float) -> float:
        """Seconds of audio that were captured and have not been played in real time."""
        return self.seconds + self._pacer.remaining(now)

    def clear(self) -> float:
        """Removes all frames and returns their seconds; the next frame may leave at once."""
        removed = self.seconds
        self._frames.clear()
        self.seconds = 0.0
        self._pacer.reset()
        return removed
