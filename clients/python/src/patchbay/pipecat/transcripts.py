"""Publishes what the bot said, as it was heard."""

from __future__ import annotations

import asyncio

from loguru import logger
from pipecat.frames.frames import Frame, TTSStoppedFrame, TTSTextFrame

from ..errors import PatchbayError
from ..protocol.transcript import TranscriptSegment, TranscriptWord
from .connection import Connection

PENDING_MAX = 64
"""Segments that wait to be sent; a newer revision replaces an older one, and beyond it the oldest is dropped."""


class SpokenTranscript:
    """One segment for each context with word times, and one for each text without.

    The words carry their times, so that the gateway agrees about what was heard when the track is cleared.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._segment: TranscriptSegment | None = None
        self._context_id: str | None = None
        self._ends: int | None = None
        self._number = 0
        self._pending: dict[str, TranscriptSegment] = {}
        self._sending: asyncio.Task[None] | None = None

    def heard(self, frame: Frame, track: str, timestamp: int | None) -> None:
        """A frame was released.

        Args:
            frame: words, or the end of a context.
            track: the sid of the track that said them.
            timestamp: the end of the words on the track's clock.
        """
        if isinstance(frame, TTSStoppedFrame):
            self.finish()
        elif isinstance(frame, TTSTextFrame) and frame.text.strip() and timestamp is not None:
            self._add(frame, track, timestamp)

    def finish(self) -> None:
        """The segment is complete: its speech has ended, or was interrupted."""
        segment, self._segment, self._context_id, self._ends = self._segment, None, None, None
        if segment is not None:
            segment.final = True
            self._send(segment)

    async def close(self) -> None:
        """Sends what waits, and ends."""
        self.finish()
        if self._sending is not None:
            await self._sending

    def _add(self, frame: TTSTextFrame, track: str, timestamp: int) -> None:
        if self._segment is None or self._context_id != frame.context_id or not frame.pts:
            self.finish()
            self._number += 1
            self._segment = TranscriptSegment(f"{track}-{self._number}", "", track=track, words=[])
            self._context_id = frame.context_id
        segment = self._segment
        joined = frame.text if frame.includes_inter_frame_spaces or not segment.text else f" {frame.text}"
        segment.text += joined
        if segment.words is not None:
            begins = timestamp if self._ends is None else self._ends
            segment.words.append(TranscriptWord(frame.text.strip(), begins, timestamp))
        self._ends = timestamp
        self._send(segment)

    def _send(self, segment: TranscriptSegment) -> None:
        self._pending[segment.id] = segment
        if len(self._pending) > PENDING_MAX:
            del self._pending[next(iter(self._pending))]
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._pending:
            segment = self._pending.pop(next(iter(self._pending)))
            try:
                await self._connection.room.local_participant.publish_transcription(segment)
            except PatchbayError as error:
                logger.debug(f"a segment of transcript was not sent: {error}")
