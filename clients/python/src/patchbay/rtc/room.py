"""A room: where participants exchange audio and messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, overload

from ..connection.address import GatewayAddress
from ..connection.reconnecting import Phase
from ..errors import ConnectError, ConnectFailure
from ..protocol.transcript import TranscriptSegment
from .events import Disconnected, RoomEvent
from .events.hub import EventHub, EventIterator
from .local_participant import LocalParticipant
from .options import RoomOptions
from .participant import Participant, RemoteParticipant
from .session import RoomSession

C = TypeVar("C", bound=Callable[..., Any])


class Connecting:
    """A connection in the making: await it for the room, or enter it with `async with` to leave at the end."""

    def __init__(self, room: Room, url: str, token: str, options: RoomOptions | None) -> None:
        self._room = room
        self._arguments = (url, token, options or RoomOptions())

    def __await__(self) -> Generator[Any, None, Room]:
        return self._open().__await__()

    async def __aenter__(self) -> Room:
        return await self._open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._room.disconnect()

    async def _open(self) -> Room:
        await self._room._open(*self._arguments)
        return self._room


class ConnectCall(Protocol):
    """The signature of `connect`."""

    def __call__(self, url: str, token: str, options: RoomOptions | None = None) -> Connecting:
        """Joins a room.

        Args:
            url: `wss://host[:port]`; the port is 443 by default.
            token: a room token, which names the room.
            options: how to connect.
        """


class _ConnectMethod:
    """`Room.connect(…)` joins with a new room object, `room.connect(…)` with one that has callbacks already."""

    def __get__(self, room: Room | None, owner: type[Room]) -> ConnectCall:
        joined = owner() if room is None else room

        def connect(url: str, token: str, options: RoomOptions | None = None) -> Connecting:
            return Connecting(joined, url, token, options)

        return connect


class Room:
    """A room that this client joins.

    async with Room.connect(url, token) as room:
        @room.on("track_subscribed")
        def heard(track, publication, participant): ...

    As with LiveKit's SDK, `room = Room()`, then `await room.connect(url, token)`, works, too. The connection is
    resumed when it breaks; requests that have no answer then fail with `NotConnectedError`.
    """

    connect = _ConnectMethod()

    def __init__(self) -> None:
        self.local_participant = LocalParticipant()
        self._hub = EventHub()
        self._session: RoomSession | None = None
        self._ended = asyncio.Event()

    # Events.

    @overload
    def on(self, event: str, callback: C) -> C: ...
    @overload
    def on(self, event: str, callback: None = None) -> Callable[[C], C]: ...
    def on(self, event: str, callback: C | None = None) -> C | Callable[[C], C]:
        """Adds a callback, as a call or as a decorator. Callbacks are plain functions, as in LiveKit.

        Args:
            event: a name of `patchbay.rtc.events`, such as `participant_connected`.
            callback: gets the fields of the event.
        """
        if callback is not None:
            return self._hub.on(event, callback)

        def add(decorated: C) -> C:
            return self._hub.on(event, decorated)

        return add

    def off(self, event: str, callback: Callable[..., Any]) -> None:
        """Removes a callback."""
        self._hub.off(event, callback)

    @property
    def events(self) -> EventIterator:
        """A new iterator over events as objects: `async for event in room.events`. It ends with the connection."""
        return self._hub.iterator()

    # State.

    @property
    def name(self) -> str:
        """The room's name; empty before the first connection."""
        return self._session.state.info.name if self._session and self._session.state.info else ""

    @property
    def sid(self) -> str:
        """The room's sid; empty before the first connection."""
        return self._session.state.info.sid if self._session and self._session.state.info else ""

    @property
    def metadata(self) -> str:
        """The room's metadata."""
        return self._session.state.info.metadata if self._session and self._session.state.info else ""

    @property
    def session_id(self) -> str | None:
        """The session of the user, if the room has one."""
        return self._session.hello.session_id if self._session and self._session.hello else None

    @property
    def session_description(self) -> dict[str, Any] | None:
        """What an agent is told about the user's session: language, voice, context, earlier summaries."""
        return self._session.hello.session if self._session and self._session.hello else None

    @property
    def remote_participants(self) -> dict[str, RemoteParticipant]:
        """The other participants, by identity."""
        return self._session.state.remote if self._session else {}

    @property
    def active_speakers(self) -> list[Participant]:
        """Who speaks now, loudest first."""
        return self._session.state.active_speakers if self._session else []

    @property
    def transcript(self) -> list[TranscriptSegment]:
        """The newest revision of each segment, in order of first appearance."""
        return self._session.state.transcript.segments if self._session else []

    @property
    def is_recording(self) -> bool:
        """Whether the room's audio is recorded."""
        return self._session.state.recording if self._session else False

    @property
    def connection_state(self) -> str:
        """`disconnected`, `connecting`, `connected` or `reconnecting`."""
        if self._session is None or self._session.disconnection is not None:
            return "disconnected"
        if self._session.socket.phase is Phase.OPEN:
            return "connected"
        return "reconnecting" if self._session.hello else "connecting"

    @property
    def round_trip(self) -> float | None:
        """Seconds of the last ping; None before the first."""
        return self._session.round_trip if self._session else None

    def isconnected(self) -> bool:
        """Whether the room is joined, also while it reconnects."""
        return self.connection_state in ("connected", "reconnecting")

    # The connection.

    async def disconnect(self) -> None:
        """Leaves the room. Does nothing if it was left."""
        if self._session is not None:
            await self._session.socket.leave()

    async def wait_disconnected(self) -> None:
        """Waits until the connection has ended for good."""
        if self._session is not None:
            await self._ended.wait()

    async def clear_playout(self, participant: RemoteParticipant, reason: str | None = None) -> None:
        """Stops what a participant says: discards what has not been played of its ahead tracks."""
        for publication in list(participant.track_publications.values()):
            if publication.mode == "ahead":
                data = {"track": publication.sid} | ({"reason": reason} if reason else {})
                await self.local_participant.session.requests.request("playout.clear", data)

    async def request(self, type_: str, data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Any request of docs/protocol/requests.md, for what this library has no method for."""
        return await self.local_participant.session.requests.request(type_, data)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.disconnect()

    async def _open(self, url: str, token: str, options: RoomOptions) -> None:
        if self._session is not None:
            raise ConnectError(ConnectFailure.REFUSED, "the room object was connected already; create another one")
        methods = self.local_participant.rpc_methods
        session = RoomSession(GatewayAddress.parse(url), token, options, self.local_participant, methods, self._emit)
        self._session = session
        methods.connected = lambda: session.socket.refusal is None
        methods.respond = lambda answer: session.requests.notify("rpc.response", answer)
        self.local_participant.attach(session)
        try:
            await session.socket.open()
        except BaseException:
            self._finish()
            raise
        self._hub.start()

    def _emit(self, event: RoomEvent) -> None:
        self._hub.emit(event)
        if isinstance(event, Disconnected):
            self._finish()

    def _finish(self) -> None:
        self._ended.set()
        self._hub.end()
