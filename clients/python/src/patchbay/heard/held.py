"""A frame that waits until the listener has heard the audio before it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from .spoken_context import SpokenContext

F = TypeVar("F")


class HeldKind(Enum):
    """What happens to a frame that was not heard."""

    TEXT = "text"
    """Spoken words: dropped."""
    FOLLOWER = "follower"
    """Anything in order with the audio: dropped by an interruption, released if the audio is lost."""
    STATE = "state"
    """Who speaks: always released."""
    AUDIO = "audio"
    """The audio itself: as a follower, but no reason for a mark."""


@dataclass(slots=True, eq=False)
class Held(Generic[F]):
    """A frame that waits.

    Attributes:
        frame: the frame; the model does not look at it.
        kind: what happens if it is not heard.
        order: the order of arrival.
        position: where it is released, on the track's clock without wrapping; None as long as it is unknown.
        starts, ends: of a text, offsets in its context; `ends` is None until the next word begins.
        timed: whether a text has its own times, so that it is never cut.
        upstream: whether it is for the previous processor.
        keep: whether it survives an interruption.
        text: the words of a text; after `interrupt` those that were heard.
    """

    frame: F
    kind: HeldKind
    order: int
    position: int | None = None
    context: SpokenContext | None = None
    starts: int = 0
    ends: int | None = None
    timed: bool = True
    upstream: bool = False
    keep: bool = False
    text: str = ""

    @property
    def sort_key(self) -> tuple[int, bool, int]:
        """The order of release: by position, words first."""
        return self.position or 0, self.kind is not HeldKind.TEXT, self.order

    def heard_part(self, heard: int) -> str:
        """The words of a text without times that were heard before a position."""
        if self.context is None or self.ends is None or self.ends <= self.starts:
            return ""
        ticks = self.context.offset(heard) - self.starts
        return heard_words(self.text, ticks / (self.ends - self.starts))


def heard_words(text: str, fraction: float) -> str:
    """The words at the beginning of a text that end within a fraction of it, by characters.

    Args:
        text: what was said.
        fraction: how much of its audio was heard, 0 to 1.
    """
    if fraction >= 1:
        return text
    limit = fraction * len(text.strip())
    heard = ""
    for word in text.split():
        longer = f"{heard} {word}" if heard else word
        if len(longer) > limit:
            break
        heard = longer
    return heard
