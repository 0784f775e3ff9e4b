"""Sources and streams without sockets: queues, encoding, decoding, playout."""

import math

import numpy as np
import pytest

from patchbay import AudioFrame, AudioResampler, combine_audio_frames
from patchbay.audio.codec.talkspurt import TalkspurtDetector
from patchbay.audio.decoding import TrackDecoder
from patchbay.audio.inbox import FrameInbox, ReceivedFrame, TrackFrames
from patchbay.audio.playout import AheadPlayout
from patchbay.audio.source_queue import HOLD_BACK_SECONDS, SourceQueue
from patchbay.audio.speech_encoder import EncodedFrame, SpeechEncoder
from patchbay.errors import AudioFormatError
from patchbay.protocol.frames import Frame, FrameFlags
from patchbay.protocol.numbering import TrackNumbering
from patchbay.protocol.pacing import Pacer
from tests.helpers import tone

SILENCE = bytes.fromhex("f8fffe")


def encoded(number: int = 0) -> EncodedFrame:
    return EncodedFrame(SILENCE, number * 960, 960, 30, True, FrameFlags(0))


def received(number: int, at: float = 0.0, *, timestamp: int | None = None, epoch: int = 0) -> ReceivedFrame:
    position = number * 960 if timestamp is None else timestamp
    return ReceivedFrame(Frame(1, number, position, SILENCE, epoch=epoch), at)


# Sources.


def test_the_last_frame_of_ahead_speech_waits_to_be_marked_as_the_end() -> None:
    queue = SourceQueue(1.0, Pacer(30.0), holds_back=True)
    queue.push(encoded(0), 0.0)
    queue.push(encoded(1), 0.0)
    assert queue.due(0.0) == 0.0
    queue.pop(0.0)
    assert queue.due(0.0) == HOLD_BACK_SECONDS
    queue.flush()
    assert queue.due(0.0) == 0.0
    assert FrameFlags.END in queue.pop(0.0).flags


def test_a_queue_is_full_at_its_capacity_and_empty_after_a_clear() -> None:
    queue = SourceQueue(0.1, Pacer(0.04), holds_back=False)
    for number in range(5):
        assert queue.has_room
        queue.push(encoded(number), 0.0)
    assert not queue.has_room
    assert queue.unplayed(0.0) == pytest.approx(0.1)
    queue.pop(0.0)
    assert queue.unplayed(0.0) == pytest.approx(0.1)
    assert queue.clear() == pytest.approx(0.08)
    assert (len(queue), queue.unplayed(0.0), queue.due(0.0)) == (0, 0.0, None)


def test_unbuffered_audio_leaves_at_once_however_late_it_comes() -> None:
    queue = SourceQueue(0.0, Pacer(math.inf), holds_back=False)
    for number in range(20):
        assert queue.has_room
        queue.push(encoded(number), 0.0)
        assert queue.due(0.0) == 0.0
        queue.pop(0.0)
    assert queue.unplayed(0.1) == pytest.approx(0.3)


@pytest.mark.parametrize(("piece", "count"), [(160, 60), (480, 20), (960, 10), (1_000, 10), (7, 1_371)])
def test_pieces_of_any_length_become_whole_frames(piece: int, count: int) -> None:
    encoder = SpeechEncoder(48_000, 1, TrackNumbering(0, 0))
    frames = [frame for _ in range(count) for frame in encoder.push(AudioFrame.create(48_000, 1, piece), 0.0)]
    frames += encoder.flush(0.0)
    assert [frame.timestamp for frame in frames] == [960 * number for number in range(-(-piece * count // 960))]
    assert encoder.flush(0.0) == []


def test_positions_count_the_samples_of_an_incomplete_frame() -> None:
    encoder = SpeechEncoder(16_000, 1, TrackNumbering(0, 1_000))
    encoder.push(AudioFrame.create(16_000, 1, 330), 0.0)
    assert encoder.position == 1_000 + 960 + 30


def test_live_speech_marks_where_it_starts_and_ends() -> None:
    encoder = SpeechEncoder(48_000, 1, TrackNumbering(0, 0))
    pause = AudioFrame.create(48_000, 1, 24_000)
    frames = [frame for piece in (pause, tone(0.5), pause) for frame in encoder.push(piece, 0.0)]
    starts = [index for index, frame in enumerate(frames) if frame.flags & FrameFlags.START]
    ends = [index for index, frame in enumerate(frames) if frame.flags & FrameFlags.END]
    assert starts == [0, 25]
    assert ends == [59]
    assert frames[0].level == 127
    assert 12 <= frames[30].level <= 18


def test_steady_noise_stops_counting_as_speech() -> None:
    detector = TalkspurtDetector()
    noise = np.random.default_rng(1).normal(0, 200, 960).astype(np.int16)
    voices = [detector.classify(noise, 0.02).voice for _ in range(1_000)]
    assert voices[0]
    assert not voices[-1]


# Formats.


def test_resampled_audio_keeps_its_length_and_pitch() -> None:
    resampler = AudioResampler(44_100, 48_000)
    pieces = [frame for _ in range(10) for frame in resampler.push(tone(0.1, 44_100))] + resampler.flush()
    whole = combine_audio_frames(pieces)
    assert whole.samples_per_channel == pytest.approx(48_000, abs=48)
    with pytest.raises(AudioFormatError, match="takes 44100 Hz"):
        resampler.push(tone(0.1))
    with pytest.raises(AudioFormatError, match="differ"):
        combine_audio_frames([tone(0.1), tone(0.1, 16_000)])


# Streams.


def test_lost_frames_are_concealed_and_pauses_are_not() -> None:
    decoder = TrackDecoder(16_000, 1)
    assert sum(piece.samples_per_channel for piece in decoder.decode(received(0).frame)) == 320
    # Two frames of 20 ms are missing.
    assert sum(piece.samples_per_channel for piece in decoder.decode(received(3).frame)) == 3 * 320
    # A pause of a second.
    paused = received(4, timestamp=4 * 960 + 48_000).frame
    assert sum(piece.samples_per_channel for piece in decoder.decode(paused)) == 320
    assert decoder.concealed == 1_920


def test_repetitions_and_older_epochs_are_dropped() -> None:
    decoder = TrackDecoder(48_000, 1)
    assert decoder.decode(received(5).frame)
    assert decoder.decode(received(5).frame) == []
    assert decoder.decode(received(4).frame) == []
    assert decoder.decode(received(9, epoch=1).frame)
    assert decoder.decode(received(6).frame) == []
    assert decoder.concealed == 0


def test_damaged_packets_are_counted_and_skipped() -> None:
    decoder = TrackDecoder(48_000, 1)
    assert decoder.decode(Frame(1, 0, 0, b"\xfb")) == []
    assert decoder.damaged == 1
    assert decoder.decode(received(1).frame)


def test_a_slow_reader_loses_the_oldest_frames() -> None:
    frames, inbox = TrackFrames(), FrameInbox(capacity=3)
    frames.add(inbox)
    for number in range(5):
        frames.receive(received(number).frame, 0.0)
    assert inbox.dropped == 2
    first = inbox.take()
    assert first is not None
    assert first.frame.sequence == 2


def test_frames_wait_two_seconds_for_their_first_reader() -> None:
    frames, early = TrackFrames(), FrameInbox()
    for number in range(3):
        frames.receive(received(number).frame, 0.0)
    frames.add(early)
    assert early.take() is not None
    abandoned, late = TrackFrames(), FrameInbox()
    for number in range(150):
        abandoned.receive(received(number).frame, 0.0)
    abandoned.add(late)
    assert late.take() is None
    assert abandoned.statistics.unread == 150


def test_gaps_between_epochs_are_clears_and_not_losses() -> None:
    frames = TrackFrames()
    for item in (received(0), received(2), received(10, epoch=1)):
        frames.receive(item.frame, 0.0)
    assert (frames.statistics.lost, frames.statistics.cleared) == (1, 7)


# Playout of ahead tracks.


def test_ahead_frames_play_one_after_the_other() -> None:
    playout = AheadPlayout()
    for number in range(3):
        playout.insert(received(number, 1.0))
    assert playout.due(1.0) == 1.0
    playout.take(1.0)
    assert playout.due(1.0) == pytest.approx(1.02)
    # A reader that is a little late does not shift what follows.
    playout.take(1.03)
    assert playout.due(1.03) == pytest.approx(1.04)


def test_a_pause_in_timestamps_is_silence_but_no_longer_than_the_lead() -> None:
    playout = AheadPlayout()
    playout.insert(received(0, 1.0))
    playout.take(1.0)
    playout.insert(received(1, 1.01, timestamp=960 + 4_800))
    assert playout.due(1.01) == pytest.approx(1.12)
    playout.take(1.12)
    playout.insert(received(2, 1.13, timestamp=960 + 480_000))
    assert playout.due(1.13) == pytest.approx(1.43)


def test_an_empty_playout_plays_the_next_frame_at_once() -> None:
    playout = AheadPlayout()
    playout.insert(received(0, 1.0))
    playout.take(1.0)
    playout.insert(received(1, 5.0))
    assert playout.due(5.0) == 5.0


def test_reports_come_every_200_ms_at_the_end_and_at_once_after_a_clear() -> None:
    playout = AheadPlayout()
    for number in range(20):
        playout.insert(received(number, 0.0))
    reports: list[tuple[float, int | None]] = []
    now = 0.0
    while (due := playout.due(now)) is not None:
        now = due
        playout.take(now)
        if (report := playout.report(now)) is not None:
            reports.append((round(now, 2), report.played_ts))
    assert reports == [(0.0, 0), (0.2, 9_600)]
    assert playout.dry_at == pytest.approx(0.4)
    last = playout.report(0.4)
    assert last is not None
    assert (last.played_ts, last.buffered_ms) == (20 * 960, 0)
    assert playout.dry_at is None
    playout.insert(received(20, 0.5))
    playout.take(0.5)
    playout.report(0.5)
    playout.clear(1)
    cleared = playout.report(0.51)
    assert cleared is not None
    assert (cleared.epoch, cleared.played_ts) == (1, None)
    assert not playout.insert(received(21, 0.52))


def test_a_sound_card_s_buffer_has_not_been_heard_yet() -> None:
    playout = AheadPlayout()
    playout.output_delay = 0.1
    playout.insert(received(0, 0.0))
    playout.take(0.0)
    report = playout.report(0.02)
    assert report is not None
    assert report.played_ts == (960 - 4_800) & 0xFFFF_FFFF
    assert report.buffered_ms == 100
