"""Keeps account of an agent's speech: which text belongs to which audio, and what is to be reported of its playout."""

from __future__ import annotations

import itertools
import uuid
from collections import deque
from dataclasses import dataclass

from ..limits import SPEECH_SEGMENTS_MAX
from .alignment import CHARACTERS_PER_SECOND
from .segment import Segment

PROGRESS_SECONDS = 0.2
"""How often progress is reported: as often as listeners report theirs."""

_FIRST_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Started:
    """A segment has begun to play at a time."""

    at: float


@dataclass(frozen=True, slots=True)
class Progressed:
    """A stretch of a segment was played, and began at a time."""

    at: float
    offset: float
    duration: float


@dataclass(frozen=True, slots=True)
class Finished:
    """The playout of a segment is over."""

    position: float
    interrupted: bool
    transcript: str | None


Report = Started | Progressed | Finished


class SpeechLedger:
    """All segments whose playout is not over.

    Text and audio of a segment arrive independently, in either order; segments arrive one after the other.
    """

    def __init__(self) -> None:
        self.pending: deque[Segment] = deque()
        self._writing: Segment | None = None
        self._speaking: Segment | None = None
        # Text whose audio has not begun, and audio whose text has not.
        self._unspoken: Segment | None = None
        self._unwritten: Segment | None = None
        self._unspoken_is_silent = False
        self._rate = CHARACTERS_PER_SECOND
        self._name = uuid.uuid4().hex[:12]
        self._numbers = itertools.count(1)

    @property
    def is_full(self) -> bool:
        """Whether no further segment may begin: `SPEECH_SEGMENTS_MAX` wait for their playout."""
        return self._speaking is None and len(self.pending) >= SPEECH_SEGMENTS_MAX

    # Text.

    def add_text(self, text: str) -> Segment:
        """Adds text, and returns its segment."""
        segment = self._writing
        if segment is None:
            segment, self._unwritten = self._unwritten, None
            if segment is None:
                segment = self._unspoken = self._new_segment()
                self._unspoken_is_silent = False
            self._writing = segment
        segment.written += text
        return segment

    def end_text(self) -> Segment | None:
        """The text is complete; returns its segment, if there was any text."""
        segment, self._writing = self._writing, None
        if segment is not None:
            segment.text_ended = True
            if segment is self._unspoken and self._unspoken_is_silent:
                self._unspoken = None
        return segment

    # Audio.

    def begin_audio(self) -> Segment:
        """The segment of the audio that is captured now."""
        if self._speaking is None:
            segment, self._unspoken = self._unspoken, None
            if segment is None:
                segment = self._unwritten = self._new_segment()
            self._speaking = segment
            self.pending.append(segment)
        return self._speaking

    def end_audio(self) -> Segment | None:
        """No more audio follows in this segment; returns it, if there was any audio."""
        segment, self._speaking = self._speaking, None
        if segment is None:
            # The speech synthesis has failed, or returned nothing: what comes next belongs to other text.
            if self._unspoken is not None and self._unspoken.text_ended:
                self._unspoken = None
            self._unspoken_is_silent = True
            return None
        segment.audio_ended = True
        return segment

    def settle(self, segment: Segment) -> None:
        """The audio ended, and no clear followed at once: it is complete."""
        if not segment.is_stopped:
            segment.is_whole = True

    # Playout.

    def next_mark(self) -> int | None:
        """The position on the track's clock whose playout is to be reported next; None if it is not known yet."""
        if not self.pending:
            return None
        segment = self.pending[0]
        if segment.is_stopped:
            return None
        wanted = segment.played + PROGRESS_SECONDS if segment.is_started else _FIRST_SECONDS
        if wanted > segment.duration and not segment.is_whole:
            return None
        return segment.timeline.timestamp(wanted)

    def reached(self, timestamp: int, now: float) -> list[Report]:
        """The track was played up to a position."""
        reports: list[Report] = []
        for segment in self.pending:
            if segment.stopped_at is None:
                reports += self._advance(segment, segment.timeline.played(timestamp), now)
        return reports + self.take_finished()

    def begin_clear(self) -> list[Segment]:
        """Everything that was captured is going to be cleared; returns what is not being cleared already."""
        self._unspoken = self._unwritten = None
        segments = [segment for segment in self.pending if not segment.is_stopped]
        for segment in segments:
            segment.is_clearing = True
        return segments

    def stopped(self, segments: list[Segment], timestamp: int | None, now: float) -> list[Report]:
        """Segments were cut short.

        Args:
            segments: what was cleared or lost.
            timestamp: the position up to which the track was played; None if it is not known to be further than what
                was reported before.
            now: the time.
        """
        reports: list[Report] = []
        for segment in segments:
            segment.is_clearing = False
            if timestamp is not None:
                reports += self._advance(segment, segment.timeline.played(timestamp), now)
            segment.stopped_at = segment.played
        return reports + self.take_finished()

    def take_finished(self) -> list[Report]:
        """Removes the segments whose playout is over, in order."""
        reports: list[Report] = []
        while self.pending and self.pending[0].is_finished:
            segment = self.pending.popleft()
            if segment is self._unwritten:
                self._unwritten = None
            transcript = segment.heard_text(self._rate)
            reports.append(Finished(segment.played, not segment.was_heard_completely, transcript))
            if (rate := segment.rate) is not None:
                self._rate += 0.3 * (rate - self._rate)
        return reports

    def _advance(self, segment: Segment, played: float, now: float) -> list[Report]:
        reports: list[Report] = []
        if played <= segment.played:
            return reports
        if not segment.is_started:
            segment.is_started = True
            reports.append(Started(now - played))
        stretch = played - segment.played
        reports.append(Progressed(now - stretch, segment.played, stretch))
        segment.played = played
        return reports

    def _new_segment(self) -> Segment:
        return Segment(f"speech-{self._name}-{next(self._numbers)}")
