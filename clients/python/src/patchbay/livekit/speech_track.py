"""The published track of an agent's speech: capturing, marks, clears and pauses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator

from livekit import rtc
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT

from ..audio.frame import AudioFrame
from ..audio.output import MarkStatus
from ..audio.played import PlayedTo
from ..audio.source import AudioSource
from ..errors import PatchbayError, RequestError, TrackEndedError
from ..rtc.room import Room
from ..rtc.track import LocalAudioTrack, TrackPublishOptions
from ..spoken.alignment import TimedText

logger = logging.getLogger("patchbay")

_RETRY_SECONDS = 0.2
# After this the position that was reported last is used: the agent waits for it before it answers.
_CLEAR_SECONDS = 2.0
# Pieces of a frame that are captured at once: a clear discards those that still wait.
_PIECE_SECONDS = 0.1


class SpeechTrack:
    """An ahead track that is published when its sample rate is known.

    Args:
        room: a connected room.
        name: name of the track.
        num_channels: 1 or 2.
        options: how to publish it.
    """

    def __init__(self, room: Room, name: str, num_channels: int, options: TrackPublishOptions) -> None:
        self._room = room
        self._name = name
        self._channels = num_channels
        self._options = options
        self._track: LocalAudioTrack | None = None
        self._publishing = asyncio.Lock()
        self._capturing: asyncio.Task[None] | None = None
        self._is_closed = False
        self._is_paused = False
        self._pausing: asyncio.Task[None] | None = None

    @property
    def sid(self) -> str:
        """The track's sid; empty before it is published."""
        return self._track.sid if self._track else ""

    @property
    def source(self) -> AudioSource:
        """The track's source.

        Raises:
            TrackEndedError: the track is not published.
        """
        if self._track is None:
            raise TrackEndedError
        return self._track.audio_source

    @property
    def is_published(self) -> bool:
        """Whether it was published."""
        return self._track is not None

    @property
    def is_silenced(self) -> bool:
        """Whether playout is paused here, or by a held call."""
        return self._is_paused or self._room.local_participant.session.tracks.held

    async def publish(self, sample_rate: int) -> None:
        """Publishes the track, unless it is published.

        Raises:
            TrackEndedError: `aclose` was called.
        """
        async with self._publishing:
            if self._is_closed:
                raise TrackEndedError
            if self._track is not None:
                return
            track = LocalAudioTrack.create_audio_track(self._name, AudioSource(sample_rate, self._channels))
            await self._room.local_participant.publish_track(track, self._options)
            self._track = track
            if self._is_closed:
                # `aclose` was called meanwhile, and unpublishes it.
                raise TrackEndedError
            if self._is_paused:
                self._apply_pause()

    async def aclose(self) -> None:
        """Unpublishes the track."""
        self._is_closed = True
        self.cancel_capture()
        if self._pausing is not None:
            self._pausing.cancel()
            await asyncio.gather(self._pausing, return_exceptions=True)
        # A pending `publish` completes first.
        async with self._publishing:
            if self._track is None or self._track.control is None:
                return
            try:
                await self._room.local_participant.unpublish_track(self._track.sid)
            except PatchbayError as error:
                logger.debug("the track could not be unpublished: %r", error)

    async def capture(self, frame: rtc.AudioFrame, did_add: Callable[[int, float], None]) -> None:
        """Adds a frame in pieces; waits while the lead is used up. `cancel_capture` ends it early.

        Args:
            frame: speech of any length.
            did_add: called for each piece that was added, with its position on the track's clock and its seconds. A
                cancellation never separates the two.

        Raises:
            AudioFormatError: the frame has another rate or other channels than the track.
            TrackEndedError: the track was unpublished, or the room has ended.
        """
        self._capturing = asyncio.create_task(self._capture(frame, did_add))
        # Unlike `await`, `gather` tells a cancellation of the task from one of the caller.
        (outcome,) = await asyncio.gather(self._capturing, return_exceptions=True)
        if isinstance(outcome, Exception):
            raise outcome

    async def _capture(self, frame: rtc.AudioFrame, did_add: Callable[[int, float], None]) -> None:
        for piece in _pieces(frame):
            did_add(await self.source.capture_frame(piece), piece.duration)

    def cancel_capture(self) -> None:
        """Cancels the capture that waits, if there is one."""
        if self._capturing is not None:
            self._capturing.cancel()

    async def mark(self, timestamp: int) -> MarkStatus:
        """Waits until the track was played up to a position, across holds, pauses and reconnects."""
        while True:
            try:
                status = await self.source.add_mark("progress", timestamp)
            except RequestError as error:
                if not error.retryable:
                    return MarkStatus.DROPPED
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            except PatchbayError:
                return MarkStatus.DROPPED
            if status is not MarkStatus.TIMEOUT or not self.is_silenced:
                return status

    async def clear(self) -> PlayedTo | None:
        """Discards what was not heard, and returns what was; None if that is not known."""
        try:
            async with asyncio.timeout(_CLEAR_SECONDS):
                return await self.source.clear_queue("interrupted")
        except (PatchbayError, TimeoutError) as error:
            logger.warning("it is not known exactly what was heard of the interrupted speech: %r", error)
            return None

    def set_paused(self, paused: bool) -> None:
        """Pauses or continues playout. What the listener has buffered (0.3 s) still plays."""
        if paused != self._is_paused:
            self._is_paused = paused
            self._apply_pause()

    def _apply_pause(self) -> None:
        if self._track is not None and (self._pausing is None or self._pausing.done()):
            self._pausing = asyncio.create_task(self._mute(self._track))

    async def _mute(self, track: LocalAudioTrack) -> None:
        """Repeats the request until the gateway has done what is wanted now."""
        done: bool | None = None
        while done is not self._is_paused:
            wanted = self._is_paused
            try:
                await (track.mute() if wanted else track.unmute())
                done = wanted
            except RequestError as error:
                if not error.retryable:
                    logger.warning("playout could not be paused or continued: %r", error)
                    return
                await asyncio.sleep(_RETRY_SECONDS)
            except PatchbayError:
                # The track or the room has ended.
                return


def timed_texts(frame: rtc.AudioFrame) -> Iterator[TimedText]:
    """The words or sentences that the speech synthesis has attached to a frame, with their times."""
    for text in frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, ()):
        yield TimedText(str(text), _seconds(text, "start_time"), _seconds(text, "end_time"))


def _seconds(text: object, name: str) -> float | None:
    value = getattr(text, name, None)
    return float(value) if isinstance(value, int | float) else None


def _pieces(frame: rtc.AudioFrame) -> Iterator[AudioFrame]:
    data = bytes(frame.data.cast("b"))
    step = max(int(frame.sample_rate * _PIECE_SECONDS), 1) * frame.num_channels * 2
    for offset in range(0, len(data), step):
        piece = data[offset : offset + step]
        yield AudioFrame(piece, frame.sample_rate, frame.num_channels, len(piece) // (2 * frame.num_channels))
