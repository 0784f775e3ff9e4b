"""An adapter for voicebench, which measures response times, interruptions and word errors of any assistant in a room.

python -m voicebench run scenario.yaml --adapter voicebench_adapter:PatchbayAdapter --url wss://127.0.0.1:7880 \
    --option token=TOKEN --option ca_file=certs/dev/ca.cert.pem
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from voicebench.adapters.base import Adapter, AdapterError, AgentAudio, Role, Transcript
from voicebench.audio import FloatArray, from_pcm16, to_pcm16

from patchbay import (
    AudioFrame,
    AudioSource,
    AudioStream,
    LocalAudioTrack,
    PatchbayError,
    RemoteAudioTrack,
    Room,
    RoomOptions,
    TranscriptSegment,
)


class PatchbayAdapter(Adapter):
    """Speaks as a user of the room that the token names, and hears its assistant."""

    name: ClassVar[str] = "patchbay"

    def __init__(self, url: str, token: str, ca_file: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.url, self.token = url, token
        self._options = RoomOptions(ca_file=ca_file)
        self._room = Room()
        self._source: AudioSource | None = None
        self._listening: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()

    async def connect(self) -> None:
        """Joins, and waits for the assistant's voice, for its greeting to end by itself."""
        self._room.on("track_subscribed", self._listen)
        self._room.on("transcription_received", self._note)
        try:
            await self._room.connect(self.url, self.token, self._options)
            self._source = AudioSource(self.session.sample_rate, 1, queue_size_ms=0)
            await self._room.local_participant.publish_track(LocalAudioTrack.create_audio_track("voice", self._source))
            await asyncio.wait_for(self._heard.wait(), 20)
        except TimeoutError:
            raise AdapterError("patchbay: no assistant has published its voice within 20 s") from None
        except PatchbayError as error:
            raise AdapterError(f"patchbay: {error}") from error

    async def send_audio(self, pcm: FloatArray) -> None:
        """Sends a frame as it was captured."""
        if self._source is None:
            raise AdapterError("patchbay: not connected")
        await self._source.capture_frame(AudioFrame(to_pcm16(pcm), self.session.sample_rate, 1, len(pcm)))

    async def close(self) -> None:
        """Leaves the room."""
        if self._listening is not None:
            self._listening.cancel()
        await self._room.disconnect()

    def describe(self) -> dict[str, Any]:
        """For the report; without the token."""
        return {"type": self.name, "url": self.url}

    def _listen(self, track: RemoteAudioTrack, *_: object) -> None:
        self._heard.set()
        self._listening = asyncio.create_task(self._hear(track))

    async def _hear(self, track: RemoteAudioTrack) -> None:
        # The stream returns speech at its own pace and stops where the assistant does: there is nothing to clear.
        async for event in AudioStream(track, sample_rate=self.session.sample_rate):
            self.emit(AgentAudio(from_pcm16(bytes(event.frame.data)), self.session.clock.now()))

    def _note(self, segments: list[TranscriptSegment], *_: object) -> None:
        for segment in segments:
            speaker: Role = "user" if segment.role == "user" else "agent"
            self.emit(Transcript(speaker, segment.text, self.session.clock.now(), segment.final))
