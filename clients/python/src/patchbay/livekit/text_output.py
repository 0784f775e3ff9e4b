"""The text of a conversation: the text sink of a session, and the publication of transcripts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from livekit.agents.voice import io

from ..errors import PatchbayError, RequestError
from ..limits import SEGMENTS_MAX
from ..protocol.transcript import TranscriptSegment
from ..rtc.room import Room
from ..spoken.segment import Segment
from .audio_output import AudioOutput

logger = logging.getLogger("patchbay")

_INTERVAL_SECONDS = 0.1
_RETRY_SECONDS = 0.5

Revision = Callable[[], TranscriptSegment | None]
"""The newest revision of a segment at the time when it is sent; None if it is not to be sent."""


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


class TranscriptPublisher:
    """Sends revisions in order, at most ten per second.

    Of a segment that waits only the newest revision is sent; beyond `SEGMENTS_MAX` segments the oldest is dropped.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._waiting: dict[str, Revision] = {}
        self._task: asyncio.Task[None] | None = None

    def put(self, segment_id: str, revision: Revision) -> None:
        """Sends a revision as soon as possible."""
        if segment_id not in self._waiting and len(self._waiting) >= SEGMENTS_MAX:
            dropped = next(iter(self._waiting))
            del self._waiting[dropped]
            logger.warning("the transcript segment %s was dropped: the gateway is too slow", dropped)
        self._waiting[segment_id] = revision
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def aclose(self) -> None:
        """Stops; what waits is not sent."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while self._waiting:
            segment_id = next(iter(self._waiting))
            revision = self._waiting.pop(segment_id)
            segment = revision()
            if segment is None:
                continue
            try:
                await self._room.local_participant.publish_transcription(segment)
                await asyncio.sleep(_INTERVAL_SECONDS)
            except RequestError as error:
                if not error.retryable:
                    logger.warning("the transcript segment %s was refused: %s", segment_id, error)
                    continue
                self._waiting.setdefault(segment_id, revision)
                await asyncio.sleep(_RETRY_SECONDS)
            except PatchbayError:
                # The room has ended.
                self._waiting.clear()
