"""What is held as soon as it arrives from the synthesis, because its place in the audio is known."""

from __future__ import annotations

from dataclasses import dataclass

from pipecat.frames.frames import ControlFrame, DataFrame, Frame, TTSAudioRawFrame, TTSStoppedFrame, TTSTextFrame

from ..heard import HeldFrames
from ..protocol.media_time import TICKS_PER_SECOND


@dataclass
class SpeechBeginsFrame(ControlFrame):
    """Marks the place of a context's first audio in the queue of the transport. Never leaves the transport."""

    context_id: str = ""


def speech_arrives(held: HeldFrames[Frame], frame: TTSAudioRawFrame, clock_ns: int) -> SpeechBeginsFrame | None:
    """Counts speech, and returns the frame that precedes the first audio of a context."""
    ticks = frame.num_frames * TICKS_PER_SECOND // frame.sample_rate
    context_id = frame.context_id or ""
    if not held.speech_arrived(context_id, ticks, clock_ns, keep=not frame.interruptible):
        return None
    begins = SpeechBeginsFrame(context_id)
    begins.transport_destination = frame.transport_destination
    begins.interruptible = frame.interruptible
    return begins


def hold_on_arrival(held: HeldFrames[Frame], frame: Frame, clock_ns: int) -> bool:
    """Holds words, and what has a presentation time within a context; false for everything else.

    Text without a time whose context has no audio, and frames with a time but without a context, take Pipecat's way.
    """
    context_id: str | None = getattr(frame, "context_id", None)
    keep = not frame.interruptible
    if isinstance(frame, TTSTextFrame):
        if frame.pts:
            held.add_word(context_id or "", frame, frame.text, frame.pts, clock_ns, keep=keep)
        elif held.knows(context_id or ""):
            held.add_text(context_id or "", frame, frame.text, keep=keep)
        else:
            return False
        return True
    if isinstance(frame, TTSStoppedFrame) or not isinstance(frame, DataFrame | ControlFrame):
        return False
    if not frame.pts or context_id is None:
        return False
    held.add_timed(context_id, frame, frame.pts, keep=keep)
    return True
