"""The state of a room, from its events alone."""

from typing import Any

import pytest

from patchbay.connection.disconnection import DisconnectReason
from patchbay.errors import ProtocolError
from patchbay.protocol.models import Hello, ParticipantInfo, Permissions
from patchbay.rtc import events
from patchbay.rtc.participant import Participant
from patchbay.rtc.room_state import RoomState

JSON = dict[str, Any]


class NoControl:
    """Remote publications ask nothing in these tests."""

    async def set_subscribed(self, sid: str, subscribed: bool) -> None: ...

    def report_playout(self, sid: str, epoch: int, played_ts: int | None, buffered_ms: float) -> None: ...


def track(sid: str, alias: int, owner: str = "bob", **changes: Any) -> JSON:
    return {"sid": sid, "alias": alias, "participant": owner, "name": "mic", "mode": "live"} | changes


def participant(identity: str, *tracks: JSON, sid: str | None = None, **changes: Any) -> JSON:
    return {"sid": sid or f"PA_{identity}", "identity": identity, "tracks": list(tracks)} | changes


def hello(*participants: JSON, **changes: Any) -> Hello:
    data = {
        "room": {"sid": "RM_1", "name": "lobby"},
        "participant": participant("alice"),
        "participants": list(participants),
        "resume_token": "RT_1",
    }
    return Hello.parse(data | changes)


@pytest.fixture
def state() -> RoomState:
    local = Participant(ParticipantInfo("", "", "", "standard", "", {}, 0, Permissions(), None))
    return RoomState(local, NoControl(), auto_subscribe=True)


def names(found: list[events.RoomEvent]) -> list[str]:
    return [event.name for event in found]


def test_a_join_shows_who_is_there(state: RoomState) -> None:
    found = state.join(hello(participant("bob", track("TR_1", 3))))
    assert names(found) == ["track_published", "track_subscribed"]
    assert list(state.remote) == ["bob"]
    published = state.track(3)
    assert published is not None
    assert published.sid == "TR_1"
    assert state.local.identity == "alice"


def test_a_later_join_reports_only_what_has_changed(state: RoomState) -> None:
    state.join(hello(participant("bob", track("TR_1", 3)), participant("carol")))
    before = state.track(3)
    again = state.join(
        hello(participant("bob", track("TR_1", 7)), participant("dave"), participant("carol", sid="PA_2"))
    )
    assert names(again).count("participant_disconnected") == 1
    assert names(again).count("participant_connected") == 2
    assert "track_published" not in names(again)
    assert state.track(3) is None
    assert state.track(7) is before


def test_a_newcomer_is_reported_also_if_everybody_known_has_stayed(state: RoomState) -> None:
    state.join(hello(participant("bob")))
    assert names(state.join(hello(participant("bob"), participant("dave")))) == ["participant_connected"]
    assert names(state.join(hello())) == ["participant_disconnected", "participant_disconnected"]
    assert names(state.join(hello(participant("bob")))) == ["participant_connected"]


def test_a_later_state_ends_tracks_and_changes_descriptions(state: RoomState) -> None:
    state.join(hello(participant("bob", track("TR_1", 3), track("TR_2", 4, mode="ahead")), participant("carol")))
    speaking = state.track(4)
    assert speaking is not None
    found = state.join(
        hello(
            participant("bob", track("TR_2", 4, mode="ahead", epoch=2, muted=True), metadata="new"),
            room={"sid": "RM_1", "name": "lobby", "metadata": "later"},
        )
    )
    assert names(found) == [
        "track_unsubscribed",
        "track_unpublished",
        "participant_disconnected",
        "room_metadata_changed",
        "participant_metadata_changed",
        "track_muted",
    ]
    assert state.track(3) is None
    assert state.track(4) is speaking
    assert speaking.info.epoch == 2


def test_what_is_unusual_ends_with_a_later_state(state: RoomState) -> None:
    state.join(hello(participant("bob"), participant("robin", kind="agent")))
    unusual: list[tuple[str, JSON]] = [
        ("call.held", {"participant": "bob"}),
        ("call.muted", {"participant": "alice"}),
        ("quality.changed", {"participant": "bob", "quality": "poor"}),
        ("speakers.changed", {"speakers": [{"participant": "bob", "level": 0.5, "active": True}]}),
        ("recording.started", {"recording": "RC_1"}),
        ("agent.waiting", {"participant": "assistant:helper", "reason": "busy"}),
        ("participant.updated", participant("bob", connection="reconnecting")),
    ]
    for kind, data in unusual:
        state.apply(kind, data)
    again = hello(participant("bob"), participant("robin", kind="agent", attributes={"lk.agent.state": "thinking"}))
    assert names(state.join(again)) == [
        "call_mute_changed",
        "participant_connection_changed",
        "hold_changed",
        "connection_quality_changed",
        "active_speakers_changed",
        "recording_changed",
        "participant_attributes_changed",
        "agent_state_changed",
    ]
    assert state.waiting_agents == {}
    assert not state.remote["bob"].held
    assert state.remote["robin"].agent_state == "thinking"
    assert state.join(again) == []


def test_a_leaving_participant_takes_its_tracks_along(state: RoomState) -> None:
    state.join(hello())
    joined = state.apply("participant.joined", participant("bob", track("TR_1", 3)))
    assert names(joined) == ["participant_connected", "track_published", "track_subscribed"]
    left = state.apply("participant.left", {"participant": "bob", "reason": "SIGNAL_CLOSE"})
    assert names(left) == ["track_unsubscribed", "track_unpublished", "participant_disconnected"]
    gone = left[-1]
    assert isinstance(gone, events.ParticipantDisconnected)
    assert gone.participant.disconnect_reason is DisconnectReason.SIGNAL_CLOSE
    assert state.track(3) is None


def test_updates_say_what_has_changed(state: RoomState) -> None:
    state.join(hello(participant("bob", name="Bob", attributes={"a": "1", "b": "2"})))
    change = participant("bob", name="Robert", attributes={"a": "9"}, metadata="{}", connection="reconnecting")
    found = state.apply("participant.updated", change)
    assert names(found) == [
        "participant_name_changed",
        "participant_metadata_changed",
        "participant_attributes_changed",
        "participant_connection_changed",
    ]
    changed = found[2]
    assert isinstance(changed, events.ParticipantAttributesChanged)
    assert changed.changed_attributes == {"a": "9", "b": ""}
    assert not state.remote["bob"].connected


def test_speakers_are_sorted_by_loudness(state: RoomState) -> None:
    state.join(hello(participant("bob"), participant("carol")))
    both = [
        {"participant": "bob", "level": 0.25, "active": True},
        {"participant": "carol", "level": 0.5, "active": True},
    ]
    state.apply("speakers.changed", {"speakers": both})
    assert [speaker.identity for speaker in state.active_speakers] == ["carol", "bob"]
    state.apply("speakers.changed", {"speakers": [{"participant": "carol", "level": 0, "active": False}]})
    assert [speaker.identity for speaker in state.active_speakers] == ["bob"]


def test_a_clear_drops_what_waits_of_the_track(state: RoomState) -> None:
    state.join(hello(participant("bob", track("TR_1", 3, mode="ahead"))))
    found = state.apply(
        "playout.cleared", {"track": "TR_1", "epoch": 1, "played_ms": 40, "discarded_ms": 60, "by": "alice"}
    )
    cleared = found[0]
    assert isinstance(cleared, events.PlayoutCleared)
    assert (cleared.played_ms, cleared.discarded_ms, cleared.by) == (40, 60, "alice")
    published = state.track(3)
    assert published is not None
    assert published.info.epoch == 1


def test_recordings_metadata_and_waiting_agents_are_state(state: RoomState) -> None:
    state.join(hello())
    state.apply("recording.started", {"recording": "RC_1"})
    state.apply("agent.waiting", {"participant": "assistant:helper", "reason": "busy"})
    changed = state.apply("room.updated", {"room": {"sid": "RM_1", "name": "lobby", "metadata": "new"}})
    assert state.recording
    assert state.waiting_agents == {"assistant:helper": "busy"}
    assert changed == [events.RoomMetadataChanged("", "new")]
    state.apply("participant.joined", participant("assistant:helper", kind="agent"))
    assert state.waiting_agents == {}


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("participant.joined", {"identity": "bob"}),
        ("participant.left", {}),
        ("track.published", {"track": {"sid": "TR_1", "alias": "3", "participant": "bob"}}),
        ("transcript.segment", {"text": "no id"}),
        ("text", {"text": 7}),
        ("room.updated", {}),
    ],
)
def test_events_without_required_fields_are_protocol_errors(state: RoomState, kind: str, data: JSON) -> None:
    state.join(hello(participant("bob")))
    with pytest.raises(ProtocolError, match="compatible versions"):
        state.apply(kind, data)
    assert list(state.remote) == ["bob"]


def test_events_about_strangers_change_nothing(state: RoomState) -> None:
    state.join(hello())
    for kind in ("participant.updated", "call.held", "quality.changed", "talk.started", "agent.state", "track.muted"):
        data = participant("nobody") | {"participant": "nobody", "track": "TR_9", "state": "idle", "quality": "good"}
        assert state.apply(kind, data) == []
