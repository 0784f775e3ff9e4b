"""PCM of any length as Opus frames of 20 ms with their place on the track's clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import AudioFormatError
from ..limits import OPUS_PACKET_BYTES_MAX
from ..protocol.frames import SILENCE_LEVEL, FrameFlags, packet_ticks
from ..protocol.media_time import TICKS_PER_SECOND, advanced, to_seconds
from ..protocol.numbering import TrackNumbering
from .codec.opus import OPUS_RATES, OpusEncoder
from .codec.resampler import AudioResampler
from .codec.talkspurt import TalkspurtDetector
from .frame import AudioFrame

FRAME_SECONDS = 0.02
FRAME_TICKS = 960


@dataclass(slots=True)
class EncodedFrame:
    """One Opus packet that is ready to be sent."""

    packet: bytes
    timestamp: int
    ticks: int
    level: int
    voice: bool
    flags: FrameFlags

    @property
    def seconds(self) -> float:
        """The duration."""
        return to_seconds(self.ticks)


class SpeechEncoder:
    """Cuts PCM into frames, encodes and numbers them. Time is an argument.

    Rates that Opus does not have are resampled to 48 kHz. With `one_talkspurt`, a segment is one, regardless of pauses;
    otherwise talkspurts are detected.
    """

    def __init__(
        self,
        sample_rate: int,
        channels: int,
        numbering: TrackNumbering,
        *,
        bitrate: int | None = None,
        dtx: bool = False,
        fec: bool = False,
        one_talkspurt: bool = False,
    ) -> None:
        self._rate = sample_rate
        self._channels = channels
        self._numbering = numbering
        self._resampler: AudioResampler | None = None
        self._coded_rate = sample_rate
        if sample_rate not in OPUS_RATES:
            self._resampler = AudioResampler(sample_rate, TICKS_PER_SECOND, num_channels=channels)
            self._coded_rate = TICKS_PER_SECOND
        self._encoder = OpusEncoder(self._coded_rate, channels, bitrate=bitrate, dtx=dtx, fec=fec)
        self._frame_bytes = int(self._coded_rate * FRAME_SECONDS) * channels * 2
        self._detector = TalkspurtDetector()
        self._dtx, self._fec = dtx, fec
        self._one_talkspurt = one_talkspurt
        self._rest = b""
        self._has_flushed = True

    def check(self, frame: AudioFrame) -> None:
        """Raises `AudioFormatError` unless the frame has the source's rate and channels."""
        if (frame.sample_rate, frame.num_channels) != (self._rate, self._channels):
            raise AudioFormatError(
                f"the source takes {self._rate} Hz with {self._channels} channels, and the frame has "
                f"{frame.sample_rate} Hz with {frame.num_channels}; resample it with AudioResampler, or create "
                "the source for the frame's format"
            )

    @property
    def position(self) -> int:
        """The timestamp of the next sample, if it follows without a pause."""
        pending = len(self._rest) // (2 * self._channels) * TICKS_PER_SECOND // self._coded_rate
        return advanced(self._numbering.end, pending)

    def push(self, frame: AudioFrame, now: float) -> list[EncodedFrame]:
        """Adds samples and returns the frames that are complete."""
        self._has_flushed = False
        if self._resampler is None:
            self._rest += bytes(frame.data)
        else:
            self._rest += b"".join(bytes(piece.data) for piece in self._resampler.push(frame))
        return self._encode(now)

    def push_packet(self, packet: bytes, level: int, voice: bool, now: float) -> EncodedFrame:
        """Adds an Opus packet that was encoded elsewhere.

        Raises:
            AudioFormatError: the bytes are no Opus packet.
        """
        try:
            ticks = packet_ticks(packet)
            if len(packet) > OPUS_PACKET_BYTES_MAX:
                raise ValueError(
                    f"an Opus packet has {len(packet)} bytes, and the gateway takes {OPUS_PACKET_BYTES_MAX}"
                )
        except ValueError as error:
            raise AudioFormatError(f"{error}; pass one packet of 2.5 to 120 ms") from error
        self._has_flushed = False
        stamp = self._numbering.stamp(ticks, now)
        flags = FrameFlags.START if stamp.starts_talkspurt else FrameFlags(0)
        return EncodedFrame(packet, stamp.timestamp, ticks, level, voice, flags)

    def flush(self, now: float) -> list[EncodedFrame]:
        """Ends the segment: returns the rest, padded with silence to a whole frame."""
        if self._has_flushed:
            return []
        self._has_flushed = True
        if self._resampler is not None:
            self._rest += b"".join(bytes(piece.data) for piece in self._resampler.flush())
        missing = -len(self._rest) % self._frame_bytes
        self._rest += bytes(missing)
        frames = self._encode(now)
        self._numbering.end_segment()
        self._detector.reset()
        return frames

    def clear(self) -> None:
        """Forgets the rest: what was captured is not played."""
        self._rest = b""
        self._has_flushed = True
        if self._resampler is not None:
            self._resampler.flush()
        self._numbering.clear()
        self._detector.reset()

    def _encode(self, now: float) -> list[EncodedFrame]:
        frames = []
        while len(self._rest) >= self._frame_bytes:
            pcm, self._rest = self._rest[: self._frame_bytes], self._rest[self._frame_bytes :]
            packet = self._encoder.encode(pcm)
            activity = self._detector.classify(np.frombuffer(pcm, dtype=np.int16), FRAME_SECONDS)
            stamp = self._numbering.stamp(FRAME_TICKS, now)
            flags = FrameFlags(0)
            if stamp.starts_talkspurt or (activity.starts and not self._one_talkspurt):
                flags |= FrameFlags.START
            if activity.ends and not self._one_talkspurt:
                flags |= FrameFlags.END
            level = activity.level
            if self._dtx and len(packet) <= 2:
                flags |= FrameFlags.DTX
                level = SILENCE_LEVEL
            elif self._fec:
                flags |= FrameFlags.FEC
            frames.append(EncodedFrame(packet, stamp.timestamp, FRAME_TICKS, level, activity.voice, flags))
        return frames
