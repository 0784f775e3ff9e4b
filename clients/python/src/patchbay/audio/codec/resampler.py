"""Changes the sample rate of audio that arrives piece by piece."""

from __future__ import annotations

import numpy as np
import soxr

from ...errors import AudioFormatError
from ..frame import AudioFrame


class AudioResampler:
    """Resamples one continuous sound with libsoxr.

    Args:
        input_rate: Hz of the frames that are pushed.
        output_rate: Hz of the frames that are returned.
        num_channels: channels of both.
    """

    def __init__(self, input_rate: int, output_rate: int, *, num_channels: int = 1) -> None:
        for rate in (input_rate, output_rate):
            if not 1_000 <= rate <= 768_000:
                raise AudioFormatError(f"a rate of {rate} Hz is not supported; use 1,000 to 768,000")
        self._input_rate = input_rate
        self._output_rate = output_rate
        self._channels = num_channels
        self._stream = self._new_stream()

    def push(self, frame: AudioFrame) -> list[AudioFrame]:
        """Adds a frame and returns what is complete, which is nothing at first.

        Raises:
            AudioFormatError: the frame has another rate or other channels.
        """
        if (frame.sample_rate, frame.num_channels) != (self._input_rate, self._channels):
            raise AudioFormatError(
                f"the resampler takes {self._input_rate} Hz with {self._channels} channels, and the frame has "
                f"{frame.sample_rate} Hz with {frame.num_channels}"
            )
        return self._frames(self._stream.resample_chunk(self._shaped(frame)))

    def flush(self) -> list[AudioFrame]:
        """Returns the rest of the sound. What is pushed next begins another one."""
        shape = (0,) if self._channels == 1 else (0, self._channels)
        rest = self._stream.resample_chunk(np.zeros(shape, dtype=np.int16), last=True)
        self._stream = self._new_stream()
        return self._frames(rest)

    def _new_stream(self) -> soxr.ResampleStream:
        return soxr.ResampleStream(self._input_rate, self._output_rate, self._channels, dtype="int16")

    def _shaped(self, frame: AudioFrame) -> np.ndarray:
        samples = frame.samples
        return samples if self._channels == 1 else samples.reshape(-1, self._channels)

    def _frames(self, samples: np.ndarray) -> list[AudioFrame]:
        if not len(samples):
            return []
        return [AudioFrame.from_samples(samples.reshape(-1), self._output_rate, self._channels)]
