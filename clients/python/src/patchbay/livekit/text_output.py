"""The text of what an agent says: the text sink of a session."""

from __future__ import annotations

from livekit.agents.voice import io

from ..protocol.transcript import TranscriptSegment
from ..spoken.segment import Segment
from .audio_output import AudioOutput
from .transcripts import TranscriptPublisher


class TextOutput(io.TextOutput):
    """The text of an `AudioOutput` as `session.output.transcription`.

    It tells the audio output which text is spoken, and publishes it as the transcript of the track: at once, with the
    times of words as soon as the speech synthesis has told them. A clear cuts the published text, too.

    Args:
        audio: the output that speaks the text.
        next_in_chain: gets the text, too.
        publish: whether the transcript is published.
    """

    def __init__(self, audio: AudioOutput, *, next_in_chain: io.TextOutput | None = None, publish: bool = True) -> None:
        super().__init__(label="Patchbay", next_in_chain=next_in_chain)
        self._audio = audio
        self._publisher = TranscriptPublisher(audio.room) if publish else None
        self._published: str | None = None
        if publish:
            audio.on_words = self._did_learn

    async def capture_text(self, text: str) -> None:
        """Adds text to the current segment."""
        segment = self._audio.ledger.add_text(str(text))
        self._put(segment)
        if self.next_in_chain is not None:
            await self.next_in_chain.capture_text(text)

    def flush(self) -> None:
        """The text of the segment is complete."""
        segment = self._audio.ledger.end_text()
        if segment is not None:
            self._put(segment)
        if self.next_in_chain is not None:
            self.next_in_chain.flush()

    async def aclose(self) -> None:
        """Stops publishing."""
        self._audio.on_words = None
        if self._publisher is not None:
            await self._publisher.aclose()

    def _did_learn(self, segment: Segment) -> None:
        if segment.written and segment.timed:
            self._put(segment)

    def _put(self, segment: Segment) -> None:
        if self._publisher is not None:
            self._publisher.put(segment.id, lambda: self._revision(segment))

    def _revision(self, segment: Segment) -> TranscriptSegment | None:
        # Text that nobody heard a word of, and nobody has seen, remains unseen.
        if not segment.written or (segment.is_stopped and segment.id != self._published):
            return None
        self._published = segment.id
        return segment.transcript(self._audio.track_sid)
