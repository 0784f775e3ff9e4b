"""Which frames wait for playout, and which are released at a position."""

from __future__ import annotations

from typing import Generic

from .held import F, Held, HeldKind
from .marks import PositionMarks
from .spoken_context import SpokenContext

HELD_MAX = 8_192
"""Frames that may wait; beyond it the oldest is released early and counted."""

ENDED_CONTEXTS_MAX = 16
"""Contexts that are remembered for words that come late; beyond it the oldest is forgotten."""


class HeldFrames(Generic[F]):
    """The frames of one track that wait until the listener has heard the audio before them.

    Args:
        position: the track's position at the beginning.

    Attributes:
        heard: everything before this position was heard.
        written: the end of what was written.
        overflowed: frames that were released early because too many waited.
    """

    def __init__(self, position: int) -> None:
        self.heard = self.written = position
        self.overflowed = 0
        self._items: list[Held[F]] = []
        self._contexts: dict[str, SpokenContext] = {}
        self._open: dict[int, Held[F]] = {}
        self._marks = PositionMarks(position)
        self._order = 0
        self._last_pts = 0

    # Speech arrives.

    def knows(self, context_id: str) -> bool:
        """Whether speech of this context has arrived."""
        return context_id in self._contexts

    def speech_arrived(self, context_id: str, ticks: int, clock_ns: int, *, keep: bool = False) -> bool:
        """Audio of a context arrives, before it is written; true for the context's first."""
        if (known := self._contexts.get(context_id)) is not None and known.ended:
            del self._contexts[context_id]
        context = self._context(context_id, clock_ns)
        context.keep |= keep
        first = context.arrived == 0
        context.arrived += ticks
        return first

    def add_word(self, context_id: str, frame: F, text: str, pts_ns: int, clock_ns: int, *, keep: bool = False) -> None:
        """A word with a presentation time: held until its end, which is the beginning of the next one."""
        context = self._context(context_id, clock_ns)
        self._last_pts = max(self._last_pts, pts_ns)
        starts = context.word_offset(pts_ns)
        previous = self._open.get(id(context))
        if previous is not None:
            starts = max(starts, previous.starts)
            previous.ends = starts
        held = self._add(frame, HeldKind.TEXT, context=context, starts=starts, keep=keep, text=text)
        if context.ended:
            # A late word: nothing follows that would end it.
            held.ends = max(context.arrived, starts)
        else:
            self._open[id(context)] = held

    def add_text(self, context_id: str, frame: F, text: str, *, keep: bool = False) -> None:
        """A text without times that follows its audio: held until the end of what has arrived."""
        context = self._contexts[context_id]
        starts, context.told = context.told, context.arrived
        self._add(
            frame,
            HeldKind.TEXT,
            context=context,
            starts=starts,
            ends=context.arrived,
            timed=False,
            keep=keep,
            text=text,
        )

    def add_timed(self, context_id: str, frame: F, pts_ns: int, *, keep: bool = False) -> None:
        """Another frame with a presentation time: held until that instant."""
        context = self._contexts.setdefault(context_id, SpokenContext())
        previous = self._open.get(id(context))
        at = max(context.clamped_offset(pts_ns), previous.starts if previous else 0)
        self._add(frame, HeldKind.FOLLOWER, context=context, starts=at, ends=at, keep=keep)

    def speech_ends(self, context_id: str) -> None:
        """No more audio of a context arrives: its last word ends here."""
        context = self._contexts.get(context_id)
        if context is not None and (last := self._open.pop(id(context), None)) is not None:
            last.ends = max(context.arrived, last.starts)

    # Audio is written.

    def wrote(self, position: int, ticks: int, context_id: str | None) -> None:
        """Audio was written, speech of a context or something else."""
        if context_id is not None and (context := self._contexts.get(context_id)) is not None:
            context.wrote(position, ticks)
        self.written = position + ticks
        self._marks.wrote_to(self.written)

    def context_written(self, context_id: str) -> None:
        """All audio of a context was written."""
        self.speech_ends(context_id)
        if (context := self._contexts.get(context_id)) is not None:
            context.ended = True
            if context.written == 0:
                self._end_silent(context)
        ended = [key for key, context in self._contexts.items() if context.ended]
        for key in ended[:-ENDED_CONTEXTS_MAX]:
            del self._contexts[key]

    def all_written(self) -> None:
        """No more audio follows, of any context."""
        for context_id in list(self._contexts):
            self.context_written(context_id)

    def add_after_written(
        self, frame: F, kind: HeldKind, *, ticks: int = 0, upstream: bool = False, keep: bool = False
    ) -> None:
        """A frame that belongs behind the audio that was written so far, and `ticks` of what follows."""
        held = self._add(frame, kind, upstream=upstream, keep=keep)
        held.position = self.written + ticks

    # Audio is heard.

    def heard_to(self, position: int) -> None:
        """Everything before a position was heard."""
        self.heard = max(self.heard, position)

    def take_due(self) -> list[Held[F]]:
        """Removes the frames whose audio was heard, in order."""
        self._resolve()
        due = [item for item in self._items if item.position is not None and item.position <= self.heard]
        self._remove(due)
        if (excess := len(self._items) - HELD_MAX) > 0:
            early = self._items[:excess]
            self.overflowed += excess
            self._remove(early)
            due += early
        return sorted(due, key=lambda item: item.sort_key)

    def take_marks(self) -> list[int]:
        """Positions to watch from now on."""
        self._resolve()
        for item in self._items:
            if item.position is not None and item.kind is not HeldKind.AUDIO:
                self._marks.want(item.position)
        return self._marks.take(self.heard)

    def give_up(self, position: int) -> list[Held[F]]:
        """The audio before a position is lost: removes its frames, and returns all but unheard words."""
        result = self.interrupt(self.heard)
        lost = [item for item in self._items if item.position is not None and item.position <= position]
        self._remove(lost)
        self.heard_to(position)
        return result + sorted(
            (item for item in lost if item.kind is not HeldKind.TEXT), key=lambda item: item.sort_key
        )

    # Interruptions.

    def interrupt(self, heard: int) -> list[Held[F]]:
        """Removes what was heard up to a position, where playout was stopped; a text without times is cut at a word."""
        self.heard_to(min(heard, self.written))
        due = self.take_due()
        for item in list(self._items):
            if item.kind is HeldKind.TEXT and not item.timed and (part := item.heard_part(self.heard)):
                item.text, item.position = part, self.heard
                self._remove([item])
                due.append(item)
        return due

    def renew(self, position: int) -> HeldFrames[F]:
        """Begins an interruption: the model of what is written from now on, with the speech that is to be kept.

        Args:
            position: where the track continues.
        """
        self._resolve()
        renewed = HeldFrames[F](position)
        renewed._contexts = {key: context for key, context in self._contexts.items() if context.keep}
        kept = {id(context) for context in renewed._contexts.values()}
        renewed._items = [item for item in self._items if item.keep and item.position is None]
        renewed._open = {key: item for key, item in self._open.items() if key in kept}
        renewed._order = self._order
        self._remove(renewed._items)
        return renewed

    def forget_unwritten(self) -> None:
        """Forgets what waits for audio that will not be written, where what was written plays on."""
        self._resolve()
        self._remove([item for item in self._items if item.position is None and not item.keep])
        self._contexts = {key: context for key, context in self._contexts.items() if context.keep or context.written}
        self._open.clear()

    def survivors(self) -> list[Held[F]]:
        """Ends an interruption: what is released although it was not heard. The rest is forgotten."""
        items, self._items = self._items, []
        return [item for item in items if item.keep or item.kind is HeldKind.STATE]

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits and everything that was written was heard."""
        return not self._items and self.written <= self.heard

    def _context(self, context_id: str, clock_ns: int) -> SpokenContext:
        context = self._contexts.setdefault(context_id, SpokenContext())
        context.begin(max(self._last_pts, clock_ns))
        return context

    def _add(
        self,
        frame: F,
        kind: HeldKind,
        *,
        context: SpokenContext | None = None,
        starts: int = 0,
        ends: int | None = None,
        timed: bool = True,
        upstream: bool = False,
        keep: bool = False,
        text: str = "",
    ) -> Held[F]:
        self._order += 1
        held = Held(frame, kind, self._order, None, context, starts, ends, timed, upstream, keep, text)
        self._items.append(held)
        return held

    def _end_silent(self, context: SpokenContext) -> None:
        # Words of a context without audio are released in their place; words whose audio was dropped were not heard.
        if context.arrived > 0:
            self._remove([item for item in self._items if item.context is context and item.kind is HeldKind.TEXT])
        context.wrote(self.written, 0)

    def _resolve(self) -> None:
        for item in self._items:
            if item.position is None and item.context is not None and item.ends is not None:
                item.position = item.context.locate(item.ends)

    def _remove(self, items: list[Held[F]]) -> None:
        gone = {id(item) for item in items}
        self._items = [item for item in self._items if id(item) not in gone]
