"""Messages that wait for the socket, in bounded queues."""

from __future__ import annotations

from collections import deque

from ..limits import (
    AHEAD_FRAMES_MAX,
    BUNDLE_BYTES_MAX,
    BUNDLE_FRAMES_MAX,
    CONTROL_MESSAGES_MAX,
    LIVE_FRAMES_MAX,
)
from ..protocol.frames import Frame


class Outbox:
    """Control messages first, then frames of live tracks, then those of ahead tracks, bundled.

    A full queue of live frames drops its oldest, because old live audio is worthless. Ahead frames are better
    late than lost: their sender asks `has_room` first. A full queue of control messages is the end of the
    connection, as it is in the gateway.
    """

    def __init__(self) -> None:
        self._control: deque[str] = deque()
        self._live: deque[Frame] = deque()
        self._ahead: deque[Frame] = deque()
        self.frames_dropped = 0

    @property
    def has_room(self) -> bool:
        """Whether an ahead frame may be added."""
        return len(self._ahead) < AHEAD_FRAMES_MAX

    def add_control(self, message: str) -> bool:
        """Adds a control message; false if the queue is full."""
        if len(self._control) >= CONTROL_MESSAGES_MAX:
            return False
        self._control.append(message)
        return True

    def add_frame(self, frame: Frame, *, ahead: bool) -> None:
        """Adds a frame."""
        queue, limit = (self._ahead, AHEAD_FRAMES_MAX) if ahead else (self._live, LIVE_FRAMES_MAX)
        if len(queue) >= limit:
            queue.popleft()
            self.frames_dropped += 1
        queue.append(frame)

    def pop(self) -> str | bytes | None:
        """The next message for the socket."""
        if self._control:
            return self._control.popleft()
        if self._live:
            return self._live.popleft().encode()
        if self._ahead:
            return self._pop_ahead()
        return None

    def drop_ahead(self, alias: int) -> int:
        """Removes the frames of a cleared track and returns how many there were."""
        kept = [frame for frame in self._ahead if frame.alias != alias]
        removed = len(self._ahead) - len(kept)
        self._ahead = deque(kept)
        return removed

    def connection_lost(self) -> None:
        """Drops what is worthless on another connection: control messages and live frames."""
        self._control.clear()
        self.frames_dropped += len(self._live)
        self._live.clear()

    def rejoined(self) -> None:
        """Drops all frames: their aliases belonged to the earlier session."""
        self.frames_dropped += len(self._live) + len(self._ahead)
        self._live.clear()
        self._ahead.clear()

    def _pop_ahead(self) -> bytes:
        first = self._ahead.popleft().encode()
        if not self._ahead:
            return first
        frames, size = [first], 4 + len(first)
        while self._ahead and len(frames) < BUNDLE_FRAMES_MAX:
            following = self._ahead[0].encode()
            if size + 2 + len(following) > BUNDLE_BYTES_MAX:
                break
            self._ahead.popleft()
            frames.append(following)
            size += 2 + len(following)
        if len(frames) == 1:
            return first
        return bytes([0x42, len(frames)]) + b"".join(len(frame).to_bytes(2, "big") + frame for frame in frames)
