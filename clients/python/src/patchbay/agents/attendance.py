"""The users of a room, and how long an agent waits for others. Time is an argument."""

from __future__ import annotations

from ..connection.disconnection import DisconnectReason

WAIT_SECONDS = 20.0
"""How long an agent waits for the first user, and for one whose connection was lost."""

_FAREWELLS = {
    DisconnectReason.CLIENT_INITIATED,
    DisconnectReason.USER_UNAVAILABLE,
    DisconnectReason.USER_REJECTED,
    DisconnectReason.PARTICIPANT_REMOVED,
    DisconnectReason.ROOM_DELETED,
    DisconnectReason.ROOM_CLOSED,
}


class Attendance:
    """Decides when an agent has nobody left to talk to (docs/protocol/assistants.md, "Offers").

    It waits for the first user, and for those whose connection was lost, but not for those who have left.
    """

    def __init__(self, now: float) -> None:
        self._users: set[str] = set()
        self._first_until: float | None = now + WAIT_SECONDS
        self._lost: dict[str, float] = {}

    def join(self, identity: str) -> None:
        """A user has come."""
        self._users.add(identity)
        self._lost.pop(identity, None)
        self._first_until = None

    def leave(self, identity: str, reason: DisconnectReason | None, now: float) -> None:
        """A user has left."""
        if identity not in self._users:
            return
        self._users.remove(identity)
        self._lost = {other: until for other, until in self._lost.items() if until > now}
        if reason not in _FAREWELLS:
            self._lost[identity] = now + WAIT_SECONDS

    def is_over(self, now: float) -> bool:
        """Whether the room has no user and none is expected."""
        deadline = self.deadline
        return not self._users and (deadline is None or now >= deadline)

    @property
    def deadline(self) -> float | None:
        """When to ask again, if nobody comes; None if there is a user, or nobody is expected."""
        if self._users:
            return None
        return max([*self._lost.values(), *([] if self._first_until is None else [self._first_until])], default=None)
