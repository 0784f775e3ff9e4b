"""PCM as LiveKit's SDK passes it around."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..errors import AudioFormatError

Samples = npt.NDArray[np.int16]


class AudioFrame:
    """16-bit samples, interleaved if there are several channels.

    Attributes:
        sample_rate: samples per second and channel.
        num_channels: 1 or 2.
        samples_per_channel: the length.
    """

    __slots__ = ("_data", "num_channels", "sample_rate", "samples_per_channel")

    def __init__(
        self,
        data: bytes | bytearray | memoryview,
        sample_rate: int,
        num_channels: int,
        samples_per_channel: int,
    ) -> None:
        size = memoryview(data).nbytes
        if size != samples_per_channel * num_channels * 2:
            raise AudioFormatError(
                f"the data has {size} bytes, but {samples_per_channel} samples of {num_channels} channels have "
                f"{samples_per_channel * num_channels * 2}; pass 16-bit samples"
            )
        self._data = bytes(data)
        self.sample_rate = sample_rate
        self.num_channels = num_channels
        self.samples_per_channel = samples_per_channel

    @classmethod
    def create(cls, sample_rate: int, num_channels: int, samples_per_channel: int) -> AudioFrame:
        """A frame of silence."""
        return cls(bytes(samples_per_channel * num_channels * 2), sample_rate, num_channels, samples_per_channel)

    @classmethod
    def from_samples(cls, samples: Samples, sample_rate: int, num_channels: int = 1) -> AudioFrame:
        """A frame with these interleaved samples."""
        return cls(samples.astype("<i2").tobytes(), sample_rate, num_channels, len(samples) // num_channels)

    @property
    def data(self) -> memoryview:
        """The samples, as a view of 16-bit integers."""
        return memoryview(self._data).cast("h")

    @property
    def samples(self) -> Samples:
        """The samples as an array, interleaved."""
        return np.frombuffer(self._data, dtype=np.int16)

    @property
    def duration(self) -> float:
        """The length in seconds."""
        return self.samples_per_channel / self.sample_rate

    def to_wav_bytes(self) -> bytes:
        """The frame as a WAV file."""
        file = io.BytesIO()
        with wave.open(file, "wb") as writer:
            writer.setnchannels(self.num_channels)
            writer.setsampwidth(2)
            writer.setframerate(self.sample_rate)
            writer.writeframes(self._data)
        return file.getvalue()

    def __repr__(self) -> str:
        return (
            f"AudioFrame(sample_rate={self.sample_rate}, num_channels={self.num_channels}, "
            f"samples_per_channel={self.samples_per_channel})"
        )


def combine_audio_frames(frames: Iterable[AudioFrame]) -> AudioFrame:
    """Joins frames of the same rate and channels.

    Raises:
        AudioFormatError: there is none, or they differ.
    """
    pieces = list(frames)
    if not pieces:
        raise AudioFormatError("there are no frames to combine")
    first = pieces[0]
    if any((p.sample_rate, p.num_channels) != (first.sample_rate, first.num_channels) for p in pieces):
        raise AudioFormatError("the frames differ in rate or channels; resample them first")
    data = b"".join(bytes(piece.data) for piece in pieces)
    return AudioFrame(data, first.sample_rate, first.num_channels, sum(piece.samples_per_channel for piece in pieces))


def read_wav(path: str) -> AudioFrame:
    """Reads a WAV file of 16-bit samples.

    Raises:
        AudioFormatError: the file is no WAV file of 16-bit samples.
    """
    try:
        with wave.open(path, "rb") as reader:
            if reader.getsampwidth() != 2 or reader.getnchannels() > 2:
                raise AudioFormatError(f"{path} has other samples than 16 bits in one or two channels; convert it")
            count = reader.getnframes()
            return AudioFrame(reader.readframes(count), reader.getframerate(), reader.getnchannels(), count)
    except (wave.Error, EOFError) as error:
        raise AudioFormatError(f"{path} is no WAV file: {error}") from error
