"""What a scripted bot says: words with a tone each, so that they can be read from a recording."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from patchbay.testing import Recording

RATE = 24_000
FRAME_SECONDS = 0.02
WORDS = (
    *("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while"),
    *("seventeen", "elephants", "patiently", "consider", "another", "extraordinary", "proposal"),
)


@dataclass
class Answer:
    """What the bot says: sentences, and the sound and time of each word."""

    sentences: list[list[str]]
    seconds: dict[str, float]
    leading: float
    trailing: float

    @classmethod
    def scripted(cls, chance: random.Random, words: int = 16) -> "Answer":
        chosen = list(WORDS[:words])
        seconds = {word: (0.08 + 0.03 * len(word)) * chance.uniform(0.8, 1.2) for word in chosen}
        # Whole frames of 20 ms, so that a frame belongs to one word.
        seconds = {word: round(value / FRAME_SECONDS) * FRAME_SECONDS for word, value in seconds.items()}
        middle = words // 2
        return cls(
            [chosen[:middle], chosen[middle:]], seconds, chance.randrange(0, 6) * 0.02, chance.randrange(0, 20) * 0.02
        )

    @property
    def words(self) -> list[str]:
        return [word for sentence in self.sentences for word in sentence]

    @property
    def text(self) -> str:
        return " ".join(" ".join(sentence).capitalize() + "." for sentence in self.sentences)


def pitch(word: str) -> int:
    return 300 + 150 * WORDS.index(word)


def sound(word: str, seconds: float) -> np.ndarray[Any, np.dtype[np.int16]]:
    times = np.arange(round(seconds * RATE)) / RATE
    return (8_000 * np.sin(2 * np.pi * pitch(word) * times)).astype(np.int16)


def words_heard(recording: Recording, answer: Answer) -> list[str]:
    """The words most of whose sound is in a recording."""
    seconds: dict[str, float] = dict.fromkeys(answer.words, 0.0)
    for heard in recording.frames:
        samples = heard.frame.samples.astype(np.float64)
        if len(samples) < 480 or not heard.is_sound:
            continue
        spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 48_000))
        loudest = int(np.argmax(spectrum))
        word = min(answer.words, key=lambda word: abs(pitch(word) - loudest))
        seconds[word] += heard.frame.duration
    return [word for word in answer.words if seconds[word] >= answer.seconds[word] * 0.6]


def answer(words: int = 4, seed: int = 1) -> Answer:
    return Answer.scripted(random.Random(seed), words)
