"""LiveKit's audio frames and this library's."""

from __future__ import annotations

from collections.abc import Iterator

from livekit import rtc
from livekit.agents.types import USERDATA_TIMED_TRANSCRIPT

from ..audio.frame import AudioFrame
from ..spoken.alignment import TimedText

# Audio that is captured at once: a clear discards what waits of it.
_PIECE_SECONDS = 0.1


def to_livekit(frame: AudioFrame) -> rtc.AudioFrame:
    """The same samples as LiveKit's frame."""
    return rtc.AudioFrame(bytes(frame.data), frame.sample_rate, frame.num_channels, frame.samples_per_channel)


def pieces(frame: rtc.AudioFrame) -> Iterator[AudioFrame]:
    """The samples of LiveKit's frame in pieces of up to 0.1 s."""
    data = bytes(frame.data.cast("b"))
    step = max(int(frame.sample_rate * _PIECE_SECONDS), 1) * frame.num_channels * 2
    for offset in range(0, len(data), step):
        piece = data[offset : offset + step]
        yield AudioFrame(piece, frame.sample_rate, frame.num_channels, len(piece) // (2 * frame.num_channels))


def timed_texts(frame: rtc.AudioFrame) -> Iterator[TimedText]:
    """The words or sentences that the speech synthesis has attached to a frame, with their times."""
    for text in frame.userdata.get(USERDATA_TIMED_TRANSCRIPT, ()):
        yield TimedText(str(text), _seconds(text, "start_time"), _seconds(text, "end_time"))


def _seconds(text: object, name: str) -> float | None:
    value = getattr(text, name, None)
    return float(value) if isinstance(value, int | float) else None
