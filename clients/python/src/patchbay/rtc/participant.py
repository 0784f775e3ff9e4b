"""Participants of a room."""

from __future__ import annotations

from enum import StrEnum

from ..connection.disconnection import DisconnectReason
from ..protocol.models import ParticipantInfo, Permissions
from .track import RemoteTrackPublication, TrackPublication


class ParticipantKind(StrEnum):
    """LiveKit's kinds of participants."""

    STANDARD = "standard"
    INGRESS = "ingress"
    EGRESS = "egress"
    SIP = "sip"
    AGENT = "agent"
    CONNECTOR = "connector"
    BRIDGE = "bridge"

    @classmethod
    def parse(cls, text: str) -> ParticipantKind:
        """The kind of this name; `standard` for one of a later version."""
        return cls(text) if text in cls._value2member_map_ else cls.STANDARD


class Participant:
    """What is common to this client and the others."""

    def __init__(self, info: ParticipantInfo) -> None:
        self.sid = info.sid
        self.identity = info.identity
        self.name = info.name
        self.kind = ParticipantKind.parse(info.kind)
        self.metadata = info.metadata
        self.attributes = dict(info.attributes)
        self.joined_at = info.joined_at
        self.permissions: Permissions = info.permissions
        self.connection_quality = "excellent"
        self.speaking = False
        self.audio_level = 0.0
        self.held = False
        self.call_muted = False
        self.agent_state: str | None = info.attributes.get("lk.agent.state")

    @property
    def publications(self) -> list[TrackPublication]:
        """The published tracks."""
        return []

    def update(self, info: ParticipantInfo) -> None:
        """Takes over a newer description, except for tracks."""
        self.sid = info.sid
        self.identity = info.identity
        self.kind = ParticipantKind.parse(info.kind)
        self.joined_at = info.joined_at
        self.name = info.name
        self.metadata = info.metadata
        self.attributes = dict(info.attributes)
        self.permissions = info.permissions

    def __repr__(self) -> str:
        return f"{type(self).__name__}(identity={self.identity!r}, sid={self.sid!r})"


class RemoteParticipant(Participant):
    """Another participant.

    Attributes:
        track_publications: its tracks, by sid.
        connected: false while its connection is lost and it may come back.
        disconnect_reason: why it left; None while it is there.
    """

    def __init__(self, info: ParticipantInfo) -> None:
        super().__init__(info)
        self.track_publications: dict[str, RemoteTrackPublication] = {}
        self.connected = True
        self.disconnect_reason: DisconnectReason | None = None

    @property
    def publications(self) -> list[TrackPublication]:
        """The published tracks."""
        return list(self.track_publications.values())
