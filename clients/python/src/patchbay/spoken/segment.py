"""One segment of an agent's speech: its text, its audio, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..protocol.media_time import advanced
from ..protocol.transcript import TranscriptSegment, TranscriptWord
from .alignment import CHARACTERS_PER_SECOND, Alignment, TimedText
from .timeline import Timeline

# The last frame of a segment is padded to 20 ms.
_COMPLETE_SECONDS = 0.02

# The protocol's limits: 16 KiB of text, and 64 KiB for a message with all words.
_TEXT_BYTES_MAX = 16_384
_WORDS_MAX = 500


@dataclass(slots=True)
class Segment:
    """What is said between two flushes.

    Attributes:
        id: of its transcript.
        written: its text, as far as it is known.
        text_ended: whether the text is complete.
        audio_ended: whether no more audio is captured for it.
        is_whole: whether the audio ended because all of it was there, not because it was interrupted.
        played: seconds that are known to have been played.
        is_started: whether the start of playout was reported.
        is_clearing: whether a clear of it is pending.
        stopped_at: seconds after which playout was cut short; None if it was not.
    """

    id: str
    written: str = ""
    timed: list[TimedText] = field(default_factory=list)
    timeline: Timeline = field(default_factory=Timeline)
    text_ended: bool = False
    audio_ended: bool = False
    is_whole: bool = False
    played: float = 0.0
    is_started: bool = False
    is_clearing: bool = False
    stopped_at: float | None = None

    @property
    def text(self) -> str:
        """The text, or what the speech synthesis has timed of it if there is no text."""
        return self.written or " ".join(piece.text.strip() for piece in self.timed)

    @property
    def duration(self) -> float:
        """Seconds of audio so far."""
        return self.timeline.duration

    @property
    def is_stopped(self) -> bool:
        """Whether it was cleared or lost, or is being cleared."""
        return self.is_clearing or self.stopped_at is not None

    @property
    def takes_audio(self) -> bool:
        """Whether more audio may follow: what was stopped is not continued."""
        return not (self.audio_ended or self.is_stopped)

    @property
    def was_heard_completely(self) -> bool:
        """Whether nothing is missing of what was played."""
        return self.is_whole and self.played >= self.duration - _COMPLETE_SECONDS

    @property
    def is_finished(self) -> bool:
        """Whether its playout is over, one way or the other."""
        if not self.audio_ended or self.is_clearing:
            return False
        return self.stopped_at is not None or self.was_heard_completely

    @property
    def rate(self) -> float | None:
        """Characters per second; None unless text and audio are complete."""
        complete = self.text_ended and self.is_whole and self.written and self.duration > 0
        return len(self.written) / self.duration if complete else None

    def heard_text(self, rate: float = CHARACTERS_PER_SECOND) -> str | None:
        """What was heard of the text; None if there is no text, or it is not complete yet although its audio is."""
        if self.was_heard_completely and self.written:
            return self.written if self.text_ended else None
        if not self.text:
            return None
        return self.text[: self._alignment(rate).heard_characters(self.played)]

    def add_times(self, pieces: Iterable[TimedText]) -> None:
        """Adds what the speech synthesis has timed."""
        self.timed.extend(pieces)

    def transcript(self, track: str) -> TranscriptSegment:
        """What is published of the text.

        With times of the synthesis all words have times, which tell the gateway what was heard; a text that is too
        long for that has none.
        """
        text = self.text.encode()[:_TEXT_BYTES_MAX].decode(errors="ignore")
        words = self._transcript_words() if self.timed and self.duration > 0 else []
        return TranscriptSegment(
            id=self.id,
            text=text,
            track=track or None,
            final=self.text_ended,
            words=words if 0 < len(words) <= _WORDS_MAX else None,
        )

    def _transcript_words(self) -> list[TranscriptWord]:
        return [
            TranscriptWord(word.text, self._timestamp(word.starts_at), self._timestamp(word.ends_at))
            for word in self._alignment(CHARACTERS_PER_SECOND).words
        ]

    def _timestamp(self, seconds: float) -> int:
        """A position on the track's clock, also of audio that is still to come."""
        known = self.timeline.timestamp(seconds)
        assert known is not None
        return advanced(known, round(max(seconds - self.duration, 0.0) * 48_000))

    def _alignment(self, rate: float) -> Alignment:
        return Alignment(self.text, self.timed, self.duration, complete=self.is_whole, rate=rate)
