"""What an agent hears: the audio of one participant, as the audio source of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from livekit import rtc
from livekit.agents.voice import io

from ..audio.stream import AudioStream
from ..rtc.participant import ParticipantKind, RemoteParticipant
from ..rtc.room import Room
from ..rtc.track import RemoteTrackPublication

_EVENTS = ("track_subscribed", "track_published", "participant_connected", "disconnected")


class AudioInput(io.AudioInput):
    """The speech of a participant as `session.input.audio`, without gaps: pauses are filled with silence.

    It follows one participant at a time, and the next one when that one's track ends. It ends with the room. A session
    that falls behind loses the oldest audio (`patchbay.limits.STREAM_FRAMES_MAX`).

    Args:
        room: a connected room.
        participant_identity: the participant to hear; by default the first one that publishes a track and is no agent.
        sample_rate: Hz of the frames; LiveKit's default.
        num_channels: 1 or 2.
    """

    def __init__(
        self,
        room: Room,
        *,
        participant_identity: str | None = None,
        sample_rate: int = 24_000,
        num_channels: int = 1,
    ) -> None:
        super().__init__(label="Patchbay")
        self._room = room
        self._wanted = participant_identity
        self._format = sample_rate, num_channels
        self._stream: AudioStream | None = None
        self._heard: str | None = None
        self._is_attached = True
        self._is_closed = False
        self._changed = asyncio.Event()
        self._callback: Callable[..., None] = lambda *_: self._changed.set()
        for name in _EVENTS:
            room.on(name, self._callback)

    @property
    def participant_identity(self) -> str | None:
        """The participant that is heard, or was heard last; None before the first one."""
        return self._heard

    async def __anext__(self) -> rtc.AudioFrame:
        while True:
            stream = self._stream or await self._next_stream()
            try:
                event = await anext(stream)
            except StopAsyncIteration:
                self._stream = None
                if self._is_closed:
                    raise
                continue
            if self._is_attached:
                frame = event.frame
                return rtc.AudioFrame(
                    bytes(frame.data), frame.sample_rate, frame.num_channels, frame.samples_per_channel
                )

    def on_attached(self) -> None:
        """The session listens."""
        self._is_attached = True

    def on_detached(self) -> None:
        """The session does not listen: audio is discarded."""
        self._is_attached = False

    async def aclose(self) -> None:
        """Ends the audio."""
        self._is_closed = True
        self._changed.set()
        for name in _EVENTS:
            self._room.off(name, self._callback)
        if self._stream is not None:
            await self._stream.aclose()

    async def _next_stream(self) -> AudioStream:
        while True:
            self._changed.clear()
            if self._is_closed or not self._room.isconnected():
                raise StopAsyncIteration
            for participant in self._room.remote_participants.values():
                publication = self._track_of(participant)
                if publication is not None:
                    rate, channels = self._format
                    self._heard = participant.identity
                    self._stream = AudioStream(
                        publication.track, sample_rate=rate, num_channels=channels, fill_silence=True
                    )
                    return self._stream
            await self._changed.wait()

    def _track_of(self, participant: RemoteParticipant) -> RemoteTrackPublication | None:
        if self._wanted is None and participant.kind is ParticipantKind.AGENT:
            return None
        if self._wanted is not None and participant.identity != self._wanted:
            return None
        return next((track for track in participant.track_publications.values() if track.subscribed), None)
