"""Participants and their states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..participant import Participant, RemoteParticipant
from .base import RoomEvent


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
