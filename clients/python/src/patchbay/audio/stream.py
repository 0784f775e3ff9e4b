"""What a program hears of a remote track: PCM, or the Opus packets themselves."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, Self

from ..limits import STREAM_FRAMES_MAX
from ..protocol.frames import Frame
from .decoding import TrackDecoder
from .frame import AudioFrame
from .inbox import FrameInbox, TrackFrames
from .playout import AheadPlayout

_SILENCE_SECONDS = 0.02
# A frame may be this late before silence takes its place.
_SILENCE_GRACE_SECONDS = 0.06


class ReadableTrack(Protocol):
    """A remote track that streams read."""

    @property
    def mode(self) -> str:
        """`live` or `ahead`."""

    @property
    def frames(self) -> TrackFrames:
        """Its frames."""

    def report_playout(self, epoch: int, played_ts: int | None, buffered_ms: float) -> None:
        """Sends `playout.progress`."""


@dataclass(frozen=True, slots=True)
class AudioFrameEvent:
    """A piece of PCM.

    Attributes:
        frame: the samples.
        timestamp: the position of its first sample on the track's 48 kHz clock; None for concealed loss and silence.
    """

    frame: AudioFrame
    timestamp: int | None = None


class AudioStream:
    """A track as PCM: `async for event in AudioStream(track)`.

    A live track is returned frame by frame as it arrives. An ahead track, which arrives earlier than it is played, is
    returned at its own pace, and the stream reports to the gateway what was played: what was returned counts as
    heard, except for `output_delay`.

    Args:
        track: a subscribed remote track.
        sample_rate: Hz of the frames.
        num_channels: 1 or 2.
        capacity: frames that may wait; a reader that falls behind loses the oldest.
        fill_silence: whether silence is returned while nothing arrives, for consumers that need sound all the time.
        output_delay: seconds between reading a frame and hearing it, such as the buffer of a sound card.
    """

    def __init__(
        self,
        track: ReadableTrack,
        *,
        sample_rate: int = 48_000,
        num_channels: int = 1,
        capacity: int = STREAM_FRAMES_MAX,
        fill_silence: bool = False,
        output_delay: float = 0.0,
    ) -> None:
        self._track = track
        self._decoder = TrackDecoder(sample_rate, num_channels)
        self._inbox = FrameInbox(capacity)
        self._ready: deque[AudioFrameEvent] = deque()
        self._fill_silence = fill_silence
        self._filled_until: float | None = None
        self._closed = False
        self._playout: AheadPlayout | None = None
        if track.mode == "ahead":
            self._playout = AheadPlayout()
            self._playout.output_delay = output_delay
        track.frames.add(self._inbox)

    @classmethod
    def from_track(cls, *, track: ReadableTrack, sample_rate: int = 48_000, num_channels: int = 1) -> Self:
        """As the initializer, under LiveKit's name."""
        return cls(track, sample_rate=sample_rate, num_channels=num_channels)

    @property
    def dropped(self) -> int:
        """Frames that were dropped because the reader fell behind."""
        return self._inbox.dropped

    @property
    def concealed_ms(self) -> float:
        """Lost audio that was replaced."""
        return self._decoder.concealed / 48

    def __aiter__(self) -> AsyncIterator[AudioFrameEvent]:
        return self

    async def __anext__(self) -> AudioFrameEvent:
        loop = asyncio.get_running_loop()
        while not self._closed:
            if self._ready:
                return self._ready.popleft()
            now = loop.time()
            self._advance(now)
            if self._ready:
                continue
            if self._inbox.ended and self._is_dry(now):
                break
            wake = self._wake_at(now)
            if wake is not None and wake <= now:
                self._fill(now)
                continue
            await self._inbox.wait(wake)
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Ends the stream; a reader that waits gets the end."""
        self._closed = True
        self._track.frames.remove(self._inbox)
        self._inbox.end()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _advance(self, now: float) -> None:
        if (epoch := self._inbox.cleared_epoch) is not None:
            self._inbox.cleared_epoch = None
            if self._playout is not None:
                self._playout.clear(epoch)
            self._decoder.clear(epoch)
        if self._playout is None:
            if (item := self._inbox.take()) is not None:
                self._decode(item.frame)
                self._filled_until = now
            return
        while (item := self._inbox.take()) is not None:
            self._playout.insert(item)
        due = self._playout.due(now)
        if due is not None and due <= now:
            self._decode(self._playout.take(now))
            self._filled_until = now
        if (report := self._playout.report(now)) is not None:
            self._track.report_playout(report.epoch, report.played_ts, report.buffered_ms)

    def _decode(self, frame: Frame) -> None:
        decoded = self._decoder.decode(frame)
        for piece in decoded:
            self._ready.append(AudioFrameEvent(piece, frame.timestamp if piece is decoded[-1] else None))

    def _is_dry(self, now: float) -> bool:
        return self._playout is None or (self._playout.due(now) is None and (self._playout.dry_at or now) <= now)

    def _wake_at(self, now: float) -> float | None:
        times = []
        if self._playout is not None:
            times += [self._playout.due(now), self._playout.dry_at]
        if self._fill_silence:
            if self._filled_until is None:
                self._filled_until = now
            times.append(self._filled_until + _SILENCE_GRACE_SECONDS)
        return min((time for time in times if time is not None), default=None)

    def _fill(self, now: float) -> None:
        if self._fill_silence and self._filled_until is not None:
            if now < self._filled_until + _SILENCE_GRACE_SECONDS:
                return
            # A reader that stood still gets no burst of silence.
            self._filled_until = max(self._filled_until + _SILENCE_SECONDS, now - 1.0)
            self._ready.append(AudioFrameEvent(self._decoder.silence(_SILENCE_SECONDS)))


class OpusStream:
    """A track as Opus packets with their headers, as they arrive: `async for frame in OpusStream(track)`.

    Of an ahead track they arrive 180 to 300 ms early, and nothing is reported as played.
    """

    def __init__(self, track: ReadableTrack, *, capacity: int = STREAM_FRAMES_MAX) -> None:
        self._track = track
        self._inbox = FrameInbox(capacity)
        track.frames.add(self._inbox)

    @property
    def dropped(self) -> int:
        """Frames that were dropped because the reader fell behind."""
        return self._inbox.dropped

    def __aiter__(self) -> AsyncIterator[Frame]:
        return self

    async def __anext__(self) -> Frame:
        while True:
            self._inbox.cleared_epoch = None
            if (item := self._inbox.take()) is not None:
                return item.frame
            if self._inbox.ended:
                raise StopAsyncIteration
            await self._inbox.wait()

    async def aclose(self) -> None:
        """Ends the stream."""
        self._track.frames.remove(self._inbox)
        self._inbox.end()
