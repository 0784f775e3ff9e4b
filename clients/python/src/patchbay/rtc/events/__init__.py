"""What happens in a room. Names and arguments are LiveKit's where the thing is the same.

Each event is delivered twice: to callbacks, `@room.on("participant_connected")`, which get the fields in the order in
which they are declared; and as an object, `async for event in room.events`.
"""

from .base import RoomEvent
from .connection import ConnectionStateChanged, Disconnected, Reconnected, Reconnecting, ServerDraining, TokenRefreshed
from .messages import (
    DataReceived,
    RecordingChanged,
    RoomMetadataChanged,
    SipDtmfReceived,
    TextReceived,
    TranscriptionReceived,
    UnknownEvent,
)
from .participants import (
    ActiveSpeakersChanged,
    AgentStateChanged,
    AgentWaiting,
    CallMuteChanged,
    ConnectionQualityChanged,
    HoldChanged,
    ParticipantAttributesChanged,
    ParticipantConnected,
    ParticipantConnectionChanged,
    ParticipantDisconnected,
    ParticipantMetadataChanged,
    ParticipantNameChanged,
)
from .speech import (
    ParticipantSilent,
    PlayoutBacklog,
    PlayoutCleared,
    PlayoutFinished,
    PlayoutStarted,
    TalkStarted,
    TalkStopped,
)
from .tracks import (
    LocalTrackPublished,
    LocalTrackRepublished,
    LocalTrackUnpublished,
    TrackMuted,
    TrackPublished,
    TrackSubscribed,
    TrackUnmuted,
    TrackUnpublished,
    TrackUnsubscribed,
)

EVENT_NAMES = frozenset(event.name for event in RoomEvent.__subclasses__())
"""The names that `Room.on` accepts."""

__all__ = [
    "EVENT_NAMES",
    "ActiveSpeakersChanged",
    "AgentStateChanged",
    "AgentWaiting",
    "CallMuteChanged",
    "ConnectionQualityChanged",
    "ConnectionStateChanged",
    "DataReceived",
    "Disconnected",
    "HoldChanged",
    "LocalTrackPublished",
    "LocalTrackRepublished",
    "LocalTrackUnpublished",
    "ParticipantAttributesChanged",
    "ParticipantConnected",
    "ParticipantConnectionChanged",
    "ParticipantDisconnected",
    "ParticipantMetadataChanged",
    "ParticipantNameChanged",
    "ParticipantSilent",
    "PlayoutBacklog",
    "PlayoutCleared",
    "PlayoutFinished",
    "PlayoutStarted",
    "Reconnected",
    "Reconnecting",
    "RecordingChanged",
    "RoomEvent",
    "RoomMetadataChanged",
    "ServerDraining",
    "SipDtmfReceived",
    "TalkStarted",
    "TalkStopped",
    "TextReceived",
    "TokenRefreshed",
    "TrackMuted",
    "TrackPublished",
    "TrackSubscribed",
    "TrackUnmuted",
    "TrackUnpublished",
    "TrackUnsubscribed",
    "TranscriptionReceived",
    "UnknownEvent",
]
