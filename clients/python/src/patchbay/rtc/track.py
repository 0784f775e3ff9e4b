"""Tracks and their publications, under LiveKit's names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..audio.inbox import TrackFrames
from ..audio.output import TrackFormat
from ..audio.source import AudioSource
from ..connection.operation import Operation
from ..errors import TrackEndedError
from ..limits import AHEAD_LEAD_SECONDS, LIVE_LEAD_SECONDS
from ..protocol.models import TrackInfo


class TrackKind(StrEnum):
    """What a track carries. This gateway has audio only."""

    KIND_AUDIO = "audio"


class TrackSource(StrEnum):
    """Where a track's audio comes from."""

    SOURCE_MICROPHONE = "microphone"
    SOURCE_ASSISTANT = "assistant"


class TrackMode(StrEnum):
    """How the gateway treats a track's frames.

    `live` frames are forwarded at once or dropped. `ahead` frames may be sent faster than they are played: the
    gateway paces them to each listener, reports what was played, and discards the rest on a clear.
    """

    LIVE = "live"
    AHEAD = "ahead"


@dataclass(slots=True)
class TrackPublishOptions:
    """How to publish a track.

    Attributes:
        source: `microphone`, or `assistant` for synthesized speech.
        mode: `live` or `ahead`.
        lead_ms: how far an ahead track may be sent ahead of playout, at most 45,000.
        max_bitrate: of the Opus encoder, in bits per second; None lets it choose.
        dtx: whether silence takes tiny packets.
        fec: whether packets carry a copy of the previous one.
    """

    source: TrackSource = TrackSource.SOURCE_MICROPHONE
    mode: TrackMode | str = TrackMode.LIVE
    lead_ms: int = int(AHEAD_LEAD_SECONDS * 1_000)
    max_bitrate: int | None = None
    dtx: bool = False
    fec: bool = False

    @property
    def format(self) -> TrackFormat:
        """What the source has to know."""
        ahead = TrackMode(self.mode) is TrackMode.AHEAD
        lead = min(self.lead_ms, 45_000) / 1_000 if ahead else LIVE_LEAD_SECONDS
        return TrackFormat(ahead, lead, self.max_bitrate, self.dtx, self.fec)


class PublishedTrackControl(Protocol):
    """What a local track asks of the room it is published in."""

    async def set_muted(self, track: LocalAudioTrack, muted: bool) -> None:
        """Mutes or unmutes."""


class SubscriptionControl(Protocol):
    """What a remote publication asks of the room."""

    async def set_subscribed(self, sid: str, subscribed: bool) -> None:
        """Subscribes or unsubscribes."""

    def report_playout(self, sid: str, epoch: int, played_ts: int | None, buffered_ms: float) -> None:
        """Sends `playout.progress`."""


class LocalAudioTrack:
    """A track of this client. Create it with `create_audio_track` and publish it."""

    kind = TrackKind.KIND_AUDIO

    def __init__(self, name: str, source: AudioSource) -> None:
        self.name = name
        self.audio_source = source
        self.muted = False
        self.sid = ""
        self.control: PublishedTrackControl | None = None

    @classmethod
    def create_audio_track(cls, name: str, source: AudioSource) -> LocalAudioTrack:
        """A track with the audio of a source."""
        return cls(name, source)

    def mute(self) -> Operation[None]:
        """Mutes the track: the gateway drops its frames, or pauses its queue if it is an ahead track."""
        return Operation(self._set_muted(True))

    def unmute(self) -> Operation[None]:
        """Unmutes the track."""
        return Operation(self._set_muted(False))

    async def _set_muted(self, muted: bool) -> None:
        if self.control is None:
            raise TrackEndedError
        await self.control.set_muted(self, muted)


class TrackPublication:
    """A track as the room knows it."""

    kind = TrackKind.KIND_AUDIO

    def __init__(self, info: TrackInfo) -> None:
        self.info = info

    @property
    def sid(self) -> str:
        """The track's sid. It changes if the room is joined anew."""
        return self.info.sid

    @property
    def name(self) -> str:
        """The track's name."""
        return self.info.name

    @property
    def source(self) -> str:
        """`microphone` or `assistant`."""
        return self.info.source

    @property
    def mode(self) -> str:
        """`live` or `ahead`."""
        return self.info.mode

    @property
    def muted(self) -> bool:
        """Whether the gateway forwards nothing of it."""
        return self.info.muted


class LocalTrackPublication(TrackPublication):
    """A published track of this client."""

    def __init__(self, info: TrackInfo, track: LocalAudioTrack) -> None:
        super().__init__(info)
        self.track = track


class RemoteAudioTrack:
    """A track of another participant: read it with `AudioStream` or `OpusStream`."""

    kind = TrackKind.KIND_AUDIO

    def __init__(self, publication: RemoteTrackPublication) -> None:
        self._publication = publication
        self.frames = TrackFrames()

    @property
    def sid(self) -> str:
        """The track's sid."""
        return self._publication.sid

    @property
    def name(self) -> str:
        """The track's name."""
        return self._publication.name

    @property
    def mode(self) -> str:
        """`live` or `ahead`."""
        return self._publication.mode

    @property
    def muted(self) -> bool:
        """Whether the track is muted."""
        return self._publication.muted

    def report_playout(self, epoch: int, played_ts: int | None, buffered_ms: float) -> None:
        """Tells the gateway how far an ahead track was played. Streams do so by themselves."""
        self._publication.control.report_playout(self.sid, epoch, played_ts, buffered_ms)


class RemoteTrackPublication(TrackPublication):
    """A published track of another participant."""

    def __init__(self, info: TrackInfo, control: SubscriptionControl, *, subscribed: bool) -> None:
        super().__init__(info)
        self.control = control
        self.track = RemoteAudioTrack(self)
        self.subscribed = subscribed

    def set_subscribed(self, subscribed: bool) -> Operation[None]:
        """Subscribes to the track, or unsubscribes."""
        return Operation(self.control.set_subscribed(self.sid, subscribed))
