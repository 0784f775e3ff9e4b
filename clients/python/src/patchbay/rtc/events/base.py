"""What all events have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class RoomEvent:
    """Base class of all events."""

    name: ClassVar[str] = ""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What callbacks get."""
        return tuple(getattr(self, field.name) for field in fields(self))
