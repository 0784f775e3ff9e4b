"""Messages between participants, and the room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...protocol.transcript import TranscriptSegment
from ..data import DataPacket, SipDTMF, TextMessage
from ..participant import Participant
from ..track import TrackPublication
from .base import RoomEvent


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
