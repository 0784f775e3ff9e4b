"""Which frames are released at a position, and what an interruption leaves."""

import pytest

from patchbay.heard import HeldFrames, HeldKind, SpokenContext, heard_words

SECOND = 48_000
START = 1_000


def seconds(value: float) -> int:
    return int(value * SECOND)


def nanoseconds(value: float) -> int:
    return int(value * 1e9)


def spoken(held: HeldFrames[str], context: str, words: dict[str, float], length: float, clock: float = 0.0) -> None:
    """A context with word times whose audio arrives and is written at once."""
    held.speech_arrived(context, seconds(length), nanoseconds(clock))
    for word, at in words.items():
        held.add_word(context, word, word, nanoseconds(clock + at), nanoseconds(clock))
    held.speech_ends(context)
    held.wrote(held.written, seconds(length), context)
    held.context_written(context)


def frames(held: HeldFrames[str]) -> list[str]:
    return [item.frame for item in held.take_due()]


def test_a_word_is_released_when_the_next_one_begins() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0, "two": 0.5}, 1.0)
    held.heard_to(START + seconds(0.49))
    assert frames(held) == []
    held.heard_to(START + seconds(0.5))
    assert frames(held) == ["one"]
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["two"]
    assert held.is_empty


def test_the_end_of_a_response_follows_its_last_word() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0}, 1.0)
    held.add_after_written("end", HeldKind.FOLLOWER)
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["one", "end"]


def test_words_of_a_second_context_count_from_its_own_audio() -> None:
    # Its words are timed from the last word of the first context, and its audio follows the silence after it.
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0, "two": 0.5}, 2.0)
    held.speech_arrived("b", seconds(1.0), nanoseconds(0.1))
    for word, at in {"three": 0.0, "four": 0.5}.items():
        held.add_word("b", word, word, nanoseconds(0.5 + at), nanoseconds(0.1))
    held.wrote(held.written, seconds(1.0), "b")
    held.heard_to(START + seconds(2.4))
    assert frames(held) == ["one", "two"]
    held.heard_to(START + seconds(2.5))
    assert frames(held) == ["three"]


def test_words_that_are_not_written_yet_wait_for_their_audio() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(2.0), 0)
    for word, at in {"one": 0.0, "two": 1.0, "three": 1.5}.items():
        held.add_word("a", word, word, nanoseconds(at), 0)
    held.wrote(START, seconds(0.5), "a")
    held.heard_to(START + seconds(0.5))
    assert frames(held) == []
    held.wrote(START + seconds(0.5), seconds(0.5), "a")
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["one"]


def test_a_pause_of_a_slow_synthesis_delays_the_words_after_it() -> None:
    context = SpokenContext()
    context.wrote(0, seconds(1.0))
    context.wrote(seconds(3.0), seconds(1.0))
    assert context.locate(seconds(0.5)) == seconds(0.5)
    assert context.locate(seconds(1.5)) == seconds(3.5)
    assert context.locate(seconds(2.5)) is None
    assert context.offset(seconds(2.0)) == seconds(1.0)


def test_the_beginning_is_corrected_by_a_word_that_precedes_it() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(1.0), nanoseconds(10.02))
    held.add_word("a", "one", "one", nanoseconds(10.0), nanoseconds(10.03))
    held.add_word("a", "two", "two", nanoseconds(10.5), nanoseconds(10.03))
    held.wrote(START, seconds(1.0), "a")
    assert START + seconds(0.5) in held.take_marks()


def test_an_interruption_returns_what_was_heard_and_forgets_the_rest() -> None:
    held = HeldFrames[str](START)
    held.add_after_written("started", HeldKind.STATE, ticks=1)
    spoken(held, "a", {"one": 0.0, "two": 0.5, "three": 1.0}, 1.5)
    held.add_after_written("end", HeldKind.FOLLOWER)
    held.add_after_written("stopped", HeldKind.STATE)
    following = held.renew(START + seconds(1.5))
    assert [item.frame for item in held.interrupt(START + seconds(1.2))] == ["started", "one", "two"]
    assert [item.frame for item in held.survivors()] == ["stopped"]
    assert following.is_empty


def test_an_interruption_cuts_a_text_without_times_in_proportion() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(4.0), 0)
    held.add_text("a", "first", "one two. ")
    held.speech_arrived("a", seconds(4.0), 0)
    held.add_text("a", "second", "three four five six")
    held.wrote(START, seconds(8.0), "a")
    heard = held.interrupt(START + seconds(4.0 + 2.2))
    assert [(item.frame, item.text) for item in heard] == [("first", "one two. "), ("second", "three four")]


def test_uninterruptible_speech_that_was_not_written_survives_an_interruption() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0}, 1.0)
    held.speech_arrived("b", seconds(1.0), 0, keep=True)
    held.add_word("b", "law", "law", 0, 0, keep=True)
    following = held.renew(START + seconds(1.0))
    held.interrupt(START)
    assert held.survivors() == []
    following.wrote(START + seconds(1.0), seconds(1.0), "b")
    following.context_written("b")
    following.heard_to(START + seconds(2.0))
    assert frames(following) == ["law"]


def test_what_arrives_during_an_interruption_belongs_to_what_follows() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0}, 1.0)
    following = held.renew(START + seconds(1.0))
    spoken(following, "b", {"next": 0.0}, 1.0)
    assert held.interrupt(START) == []
    following.heard_to(START + seconds(2.0))
    assert frames(following) == ["next"]


def test_lost_audio_drops_its_words_and_releases_what_follows() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0, "two": 0.5}, 1.0)
    held.add_after_written("end", HeldKind.FOLLOWER)
    held.heard_to(START + seconds(0.6))
    assert [item.frame for item in held.give_up(held.written)] == ["one", "end"]
    assert held.is_empty


def test_lost_audio_cuts_a_text_without_times() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(4.0), 0)
    held.add_text("a", "text", "four tiny blue cats")
    held.wrote(START, seconds(4.0), "a")
    held.heard_to(START + seconds(2.4))
    assert [item.text for item in held.give_up(held.written)] == ["four tiny"]


def test_words_that_arrive_late_are_released_at_once() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {}, 1.0)
    held.heard_to(START + seconds(1.0))
    held.add_word("a", "late", "late", nanoseconds(0.5), nanoseconds(2.0))
    assert frames(held) == ["late"]
    assert held.is_empty


def test_words_of_a_context_without_audio_are_released_in_their_place() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0}, 1.0)
    held.add_word("b", "silent", "silent", nanoseconds(0.5), 0)
    held.context_written("b")
    assert frames(held) == []
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["one", "silent"]
    assert held.is_empty


def test_words_whose_audio_was_dropped_are_forgotten() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(1.0), 0)
    held.add_word("a", "dropped", "dropped", 0, 0)
    held.context_written("a")
    assert frames(held) == []
    assert held.is_empty


def test_each_position_is_marked_once_and_audio_alone_by_a_grid() -> None:
    held = HeldFrames[str](START)
    for index in range(10):
        held.wrote(START + index * 1_920, 1_920, None)
        held.add_after_written("chunk", HeldKind.AUDIO)
    assert held.take_marks() == [START + 13_440]
    assert held.take_marks() == []


def test_a_text_counts_from_the_end_of_the_one_before_even_if_that_was_released() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(4.0), 0)
    held.add_text("a", "first", "one two.")
    held.wrote(START, seconds(4.0), "a")
    held.heard_to(START + seconds(4.0))
    assert frames(held) == ["first"]
    held.speech_arrived("a", seconds(4.0), 0)
    held.add_text("a", "second", "four tiny blue cats")
    held.wrote(START + seconds(4.0), seconds(4.0), "a")
    assert [item.text for item in held.interrupt(START + seconds(6.4))] == ["four tiny"]


def test_speech_that_will_not_be_written_is_forgotten_while_the_rest_plays_on() -> None:
    held = HeldFrames[str](START)
    spoken(held, "a", {"one": 0.0}, 1.0)
    held.speech_arrived("b", seconds(1.0), 0)
    held.add_word("b", "never", "never", 0, 0)
    held.forget_unwritten()
    held.all_written()
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["one"]
    assert held.is_empty


def test_the_last_word_ends_with_what_was_written() -> None:
    held = HeldFrames[str](START)
    held.speech_arrived("a", seconds(1.0), 0)
    held.add_word("a", "last", "last", 0, 0)
    held.wrote(START, seconds(1.0), "a")
    held.all_written()
    held.heard_to(START + seconds(1.0))
    assert frames(held) == ["last"]


def test_too_many_frames_are_released_early_and_counted() -> None:
    held = HeldFrames[int](START)
    held.wrote(START, seconds(1.0), None)
    for number in range(8_200):
        held.add_after_written(number, HeldKind.FOLLOWER)
    assert [item.frame for item in held.take_due()] == list(range(8))
    assert held.overflowed == 8


@pytest.mark.parametrize(
    ("fraction", "heard"),
    [
        (0.0, ""),
        (0.2, ""),
        (0.3, "one"),
        (0.6, "one two"),
        (0.99, "one two"),
        (1.0, "one two three"),
        (2.0, "one two three"),
    ],
)
def test_words_are_heard_by_characters(fraction: float, heard: str) -> None:
    assert heard_words("one two three", fraction) == heard
