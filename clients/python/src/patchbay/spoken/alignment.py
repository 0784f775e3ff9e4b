"""Which characters of a text were heard when its audio was played up to some second."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..audio.played import find_word

CHARACTERS_PER_SECOND = 15.0
"""How fast speech is assumed to be as long as nothing is known about it."""

# Chinese and Japanese have no spaces between words: there each character counts as one.
_WORD = re.compile(r"[぀-ヿ㐀-鿿]|[^\s぀-ヿ㐀-鿿]+")
_COMPLETE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class TimedText:
    """A word or several, and when their audio starts and ends, in seconds since the start of the segment's audio."""

    text: str
    start: float | None = None
    end: float | None = None


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A word of the text with its characters and its times in seconds."""

    text: str
    begin: int
    end: int
    starts_at: float
    ends_at: float


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A position in the text whose time is known."""

    character: int
    seconds: float


class Alignment:
    """The times of all words of a text.

    Words that the speech synthesis has timed have these times. Those between them, such as the words of a sentence of
    which only the start is known, have times in proportion to characters.

    Args:
        text: what is spoken.
        timed: what the synthesis has timed, in order. Pieces that are not in the text are skipped.
        duration: seconds of audio so far.
        complete: whether that is all audio of the text. If not, the rest is assumed to follow at `rate`.
        rate: characters per second.
    """

    def __init__(
        self,
        text: str,
        timed: Sequence[TimedText],
        duration: float,
        *,
        complete: bool,
        rate: float = CHARACTERS_PER_SECOND,
    ) -> None:
        self._text = text
        self._duration = duration
        self._complete = complete
        anchors = _anchors(text, timed)
        last = anchors[-1]
        if complete:
            end = max(duration, last.seconds)
        else:
            end = max(last.seconds + (len(text) - last.character) / rate, duration if len(anchors) == 1 else 0.0)
        self._anchors = _ascending([*anchors, _Anchor(len(text), end)])
        self._characters = [anchor.character for anchor in self._anchors]

    @property
    def words(self) -> list[AlignedWord]:
        """All words in order, without the punctuation around them."""
        words = []
        for match in _WORD.finditer(self._text):
            begin, end = _bare(self._text, match.start(), match.end())
            if begin < end:
                words.append(AlignedWord(self._text[begin:end], begin, end, self._at(begin, after=True), self._at(end)))
        return words

    def heard_characters(self, played: float) -> int:
        """Characters up to the end of the last word of which everything was played."""
        if self._complete and played >= self._duration - _COMPLETE_SECONDS:
            return len(self._text)
        # Audio times are rounded to samples of the track's clock.
        heard = [word.end for word in self.words if word.ends_at <= played + 0.001]
        return heard[-1] if heard else 0

    def _at(self, character: int, *, after: bool = False) -> float:
        """The time of a position; where a word ends and the next one begins, the end, or the beginning `after` it."""
        index = (bisect_right if after else bisect_left)(self._characters, character)
        if index == len(self._anchors):
            return self._anchors[-1].seconds
        later = self._anchors[index]
        if index == 0 or later.character == character:
            return later.seconds
        earlier = self._anchors[index - 1]
        share = (character - earlier.character) / (later.character - earlier.character)
        return earlier.seconds + share * (later.seconds - earlier.seconds)


def _anchors(text: str, timed: Sequence[TimedText]) -> list[_Anchor]:
    """The known times: those of the first and of the last word of each timed piece."""
    anchors = [_Anchor(0, 0.0)]
    position = 0
    for piece in timed:
        found: list[tuple[int, int]] = []
        for word in piece.text.split():
            place = find_word(text, word, position)
            if place is not None:
                found.append(place)
                position = place[1]
        if found and piece.start is not None:
            anchors.append(_Anchor(found[0][0], piece.start))
        if found and piece.end is not None:
            anchors.append(_Anchor(_bare(text, *found[-1])[1], piece.end))
    return anchors


def _ascending(anchors: list[_Anchor]) -> list[_Anchor]:
    """Times that go back are those of the time before."""
    times = itertools.accumulate((anchor.seconds for anchor in anchors), max)
    return [_Anchor(anchor.character, seconds) for anchor, seconds in zip(anchors, times, strict=True)]


def _bare(text: str, begin: int, end: int) -> tuple[int, int]:
    while begin < end and not text[begin].isalnum():
        begin += 1
    while end > begin and not text[end - 1].isalnum():
        end -= 1
    return begin, end
