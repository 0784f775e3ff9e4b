"""Speech, and playout of ahead tracks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..participant import Participant
from .base import RoomEvent


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
    """An ahead track was cleared at a position of its clock. `by` is who asked for it, `reason` what it gave."""

    name: ClassVar[str] = "playout_cleared"
    track_sid: str
    by: str
    played_ms: float
    discarded_ms: float
    reason: str
    played_ts: int | None


@dataclass(frozen=True, slots=True)
class PlayoutBacklog(RoomEvent):
    """This client is far ahead with a track: `high`, `full` or `low` again. The source waits by itself."""

    name: ClassVar[str] = "playout_backlog"
    track_sid: str
    state: Literal["high", "full", "low"] | str
    queued_ms: int
