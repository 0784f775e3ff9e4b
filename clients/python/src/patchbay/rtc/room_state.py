"""The state of a room as its events describe it. Reads no clock and no socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..connection.disconnection import DisconnectReason
from ..protocol.models import Hello, ParticipantInfo, RoomInfo, TrackInfo, mapping, text
from ..protocol.transcript import Transcript
from . import events
from .participant import Participant, RemoteParticipant
from .room_feed import RoomFeed
from .track import RemoteTrackPublication, SubscriptionControl, TrackPublication

JSON = dict[str, Any]


class RoomState:
    """Participants, tracks, transcript and speakers.

    Args:
        local: this client's participant.
        control: what remote publications ask of the room.
        auto_subscribe: whether tracks count as subscribed when they are published.
    """

    def __init__(self, local: Participant, control: SubscriptionControl, *, auto_subscribe: bool) -> None:
        self.local = local
        self.info: RoomInfo | None = None
        self.remote: dict[str, RemoteParticipant] = {}
        self.transcript = Transcript()
        self.recording = False
        self.waiting_agents: dict[str, str] = {}
        self.active_speakers: list[Participant] = []
        self._control = control
        self._auto_subscribe = auto_subscribe
        self._by_alias: dict[int, RemoteTrackPublication] = {}
        self._feed = RoomFeed(self)
        self._handlers: dict[str, Callable[[JSON], Iterable[events.RoomEvent]]] = {
            "participant.joined": self._joined,
            "participant.updated": self._updated,
            "participant.left": self._left,
            "agent.joined": lambda _: (),
            "agent.lost": lambda _: (),
            "agent.state": self._agent_state,
            "agent.waiting": self._agent_waiting,
            "track.published": self._published,
            "track.unpublished": self._unpublished,
            "track.muted": lambda data: self._muted(data, True),
            "track.unmuted": lambda data: self._muted(data, False),
            "call.held": lambda data: self._held(data, True),
            "call.resumed": lambda data: self._held(data, False),
            "call.muted": lambda data: self._call_muted(data, True),
            "call.unmuted": lambda data: self._call_muted(data, False),
            "quality.changed": self._quality,
        }

    def apply(self, kind: str, data: JSON) -> list[events.RoomEvent]:
        """Applies an event of the gateway and returns what it means to the program.

        Raises:
            ProtocolError: the event lacks required fields.
        """
        handler = self._handlers.get(kind) or self._feed.handlers.get(kind)
        return [events.UnknownEvent(kind, data)] if handler is None else list(handler(data))

    def join(self, hello: Hello) -> list[events.RoomEvent]:
        """Takes over a state that `hello` and the events after it describe completely, and returns what has changed.

        That is the state of a join, the first or a later one, and of a resume with a snapshot.
        """
        first, before, self.remote = self.info is None, self.remote, {}
        found = [] if first else list(self._forget_status(before.values()))
        tracks = {publication.sid: publication for publication in self._by_alias.values()}
        sids = {track.sid for info in hello.participants for track in info.tracks or []}
        present = {info.sid for info in hello.participants}
        for participant in before.values():
            for publication in list(participant.track_publications.values()):
                if publication.sid not in sids:
                    found += self._remove_track(participant, publication)
            if participant.sid not in present:
                found.append(self._gone(participant))
        self._by_alias = {}
        if self.info is not None and self.info.metadata != hello.room.metadata:
            found.append(events.RoomMetadataChanged(self.info.metadata, hello.room.metadata))
        self.info = hello.room
        changes = list(self._describe(self.local, hello.participant))
        found += [] if first else changes
        for info in hello.participants:
            known = before.get(info.identity)
            if known is not None and known.sid == info.sid:
                participant = known
                found += self._describe(participant, info)
                state = info.attributes.get("lk.agent.state")
                if state is not None and state != participant.agent_state:
                    participant.agent_state = state
                    found.append(events.AgentStateChanged(participant, state))
                participant.track_publications = {}
            else:
                participant = RemoteParticipant(info)
                if not first:
                    found.append(events.ParticipantConnected(participant))
            self.remote[info.identity] = participant
            for track in info.tracks or []:
                found += self._add_track(participant, track, tracks.get(track.sid))
        return found

    def end(self) -> None:
        """The connection has ended: no more audio arrives."""
        for publication in self._by_alias.values():
            publication.track.frames.end()

    # Look-ups.

    def track(self, alias: int) -> RemoteTrackPublication | None:
        """The remote track with this alias."""
        return self._by_alias.get(alias)

    def publication(self, sid: object) -> TrackPublication | None:
        """The track with this sid, remote or local."""
        for participant in (self.local, *self.remote.values()):
            for publication in participant.publications:
                if publication.sid == sid:
                    return publication
        return None

    def participant(self, identity: object) -> Participant | None:
        """The participant with this identity, remote or local."""
        if identity == self.local.identity:
            return self.local
        return self.remote.get(str(identity))

    # Participants.

    def _joined(self, data: JSON) -> Iterable[events.RoomEvent]:
        info = ParticipantInfo.parse(data)
        known = self.remote.get(info.identity)
        if known is not None and known.sid == info.sid:
            return
        participant = RemoteParticipant(info)
        self.remote[info.identity] = participant
        self.waiting_agents.pop(info.identity, None)
        yield events.ParticipantConnected(participant)
        for track in info.tracks or []:
            yield from self._add_track(participant, track)

    def _updated(self, data: JSON) -> Iterable[events.RoomEvent]:
        info = ParticipantInfo.parse(data)
        participant = self.participant(info.identity)
        if participant is None:
            return
        yield from self._describe(participant, info)
        if isinstance(participant, RemoteParticipant) and (state := data.get("connection")) is not None:
            connected = state != "reconnecting"
            if connected != participant.connected:
                participant.connected = connected
                yield events.ParticipantConnectionChanged(participant, connected)

    def _describe(self, participant: Participant, info: ParticipantInfo) -> Iterable[events.RoomEvent]:
        name, metadata, attributes = participant.name, participant.metadata, participant.attributes
        participant.update(info)
        if name != info.name:
            yield events.ParticipantNameChanged(participant, name, info.name)
        if metadata != info.metadata:
            yield events.ParticipantMetadataChanged(participant, metadata, info.metadata)
        changed = {key: value for key, value in info.attributes.items() if attributes.get(key) != value}
        changed |= {key: "" for key in attributes if key not in info.attributes}
        if changed:
            yield events.ParticipantAttributesChanged(changed, participant)

    def _forget_status(self, remote: Iterable[RemoteParticipant]) -> Iterable[events.RoomEvent]:
        """Returns to what is usual: the events that follow name only what is not."""
        for participant in (self.local, *remote):
            if isinstance(participant, RemoteParticipant) and not participant.connected:
                participant.connected = True
                yield events.ParticipantConnectionChanged(participant, True)
            if participant.held:
                participant.held = False
                yield events.HoldChanged(participant, False)
            if participant.call_muted:
                participant.call_muted = False
                yield events.CallMuteChanged(participant, False)
            if participant.connection_quality != "excellent":
                participant.connection_quality = "excellent"
                yield events.ConnectionQualityChanged(participant, "excellent")
            participant.speaking = False
            participant.audio_level = 0.0
        if self.active_speakers:
            self.active_speakers = []
            yield events.ActiveSpeakersChanged([])
        if self.recording:
            self.recording = False
            yield events.RecordingChanged(False)
        self.waiting_agents = {}

    def _left(self, data: JSON) -> Iterable[events.RoomEvent]:
        participant = self.remote.pop(text(data, "participant"), None)
        if participant is None:
            return
        participant.disconnect_reason = DisconnectReason.parse(data.get("reason"))
        for publication in list(participant.track_publications.values()):
            yield from self._remove_track(participant, publication)
        yield events.ParticipantDisconnected(participant)

    def _gone(self, participant: RemoteParticipant) -> events.RoomEvent:
        participant.disconnect_reason = DisconnectReason.UNKNOWN_REASON
        return events.ParticipantDisconnected(participant)

    def _agent_state(self, data: JSON) -> Iterable[events.RoomEvent]:
        if (participant := self.participant(data.get("participant"))) is not None:
            participant.agent_state = text(data, "state")
            participant.attributes["lk.agent.state"] = participant.agent_state
            yield events.AgentStateChanged(participant, participant.agent_state)

    def _agent_waiting(self, data: JSON) -> Iterable[events.RoomEvent]:
        identity, reason = text(data, "participant"), text(data, "reason", "busy")
        self.waiting_agents[identity] = reason
        yield events.AgentWaiting(identity, reason)

    def _held(self, data: JSON, held: bool) -> Iterable[events.RoomEvent]:
        if (participant := self.participant(data.get("participant"))) is not None:
            participant.held = held
            yield events.HoldChanged(participant, held)

    def _call_muted(self, data: JSON, muted: bool) -> Iterable[events.RoomEvent]:
        if (participant := self.participant(data.get("participant"))) is not None:
            participant.call_muted = muted
            yield events.CallMuteChanged(participant, muted)

    def _quality(self, data: JSON) -> Iterable[events.RoomEvent]:
        if (participant := self.participant(data.get("participant"))) is not None:
            participant.connection_quality = text(data, "quality")
            yield events.ConnectionQualityChanged(participant, participant.connection_quality)

    # Tracks.

    def _published(self, data: JSON) -> Iterable[events.RoomEvent]:
        info = TrackInfo.parse(mapping(data, "track"))
        participant = self.remote.get(info.participant)
        if participant is not None and info.sid not in participant.track_publications:
            yield from self._add_track(participant, info)

    def _add_track(
        self, participant: RemoteParticipant, info: TrackInfo, known: RemoteTrackPublication | None = None
    ) -> Iterable[events.RoomEvent]:
        subscribed = self._auto_subscribe and self.local.permissions.can_subscribe
        publication = known or RemoteTrackPublication(info, self._control, subscribed=subscribed)
        participant.track_publications[info.sid] = publication
        self._by_alias[info.alias] = publication
        if known is not None:
            before, publication.info = publication.info, info
            publication.track.frames.rejoined()
            if before.epoch != info.epoch:
                publication.track.frames.clear(info.epoch)
            if before.muted != info.muted:
                yield (events.TrackMuted if info.muted else events.TrackUnmuted)(participant, publication)
            return
        yield events.TrackPublished(publication, participant)
        if subscribed:
            yield events.TrackSubscribed(publication.track, publication, participant)

    def _unpublished(self, data: JSON) -> Iterable[events.RoomEvent]:
        participant = self.remote.get(text(data, "participant", ""))
        publication = participant and participant.track_publications.get(text(data, "track"))
        if participant and publication:
            yield from self._remove_track(participant, publication)

    def _remove_track(
        self, participant: RemoteParticipant, publication: RemoteTrackPublication
    ) -> Iterable[events.RoomEvent]:
        participant.track_publications.pop(publication.sid, None)
        self._by_alias.pop(publication.info.alias, None)
        publication.track.frames.end()
        if publication.subscribed:
            yield events.TrackUnsubscribed(publication.track, publication, participant)
        yield events.TrackUnpublished(publication, participant)

    def _muted(self, data: JSON, muted: bool) -> Iterable[events.RoomEvent]:
        publication = self.publication(data.get("track"))
        participant = self.participant(data.get("participant"))
        if publication is not None and participant is not None:
            publication.info.muted = muted
            event = events.TrackMuted if muted else events.TrackUnmuted
            yield event(participant, publication)
