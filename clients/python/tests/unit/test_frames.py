"""The wire format of media."""

import pytest

from patchbay.connection.outbox import Outbox
from patchbay.limits import AHEAD_FRAMES_MAX, LIVE_FRAMES_MAX
from patchbay.protocol.frames import Frame, FrameFlags, frames_in, packet_ticks
from patchbay.protocol.media_time import advanced, epoch_distance, sequence_distance, ticks_between


def frame(number: int = 0, alias: int = 1, size: int = 3) -> Frame:
    return Frame(alias, number, number * 960, b"\xf8" + b"\xff" * (size - 1))


def test_a_frame_has_the_bytes_of_the_protocol_s_example() -> None:
    example = Frame(2, 7, 48_000, bytes.fromhex("f8fffe"), FrameFlags.START, 30, True, 0)
    encoded = bytes.fromhex("41 80 00 02 00 07 9e 00 00 00 bb 80 f8 ff fe")
    assert example.encode() == encoded
    assert Frame.parse(encoded) == example
    assert list(frames_in(encoded)) == [example]


@pytest.mark.parametrize(
    "message",
    [b"", b"\x41" * 12, b"\x81" + b"\x00" * 20, b"\x41" * 1_501, b"\x42", b"\x42\x00", b"\x42\x01\x00\x05\x41"],
)
def test_what_is_no_frame_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|bundle"):
        list(frames_in(message))


@pytest.mark.parametrize(
    ("packet", "ticks"),
    [("f8fffe", 960), ("08", 960), ("00", 480), ("18", 2_880), ("80", 120), ("f9", 1_920), ("fb06", 5_760)],
)
def test_the_duration_of_a_packet_is_in_its_first_bytes(packet: str, ticks: int) -> None:
    assert packet_ticks(bytes.fromhex(packet)) == ticks


@pytest.mark.parametrize("packet", ["", "fb", "fb00", "fb07"])
def test_packets_without_a_valid_duration_are_refused(packet: str) -> None:
    with pytest.raises(ValueError, match="packet"):
        packet_ticks(bytes.fromhex(packet))


def test_clocks_and_numbers_wrap() -> None:
    assert advanced(0xFFFF_FFFF, 2) == 1
    assert ticks_between(0xFFFF_FFFF, 1) == 2
    assert ticks_between(1, 0xFFFF_FFFF) == -2
    assert sequence_distance(0xFFFF, 0) == 1
    assert epoch_distance(255, 0) == 1
    assert epoch_distance(0, 255) == -1


def test_control_messages_leave_before_live_frames_and_those_before_ahead_frames() -> None:
    outbox = Outbox()
    outbox.add_frame(frame(1), ahead=True)
    outbox.add_frame(frame(2), ahead=False)
    outbox.add_control("{}")
    assert outbox.pop() == "{}"
    assert outbox.pop() == frame(2).encode()
    assert outbox.pop() == frame(1).encode()
    assert outbox.pop() is None


def test_ahead_frames_leave_in_bundles_that_keep_their_limits() -> None:
    outbox = Outbox()
    sent = [frame(number, size=1_000) for number in range(120)]
    for item in sent:
        outbox.add_frame(item, ahead=True)
    received: list[Frame] = []
    while (message := outbox.pop()) is not None:
        assert isinstance(message, bytes)
        assert len(message) <= 16_384
        received += frames_in(message)
    assert received == sent


def test_a_full_queue_of_live_frames_drops_its_oldest() -> None:
    outbox = Outbox()
    for number in range(LIVE_FRAMES_MAX + 2):
        outbox.add_frame(frame(number), ahead=False)
    assert outbox.frames_dropped == 2
    assert outbox.pop() == frame(2).encode()


def test_ahead_frames_have_room_until_a_minute_waits() -> None:
    outbox = Outbox()
    for number in range(AHEAD_FRAMES_MAX):
        assert outbox.has_room
        outbox.add_frame(frame(number), ahead=True)
    assert not outbox.has_room
    assert outbox.drop_ahead(1) == AHEAD_FRAMES_MAX
    assert outbox.has_room


def test_a_lost_connection_drops_what_is_worthless_on_another_one() -> None:
    outbox = Outbox()
    outbox.add_control("{}")
    outbox.add_frame(frame(1), ahead=False)
    outbox.add_frame(frame(2), ahead=True)
    outbox.connection_lost()
    assert outbox.pop() == frame(2).encode()
    assert outbox.pop() is None
