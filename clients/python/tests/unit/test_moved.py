"""A room that continues on another node of a cluster, which may have lost the latest events."""

import json
import ssl
import time
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Self

import pytest_asyncio
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from patchbay import DisconnectReason, Room, RoomOptions
from patchbay.connection.disconnection import Disconnection
from patchbay.errors import ConnectFailure
from patchbay.rtc import events
from patchbay.testing.certificates import development_certificates
from tests.helpers import Log, eventually, publish, tone

JSON = dict[str, Any]
ROOM = {"sid": "RM_1", "name": "lobby"}


class Nodes:
    """Gateways behind one address that admit every client and say what a test orders."""

    def __init__(self) -> None:
        self._server: Server | None = None
        self._certificates = development_certificates()
        self._clients: list[ServerConnection] = []
        self.url = ""
        self.options = RoomOptions(ca_file=str(self._certificates.authority))
        self.greetings: list[list[tuple[str, JSON]]] = []
        self.requests: list[tuple[str, JSON]] = []
        self.targets: list[str] = []
        self.opened_at: list[float] = []
        self.frames: list[bytes] = []
        self.unanswered = ""
        self.refuses_with: HTTPStatus | None = None

    async def __aenter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._certificates.server, self._certificates.key)
        self._server = await serve(
            self._admit,
            "127.0.0.1",
            0,
            ssl=context,
            subprotocols=["patchbay.v1"],  # type: ignore[list-item]
            process_request=self._refuse,
        )
        self.url = f"wss://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def close(self, code: int, phrase: str) -> None:
        await self._clients[-1].close(code, phrase)

    def _refuse(self, client: ServerConnection, _: Request) -> Response | None:
        return client.respond(self.refuses_with, "no") if self.refuses_with else None

    def asked(self, kind: str) -> list[JSON]:
        return [data for request, data in self.requests if request == kind]

    async def _admit(self, client: ServerConnection) -> None:
        self._clients.append(client)
        self.opened_at.append(time.monotonic())
        assert client.request is not None
        self.targets.append(client.request.path)
        seq = 1_000 * (len(self._clients) - 1)
        for kind, data in self.greetings.pop(0):
            seq += 1
            await client.send(json.dumps({"type": kind, "seq": seq, "data": data}))
        async for message in client:
            if isinstance(message, bytes):
                self.frames.append(message)
            else:
                await self._answer(client, json.loads(message))

    async def _answer(self, client: ServerConnection, request: JSON) -> None:
        kind, data = request["type"], request.get("data") or {}
        self.requests.append((kind, data))
        if kind == "leave":
            await client.close(1000, "bye")
            return
        reply: JSON = {}
        if kind == "track.publish":
            number = len(self.asked(kind))
            reply = {"track": own_track(f"TR_own{number}", number, mode=data["mode"])}
        if "id" in request and kind != self.unanswered:
            await client.send(json.dumps({"type": "reply", "re": request["id"], "data": reply}))


def own_track(sid: str, alias: int, **changes: Any) -> JSON:
    return {"sid": sid, "alias": alias, "participant": "alice", "name": "voice", "mode": "ahead"} | changes


def track(sid: str, alias: int, owner: str = "bob", **changes: Any) -> JSON:
    return {"sid": sid, "alias": alias, "participant": owner, "name": "mic", "mode": "live"} | changes


def participant(identity: str, *tracks: JSON) -> JSON:
    return {"sid": f"PA_{identity}", "identity": identity, "tracks": list(tracks)}


def hello(*others: JSON, own: tuple[JSON, ...] = (), **changes: Any) -> tuple[str, JSON]:
    data = {
        "room": ROOM,
        "participant": participant("alice", *own),
        "participants": list(others),
        "resume_token": "RT_1",
    }
    return "hello", data | changes


def moved(*others: JSON, own: tuple[JSON, ...] = ()) -> tuple[str, JSON]:
    return hello(*others, own=own, resumed=True, snapshot=True, resume_token="RT_2")


@pytest_asyncio.fixture
async def nodes() -> AsyncIterator[Nodes]:
    async with Nodes() as nodes:
        yield nodes


async def test_a_client_resumes_at_once_when_its_room_has_moved(nodes: Nodes) -> None:
    nodes.greetings = [[hello()], [moved()]]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        log = Log(alice)
        started = time.monotonic()
        await nodes.close(4005, "room moved")
        assert (await log.wait(events.Reconnecting)).delay == 0
        assert (await log.wait(events.Reconnected)).resumed
        assert nodes.opened_at[1] - started < 0.2
        assert nodes.targets[1] == "/v1/rtc?resume=RT_1&last_seq=1"


def test_a_move_has_its_reason() -> None:
    end = Disconnection.closed(4005, "room moved")
    assert end.retryable
    assert end.reason is DisconnectReason.MIGRATION


async def test_a_snapshot_replaces_participants_and_tracks(nodes: Nodes) -> None:
    before = [participant("bob", track("TR_1", 1), track("TR_2", 2)), participant("carol", track("TR_3", 3, "carol"))]
    after = [participant("bob", track("TR_1", 1), track("TR_4", 4)), participant("dave")]
    nodes.greetings = [
        [hello(*before)],
        [moved(*after), ("call.held", {"participant": "bob"})],
    ]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        log = Log(alice)
        stays = alice.remote_participants["bob"].track_publications["TR_1"].track
        await nodes.close(4005, "room moved")
        await log.wait(events.HoldChanged)
        names = [event.name for event in log.events]
        assert [name for name in names[names.index("reconnected") :] if name.startswith(("participant", "track"))] == [
            "track_unsubscribed",
            "track_unpublished",
            "track_unsubscribed",
            "track_unpublished",
            "participant_disconnected",
            "track_published",
            "track_subscribed",
            "participant_connected",
        ]
        assert list(alice.remote_participants) == ["bob", "dave"]
        bob = alice.remote_participants["bob"]
        assert list(bob.track_publications) == ["TR_1", "TR_4"]
        assert bob.track_publications["TR_1"].track is stays
        assert bob.held


async def test_own_tracks_continue_in_the_epoch_of_the_other_node(nodes: Nodes) -> None:
    cleared = {"track": "TR_own1", "epoch": 2, "by": "", "reason": "node_lost", "played_ms": 40, "played_ts": None}
    nodes.greetings = [
        [hello()],
        [("playout.cleared", cleared), moved(own=(own_track("TR_own1", 1, epoch=2),))],
        # This time the event is missing.
        [moved(own=(own_track("TR_own1", 1, epoch=5),))],
    ]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        log = Log(alice)
        source = await publish(alice, ahead=True)
        await source.capture_frame(tone(0.1))
        for epoch in (2, 5):
            await move(nodes, log)
            nodes.frames.clear()
            await source.capture_frame(tone(0.1))
            source.flush()
            await eventually(lambda: nodes.frames)
            assert epoch_of(nodes.frames[0]) == epoch
        assert log.named("local_track_republished") == []
        assert (await log.wait(events.PlayoutCleared)).reason == "node_lost"


async def move(nodes: Nodes, log: Log) -> None:
    moves = len(log.named("reconnected"))
    await nodes.close(4005, "room moved")
    await eventually(lambda: len(log.named("reconnected")) > moves)


def epoch_of(message: bytes) -> int:
    """Of the first frame, which may be in a bundle."""
    return message[4 + 7 if message[0] == 0x42 else 7]


async def test_a_track_that_the_other_node_does_not_know_is_published_again(nodes: Nodes) -> None:
    nodes.greetings = [[hello()], [moved(own=(own_track("TR_other", 9),))]]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        log = Log(alice)
        await publish(alice)
        await nodes.close(4005, "room moved")
        again = await log.wait(events.LocalTrackRepublished)
        assert again.publication.sid == "TR_own2"
        # Its publisher got no answer.
        assert nodes.asked("track.unpublish") == [{"track": "TR_other"}]


async def test_a_clear_during_the_loss_tells_what_was_heard(nodes: Nodes) -> None:
    lost = {"track": "TR_own1", "epoch": 2, "by": "", "reason": "node_lost", "played_ms": 40.0, "played_ts": 7}
    nodes.greetings = [[hello()], [("playout.cleared", lost), moved(own=(own_track("TR_own1", 1, epoch=2),))]]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        source = await publish(alice, ahead=True)
        await source.capture_frame(tone(0.1))
        nodes.unanswered = "playout.clear"
        clearing = source.clear_queue("barge-in")
        await eventually(lambda: nodes.asked("playout.clear"))
        await nodes.close(4005, "room moved")
        played = await clearing
        assert (played.played_ms, played.played_ts) == (40.0, 7)
        assert len(nodes.asked("playout.clear")) == 1


async def test_a_hold_is_repeated_unless_it_was_ended_by_others(nodes: Nodes) -> None:
    nodes.greetings = [[hello()], [moved()], [("call.resumed", {"participant": "alice"}), moved()]]
    async with Room.connect(nodes.url, "token", nodes.options) as alice:
        log = Log(alice)
        await alice.local_participant.set_hold(True)
        await move(nodes, log)
        await move(nodes, log)
        await alice.request("ping")
        assert nodes.asked("call.hold") == [{"held": True}, {"held": True}]


async def test_a_session_whose_node_is_gone_is_resumed_at_another_one_and_stays_there(nodes: Nodes) -> None:
    async with Nodes() as other:
        nodes.greetings = [[hello(nodes=[other.url])]]
        other.greetings = [[moved()], [moved()]]
        async with Room.connect(nodes.url, "token", nodes.options) as alice:
            log = Log(alice)
            await nodes.stop()
            await eventually(lambda: log.named("reconnected"))
            assert other.targets == ["/v1/rtc?resume=RT_1&last_seq=1"]
            await move(other, log)
            assert len(other.targets) == 2
            attempts = [event.attempt for event in log.events if isinstance(event, events.Reconnecting)]
            # After 4005 the node that asks for it is tried last.
            assert attempts == [1, 2, 1, 2]


async def test_the_lost_node_is_tried_first(nodes: Nodes) -> None:
    async with Nodes() as other:
        nodes.greetings = [[hello(nodes=[other.url])], [moved()]]
        async with Room.connect(nodes.url, "token", nodes.options) as alice:
            log = Log(alice)
            await nodes.close(4003, "ping timeout")
            await eventually(lambda: log.named("reconnected"))
            assert len(nodes.targets) == 2
            assert other.targets == []


async def test_the_node_that_asks_the_client_to_leave_is_tried_last(nodes: Nodes) -> None:
    async with Nodes() as other:
        nodes.greetings = [[hello(nodes=[other.url])]]
        other.greetings = [[moved()]]
        async with Room.connect(nodes.url, "token", nodes.options) as alice:
            await move(nodes, Log(alice))
            assert len(nodes.targets) == 1
            assert len(other.targets) == 1


async def test_a_node_without_a_trusted_certificate_is_passed_over(nodes: Nodes) -> None:
    async with Nodes() as other:
        # Its certificate is valid for 127.0.0.1 only.
        unnamed = other.url.replace("127.0.0.1", "0.0.0.0")
        nodes.greetings = [[hello(nodes=[unnamed, other.url])]]
        other.greetings = [[moved()]]
        async with Room.connect(nodes.url, "token", nodes.options) as alice:
            log = Log(alice)
            await nodes.stop()
            await eventually(lambda: log.named("reconnected"))
            last = [event for event in log.events if isinstance(event, events.Reconnecting)][-1]
            assert last.because.error is not None
            assert last.because.error.kind is ConnectFailure.UNTRUSTED


async def test_a_refusal_by_the_other_node_is_final(nodes: Nodes) -> None:
    async with Nodes() as other:
        nodes.greetings = [[hello(nodes=[other.url])]]
        other.refuses_with = HTTPStatus.UNAUTHORIZED
        async with Room.connect(nodes.url, "token", nodes.options) as alice:
            log = Log(alice)
            await nodes.stop()
            end = (await log.wait(events.Disconnected)).disconnection
            assert end.error is not None
            assert end.error.status == HTTPStatus.UNAUTHORIZED
