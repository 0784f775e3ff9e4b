"""Messages between participants: data, text and DTMF."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .participant import RemoteParticipant


class DataPacketKind(IntEnum):
    """LiveKit's kinds of data. Over WebSocket all data is reliable."""

    KIND_LOSSY = 0
    KIND_RELIABLE = 1


@dataclass(frozen=True, slots=True)
class DataPacket:
    """Data of a participant; `participant` is None if it is hidden."""

    data: bytes
    kind: DataPacketKind
    participant: RemoteParticipant | None
    topic: str | None = None

    @property
    def text(self) -> str:
        """The data as UTF-8, with replacements for what is none."""
        return self.data.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class TextMessage:
    """Text of a participant, such as a line of chat."""

    id: str
    text: str
    topic: str
    participant_identity: str


@dataclass(frozen=True, slots=True)
class SipDTMF:
    """A key that a participant pressed.

    Attributes:
        code: RFC 4733's number of the key, 0 to 15; -1 for a pause.
        digit: `0` to `9`, `*`, `#`, `A` to `D`, or `w` for a pause.
    """

    code: int
    digit: str
    participant: RemoteParticipant | None


DTMF_DIGITS = "0123456789*#ABCD"


def dtmf_code(digit: str) -> int:
    """RFC 4733's number of a key; -1 for a pause."""
    return DTMF_DIGITS.find(digit)


def payload_fields(payload: bytes | str) -> dict[str, str]:
    """The payload of `data.send`: text as it is, other bytes in base64."""
    if isinstance(payload, str):
        return {"payload": payload}
    return {"payload_base64": base64.b64encode(payload).decode()}


def payload_bytes(data: dict[str, Any]) -> bytes:
    """The payload of the event `data`; empty if it is damaged."""
    if (text := data.get("payload")) is not None:
        return str(text).encode(errors="replace")
    try:
        return base64.b64decode(str(data.get("payload_base64") or ""))
    except ValueError:
        return b""
