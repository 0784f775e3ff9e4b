"""Descriptions in the gateway's messages: rooms, participants, tracks and `hello`. Unknown fields are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ProtocolError

JSON = dict[str, Any]


@dataclass(slots=True)
class TrackInfo:
    """The gateway's description of a track."""

    sid: str
    alias: int
    participant: str
    name: str = ""
    source: str = "microphone"
    mode: str = "live"
    muted: bool = False
    channels: int = 1
    epoch: int = 0

    @classmethod
    def parse(cls, data: JSON) -> TrackInfo:
        """Reads a track."""
        return cls(
            sid=text(data, "sid"),
            alias=integer(data, "alias"),
            participant=text(data, "participant"),
            name=text(data, "name", ""),
            source=text(data, "source", "microphone"),
            mode=text(data, "mode", "live"),
            muted=bool(data.get("muted")),
            channels=integer(data, "channels", 1),
            epoch=integer(data, "epoch", 0),
        )


@dataclass(slots=True)
class Permissions:
    """What a participant's token permits."""

    can_publish: bool = True
    can_subscribe: bool = True
    can_publish_data: bool = True
    can_publish_sources: list[str] = field(default_factory=list)
    can_update_metadata: bool = False
    hidden: bool = False

    @classmethod
    def parse(cls, data: JSON) -> Permissions:
        """Reads permissions."""
        return cls(
            can_publish=bool(data.get("can_publish", True)),
            can_subscribe=bool(data.get("can_subscribe", True)),
            can_publish_data=bool(data.get("can_publish_data", True)),
            can_publish_sources=[str(source) for source in data.get("can_publish_sources") or []],
            can_update_metadata=bool(data.get("can_update_metadata")),
            hidden=bool(data.get("hidden")),
        )


@dataclass(slots=True)
class ParticipantInfo:
    """The gateway's description of a participant."""

    sid: str
    identity: str
    name: str
    kind: str
    metadata: str
    attributes: dict[str, str]
    joined_at: int
    permissions: Permissions
    tracks: list[TrackInfo] | None

    @classmethod
    def parse(cls, data: JSON) -> ParticipantInfo:
        """Reads a participant."""
        tracks = data.get("tracks")
        return cls(
            sid=text(data, "sid"),
            identity=text(data, "identity"),
            name=text(data, "name", ""),
            kind=text(data, "kind", "standard"),
            metadata=text(data, "metadata", ""),
            attributes={str(key): str(value) for key, value in (data.get("attributes") or {}).items()},
            joined_at=integer(data, "joined_at", 0),
            permissions=Permissions.parse(data.get("permission") or {}),
            tracks=None if tracks is None else [TrackInfo.parse(track) for track in tracks],
        )


@dataclass(slots=True)
class RoomInfo:
    """The gateway's description of a room."""

    sid: str
    name: str
    metadata: str
    created_at: int
    max_participants: int

    @classmethod
    def parse(cls, data: JSON) -> RoomInfo:
        """Reads a room."""
        return cls(
            sid=text(data, "sid"),
            name=text(data, "name"),
            metadata=text(data, "metadata", ""),
            created_at=integer(data, "created_at", 0),
            max_participants=integer(data, "max_participants", 0),
        )


@dataclass(slots=True)
class Hello:
    """The first message on each connection to a room.

    Attributes:
        resumed: whether the session was resumed.
        snapshot: after a resume, that events may have been missed: `hello` and the events that follow it describe
            the whole state.
        nodes: URLs of other nodes of a cluster at which the session can be resumed.
    """

    room: RoomInfo
    participant: ParticipantInfo
    participants: list[ParticipantInfo]
    session_id: str | None
    session: JSON | None
    logged: bool
    resume_token: str
    resumed: bool
    snapshot: bool
    ping_interval: float
    ping_timeout: float
    nodes: list[str]

    @classmethod
    def parse(cls, data: JSON) -> Hello:
        """Reads `hello`."""
        return cls(
            room=RoomInfo.parse(mapping(data, "room")),
            participant=ParticipantInfo.parse(mapping(data, "participant")),
            participants=[ParticipantInfo.parse(participant) for participant in data.get("participants") or []],
            session_id=data.get("session_id"),
            session=data.get("session"),
            logged=bool(data.get("logged")),
            resume_token=text(data, "resume_token", ""),
            resumed=bool(data.get("resumed")),
            snapshot=bool(data.get("snapshot")),
            ping_interval=integer(data, "ping_interval_ms", 5_000) / 1_000,
            ping_timeout=integer(data, "ping_timeout_ms", 15_000) / 1_000,
            nodes=[node for node in data.get("nodes") or [] if isinstance(node, str)],
        )


_REQUIRED: Any = object()


def text(data: Mapping[str, Any], name: str, default: str = _REQUIRED) -> str:
    """A string field.

    Raises:
        ProtocolError: the field is missing and has no default, or is no string.
    """
    value = data.get(name, default)
    if value is _REQUIRED or not isinstance(value, str):
        raise ProtocolError(f"the gateway's message has no text {name!r}")
    return value


def integer(data: Mapping[str, Any], name: str, default: int = _REQUIRED) -> int:
    """An integer field; a number with a fraction is rounded towards zero."""
    value = data.get(name, default)
    if value is _REQUIRED or isinstance(value, bool) or not isinstance(value, int | float):
        raise ProtocolError(f"the gateway's message has no number {name!r}")
    return int(value)


def number(data: Mapping[str, Any], name: str, default: float = 0.0) -> float:
    """A number field."""
    value = data.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default


def mapping(data: Mapping[str, Any], name: str) -> JSON:
    """An object field."""
    value = data.get(name)
    if not isinstance(value, dict):
        raise ProtocolError(f"the gateway's message has no object {name!r}")
    return value
