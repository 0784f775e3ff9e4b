"""Numbering, pacing and liveness, with time as an argument."""

import pytest

from patchbay.connection.disconnection import Disconnection, DisconnectReason
from patchbay.connection.liveness import Heartbeat, Verdict, reconnect_delay
from patchbay.protocol.numbering import TrackNumbering
from patchbay.protocol.pacing import Pacer


def test_live_audio_follows_the_clock_across_pauses() -> None:
    numbering = TrackNumbering(0xFFFF, 1_000)
    first = numbering.stamp(960, 0.0)
    assert (first.timestamp, first.starts_talkspurt) == (1_000, True)
    following = numbering.stamp(960, 0.05)
    assert (following.timestamp, following.starts_talkspurt) == (1_960, False)
    after = numbering.stamp(960, 0.57)
    assert (after.timestamp, after.starts_talkspurt) == (2_920 + 24_000, True)
    assert [numbering.next_sequence() for _ in range(3)] == [0xFFFF, 0, 1]


def test_audio_faster_than_real_time_causes_no_pause() -> None:
    numbering = TrackNumbering(0, 0)
    for _ in range(50):
        numbering.stamp(960, 0.0)
    assert numbering.stamp(960, 1.1).starts_talkspurt is False


def test_contiguous_audio_has_no_pauses_within_a_segment() -> None:
    numbering = TrackNumbering(0, 0, contiguous=True)
    numbering.stamp(960, 0.0)
    assert numbering.stamp(960, 0.7).timestamp == 960
    numbering.end_segment()
    assert numbering.stamp(960, 1.22).timestamp == 1_920 + 24_000
    # Audio that stops for a second has ended, even if nobody said so.
    assert numbering.stamp(960, 2.24).starts_talkspurt


def test_a_clear_starts_a_talkspurt_without_a_pause() -> None:
    numbering = TrackNumbering(0, 0, contiguous=True)
    numbering.stamp(960, 0.0)
    numbering.clear()
    after = numbering.stamp(960, 5.0)
    assert (after.timestamp, after.starts_talkspurt) == (960, True)


def test_a_pacer_keeps_its_lead_and_catches_up_without_a_burst() -> None:
    pacer = Pacer(0.04)
    assert pacer.due(10.0) == 10.0
    for _ in range(3):
        pacer.sent(0.02, 10.0)
    assert pacer.due(10.0) == pytest.approx(10.02)
    assert pacer.remaining(10.01) == pytest.approx(0.05)
    # Nothing was sent for a second: what follows does not make up for it.
    pacer.sent(0.02, 11.0)
    assert pacer.due(11.0) == 11.0
    pacer.sent(0.04, 11.0)
    assert pacer.due(11.0) == pytest.approx(11.02)
    pacer.reset()
    assert (pacer.due(11.0), pacer.remaining(11.0)) == (11.0, 0.0)


def test_a_heartbeat_pings_and_finds_a_dead_connection() -> None:
    heartbeat = Heartbeat(5, 15, 0.0)
    assert heartbeat.verdict(0.0) is Verdict.PING
    assert heartbeat.deadline == 4.0
    assert heartbeat.verdict(3.9) is Verdict.NOTHING
    heartbeat.did_receive(3.9)
    assert heartbeat.verdict(5.0) is Verdict.PING
    assert heartbeat.verdict(9.0) is Verdict.DEAD


def test_a_program_that_stood_still_does_not_blame_the_gateway() -> None:
    heartbeat = Heartbeat(5, 15, 0.0)
    assert heartbeat.verdict(0.0) is Verdict.PING
    assert heartbeat.verdict(60.0) is Verdict.PING
    assert heartbeat.verdict(64.0) is Verdict.DEAD


def test_reconnects_follow_the_schedule_of_livekit_s_clients() -> None:
    delays = [reconnect_delay(attempt, 0.0) for attempt in range(1, 12)]
    assert delays[:6] == [0.0, 0.3, pytest.approx(1.2), pytest.approx(2.7), pytest.approx(4.8), 7.0]
    assert delays[-1] is None
    assert reconnect_delay(3, 0.5) == pytest.approx(1.7)


@pytest.mark.parametrize(
    ("code", "reason", "retryable"),
    [
        (None, DisconnectReason.SIGNAL_CLOSE, True),
        (1006, DisconnectReason.SIGNAL_CLOSE, True),
        (1001, DisconnectReason.SIGNAL_CLOSE, True),
        (1009, DisconnectReason.STATE_MISMATCH, False),
        (4001, DisconnectReason.SERVER_SHUTDOWN, True),
        (4003, DisconnectReason.CONNECTION_TIMEOUT, True),
        (4102, DisconnectReason.ROOM_CLOSED, False),
        (4104, DisconnectReason.DUPLICATE_IDENTITY, False),
        (4099, DisconnectReason.SIGNAL_CLOSE, True),
    ],
)
def test_close_codes_say_whether_to_come_back(code: int | None, reason: DisconnectReason, retryable: bool) -> None:
    ended = Disconnection.closed(code)
    assert (ended.reason, ended.retryable) == (reason, retryable)
