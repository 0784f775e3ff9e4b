"""What is said and sent in a room, as its events describe it. Reads no clock and no socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..protocol.models import RoomInfo, integer, mapping, number, text
from ..protocol.transcript import TranscriptSegment
from . import events
from .data import DataPacket, DataPacketKind, SipDTMF, TextMessage, dtmf_code, payload_bytes
from .track import RemoteTrackPublication

if TYPE_CHECKING:
    from .room_state import RoomState

JSON = dict[str, Any]


class RoomFeed:
    """Speech, playout, messages, and what concerns the room as a whole."""

    def __init__(self, room: RoomState) -> None:
        self._room = room
        self.handlers: dict[str, Callable[[JSON], Iterable[events.RoomEvent]]] = {
            "talk.started": self._talk_started,
            "talk.stopped": self._talk_stopped,
            "speakers.changed": self._speakers,
            "silence": self._silence,
            "playout.started": self._playout_started,
            "playout.finished": self._playout_finished,
            "playout.cleared": self._playout_cleared,
            "playout.backlog": self._playout_backlog,
            "data": self._data,
            "text": self._text,
            "dtmf": self._dtmf,
            "transcript.segment": self._segment,
            "room.updated": self._room_updated,
            "recording.started": lambda _: self._recording(True),
            "recording.stopped": lambda _: self._recording(False),
            "server.draining": lambda data: [events.ServerDraining(integer(data, "deadline", 0))],
        }

    # Speech and playout.

    def _talk_started(self, data: JSON) -> Iterable[events.RoomEvent]:
        if (participant := self._room.participant(data.get("participant"))) is not None:
            participant.speaking = True
            yield events.TalkStarted(participant, text(data, "track"), integer(data, "ts", 0))

    def _talk_stopped(self, data: JSON) -> Iterable[events.RoomEvent]:
        if (participant := self._room.participant(data.get("participant"))) is not None:
            participant.speaking = False
            reason = text(data, "reason", "")
            yield events.TalkStopped(participant, text(data, "track"), integer(data, "ts", 0), reason)

    def _speakers(self, data: JSON) -> Iterable[events.RoomEvent]:
        for change in data.get("speakers") or []:
            if (participant := self._room.participant(change.get("participant"))) is not None:
                participant.audio_level = number(change, "level") if change.get("active") else 0.0
        everyone = [self._room.local, *self._room.remote.values()]
        self._room.active_speakers = sorted(
            (participant for participant in everyone if participant.audio_level > 0),
            key=lambda participant: -participant.audio_level,
        )
        yield events.ActiveSpeakersChanged(self._room.active_speakers)

    def _silence(self, data: JSON) -> Iterable[events.RoomEvent]:
        if (participant := self._room.participant(data.get("participant"))) is not None:
            yield events.ParticipantSilent(participant, integer(data, "silent_ms", 0))

    def _playout_started(self, data: JSON) -> Iterable[events.RoomEvent]:
        participant = self._room.participant(data.get("participant"))
        yield events.PlayoutStarted(participant, text(data, "track"), integer(data, "ts", 0))

    def _playout_finished(self, data: JSON) -> Iterable[events.RoomEvent]:
        yield events.PlayoutFinished(
            self._room.participant(data.get("participant")),
            text(data, "track"),
            data.get("played_ts"),
            number(data, "played_ms"),
            bool(data.get("estimated")),
        )

    def _playout_cleared(self, data: JSON) -> Iterable[events.RoomEvent]:
        sid, epoch = text(data, "track"), integer(data, "epoch")
        publication = self._room.publication(sid)
        if publication is not None:
            publication.info.epoch = epoch
            if isinstance(publication, RemoteTrackPublication):
                publication.track.frames.clear(epoch)
        yield events.PlayoutCleared(
            sid,
            text(data, "by", ""),
            number(data, "played_ms"),
            number(data, "discarded_ms"),
            text(data, "reason", ""),
            data.get("played_ts"),
        )

    def _playout_backlog(self, data: JSON) -> Iterable[events.RoomEvent]:
        yield events.PlayoutBacklog(text(data, "track"), text(data, "state"), integer(data, "queued_ms", 0))

    # Messages.

    def _segment(self, data: JSON) -> Iterable[events.RoomEvent]:
        segment = TranscriptSegment.parse(data)
        if self._room.transcript.apply(segment):
            participant = self._room.participant(segment.participant)
            yield events.TranscriptionReceived([segment], participant, self._room.publication(segment.track))

    def _data(self, data: JSON) -> Iterable[events.RoomEvent]:
        sender = self._room.remote.get(text(data, "participant", ""))
        topic = text(data, "topic", "") or None
        yield events.DataReceived(DataPacket(payload_bytes(data), DataPacketKind.KIND_RELIABLE, sender, topic))

    def _text(self, data: JSON) -> Iterable[events.RoomEvent]:
        message = TextMessage(
            text(data, "id", ""), text(data, "text"), text(data, "topic", ""), text(data, "participant", "")
        )
        yield events.TextReceived(message)

    def _dtmf(self, data: JSON) -> Iterable[events.RoomEvent]:
        sender = self._room.remote.get(text(data, "participant", ""))
        for digit in text(data, "digits"):
            yield events.SipDtmfReceived(SipDTMF(dtmf_code(digit), digit, sender))

    # The room.

    def _room_updated(self, data: JSON) -> Iterable[events.RoomEvent]:
        before = self._room.info.metadata if self._room.info else ""
        self._room.info = RoomInfo.parse(mapping(data, "room"))
        yield events.RoomMetadataChanged(before, self._room.info.metadata)

    def _recording(self, active: bool) -> Iterable[events.RoomEvent]:
        self._room.recording = active
        yield events.RecordingChanged(active)
