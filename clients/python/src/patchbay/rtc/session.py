"""One joined room on the wire: requests, events and frames, across reconnects."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

from ..connection.address import GatewayAddress
from ..connection.disconnection import Disconnection
from ..connection.reconnecting import ReconnectingSocket
from ..connection.requests import Requests
from ..errors import NotConnectedError, ProtocolError, RoomEndedError
from ..protocol.frames import Frame, frames_in
from ..protocol.models import Hello, TrackInfo
from ..protocol.transcript import TranscriptSegment
from . import events
from .local_tracks import LocalTracks
from .options import RoomOptions
from .participant import Participant
from .room_state import RoomState
from .rpc import RpcMethods

logger = logging.getLogger("patchbay")

# The gateway keeps a session for 20 s, which should allow several attempts.
_RESUME_TIMEOUT = 5.0

JSON = dict[str, Any]


class RoomSession:
    """Connects the state of a room with its socket.

    Args:
        address: the gateway.
        token: admits to the room.
        options: how to connect.
        local: this client's participant.
        methods: procedures that others may call.
        emit: takes what happens.
    """

    def __init__(
        self,
        address: GatewayAddress,
        token: str,
        options: RoomOptions,
        local: Participant,
        methods: RpcMethods,
        emit: Callable[[events.RoomEvent], None],
    ) -> None:
        self._options = options
        self._emit = emit
        self.socket = ReconnectingSocket(self, address, token, options.socket_settings)
        self.requests = Requests(self.socket.send, lambda: self.socket.refusal, options.request_timeout)
        self.state = RoomState(local, self, auto_subscribe=options.auto_subscribe)
        self.tracks = LocalTracks(self.requests, self.socket, self.wait_connected, emit)
        self._methods = methods
        self._resume_token = ""
        self._last_seq = 0
        self._joins = 0
        self._connected = asyncio.Event()
        self._reconnecting = False
        self._subscriptions: dict[str, bool] = {}
        self._agent_state: str | None = None
        self._held = False
        self.disconnection: Disconnection | None = None
        self.hello: Hello | None = None
        self.round_trip: float | None = None
        self.messages_unread = 0

    # Requests.

    async def wait_connected(self) -> int:
        """Waits for the connection, and returns how often the room was joined without resuming.

        Raises:
            RoomEndedError: the connection has ended.
        """
        while self.socket.refusal is not None:
            if self.disconnection is not None:
                raise RoomEndedError(f"the connection has ended: {self.disconnection.message}")
            self._connected.clear()
            await self._connected.wait()
        return self._joins

    async def set_subscribed(self, sid: str, subscribed: bool) -> None:
        """Subscribes to a track or unsubscribes; a reconnect repeats it."""
        await self.requests.request("track.subscribe", {"track": sid, "subscribed": subscribed})
        self._subscriptions[sid] = subscribed
        for participant in self.state.remote.values():
            publication = participant.track_publications.get(sid)
            if publication is not None and publication.subscribed != subscribed:
                publication.subscribed = subscribed
                event = events.TrackSubscribed if subscribed else events.TrackUnsubscribed
                self._emit(event(publication.track, publication, participant))

    def report_playout(self, sid: str, epoch: int, played_ts: int | None, buffered_ms: float) -> None:
        """Sends `playout.progress`."""
        data = {"track": sid, "epoch": epoch, "played_ts": played_ts, "buffered_ms": min(buffered_ms, 60_000)}
        self.requests.notify("playout.progress", data)

    async def set_agent_state(self, state: str) -> None:
        """Announces the state of an agent; a reconnect repeats it."""
        await self.requests.request("agent.state", {"state": state})
        self._agent_state = state

    async def set_held(self, held: bool) -> None:
        """Holds or resumes; a reconnect repeats it."""
        await self.requests.request("call.hold", {"held": held})
        self._held = held

    async def send_segment(self, segment: TranscriptSegment) -> None:
        """Sends a segment of transcript and remembers it as its newest revision."""
        rev = self.state.transcript.next_rev(segment.id) if segment.rev is None else segment.rev
        data = segment.encode(rev)
        sent = TranscriptSegment.parse({"participant": self.state.local.identity} | data)
        self.state.transcript.apply(sent)
        self.tracks.will_speak(sent)
        await self.requests.request("transcript.segment", data)

    # What the socket asks and tells.

    def websocket_url(self, address: GatewayAddress) -> str:
        """The URL of the next attempt, which is at this address."""
        query = {} if self._options.auto_subscribe else {"auto_subscribe": "false"}
        if self._resume_token:
            query |= {"resume": self._resume_token, "last_seq": str(self._last_seq)}
        return address.websocket_url("/v1/rtc", query)

    def attempt_timeout(self) -> float:
        """Seconds for one attempt."""
        timeout = self._options.connect_timeout
        return min(timeout, _RESUME_TIMEOUT) if self._resume_token else timeout

    def handle_text(self, text: str) -> None:
        """Handles a control message."""
        try:
            message = json.loads(text)
            if not isinstance(message, dict):
                raise ProtocolError("the gateway's message is no object")
            if self.requests.handle(message):
                return
            kind, data = str(message.get("type")), message.get("data")
            if not isinstance(data, dict):
                raise ProtocolError(f"the event {kind} has no data")
            if kind == "hello":
                self._handle_hello(Hello.parse(data), int(message.get("seq") or 1))
            else:
                self._last_seq = int(message.get("seq") or self._last_seq)
                self._handle_event(kind, data)
        except (ValueError, ProtocolError, AttributeError, TypeError) as error:
            # A message of another version must not end a call.
            self.messages_unread += 1
            logger.warning("a message of the gateway was ignored: %r: %.200s", error, text)

    def handle_binary(self, message: bytes) -> None:
        """Handles a frame or a bundle."""
        now = asyncio.get_running_loop().time()
        try:
            for frame in frames_in(message):
                self._receive(frame, now)
        except ValueError as error:
            self.messages_unread += 1
            logger.debug("a frame was ignored: %s", error)

    def can_send(self) -> None:
        """The outbox takes frames again."""
        self.tracks.wake()

    def send_ping(self) -> None:
        """Pings, and measures the round trip."""
        if self.socket.refusal is None:
            task = asyncio.ensure_future(self._measure())
            self._methods.keep(task)

    def send_leave(self) -> None:
        """Leaves the room."""
        self.requests.notify("leave")

    def connection_lost(self) -> None:
        """Fails the requests that will not be answered."""
        self.socket.outbox.connection_lost()
        self.requests.fail_all(NotConnectedError())

    def will_reconnect(self, attempt: int, delay: float, because: Disconnection) -> None:
        """Tells the program."""
        if not self._reconnecting:
            self._reconnecting = True
            self._emit(events.ConnectionStateChanged("reconnecting"))
        self._emit(events.Reconnecting(attempt, delay, because))

    def ended(self, disconnection: Disconnection) -> None:
        """Ends streams, sources and procedures."""
        self.disconnection = disconnection
        self._connected.set()
        self.requests.fail_all(RoomEndedError(f"the connection has ended: {disconnection.message}"))
        self.state.end()
        self.tracks.end()
        self._methods.cancel_all()
        if self._joins:
            self._emit(events.ConnectionStateChanged("disconnected"))
            self._emit(events.Disconnected(disconnection.reason, disconnection))

    # Messages of the gateway.

    def _handle_hello(self, hello: Hello, seq: int) -> None:
        self.hello = hello
        self._resume_token, self._last_seq = hello.resume_token, seq
        resumed = self._joins > 0 and hello.resumed
        # Otherwise the missed events were replayed before this `hello`.
        whole = not resumed or hello.snapshot
        found: list[events.RoomEvent] = []
        if not resumed:
            self._joins += 1
            self.socket.outbox.rejoined()
        if whole:
            found = self.state.join(hello)
            self._subscriptions = {
                sid: wanted for sid, wanted in self._subscriptions.items() if self.state.publication(sid)
            }
        self.socket.did_open(
            hello.ping_interval, hello.ping_timeout, resumable=bool(hello.resume_token), nodes=hello.nodes
        )
        self._connected.set()
        reconnected, self._reconnecting = self._reconnecting, False
        self._emit(events.ConnectionStateChanged("connected"))
        if reconnected:
            self._emit(events.Reconnected(resumed))
            self._restore(hello.participant.tracks or [], resumed=resumed, whole=whole)
        for event in found:
            self._emit(event)
        self.tracks.wake()

    def _restore(self, own: list[TrackInfo], *, resumed: bool, whole: bool) -> None:
        """Repeats what the connection or its node may have lost, or what a new participant does not have."""
        if whole and self._held:
            self.requests.notify("call.hold", {"held": True})
        self.tracks.restore(own, resumed=resumed, whole=whole)
        self._methods.restore(resumed=resumed)
        for sid, subscribed in self._subscriptions.items():
            self.requests.notify("track.subscribe", {"track": sid, "subscribed": subscribed})
        if self._agent_state is not None:
            self.requests.notify("agent.state", {"state": self._agent_state})

    def _handle_event(self, kind: str, data: JSON) -> None:
        match kind:
            case "rpc.request":
                self._methods.handle(data)
                return
            case "playout.marked":
                self.tracks.did_mark(data)
                return
            case "token.refreshed":
                self.socket.token = str(data["token"])
                self._emit(events.TokenRefreshed())
                return
            case "stats" | "bye":
                return
        if kind == "call.held" or kind == "call.resumed":
            mine = data.get("participant") == self.state.local.identity
            self.tracks.set_held(mine, kind == "call.held")
            if mine and kind == "call.resumed":
                # Perhaps by an administrator.
                self._held = False
        self.tracks.handle_event(kind, data, self.state.local.identity)
        for event in self.state.apply(kind, data):
            self._emit(event)

    def _receive(self, frame: Frame, now: float) -> None:
        publication = self.state.track(frame.alias)
        if publication is not None:
            publication.track.frames.receive(frame, now)

    async def _measure(self) -> None:
        started = asyncio.get_running_loop().time()
        try:
            await self.requests.request("ping")
        except Exception:
            return
        self.round_trip = asyncio.get_running_loop().time() - started
