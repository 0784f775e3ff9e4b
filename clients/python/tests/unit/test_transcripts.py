"""Which words were heard."""

import pytest

from patchbay import TranscriptSegment, TranscriptWord
from patchbay.audio.played import PlayedTo, SpokenSegments, heard_characters
from patchbay.protocol.transcript import Transcript

TEXT = "Well, I have 20 of them. Do you?"
WORDS = ["Well,", "i", "have", "twenty", "of", "them", "Do", "you?"]


def segment(text: str = TEXT, words: list[str] | None = None, identifier: str = "s1") -> TranscriptSegment:
    timed = [TranscriptWord(word, index * 100, index * 100 + 100) for index, word in enumerate(words or WORDS)]
    return TranscriptSegment(identifier, text, words=timed)


@pytest.mark.parametrize(
    ("played", "heard"),
    [
        (None, ""),
        (0, ""),
        (99, ""),
        (100, "Well,"),
        (250, "Well, I"),
        (300, "Well, I have"),
        # "twenty" is not in the text, but the word after it is.
        (400, "Well, I have 20"),
        (600, "Well, I have 20 of them"),
        (700, "Well, I have 20 of them. Do"),
        (800, TEXT),
        (9_999, TEXT),
    ],
)
def test_the_heard_part_ends_with_the_last_word_that_was_played(played: int | None, heard: str) -> None:
    assert TEXT[: heard_characters(segment(), played)] == heard


def test_a_word_inside_of_another_one_is_not_that_word() -> None:
    inside = segment("There is a man and an other.", ["There", "is", "a", "man", "and", "an", "other"])
    assert inside.text[: heard_characters(inside, 600)] == "There is a man and an"


def test_clocks_wrap_within_an_utterance() -> None:
    words = [TranscriptWord("one", 0xFFFF_FF00, 0xFFFF_FFF0), TranscriptWord("two", 0xFFFF_FFF0, 100)]
    wrapped = TranscriptSegment("s1", "one two", words=words)
    assert heard_characters(wrapped, 50) == 3
    assert heard_characters(wrapped, 100) == 7


def test_a_clear_sums_up_all_segments_and_forgets_them() -> None:
    spoken = SpokenSegments()
    spoken.add(segment("One two.", ["One", "two."], "a"))
    spoken.add(TranscriptSegment("b", "without times"))
    heard = spoken.clear(100)
    played = PlayedTo(100, segments=heard)
    assert (played.characters, played.text) == (3, "One")
    assert spoken.clear(100) == []
    assert PlayedTo(100).characters is None


def test_an_utterance_that_was_played_to_its_end_is_not_cleared_any_more() -> None:
    spoken = SpokenSegments()
    finished = segment("One two.", ["One", "two."], "a")
    finished.end_ts = 200
    later = segment("Three.", ["Three."], "b")
    later.end_ts = 900
    spoken.add(finished)
    spoken.add(later)
    spoken.finished(200)
    assert [part.id for part in spoken.clear(0)] == ["b"]


def test_only_newer_revisions_replace_a_segment() -> None:
    transcript = Transcript(limit=2)
    assert transcript.apply(TranscriptSegment("a", "Guten", rev=0))
    assert transcript.apply(TranscriptSegment("a", "Guten Tag", rev=2))
    assert not transcript.apply(TranscriptSegment("a", "Gute", rev=1))
    assert transcript.next_rev("a") == 3
    assert transcript.next_rev("b") == 0
    for name in "bc":
        transcript.apply(TranscriptSegment(name, name, rev=0))
    assert [entry.id for entry in transcript.segments] == ["b", "c"]
