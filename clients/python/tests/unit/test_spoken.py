"""What was played of a segment of speech, and which characters were heard, without sockets."""

import pytest

from patchbay.spoken.alignment import Alignment, TimedText
from patchbay.spoken.ledger import Finished, Progressed, SpeechLedger, Started
from patchbay.spoken.segment import Segment
from patchbay.spoken.timeline import Timeline

TEXT = "Hello there, my friend. How are you?"
TIMED = [
    TimedText("Hello ", 0.0, 0.4),
    TimedText("there, ", 0.5, 0.9),
    TimedText("my ", 1.0, 1.2),
    TimedText("friend. ", 1.3, 1.8),
    TimedText("How ", 2.2, 2.4),
    TimedText("are ", 2.5, 2.6),
    TimedText("you?", 2.7, 3.0),
]


def test_offsets_and_timestamps_agree_across_pauses_and_the_end_of_the_clock() -> None:
    timeline = Timeline()
    start = 0xFFFF_FFFF - 48_000 + 1
    timeline.add(start, 0.5)
    timeline.add(start + 24_000 - 480, 0.5)
    # The clock has wrapped, and half a second has passed without audio.
    timeline.add(24_000, 0.5)
    assert timeline.duration == 1.5
    assert [timeline.timestamp(offset) for offset in (0.0, 0.5, 1.0, 1.25, 9.0)] == [
        start,
        start + 24_000,
        0,
        36_000,
        48_000,
    ]
    assert [timeline.played(at) for at in (None, start, start + 12_000, 12_000, 36_000, 96_000)] == [
        0,
        0,
        0.25,
        1.0,
        1.25,
        1.5,
    ]


def test_before_any_audio_nothing_is_played() -> None:
    assert Timeline().timestamp(1.0) is None
    assert Timeline().played(48_000) == 0


@pytest.mark.parametrize(
    ("played", "heard"),
    [
        (0.0, ""),
        (0.39, ""),
        (0.4, "Hello"),
        (1.25, "Hello there, my"),
        (2.1, "Hello there, my friend"),
        (2.99, "Hello there, my friend. How are"),
        (3.1, TEXT),
    ],
)
def test_timed_words_are_heard_when_they_have_ended(played: float, heard: str) -> None:
    alignment = Alignment(TEXT, TIMED, 3.1, complete=True)
    assert TEXT[: alignment.heard_characters(played)] == heard


def test_of_audio_that_is_not_complete_only_the_words_it_contains_were_heard() -> None:
    alignment = Alignment(TEXT, TIMED[:2], 0.95, complete=False)
    assert TEXT[: alignment.heard_characters(0.95)] == "Hello there"


def test_words_of_a_sentence_with_a_start_only_are_heard_in_proportion() -> None:
    text = "one two three. four five six."
    timed = [TimedText("one two three.", 0.0), TimedText("four five six.", 1.5)]
    alignment = Alignment(text, timed, 3.0, complete=True)
    assert [text[: alignment.heard_characters(at)] for at in (0.75, 1.45, 2.5)] == [
        "one two",
        "one two three",
        "one two three. four five",
    ]


def test_without_times_characters_are_heard_in_proportion_or_at_the_assumed_rate() -> None:
    text = "aaaa bbbb cccc dddd"
    assert Alignment(text, [], 1.9, complete=True).heard_characters(1.0) == 9
    assert Alignment(text, [], 0.5, complete=False, rate=10).heard_characters(1.0) == 9


def test_words_that_are_not_in_the_text_and_times_that_go_back_are_skipped() -> None:
    timed = [TimedText("um", 0.0, 0.2), TimedText("one", 0.3, 0.6), TimedText("two", 0.5, 0.9)]
    alignment = Alignment("*One* two", timed, 1.0, complete=True)
    assert [(word.text, word.ends_at) for word in alignment.words] == [("One", 0.6), ("two", 0.9)]


def test_characters_of_scripts_without_spaces_count_as_words() -> None:
    alignment = Alignment("今日は晴れ", [], 1.0, complete=True)
    assert [word.text for word in alignment.words] == list("今日は晴れ")
    assert alignment.heard_characters(0.61) == 3


def spoken(
    ledger: SpeechLedger, text: str = TEXT, timed: list[TimedText] | None = None, seconds: float = 3.0
) -> Segment:
    ledger.add_text(text)
    ledger.end_text()
    segment = ledger.begin_audio()
    segment.add_times(TIMED if timed is None else timed)
    segment.timeline.add(0, seconds)
    return segment


def test_a_segment_that_is_played_completely_is_reported_in_stretches() -> None:
    ledger = SpeechLedger()
    segment = spoken(ledger, "Hello ", [], 0.3)
    assert ledger.next_mark() == 960
    assert ledger.reached(960, 10.02) == [Started(10.0), Progressed(10.0, 0.0, 0.02)]
    assert ledger.next_mark() == 10_560
    ledger.reached(10_560, 10.22)
    # What follows is not known before the audio has ended.
    assert ledger.next_mark() is None
    assert ledger.end_audio() is segment
    ledger.settle(segment)
    assert ledger.next_mark() == 14_400
    progress, finished = ledger.reached(14_400, 10.3)
    assert isinstance(progress, Progressed)
    assert progress.duration == pytest.approx(0.08)
    assert finished == Finished(0.3, False, "Hello ")
    assert ledger.next_mark() is None


def test_a_cleared_segment_ends_with_the_last_word_that_was_heard() -> None:
    ledger = SpeechLedger()
    spoken(ledger)
    ledger.reached(960, 5.0)
    # The session flushes and clears at once: the audio was not complete.
    ledger.end_audio()
    segments = ledger.begin_clear()
    assert ledger.begin_clear() == []
    progress, finished = ledger.stopped(segments, 60_000, 6.0)
    assert isinstance(progress, Progressed)
    assert finished == Finished(1.25, True, "Hello there, my")


def test_a_clear_that_found_nothing_uses_what_was_reported_before() -> None:
    ledger = SpeechLedger()
    spoken(ledger)
    ledger.reached(48_000, 5.0)
    ledger.end_audio()
    assert ledger.stopped(ledger.begin_clear(), None, 6.0) == [Finished(1.0, True, "Hello there")]


def test_a_clear_of_what_was_heard_completely_interrupts_nothing() -> None:
    ledger = SpeechLedger()
    segment = spoken(ledger)
    ledger.end_audio()
    ledger.settle(segment)
    reports = ledger.stopped(ledger.begin_clear(), 144_000, 6.0)
    assert reports[-1] == Finished(3.0, False, TEXT)


def test_a_segment_that_is_cleared_before_its_end_takes_no_more_audio_and_ends_with_its_flush() -> None:
    ledger = SpeechLedger()
    segment = spoken(ledger)
    assert [type(report) for report in ledger.stopped(ledger.begin_clear(), 48_000, 6.0)] == [Started, Progressed]
    assert not segment.takes_audio
    assert ledger.begin_audio() is segment
    ledger.end_audio()
    assert ledger.take_finished() == [Finished(1.0, True, "Hello there")]


def test_text_may_follow_its_audio() -> None:
    ledger = SpeechLedger()
    segment = ledger.begin_audio()
    assert ledger.add_text("Hello ") is segment
    assert ledger.add_text("there.") is segment


def test_text_without_audio_belongs_to_no_other_audio() -> None:
    ledger = SpeechLedger()
    silent = ledger.add_text("The synthesis fails.")
    assert ledger.end_audio() is None
    ledger.end_text()
    assert ledger.add_text("Next.") is not silent
    assert ledger.begin_audio().text == "Next."


def test_text_that_is_cleared_before_its_audio_belongs_to_no_other_audio() -> None:
    ledger = SpeechLedger()
    ledger.add_text("Never mind.")
    ledger.end_text()
    assert ledger.begin_clear() == []
    assert ledger.begin_audio().text == ""


def test_without_a_text_output_the_timed_words_are_the_text() -> None:
    ledger = SpeechLedger()
    segment = ledger.begin_audio()
    segment.add_times(TIMED)
    segment.timeline.add(0, 3.0)
    ledger.end_audio()
    assert ledger.stopped(ledger.begin_clear(), 48_000, 6.0)[-1] == Finished(1.0, True, "Hello there")


def test_speech_without_text_and_times_has_no_transcript() -> None:
    ledger = SpeechLedger()
    ledger.begin_audio().timeline.add(0, 1.0)
    ledger.end_audio()
    assert ledger.stopped(ledger.begin_clear(), 24_000, 6.0)[-1] == Finished(0.5, True, None)


def test_the_rate_of_speech_is_learned_from_what_was_played_completely() -> None:
    ledger = SpeechLedger()
    for _ in range(20):
        segment = spoken(ledger, "x" * 50, [], 10.0)
        ledger.end_audio()
        ledger.settle(segment)
        ledger.reached(480_000, 10.0)
    # Five characters per second: of a text whose audio is not complete, five words of one character are three seconds.
    spoken(ledger, "a b c d e f g h", [], 2.0)
    ledger.end_audio()
    assert ledger.stopped(ledger.begin_clear(), 96_000, 20.0)[-1] == Finished(2.0, True, "a b c d e")


def test_the_transcript_has_the_times_of_words_as_far_as_they_are_known() -> None:
    ledger = SpeechLedger()
    segment = spoken(ledger, timed=TIMED[:2], seconds=1.0)
    transcript = segment.transcript("TR_1")
    assert (transcript.text, transcript.track, transcript.final) == (TEXT, "TR_1", True)
    words = transcript.words or []
    assert [(word.text, word.start_ts, word.end_ts) for word in words[:2]] == [
        ("Hello", 0, 19_200),
        ("there", 24_000, 43_200),
    ]
    # The others follow at the assumed rate.
    assert words[-1].end_ts > 43_200 + 48_000
    assert spoken(SpeechLedger(), timed=[]).transcript("").words is None
    assert spoken(SpeechLedger(), "word " * 600).transcript("").words is None
