"""Where a source sends its audio: the published track, as the source sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..protocol.numbering import TrackNumbering
from .played import PlayedTo
from .speech_encoder import EncodedFrame


class MarkStatus(StrEnum):
    """What became of a mark."""

    PLAYED = "played"
    CLEARED = "cleared"
    DROPPED = "dropped"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True)
class TrackFormat:
    """How a source is published."""

    ahead: bool
    lead: float
    bitrate: int | None = None
    dtx: bool = False
    fec: bool = False


class SourceOutput(Protocol):
    """The published track that a source feeds."""

    @property
    def format(self) -> TrackFormat:
        """How it is published."""

    @property
    def ready(self) -> bool:
        """Whether a frame can be sent now."""

    @property
    def discards(self) -> bool:
        """Whether frames are worthless now: live ones without a connection."""

    def send(self, frame: EncodedFrame, numbering: TrackNumbering) -> None:
        """Sends a frame."""

    def begin_clear(self) -> None:
        """Stops sending until the clear has completed."""

    async def clear(self, reason: str | None) -> PlayedTo:
        """Clears the track and returns what was heard."""

    async def mark(self, timestamp: int, name: str) -> MarkStatus:
        """Waits until the track has been played up to a position."""
