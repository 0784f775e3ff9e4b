"""Several speakers become one stream."""

import numpy as np

from patchbay.audio.speaker_mix import SpeakerMix


def samples(value: int, count: int) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.full(count, value, dtype=np.int16)


def test_a_single_speaker_passes_unchanged_and_keeps_the_name() -> None:
    mix = SpeakerMix(4)
    mix.add("a")
    [(speaker, chunk)] = mix.push("a", samples(5, 7))
    assert (speaker, chunk.tolist()) == ("a", [5] * 7)


def test_speakers_are_added_and_limited() -> None:
    mix = SpeakerMix(2)
    mix.add("a")
    mix.add("b")
    assert list(mix.push("a", samples(30_000, 2))) == []
    [(speaker, chunk)] = mix.push("b", samples(10_000, 2))
    assert (speaker, chunk.tolist()) == (None, [32_767, 32_767])


def test_a_speaker_that_sends_nothing_delays_the_others_by_three_chunks_at_most() -> None:
    mix = SpeakerMix(2)
    mix.add("a")
    mix.add("b")
    assert list(mix.push("a", samples(1, 5))) == []
    assert [chunk.tolist() for _, chunk in mix.push("a", samples(1, 1))] == [[1, 1]]


def test_a_speaker_that_leaves_is_no_longer_waited_for() -> None:
    mix = SpeakerMix(2)
    mix.add("a")
    mix.add("b")
    mix.remove("b")
    assert [chunk.tolist() for _, chunk in mix.push("a", samples(1, 2))] == [[1, 1]]
