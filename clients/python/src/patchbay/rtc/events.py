"""What happens in a room. Names and arguments are LiveKit's where the thing is the same.

Each event is delivered twice: to callbacks, `@room.on("participant_connected")`, which get the fields in the order in
which they are declared; and as an object, `async for event in room.events`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from ..connection.disconnection import Disconnection, DisconnectReason
from ..protocol.transcript import TranscriptSegment
from .data import DataPacket, SipDTMF, TextMessage
from .participant import Participant, RemoteParticipant
from .track import LocalTrackPublication, RemoteAudioTrack, RemoteTrackPublication, TrackPublication


@dataclass(frozen=True, slots=True)
class RoomEvent:
    """Base class of all events."""

    name: ClassVar[str] = ""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What callbacks get."""
        return tuple(getattr(self, field.name) for field in fields(self))


# The connection.


@dataclass(frozen=True, slots=True)
class ConnectionStateChanged(RoomEvent):
    """`connected`, `reconnecting` or `disconnected`."""

    name: ClassVar[str] = "connection_state_changed"
    state: str


@dataclass(frozen=True, slots=True)
class Reconnecting(RoomEvent):
    """The connection is lost, and the library reconnects. Callbacks get no arguments, as in LiveKit."""

    name: ClassVar[str] = "reconnecting"
    attempt: int
    delay: float
    because: Disconnection

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Reconnected(RoomEvent):
    """The connection is back. `resumed`: nothing was missed; otherwise the room was joined anew."""

    name: ClassVar[str] = "reconnected"
    resumed: bool

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing, as in LiveKit."""
        return ()


@dataclass(frozen=True, slots=True)
class Disconnected(RoomEvent):
    """The connection has ended for good. Callbacks get the reason alone, as in LiveKit."""

    name: ClassVar[str] = "disconnected"
    reason: DisconnectReason
    disconnection: Disconnection

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The reason."""
        return (self.reason,)


@dataclass(frozen=True, slots=True)
class TokenRefreshed(RoomEvent):
    """The gateway has issued another token, which the next reconnect presents."""

    name: ClassVar[str] = "token_refreshed"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Nothing, as in LiveKit."""
        return ()


@dataclass(frozen=True, slots=True)
class ServerDraining(RoomEvent):
    """The gateway closes the connections that remain at `deadline` (seconds since 1970)."""

    name: ClassVar[str] = "server_draining"
    deadline: int


# Participants.


@dataclass(frozen=True, slots=True)
class ParticipantConnected(RoomEvent):
    """A participant joined."""

    name: ClassVar[str] = "participant_connected"
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class ParticipantDisconnected(RoomEvent):
    """A participant left; its `disconnect_reason` says why."""

    name: ClassVar[str] = "participant_disconnected"
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class ParticipantMetadataChanged(RoomEvent):
    """A participant's metadata changed."""

    name: ClassVar[str] = "participant_metadata_changed"
    participant: Participant
    old_metadata: str
    new_metadata: str


@dataclass(frozen=True, slots=True)
class ParticipantNameChanged(RoomEvent):
    """A participant's name changed."""

    name: ClassVar[str] = "participant_name_changed"
    participant: Participant
    old_name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class ParticipantAttributesChanged(RoomEvent):
    """A participant's attributes changed; a deleted one has an empty value."""

    name: ClassVar[str] = "participant_attributes_changed"
    changed_attributes: dict[str, str]
    participant: Participant


@dataclass(frozen=True, slots=True)
class ParticipantConnectionChanged(RoomEvent):
    """A participant's connection was lost, and it may come back; or it is back."""

    name: ClassVar[str] = "participant_connection_changed"
    participant: RemoteParticipant
    connected: bool


@dataclass(frozen=True, slots=True)
class ConnectionQualityChanged(RoomEvent):
    """`excellent`, `good`, `poor` or `lost`."""

    name: ClassVar[str] = "connection_quality_changed"
    participant: Participant
    quality: str


@dataclass(frozen=True, slots=True)
class ActiveSpeakersChanged(RoomEvent):
    """Who speaks now, loudest first; `audio_level` of each is 0 to 1."""

    name: ClassVar[str] = "active_speakers_changed"
    speakers: list[Participant]


@dataclass(frozen=True, slots=True)
class AgentStateChanged(RoomEvent):
    """An agent's state: `initializing`, `idle`, `listening`, `thinking`, `speaking` or `error`."""

    name: ClassVar[str] = "agent_state_changed"
    participant: Participant
    state: str


@dataclass(frozen=True, slots=True)
class AgentWaiting(RoomEvent):
    """An assistant was asked for and cannot come yet: `busy`, `no_worker`, or `ended` if nobody comes any more."""

    name: ClassVar[str] = "agent_waiting"
    identity: str
    reason: str


@dataclass(frozen=True, slots=True)
class HoldChanged(RoomEvent):
    """A participant was put on hold, or taken off."""

    name: ClassVar[str] = "hold_changed"
    participant: Participant
    held: bool


@dataclass(frozen=True, slots=True)
class CallMuteChanged(RoomEvent):
    """A participant was muted in its call, or unmuted, independently of its tracks."""

    name: ClassVar[str] = "call_mute_changed"
    participant: Participant
    muted: bool


# Tracks.


@dataclass(frozen=True, slots=True)
class TrackPublished(RoomEvent):
    """A participant published a track."""

    name: ClassVar[str] = "track_published"
    publication: RemoteTrackPublication
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class TrackUnpublished(RoomEvent):
    """A participant unpublished a track."""

    name: ClassVar[str] = "track_unpublished"
    publication: RemoteTrackPublication
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class TrackSubscribed(RoomEvent):
    """Audio of a track arrives from now on: read it with `AudioStream(track)`."""

    name: ClassVar[str] = "track_subscribed"
    track: RemoteAudioTrack
    publication: RemoteTrackPublication
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class TrackUnsubscribed(RoomEvent):
    """No more audio of a track arrives."""

    name: ClassVar[str] = "track_unsubscribed"
    track: RemoteAudioTrack
    publication: RemoteTrackPublication
    participant: RemoteParticipant


@dataclass(frozen=True, slots=True)
class TrackMuted(RoomEvent):
    """A track was muted."""

    name: ClassVar[str] = "track_muted"
    participant: Participant
    publication: TrackPublication


@dataclass(frozen=True, slots=True)
class TrackUnmuted(RoomEvent):
    """A track was unmuted."""

    name: ClassVar[str] = "track_unmuted"
    participant: Participant
    publication: TrackPublication


@dataclass(frozen=True, slots=True)
class LocalTrackPublished(RoomEvent):
    """A track of this client is published."""

    name: ClassVar[str] = "local_track_published"
    publication: LocalTrackPublication


@dataclass(frozen=True, slots=True)
class LocalTrackUnpublished(RoomEvent):
    """A track of this client is not published any more."""

    name: ClassVar[str] = "local_track_unpublished"
    publication: LocalTrackPublication


@dataclass(frozen=True, slots=True)
class LocalTrackRepublished(RoomEvent):
    """A track of this client was published again, by a join that did not resume. Its sid has changed."""

    name: ClassVar[str] = "local_track_republished"
    publication: LocalTrackPublication
    previous_sid: str


# Speech and playout.


@dataclass(frozen=True, slots=True)
class TalkStarted(RoomEvent):
    """A participant began to talk; `timestamp` is on the track's 48 kHz clock."""

    name: ClassVar[str] = "talk_started"
    participant: Participant
    track_sid: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class TalkStopped(RoomEvent):
    """A participant stopped talking: `end`, `silence`, `muted`, `left` or `cleared`."""

    name: ClassVar[str] = "talk_stopped"
    participant: Participant
    track_sid: str
    timestamp: int
    reason: str


@dataclass(frozen=True, slots=True)
class ParticipantSilent(RoomEvent):
    """A participant has been silent for the room's limit."""

    name: ClassVar[str] = "participant_silent"
    participant: Participant
    silent_ms: int


@dataclass(frozen=True, slots=True)
class PlayoutStarted(RoomEvent):
    """An utterance of an ahead track began to play."""

    name: ClassVar[str] = "playout_started"
    participant: Participant | None
    track_sid: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class PlayoutFinished(RoomEvent):
    """An utterance of an ahead track was played to its end."""

    name: ClassVar[str] = "playout_finished"
    participant: Participant | None
    track_sid: str
    played_ts: int | None
    played_ms: float
    estimated: bool


@dataclass(frozen=True, slots=True)
class PlayoutCleared(RoomEvent):
    """An ahead track was cleared. `by` is who asked for it, `reason` what it gave."""

    name: ClassVar[str] = "playout_cleared"
    track_sid: str
    by: str
    played_ms: float
    discarded_ms: float
    reason: str


@dataclass(frozen=True, slots=True)
class PlayoutBacklog(RoomEvent):
    """This client is far ahead with a track: `high`, `full` or `low` again. The source waits by itself."""

    name: ClassVar[str] = "playout_backlog"
    track_sid: str
    state: Literal["high", "full", "low"] | str
    queued_ms: int


# Messages.


@dataclass(frozen=True, slots=True)
class TranscriptionReceived(RoomEvent):
    """Segments of transcript, or revisions of them. Callbacks get segments, participant and publication."""

    name: ClassVar[str] = "transcription_received"
    segments: list[TranscriptSegment]
    participant: Participant | None
    publication: TrackPublication | None


@dataclass(frozen=True, slots=True)
class DataReceived(RoomEvent):
    """A participant sent data."""

    name: ClassVar[str] = "data_received"
    packet: DataPacket


@dataclass(frozen=True, slots=True)
class TextReceived(RoomEvent):
    """A participant sent text."""

    name: ClassVar[str] = "text_received"
    message: TextMessage


@dataclass(frozen=True, slots=True)
class SipDtmfReceived(RoomEvent):
    """A participant pressed a key."""

    name: ClassVar[str] = "sip_dtmf_received"
    dtmf: SipDTMF


# The room.


@dataclass(frozen=True, slots=True)
class RoomMetadataChanged(RoomEvent):
    """The room's metadata changed."""

    name: ClassVar[str] = "room_metadata_changed"
    old_metadata: str
    new_metadata: str


@dataclass(frozen=True, slots=True)
class RecordingChanged(RoomEvent):
    """The room's audio is recorded from now on, or cannot be recorded any more."""

    name: ClassVar[str] = "recording_changed"
    active: bool


@dataclass(frozen=True, slots=True)
class UnknownEvent(RoomEvent):
    """An event of a later version of the gateway."""

    name: ClassVar[str] = "unknown_event"
    type: str
    data: dict[str, Any]


EVENT_NAMES = frozenset(event.name for event in RoomEvent.__subclasses__())
