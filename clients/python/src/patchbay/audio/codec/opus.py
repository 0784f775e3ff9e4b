"""Opus, through opuslib-next on the system's libopus."""

from __future__ import annotations

from typing import Any

from ...errors import AudioFormatError, OpusError

OPUS_RATES = (8_000, 12_000, 16_000, 24_000, 48_000)
"""The rates that Opus encodes and decodes itself, in Hz."""


def _library() -> Any:
    try:
        import opuslib_next
        import opuslib_next.api.ctl
        import opuslib_next.api.decoder
        import opuslib_next.api.encoder
    except Exception as error:
        raise OpusError(
            "libopus is not installed; install it (Debian: apt install libopus0, macOS: brew install opus), or the "
            "package opuslib-next-bundled, which contains it"
        ) from error
    return opuslib_next


class OpusEncoder:
    """Encodes 16-bit samples, 20 ms at a time.

    Args:
        sample_rate: one of `OPUS_RATES`.
        channels: 1 or 2.
        bitrate: bits per second, 6,000 to 510,000; None lets the encoder choose.
        dtx: whether silence takes packets of one or two bytes.
        fec: whether packets carry a copy of the previous one for lossy paths.
    """

    def __init__(
        self,
        sample_rate: int,
        channels: int,
        *,
        bitrate: int | None = None,
        dtx: bool = False,
        fec: bool = False,
    ) -> None:
        check_rate(sample_rate, channels)
        library = _library()
        try:
            self._encoder = library.Encoder(sample_rate, channels, "voip")
            if bitrate is not None:
                self._encoder.bitrate = bitrate
            self._encoder.dtx = int(dtx)
            self._encoder.inband_fec = int(fec)
        except library.OpusError as error:
            raise OpusError(f"libopus refused the encoder's settings: {error}") from error
        self._error = library.OpusError
        self._channels = channels

    def encode(self, pcm: bytes) -> bytes:
        """Encodes one frame.

        Raises:
            OpusError: the frame has a length that Opus does not have.
        """
        try:
            packet: bytes = self._encoder.encode(pcm, len(pcm) // (2 * self._channels))
        except self._error as error:
            raise OpusError(f"libopus refused a frame of {len(pcm)} bytes: {error}; pass 2.5 to 60 ms") from error
        return packet


class OpusDecoder:
    """Decodes packets of one track, in order."""

    def __init__(self, sample_rate: int, channels: int) -> None:
        check_rate(sample_rate, channels)
        self._opus = _library()
        try:
            self._decoder = self._opus.Decoder(sample_rate, channels)
        except self._opus.OpusError as error:
            raise OpusError(f"libopus refused the decoder's settings: {error}") from error
        self._rate = sample_rate
        self._channels = channels

    def decode(self, packet: bytes, ticks: int) -> bytes:
        """Decodes a packet that lasts this many 48 kHz ticks.

        Raises:
            OpusError: the packet is damaged.
        """
        return self._run(packet, ticks)

    def conceal(self, ticks: int) -> bytes:
        """Continues the sound in place of a lost packet; `ticks` is a multiple of 120 (2.5 ms)."""
        return self._run(None, ticks)

    def reset(self) -> None:
        """Forgets the sound so far: what follows does not continue it."""
        self._decoder.reset_state()

    def _run(self, packet: bytes | None, ticks: int) -> bytes:
        samples = ticks * self._rate // 48_000
        try:
            pcm: bytes = self._opus.api.decoder.decode(
                self._decoder.decoder_state,
                packet,
                len(packet or b""),
                samples,
                False,
                channels=self._channels,
            )
        except self._opus.OpusError as error:
            raise OpusError(f"libopus refused a packet: {error}") from error
        return pcm


def check_rate(sample_rate: int, channels: int) -> None:
    """Raises `AudioFormatError` unless Opus has this rate and these channels."""
    if sample_rate not in OPUS_RATES:
        rates = ", ".join(map(str, OPUS_RATES))
        raise AudioFormatError(f"Opus has no rate of {sample_rate} Hz; use one of {rates}, or AudioResampler")
    if channels not in (1, 2):
        raise AudioFormatError(f"Opus has no {channels} channels; use 1 or 2")
