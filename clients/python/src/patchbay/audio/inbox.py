"""Received frames on their way from the socket to the streams of a track."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from ..limits import STREAM_FRAMES_MAX, UNCLAIMED_FRAMES_MAX
from ..protocol.frames import Frame
from ..protocol.media_time import sequence_distance


@dataclass(slots=True)
class ReceivedFrame:
    """A frame and the loop time of its arrival."""

    frame: Frame
    arrived_at: float


class FrameInbox:
    """The frames that wait for one reader. A reader that falls behind loses the oldest frames."""

    def __init__(self, capacity: int = STREAM_FRAMES_MAX) -> None:
        self._frames: deque[ReceivedFrame] = deque()
        self._capacity = capacity
        self.arrived = asyncio.Event()
        self.ended = False
        self.dropped = 0
        self.cleared_epoch: int | None = None

    def put(self, frame: ReceivedFrame) -> None:
        """Adds a frame."""
        if len(self._frames) >= self._capacity:
            self._frames.popleft()
            self.dropped += 1
        self._frames.append(frame)
        self.arrived.set()

    def take(self) -> ReceivedFrame | None:
        """Removes the oldest frame."""
        return self._frames.popleft() if self._frames else None

    def clear(self, epoch: int) -> None:
        """Drops frames of other epochs."""
        self._frames = deque(item for item in self._frames if item.frame.epoch == epoch)
        self.cleared_epoch = epoch
        self.arrived.set()

    def end(self) -> None:
        """No more frames follow."""
        self.ended = True
        self.arrived.set()

    async def wait(self, until: float | None = None) -> None:
        """Waits for a frame, a clear or the end, at most until a loop time."""
        self.arrived.clear()
        if self._frames or self.ended or self.cleared_epoch is not None:
            return
        timer = None
        if until is not None:
            timer = asyncio.get_running_loop().call_at(until, self.arrived.set)
        try:
            await self.arrived.wait()
        finally:
            if timer is not None:
                timer.cancel()


@dataclass(slots=True)
class FrameStatistics:
    """Frames of one track."""

    received: int = 0
    lost: int = 0
    cleared: int = 0
    unread: int = 0


class TrackFrames:
    """The frames of one remote track, and who reads them.

    Frames that arrive before the first reader are kept for it, up to 2 s; then all are dropped.
    """

    def __init__(self) -> None:
        self._inboxes: list[FrameInbox] = []
        self._unclaimed: deque[ReceivedFrame] | None = deque()
        self._last: Frame | None = None
        self._ended = False
        self.statistics = FrameStatistics()

    def receive(self, frame: Frame, now: float) -> None:
        """Passes a frame to all readers."""
        self._count(frame)
        item = ReceivedFrame(frame, now)
        if self._unclaimed is not None:
            self._unclaimed.append(item)
            if len(self._unclaimed) > UNCLAIMED_FRAMES_MAX:
                self.statistics.unread += len(self._unclaimed)
                self._unclaimed = None
            return
        if not self._inboxes:
            self.statistics.unread += 1
        for inbox in self._inboxes:
            inbox.put(item)

    def add(self, inbox: FrameInbox) -> None:
        """Adds a reader."""
        for item in self._unclaimed or ():
            inbox.put(item)
        self._unclaimed = None
        self._inboxes.append(inbox)
        if self._ended:
            inbox.end()

    def remove(self, inbox: FrameInbox) -> None:
        """Removes a reader."""
        if inbox in self._inboxes:
            self._inboxes.remove(inbox)

    def clear(self, epoch: int) -> None:
        """The track continues in another epoch."""
        if self._unclaimed is not None:
            self._unclaimed = deque(item for item in self._unclaimed if item.frame.epoch == epoch)
        for inbox in self._inboxes:
            inbox.clear(epoch)

    def rejoined(self) -> None:
        """The numbers of a track start anew after a join that did not resume."""
        self._last = None

    def end(self) -> None:
        """The track is gone."""
        self._ended = True
        for inbox in self._inboxes:
            inbox.end()

    def _count(self, frame: Frame) -> None:
        self.statistics.received += 1
        last, self._last = self._last, frame
        if last is None:
            return
        missing = max(sequence_distance(last.sequence, frame.sequence) - 1, 0)
        if frame.epoch == last.epoch:
            self.statistics.lost += missing
        else:
            self.statistics.cleared += missing
