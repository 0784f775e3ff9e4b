"""What a listener has heard of speech that was cut short (docs/protocol/transcripts.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..limits import SEGMENTS_MAX
from ..protocol.media_time import ticks_between
from ..protocol.transcript import TranscriptSegment


@dataclass(frozen=True, slots=True)
class HeardSegment:
    """The heard part of one transcript segment."""

    id: str
    text: str
    characters: int

    @property
    def heard(self) -> str:
        """The part that was heard."""
        return self.text[: self.characters]


@dataclass(frozen=True, slots=True)
class PlayedTo:
    """How far the listener had got when speech was cleared.

    Attributes:
        played_ms: what was heard of the utterance.
        discarded_ms: what was captured and not heard.
        played_ts: the position on the track's clock; None if nothing was heard.
        estimated: whether no listener had reported, so that the position is derived from what was sent.
        segments: the heard part of each transcript segment with words that was published for this speech.
    """

    played_ms: float
    discarded_ms: float = 0.0
    played_ts: int | None = None
    estimated: bool = False
    segments: list[HeardSegment] = field(default_factory=list)

    @property
    def characters(self) -> int | None:
        """Characters heard, over all segments; None without transcript words."""
        return sum(segment.characters for segment in self.segments) if self.segments else None

    @property
    def text(self) -> str | None:
        """The words heard; None without transcript words."""
        return " ".join(s.heard for s in self.segments if s.characters) if self.segments else None


class SpokenSegments:
    """The transcript of the utterance in progress, as this client has published it."""

    def __init__(self) -> None:
        self._segments: dict[str, TranscriptSegment] = {}

    def add(self, segment: TranscriptSegment) -> None:
        """Adds a segment or a revision of one; beyond `SEGMENTS_MAX` the oldest is forgotten."""
        self._segments[segment.id] = segment
        if len(self._segments) > SEGMENTS_MAX:
            del self._segments[next(iter(self._segments))]

    def finished(self, played_ts: int | None) -> None:
        """The utterance was played up to here: forgets the segments that ended before."""
        for segment in list(self._segments.values()):
            ends = segment.end_ts
            if ends is None or (played_ts is not None and ticks_between(ends, played_ts) >= 0):
                del self._segments[segment.id]

    def clear(self, played_ts: int | None) -> list[HeardSegment]:
        """Forgets all segments, and returns what was heard of those with words."""
        segments, self._segments = list(self._segments.values()), {}
        return [
            HeardSegment(segment.id, segment.text, heard_characters(segment, played_ts))
            for segment in segments
            if segment.words
        ]


def heard_characters(segment: TranscriptSegment, played_ts: int | None) -> int:
    """Characters up to the end of the last word that was played, as the gateway sets `spoken_chars`.

    Words are located in the text in order, ignoring case, as written or without enclosing punctuation. A word that is
    not found is skipped; if the first one that was not played is found, everything before it was played.
    """
    words = segment.words
    if played_ts is None or not words:
        return 0
    text, position = segment.text, 0
    ends = segment.end_ts if segment.end_ts is not None else words[-1].end_ts
    if ticks_between(ends, played_ts) >= 0:
        return len(text)
    for word in words:
        found = find_word(text, word.text, position)
        if ticks_between(word.end_ts, played_ts) < 0:
            return position if found is None else max(_before_gap(text, found[0]), position)
        if found is not None:
            position = found[1]
    return len(text)


# A match further away is another occurrence of the word.
_SEARCH_MAX = 200


def find_word(text: str, word: str, start: int) -> tuple[int, int] | None:
    """The first place of a word from a position on, ignoring case, as written or without enclosing punctuation."""
    for wanted in dict.fromkeys((word, _bare(word))):
        length = len(wanted)
        if not length:
            continue
        for begin in range(start, min(start + _SEARCH_MAX, len(text) - length) + 1):
            end = begin + length
            if text[begin:end].lower() == wanted.lower() and _is_boundary(text, begin) and _is_boundary(text, end):
                return begin, end
    return None


def _is_boundary(text: str, index: int) -> bool:
    return not (0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum())


def _before_gap(text: str, index: int) -> int:
    while index > 0 and not text[index - 1].isalnum():
        index -= 1
    return index


def _bare(word: str) -> str:
    first, last = 0, len(word)
    while first < last and not word[first].isalnum():
        first += 1
    while last > first and not word[last - 1].isalnum():
        last -= 1
    return word[first:last]
