"""What a program says: PCM or Opus packets for one published track."""

from __future__ import annotations

import asyncio
import math
import random

from ..connection.operation import Operation
from ..errors import AudioError, TrackEndedError
from ..limits import LIVE_LEAD_SECONDS
from ..protocol.media_time import ticks_between, to_ms
from ..protocol.numbering import TrackNumbering
from ..protocol.pacing import Pacer
from ..protocol.transcript import TranscriptSegment
from .frame import AudioFrame
from .output import MarkStatus, SourceOutput
from .played import PlayedTo, SpokenSegments
from .source_queue import SourceQueue
from .speech_encoder import EncodedFrame, SpeechEncoder

# PCM that is encoded at once, before other tasks run: 0.1 s takes about 2 ms.
_SLICE_SECONDS = 0.1


class AudioSource:
    """The audio of one track.

    `capture_frame` takes PCM as it is made: at its own pace, or faster, for example from speech synthesis. What is
    captured faster than it is played waits in a queue; when the queue is full, `capture_frame` waits.

    Args:
        sample_rate: Hz. Rates that Opus does not have are resampled to 48 kHz.
        num_channels: 1 or 2.
        queue_size_ms: how much may wait here. In a track of mode `ahead` the gateway's queue comes on top, up to
            `TrackPublishOptions.lead_ms`. 0 is for audio that comes in real time, such as a microphone's or that of
            another track: it is sent as it is captured, and a program that stood still catches up.
    """

    def __init__(self, sample_rate: int, num_channels: int, queue_size_ms: int = 1_000) -> None:
        self.sample_rate = sample_rate
        self.num_channels = num_channels
        # Both numbers start at random (RFC 3550 section 5.1).
        self._is_buffered = queue_size_ms > 0
        numbers = random.getrandbits(16), random.getrandbits(32)
        self._numbering = TrackNumbering(*numbers, contiguous=not self._is_buffered)
        self._encoder = SpeechEncoder(sample_rate, num_channels, self._numbering)
        lead = LIVE_LEAD_SECONDS if self._is_buffered else math.inf
        self._queue = SourceQueue(queue_size_ms / 1_000, Pacer(lead), holds_back=False)
        self._capturing = asyncio.Lock()
        self._has_room = asyncio.Event()
        self._wake = asyncio.Event()
        self._output: SourceOutput | None = None
        self._pump: asyncio.Task[None] | None = None
        self._ended = False
        self._segment_start: int | None = None
        self._sent_end: int | None = None
        self.spoken = SpokenSegments()

    # Capturing.

    @property
    def queued_duration(self) -> float:
        """Seconds of audio that were captured and have not been played yet."""
        return self._queue.unplayed(_now())

    @property
    def timestamp(self) -> int:
        """The position of the next sample on the track's 48 kHz clock, if it follows without a pause."""
        return self._encoder.position

    async def capture_frame(self, frame: AudioFrame) -> int:
        """Adds PCM; waits while the queue is full. A cancellation keeps what was added before it.

        Returns:
            The position of the frame's first sample on the track's 48 kHz clock, for the times of words.

        Raises:
            AudioFormatError: the frame has another rate or other channels than the source.
            TrackEndedError: the track was unpublished, or the room has ended.
        """
        self._encoder.check(frame)
        step = max(int(self.sample_rate * _SLICE_SECONDS), 1) * frame.num_channels * 2
        data = bytes(frame.data)
        start: int | None = None
        async with self._capturing:
            for offset in range(0, max(len(data), 1), step):
                await self._wait_for_room()
                piece = data[offset : offset + step]
                length = len(piece) // (2 * frame.num_channels)
                before = self._encoder.position
                encoded = self._encoder.push(AudioFrame(piece, frame.sample_rate, frame.num_channels, length), _now())
                if start is None:
                    # A pause before it has moved the first frame.
                    start = encoded[0].timestamp if encoded else before
                self._enqueue(encoded)
                if offset:
                    await asyncio.sleep(0)
        assert start is not None
        return start

    async def capture_packet(self, packet: bytes, *, level: int = 30, voice: bool = True) -> int:
        """Adds one Opus packet that was encoded elsewhere, and returns its position on the track's clock.

        Args:
            packet: 2.5 to 120 ms of Opus, at most 1,488 bytes.
            level: its level in -dBov, 0 to 127.
            voice: whether it contains speech.
        """
        async with self._capturing:
            await self._wait_for_room()
            encoded = self._encoder.push_packet(packet, level, voice, _now())
            self._enqueue([encoded])
        return encoded.timestamp

    def flush(self) -> None:
        """Ends the segment: sends an incomplete frame, and marks the end of the talkspurt."""
        self._enqueue(self._encoder.flush(_now()))
        self._queue.flush()
        self._wake.set()

    async def wait_for_playout(self) -> None:
        """Ends the segment and waits until the listener has heard it, or it was cleared.

        Raises:
            TrackEndedError: the track was unpublished, or the room has ended.
        """
        self.flush()
        if self._output is not None and self._output.format.ahead:
            await self._output.mark(self._encoder.position, "end")
            return
        while (seconds := self.queued_duration) > 0:
            self._check_published()
            await asyncio.sleep(min(seconds, 0.1))

    def add_mark(self, name: str = "", timestamp: int | None = None) -> Operation[MarkStatus]:
        """Waits for the moment when the listener has heard everything captured so far.

        Args:
            name: for the gateway's log; need not be unique.
            timestamp: another position on the track's clock.

        Raises:
            AudioError: the track is not of mode `ahead`.
        """
        if self._output is None or not self._output.format.ahead:
            raise AudioError(
                "only a track of mode `ahead` has marks; publish it with TrackPublishOptions(mode='ahead')"
            )
        return Operation(self._output.mark(self.timestamp if timestamp is None else timestamp, name))

    def clear_queue(self, reason: str | None = None) -> Operation[PlayedTo]:
        """Discards what was captured and not heard. What is captured from now on is played.

        The clear is sent at once. Await the result to learn what the listener has heard.
        """
        now = _now()
        remaining = self._queue.unplayed(now) - self._queue.seconds
        unsent_ms = self._queue.clear() * 1_000
        self._encoder.clear()
        self._has_room.set()
        output = self._output
        if output is None or not output.format.ahead:
            return Operation(self._cleared_here(remaining * 1_000, unsent_ms))
        output.begin_clear()
        return Operation(self._cleared(output, reason, unsent_ms))

    async def aclose(self) -> None:
        """Releases the source. Unpublishing its track does so, too."""
        self.unbind()

    # The track.

    def bind(self, output: SourceOutput) -> None:
        """Connects the source with its published track."""
        if self._output is not None:
            raise AudioError("the source is published already; create one for each track")
        form = output.format
        self._output = output
        self._ended = False
        self._numbering.contiguous = form.ahead or not self._is_buffered
        if form.ahead or self._is_buffered:
            self._queue.configure(form.lead, holds_back=form.ahead)
        if form.ahead or form.bitrate is not None or form.dtx or form.fec:
            self._encoder = SpeechEncoder(
                self.sample_rate,
                self.num_channels,
                self._numbering,
                bitrate=form.bitrate,
                dtx=form.dtx,
                fec=form.fec,
                one_talkspurt=form.ahead,
            )
        self._pump = asyncio.create_task(self._run(output))

    def unbind(self) -> None:
        """The track is not published any more."""
        self._output = None
        self._ended = True
        if self._pump is not None:
            self._pump.cancel()
            self._pump = None
        self._queue.clear()
        self._has_room.set()

    def wake(self) -> None:
        """The track may be ready to send again."""
        self._wake.set()

    def was_cleared(self) -> None:
        """Somebody else cleared the track: what waits here belongs to what they stopped."""
        self._queue.clear()
        self._encoder.clear()
        self._has_room.set()

    def did_finish(self, played_ts: int | None) -> None:
        """An utterance was played to its end."""
        self.spoken.finished(played_ts)

    def will_speak(self, segment: TranscriptSegment) -> None:
        """A segment of the transcript was published for this track."""
        self.spoken.add(segment)

    def _check_published(self) -> None:
        if self._ended:
            raise TrackEndedError

    async def _wait_for_room(self) -> None:
        self._check_published()
        while not self._queue.has_room:
            self._has_room.clear()
            await self._has_room.wait()
            self._check_published()

    def _enqueue(self, frames: list[EncodedFrame]) -> None:
        now = _now()
        for frame in frames:
            self._queue.push(frame, now)
        output = self._output
        if frames and output is not None:
            # Without a detour over the task, if nothing keeps the frame from leaving.
            while output.ready and (due := self._queue.due(now)) is not None and due <= now:
                self._send(output, now)
            self._wake.set()

    def _send(self, output: SourceOutput, now: float) -> None:
        frame = self._queue.pop(now)
        if self._segment_start is None or (self._sent_end is not None and frame.flags & 0x80):
            self._segment_start = frame.timestamp
        self._sent_end = frame.timestamp + frame.ticks
        output.send(frame, self._numbering)
        if self._queue.has_room:
            self._has_room.set()

    async def _run(self, output: SourceOutput) -> None:
        """Sends frames when they are due."""
        loop = asyncio.get_running_loop()
        while True:
            now = loop.time()
            due = self._queue.due(now)
            timer: asyncio.TimerHandle | None = None
            if due is not None and (output.ready or output.discards):
                if due <= now:
                    self._send(output, now)
                    continue
                timer = loop.call_at(due, self._wake.set)
            self._wake.clear()
            try:
                await self._wake.wait()
            finally:
                if timer is not None:
                    timer.cancel()

    # Clearing.

    async def _cleared(self, output: SourceOutput, reason: str | None, unsent_ms: float) -> PlayedTo:
        played = await output.clear(reason)
        heard = self.spoken.clear(played.played_ts)
        self._segment_start = None
        return PlayedTo(
            played_ms=played.played_ms,
            discarded_ms=played.discarded_ms + unsent_ms,
            played_ts=played.played_ts,
            estimated=played.estimated,
            segments=heard,
        )

    async def _cleared_here(self, in_flight_ms: float, unsent_ms: float) -> PlayedTo:
        """What was sent of a live track has been heard, except for the little that was ahead of real time."""
        played_ms, played_ts = 0.0, None
        if self._segment_start is not None and self._sent_end is not None:
            played_ms = max(to_ms(ticks_between(self._segment_start, self._sent_end)) - in_flight_ms, 0.0)
            played_ts = (self._segment_start + int(played_ms * 48)) & 0xFFFF_FFFF
        self._segment_start = None
        return PlayedTo(played_ms, unsent_ms, played_ts, estimated=True, segments=self.spoken.clear(played_ts))


def _now() -> float:
    return asyncio.get_running_loop().time()
