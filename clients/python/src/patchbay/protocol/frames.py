"""Frames and bundles: Opus packets with their 12-byte header (docs/protocol/media.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag

from ..limits import BUNDLE_BYTES_MAX, FRAME_BYTES_MAX

_HEADER = struct.Struct(">BBHHBBI")
_FRAME, _BUNDLE = 0x41, 0x42
HEADER_BYTES = _HEADER.size
SILENCE_LEVEL = 127

# Samples at 48 kHz by the configuration number of an Opus packet (RFC 6716 section 3.1).
_SILK = (480, 960, 1_920, 2_880)
_HYBRID = (480, 960)
_CELT = (120, 240, 480, 960)


class FrameFlags(IntFlag):
    """Flags in a frame's header."""

    START = 0x80
    END = 0x40
    DTX = 0x20
    FEC = 0x10
    DISCONTINUITY = 0x08


NO_FLAGS = FrameFlags(0)


@dataclass(frozen=True, slots=True)
class Frame:
    """One Opus packet of a track with its header."""

    alias: int
    sequence: int
    timestamp: int
    packet: bytes
    flags: FrameFlags = NO_FLAGS
    level: int = 30
    voice: bool = True
    epoch: int = 0

    def encode(self) -> bytes:
        """The frame as a binary message."""
        level = self.level | (0x80 if self.voice else 0)
        header = _HEADER.pack(_FRAME, self.flags, self.alias, self.sequence, level, self.epoch, self.timestamp)
        return header + self.packet

    @classmethod
    def parse(cls, message: bytes) -> Frame:
        """Parses one frame.

        Raises:
            ValueError: the bytes are no frame of version 1.
        """
        if not HEADER_BYTES < len(message) <= FRAME_BYTES_MAX:
            raise ValueError(f"a frame has {len(message)} bytes")
        kind, flags, alias, sequence, level, epoch, timestamp = _HEADER.unpack_from(message)
        if kind != _FRAME:
            raise ValueError(f"a frame begins with {kind:#x}")
        return cls(
            alias,
            sequence,
            timestamp,
            message[HEADER_BYTES:],
            FrameFlags(flags),
            level & 0x7F,
            level >= 0x80,
            epoch,
        )


def frames_in(message: bytes) -> Iterator[Frame]:
    """The frames of a binary message, which is one frame or a bundle.

    Raises:
        ValueError: the message is neither, or a length in it is wrong.
    """
    if not message or message[0] != _BUNDLE:
        yield Frame.parse(message)
        return
    if len(message) > BUNDLE_BYTES_MAX or len(message) < 2 or message[1] == 0:
        raise ValueError("a bundle is empty or too long")
    offset = 2
    for _ in range(message[1]):
        if offset + 2 > len(message):
            raise ValueError("a bundle is too short")
        (length,) = struct.unpack_from(">H", message, offset)
        offset += 2 + length
        if offset > len(message):
            raise ValueError("a bundle is too short")
        yield Frame.parse(message[offset - length : offset])
    if offset != len(message):
        raise ValueError("a bundle is longer than its frames")


def packet_ticks(packet: bytes) -> int:
    """The duration of an Opus packet in 48 kHz ticks (RFC 6716 section 3).

    Raises:
        ValueError: the bytes are no Opus packet, or it is longer than 120 ms.
    """
    if not packet:
        raise ValueError("an Opus packet is empty")
    configuration = packet[0] >> 3
    if configuration < 12:
        samples = _SILK[configuration % 4]
    elif configuration < 16:
        samples = _HYBRID[configuration % 2]
    else:
        samples = _CELT[configuration % 4]
    match packet[0] & 3:
        case 0:
            count = 1
        case 1 | 2:
            count = 2
        case _:
            if len(packet) < 2:
                raise ValueError("an Opus packet has no frame count")
            count = packet[1] & 0x3F
    if not 0 < samples * count <= 5_760:
        raise ValueError("an Opus packet is empty or longer than 120 ms")
    return samples * count
