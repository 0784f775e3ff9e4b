"""Publishes the transcript of a conversation, segment by segment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..errors import PatchbayError, RequestError
from ..limits import SEGMENTS_MAX
from ..protocol.transcript import TranscriptSegment
from ..rtc.room import Room

logger = logging.getLogger("patchbay")

_INTERVAL_SECONDS = 0.1
_RETRY_SECONDS = 0.5

Revision = Callable[[], TranscriptSegment | None]
"""The newest revision of a segment at the time when it is sent; None if it is not to be sent."""


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
