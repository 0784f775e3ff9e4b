"""Frames of one track as PCM: decodes, and replaces what was lost."""

from __future__ import annotations

from ..errors import OpusError
from ..limits import CONCEALED_SECONDS_MAX
from ..protocol.frames import Frame, packet_ticks
from ..protocol.media_time import (
    TICKS_PER_SECOND,
    advanced,
    epoch_distance,
    from_seconds,
    sequence_distance,
    ticks_between,
)
from .codec.opus import OPUS_RATES, OpusDecoder
from .codec.resampler import AudioResampler
from .frame import AudioFrame

# Opus conceals multiples of 2.5 ms, and at most 120 ms at once.
_STEP, _CONCEALED_AT_ONCE = 120, 2_880


class TrackDecoder:
    """Decodes the frames of one track in order.

    A gap in sequence numbers is loss: up to 0.2 s of it are concealed. A gap in timestamps alone is a pause of the
    speaker, of which nothing is returned. A repeated frame, as after a resume, is dropped.
    """

    def __init__(self, sample_rate: int, channels: int) -> None:
        self._rate = sample_rate
        self._channels = channels
        self._resampler: AudioResampler | None = None
        coded_rate = sample_rate
        if sample_rate not in OPUS_RATES:
            coded_rate = TICKS_PER_SECOND
            self._resampler = AudioResampler(coded_rate, sample_rate, num_channels=channels)
        self._coded_rate = coded_rate
        self._decoder = OpusDecoder(coded_rate, channels)
        self._epoch: int | None = None
        self._sequence: int | None = None
        self._end: int | None = None
        self.concealed = 0
        self.damaged = 0

    def accepts(self, frame: Frame) -> bool:
        """Whether a frame continues the track: of the current epoch, and not a repetition."""
        if self._epoch is None:
            return True
        distance = epoch_distance(self._epoch, frame.epoch)
        if distance != 0:
            return distance > 0
        return self._sequence is None or sequence_distance(self._sequence, frame.sequence) > 0

    def decode(self, frame: Frame) -> list[AudioFrame]:
        """Decodes a frame; what was lost before it is returned first."""
        if not self.accepts(frame):
            return []
        if self._epoch is not None and frame.epoch != self._epoch:
            self.clear(frame.epoch)
        self._epoch = frame.epoch
        pcm = self._conceal(frame)
        try:
            ticks = packet_ticks(frame.packet)
            pcm += self._decoder.decode(frame.packet, ticks)
        except (ValueError, OpusError):
            self.damaged += 1
            return self._frames(pcm)
        self._sequence = frame.sequence
        self._end = advanced(frame.timestamp, ticks)
        return self._frames(pcm)

    def clear(self, epoch: int) -> None:
        """Forgets the sound so far: what follows does not continue it."""
        self._epoch = epoch
        self._sequence = self._end = None
        self._decoder.reset()

    def silence(self, seconds: float) -> AudioFrame:
        """Silence in the stream's format."""
        return AudioFrame.create(self._rate, self._channels, int(self._rate * seconds))

    def _conceal(self, frame: Frame) -> bytes:
        if self._sequence is None or self._end is None:
            return b""
        lost = sequence_distance(self._sequence, frame.sequence) - 1
        gap = ticks_between(self._end, frame.timestamp)
        if lost <= 0 or gap <= 0:
            return b""
        left = min(gap, from_seconds(CONCEALED_SECONDS_MAX)) // _STEP * _STEP
        self.concealed += left
        pcm = b""
        while left > 0:
            piece = min(left, _CONCEALED_AT_ONCE)
            pcm += self._decoder.conceal(piece)
            left -= piece
        return pcm

    def _frames(self, pcm: bytes) -> list[AudioFrame]:
        if not pcm:
            return []
        frame = AudioFrame(pcm, self._coded_rate, self._channels, len(pcm) // (2 * self._channels))
        return [frame] if self._resampler is None else self._resampler.push(frame)
