"""Mixes the speakers of a room into one stream. Pure: driven by the audio that arrives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .frame import Samples

WAIT_CHUNKS = 3
"""How many chunks one speaker may be ahead before the others count as silent."""


class SpeakerMix:
    """Adds up the samples of speakers that arrive at the same rate.

    Args:
        chunk: samples of one mixed chunk, all channels.
    """

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._waiting: dict[str, Samples] = {}

    def add(self, speaker: str) -> None:
        """A speaker joins."""
        self._waiting.setdefault(speaker, np.zeros(0, dtype=np.int16))

    def remove(self, speaker: str) -> None:
        """A speaker leaves."""
        self._waiting.pop(speaker, None)

    def push(self, speaker: str, samples: Samples) -> Iterator[tuple[str | None, Samples]]:
        """Adds samples, and yields the chunks that are complete, with the speaker if there is only one.

        A chunk is complete when all speakers have one, or when one speaker has `WAIT_CHUNKS`. What waits is bounded by
        that.
        """
        if len(self._waiting) <= 1:
            yield speaker, samples
            return
        self._waiting[speaker] = np.concatenate([self._waiting.get(speaker, samples[:0]), samples])
        while self._is_complete():
            yield None, self._take()

    def _is_complete(self) -> bool:
        lengths = [len(waiting) for waiting in self._waiting.values()]
        return min(lengths) >= self._chunk or max(lengths) >= self._chunk * WAIT_CHUNKS

    def _take(self) -> Samples:
        total = np.zeros(self._chunk, dtype=np.int32)
        for speaker, waiting in self._waiting.items():
            part = waiting[: self._chunk]
            total[: len(part)] += part
            self._waiting[speaker] = waiting[self._chunk :]
        return np.clip(total, -32_768, 32_767).astype(np.int16)
