"""Tracks that appear, change and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..participant import Participant, RemoteParticipant
from ..track import LocalTrackPublication, RemoteAudioTrack, RemoteTrackPublication, TrackPublication
from .base import RoomEvent


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
