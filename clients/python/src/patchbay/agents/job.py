"""What the entry point of a worker gets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..api.rooms import Job
from ..limits import TURNS_MAX, TURNS_PER_REPORT_MAX
from ..rtc.participant import ParticipantKind, RemoteParticipant
from ..rtc.room import Room


@dataclass(frozen=True, slots=True)
class Turn:
    """The latencies of one turn, for the gateway's metrics; None for a stage that was not measured."""

    turn: int
    end_of_turn_ms: float | None = None
    recognition_ms: float | None = None
    first_token_ms: float | None = None
    first_audio_ms: float | None = None
    voice_to_voice_ms: float | None = None
    interrupted: bool = False

    def encode(self) -> dict[str, Any]:
        """The data of a turn in `worker.status`."""
        names = ("end_of_turn_ms", "recognition_ms", "first_token_ms", "first_audio_ms", "voice_to_voice_ms")
        times = {name: getattr(self, name) for name in names}
        return {"turn": self.turn, "interrupted": self.interrupted} | {
            name: round(value) for name, value in times.items() if value is not None
        }


class TurnReports:
    """Turns that wait to be reported. While the gateway cannot be reached, the latest 256 are kept."""

    def __init__(self) -> None:
        self._turns: deque[Turn] = deque()
        self._dropped = 0

    def add(self, turn: Turn) -> None:
        """Adds a turn; a full queue drops its oldest and counts it."""
        if len(self._turns) >= TURNS_MAX:
            self._turns.popleft()
            self._dropped += 1
        self._turns.append(turn)

    def take(self) -> dict[str, Any]:
        """The part of the next `worker.status` that is about turns; nothing if none waits."""
        if not self._turns:
            return {}
        count = min(len(self._turns), TURNS_PER_REPORT_MAX)
        dropped, self._dropped = self._dropped, 0
        return {"turns": [self._turns.popleft().encode() for _ in range(count)], "turns_dropped": dropped}


class JobContext:
    """A job that this worker does.

    Attributes:
        job: what the gateway offered, with its metadata.
        room: the connected room.
        definition: how the gateway defines the assistant; None if it does not.
    """

    def __init__(self, job: Job, room: Room, definition: dict[str, Any] | None, report: Callable[[Turn], None]) -> None:
        self.job = job
        self.room = room
        self.definition = definition
        self._report = report

    @property
    def user(self) -> RemoteParticipant | None:
        """The first participant that is a user; None if none is there."""
        users = (
            p
            for p in self.room.remote_participants.values()
            if p.kind not in (ParticipantKind.AGENT, ParticipantKind.EGRESS)
        )
        return next(users, None)

    def report_turn(self, turn: Turn) -> None:
        """Adds the latencies of a turn to the gateway's metrics."""
        self._report(turn)
