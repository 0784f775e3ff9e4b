"""Follows the playout of one published track: its events, and marks at the positions that matter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from loguru import logger

from ..audio.output import MarkStatus
from ..errors import PatchbayError
from ..protocol.media_time import advanced, from_seconds, ticks_between
from ..rtc.room import Room
from ..rtc.track import LocalTrackPublication


class TrackClock:
    """The track's clock of 32 bits as positions that do not wrap.

    Args:
        timestamp: the timestamp of the first position.
    """

    START = 1 << 33
    """The first position: late timestamps may precede it."""

    def __init__(self, timestamp: int) -> None:
        self._timestamp, self._position = timestamp, self.START

    def timestamp(self, position: int) -> int:
        """The timestamp of a position."""
        return advanced(self._timestamp, position - self._position)

    def position(self, timestamp: int) -> int:
        """The position of a timestamp, near the one before."""
        self._position += ticks_between(self._timestamp, timestamp)
        self._timestamp = timestamp
        return self._position


class PlayoutWatch:
    """Tells how far a track was heard.

    Args:
        room: the room of the track.
        publication: the track.
        clock: translates its timestamps.
        heard: called with the position up to which it was heard.
        lost: called with the position up to which its audio will not be played any more; None for everything written.
    """

    def __init__(
        self,
        room: Room,
        publication: LocalTrackPublication,
        clock: TrackClock,
        heard: Callable[[int], None],
        lost: Callable[[int | None], None],
    ) -> None:
        self._room = room
        self._publication = publication
        self._clock = clock
        self._heard = heard
        self._lost = lost
        self._started_at: int | None = None
        self._reported_at = 0.0
        self._callbacks: dict[str, Callable[..., None]] = {
            "playout_started": self._playout_started,
            "playout_finished": self._playout_finished,
            "playout_cleared": self._playout_cleared,
            "local_track_republished": self._republished,
        }
        for name, callback in self._callbacks.items():
            room.on(name, callback)

    @property
    def seconds_since_report(self) -> float:
        """How long ago a position was reported; 0 if nothing plays."""
        return _now() - self._reported_at if self._started_at is not None else 0.0

    def close(self) -> None:
        """Watches no longer."""
        for name, callback in self._callbacks.items():
            self._room.off(name, callback)

    async def watch(self, position: int) -> None:
        """Waits until a position was heard."""
        source = self._publication.track.audio_source
        while True:
            try:
                status = await source.add_mark("heard", self._clock.timestamp(position))
            except PatchbayError as error:
                logger.debug(f"a position of the track is not watched: {error}")
                return
            if status is MarkStatus.PLAYED:
                self._report(position)
            elif status is MarkStatus.TIMEOUT and self._room.local_participant.held:
                continue
            elif status in (MarkStatus.TIMEOUT, MarkStatus.DROPPED):
                self._lost(position)
            return

    def _report(self, position: int) -> None:
        self._reported_at = _now()
        self._heard(position)

    def _playout_started(self, _: object, sid: str, timestamp: int) -> None:
        if sid == self._publication.sid:
            self._started_at = self._clock.position(timestamp)
            self._report(self._started_at + 1)

    def _playout_finished(self, _: object, sid: str, played_ts: int | None, *__: object) -> None:
        if sid == self._publication.sid:
            self._started_at = None
            if played_ts is not None:
                self._report(self._clock.position(played_ts))

    def _playout_cleared(self, sid: str, by: str, played_ms: float, *_: object) -> None:
        if sid != self._publication.sid:
            return
        started, self._started_at = self._started_at, None
        if by == self._room.local_participant.identity:
            return
        if started is not None:
            self._report(started + from_seconds(played_ms / 1_000))
        self._lost(None)

    def _republished(self, publication: LocalTrackPublication, _: str) -> None:
        if publication is self._publication:
            self._started_at = None
            self._lost(None)


def _now() -> float:
    return asyncio.get_running_loop().time()
