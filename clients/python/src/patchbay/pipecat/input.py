"""The beginning of the pipeline, which hears: audio, keys, messages and transcripts of the other participants."""

from __future__ import annotations

import asyncio
from typing import Any

from loguru import logger
from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    BotConnectedFrame,
    CancelFrame,
    EndFrame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InputTransportMessageFrame,
    InterimTranscriptionFrame,
    StartFrame,
    TranscriptionFrame,
    UserAudioRawFrame,
)
from pipecat.transports.base_input import BaseInputTransport
from pipecat.utils.time import time_now_iso8601

from ..audio.speaker_mix import SpeakerMix
from ..audio.stream import AudioStream
from ..protocol.transcript import TranscriptSegment
from ..rtc.data import DataPacket, SipDTMF
from ..rtc.track import RemoteAudioTrack
from .connection import Connection, parse_message
from .params import PatchbayParams

_CHUNKS_PER_SECOND = 50


class PatchbayInputTransport(BaseInputTransport):
    """Hears the other participants. A connection that is resumed goes unnoticed."""

    def __init__(self, connection: Connection, params: PatchbayParams, **kwargs: Any) -> None:
        super().__init__(params, **kwargs)
        self._connection = connection
        self._parameters = params
        self._readers: dict[str, asyncio.Task[None]] = {}
        self._mix: SpeakerMix | None = None
        self._acquired = False

    async def start(self, frame: StartFrame) -> None:
        """Joins the room and listens."""
        await super().start(frame)
        if self._acquired or not await self._connection.acquire(self):
            return
        self._acquired = True
        self._mix = SpeakerMix(self.sample_rate // _CHUNKS_PER_SECOND * self._parameters.audio_in_channels)
        await self.set_transport_ready(frame)
        await self.push_frame(BotConnectedFrame())
        for identity, participant in self._connection.room.remote_participants.items():
            for publication in participant.track_publications.values():
                if publication.subscribed:
                    self.listen(publication.track, identity)

    async def stop(self, frame: EndFrame) -> None:
        """Leaves the room."""
        await super().stop(frame)
        await self._leave()

    async def cancel(self, frame: CancelFrame) -> None:
        """Leaves the room."""
        await super().cancel(frame)
        await self._leave()

    async def cleanup(self) -> None:
        """Leaves the room, however the pipeline ended."""
        await super().cleanup()
        await self._leave()

    async def _leave(self) -> None:
        if not self._acquired:
            return
        self._acquired = False
        readers, self._readers = list(self._readers.values()), {}
        try:
            for task in readers:
                await self.cancel_task(task)
        finally:
            await self._connection.release()

    # Audio.

    def listen(self, track: RemoteAudioTrack, identity: str) -> None:
        """Hears a track, unless another participant alone is to be heard."""
        wanted = self._parameters.speakers in ("mix", "separate", identity)
        if self._acquired and wanted and self._parameters.audio_in_enabled and track.sid not in self._readers:
            self._readers[track.sid] = self.create_task(self._read(track, identity))

    async def ignore(self, track: RemoteAudioTrack) -> None:
        """Stops hearing a track."""
        if (task := self._readers.pop(track.sid, None)) is not None:
            await self.cancel_task(task)

    async def _read(self, track: RemoteAudioTrack, identity: str) -> None:
        assert self._mix is not None
        rate, channels = self.sample_rate, self._parameters.audio_in_channels
        # Pauses are filled: without sound a detector of voice activity does not notice that the user has stopped.
        stream = AudioStream(track, sample_rate=rate, num_channels=channels, fill_silence=True)
        mixed = self._parameters.speakers == "mix"
        self._mix.add(track.sid)
        try:
            async for event in stream:
                if not mixed:
                    await self._hear(identity, bytes(event.frame.data))
                    continue
                for speaker, samples in self._mix.push(track.sid, event.frame.samples):
                    await self._hear(identity if speaker else None, samples.tobytes())
        finally:
            self._mix.remove(track.sid)
            await stream.aclose()

    async def _hear(self, identity: str | None, audio: bytes) -> None:
        rate, channels = self.sample_rate, self._parameters.audio_in_channels
        frame: InputAudioRawFrame
        if identity is None:
            frame = InputAudioRawFrame(audio=audio, sample_rate=rate, num_channels=channels)
        else:
            frame = UserAudioRawFrame(audio=audio, sample_rate=rate, num_channels=channels, user_id=identity)
            frame.transport_source = identity
        await self.push_audio_frame(frame)

    # Messages.

    async def press(self, dtmf: SipDTMF) -> None:
        """A participant pressed a key."""
        try:
            button = KeypadEntry(dtmf.digit)
        except ValueError:
            logger.warning(f"{self}: Pipecat has no key {dtmf.digit!r}; `on_dtmf_event` reports it")
            return
        await self.push_frame(InputDTMFFrame(button=button))

    async def receive(self, packet: DataPacket) -> None:
        """A transport message, such as one of RTVI."""
        if (message := parse_message(packet.text)) is not None:
            await self.broadcast_frame(InputTransportMessageFrame, message=message)

    async def transcribe(self, segment: TranscriptSegment, identity: str) -> None:
        """A segment of transcript of a user."""
        if not self._parameters.transcripts_in or segment.role != "user" or not segment.text:
            return
        kind = TranscriptionFrame if segment.final else InterimTranscriptionFrame
        await self.push_frame(kind(segment.text, identity, time_now_iso8601()))

    async def interrupt(self) -> None:
        """A listener stopped the bot's speech."""
        await self.broadcast_interruption()
