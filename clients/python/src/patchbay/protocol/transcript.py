"""Live transcripts: segments, their words and their revisions (docs/protocol/transcripts.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .models import integer, text

Role = Literal["user", "assistant"]
Spoken = Literal["new", "in_progress", "completed", "interrupted"]


@dataclass(slots=True)
class TranscriptWord:
    """A word and its place on the track's 48 kHz clock."""

    text: str
    start_ts: int
    end_ts: int
    confidence: float | None = None


@dataclass(slots=True)
class TranscriptSegment:
    """A piece of transcript, which revisions with a higher `rev` replace.

    Attributes:
        id: unique in the room.
        text: what was said.
        role: `user` or `assistant`.
        participant: the speaker's identity; None for the sender.
        track: the sid of the track that carries the speech.
        rev: the revision. None lets the library count.
        final: whether no revision is planned.
        words: with times, so that a clear finds the last word that was heard.
        spoken, spoken_chars: how far it was played, set by the gateway.
    """

    id: str
    text: str
    role: Role = "assistant"
    participant: str | None = None
    track: str | None = None
    rev: int | None = None
    final: bool = False
    language: str = ""
    start_ts: int | None = None
    end_ts: int | None = None
    words: list[TranscriptWord] | None = None
    spoken: Spoken | None = None
    spoken_chars: int | None = None

    @property
    def heard(self) -> str:
        """The part that was played; all of the text as long as the gateway has not set it."""
        return self.text if self.spoken_chars is None else self.text[: self.spoken_chars]

    @classmethod
    def parse(cls, data: dict[str, Any]) -> TranscriptSegment:
        """Reads the event `transcript.segment`."""
        words = data.get("words")
        return cls(
            id=text(data, "id"),
            text=text(data, "text", ""),
            role="user" if data.get("role") == "user" else "assistant",
            participant=data.get("participant"),
            track=data.get("track"),
            rev=integer(data, "rev", 0),
            final=bool(data.get("final")),
            language=text(data, "language", ""),
            start_ts=data.get("start_ts"),
            end_ts=data.get("end_ts"),
            words=None if words is None else [_word(word) for word in words],
            spoken=data.get("spoken"),
            spoken_chars=data.get("spoken_chars"),
        )

    def encode(self, rev: int) -> dict[str, Any]:
        """The data of the request `transcript.segment`."""
        data: dict[str, Any] = {
            "id": self.id,
            "rev": rev,
            "role": self.role,
            "text": self.text,
            "final": self.final,
            "participant": self.participant,
            "track": self.track,
            "language": self.language or None,
            "start_ts": self.start_ts,
            "end_ts": self.end_ts,
            "spoken": self.spoken,
            "spoken_chars": self.spoken_chars,
        }
        if self.words is not None:
            data["words"] = [
                {"text": word.text, "start_ts": word.start_ts, "end_ts": word.end_ts}
                | ({} if word.confidence is None else {"confidence": word.confidence})
                for word in self.words
            ]
        return {name: value for name, value in data.items() if value is not None}


class Transcript:
    """The newest revision of each segment, in order of first appearance; beyond `limit` the oldest is dropped."""

    def __init__(self, limit: int = 1_000) -> None:
        self._segments: dict[str, TranscriptSegment] = {}
        self._limit = limit

    def apply(self, segment: TranscriptSegment) -> bool:
        """Adds a segment or replaces an older revision; false if it is not newer."""
        known = self._segments.get(segment.id)
        if known is not None and (segment.rev or 0) <= (known.rev or 0):
            return False
        self._segments[segment.id] = segment
        if len(self._segments) > self._limit:
            del self._segments[next(iter(self._segments))]
        return True

    def next_rev(self, segment_id: str) -> int:
        """The revision that replaces the newest one."""
        known = self._segments.get(segment_id)
        return 0 if known is None else (known.rev or 0) + 1

    @property
    def segments(self) -> list[TranscriptSegment]:
        """All segments."""
        return list(self._segments.values())


def _word(data: dict[str, Any]) -> TranscriptWord:
    return TranscriptWord(
        text=text(data, "text"),
        start_ts=integer(data, "start_ts"),
        end_ts=integer(data, "end_ts"),
        confidence=data.get("confidence"),
    )
