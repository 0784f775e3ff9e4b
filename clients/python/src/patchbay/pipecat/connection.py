"""The room that both ends of the pipeline share."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from loguru import logger
from pipecat.frames.frames import OutputDTMFFrame, OutputDTMFUrgentFrame
from pipecat.processors.frame_processor import FrameProcessor

from ..audio.source import AudioSource
from ..errors import PatchbayError
from ..rtc.options import RoomOptions
from ..rtc.room import Room
from ..rtc.track import LocalAudioTrack, LocalTrackPublication, TrackPublishOptions, TrackSource
from .params import QUEUED_SECONDS_MAX, RTVI_TOPIC

# Far more than the lead, which the transport keeps by itself: the gateway's queue is what makes speech gapless.
_TRACK_LEAD_MS = 45_000


class Connection:
    """Joins the room when the first end of the pipeline starts, and leaves it with the last one.

    Args:
        room: a room object, connected or not. One that is connected already is not left.
        url: the gateway.
        token: a room token.
        options: how to connect.
        left: called when the transport is done with the room.
    """

    def __init__(self, room: Room, url: str, token: str, options: RoomOptions | None, left: Callable[[], None]) -> None:
        self.room = room
        self._left = left
        self._arguments = (url, token, options)
        self._users = 0
        self._lock = asyncio.Lock()
        self._is_ours = False

    async def acquire(self, processor: FrameProcessor) -> bool:
        """Joins the room; false if that failed, which the pipeline is told."""
        async with self._lock:
            if not self.room.isconnected():
                try:
                    await self.room.connect(*self._arguments)
                except PatchbayError as error:
                    await processor.push_error(
                        f"the room could not be joined: {error}", exception=error, force_treat_as_permanent=True
                    )
                    return False
                self._is_ours = True
            self._users += 1
            return True

    async def release(self) -> None:
        """Leaves the room, if nobody else needs it."""
        async with self._lock:
            self._users -= 1
            if self._users > 0:
                return
            try:
                if self._is_ours:
                    await self.room.disconnect()
            finally:
                self._left()

    async def publish(self, name: str, sample_rate: int, channels: int, lead: float) -> LocalTrackPublication:
        """Publishes a track for speech."""
        source = AudioSource(sample_rate, channels, queue_size_ms=int((lead + QUEUED_SECONDS_MAX) * 1_000))
        options = TrackPublishOptions(TrackSource.SOURCE_ASSISTANT, "ahead", lead_ms=_TRACK_LEAD_MS)
        track = LocalAudioTrack.create_audio_track(name, source)
        return await self.room.local_participant.publish_track(track, options)

    async def unpublish(self, sid: str) -> None:
        """Ends a track in a room that is not left."""
        if self._is_ours or not self.room.isconnected():
            return
        try:
            await self.room.local_participant.unpublish_track(sid)
        except PatchbayError as error:
            logger.debug(f"the track {sid} was not unpublished: {error}")

    async def send_message(self, message: Any) -> None:
        """Sends a transport message to all participants, or to the one that `participant_id` names.

        RTVI messages travel as data of the topic `rtvi-ai`. A failure is logged.
        """
        to: list[str] = []
        if isinstance(message, dict) and isinstance(message.get("participant_id"), str) and "message" in message:
            to, message = [message["participant_id"]], message["message"]
        try:
            payload = message if isinstance(message, str) else json.dumps(message)
            await self.room.local_participant.publish_data(payload, destination_identities=to, topic=RTVI_TOPIC)
        except (PatchbayError, TypeError, ValueError) as error:
            logger.warning(f"a message was not sent: {error}")

    async def press(self, frame: OutputDTMFFrame | OutputDTMFUrgentFrame) -> None:
        """Sends keys to all participants. A failure is logged."""
        digits = "".join(button.value for button in frame.buttons or [])
        try:
            await self.room.local_participant.publish_dtmf(digit=digits)
        except PatchbayError as error:
            logger.warning(f"the keys {digits} were not sent: {error}")


def parse_message(text: str) -> Any:
    """The JSON of a transport message; None if it is none, which is logged."""
    try:
        return json.loads(text)
    except ValueError:
        logger.warning(f"a message of the topic {RTVI_TOPIC} is no JSON and was ignored: {text[:100]!r}")
        return None
