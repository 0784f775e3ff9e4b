"""What this client does in a room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from ..errors import RoomEndedError
from ..protocol.models import ParticipantInfo, Permissions, text
from ..protocol.transcript import TranscriptSegment
from .data import payload_fields
from .participant import Participant
from .rpc import RpcHandler, RpcMethods
from .track import LocalAudioTrack, LocalTrackPublication, TrackPublication, TrackPublishOptions

if TYPE_CHECKING:
    from .session import RoomSession

H = TypeVar("H", bound=RpcHandler)

# LiveKit's default for `perform_rpc`.
_RPC_TIMEOUT = 10.0


class LocalParticipant(Participant):
    """This client's participant. All requests raise `RequestError` if they are refused or cannot be sent."""

    def __init__(self) -> None:
        super().__init__(ParticipantInfo("", "", "", "standard", "", {}, 0, Permissions(), None))
        self._session: RoomSession | None = None
        self.rpc_methods = RpcMethods()

    @property
    def session(self) -> RoomSession:
        """The connection.

        Raises:
            RoomEndedError: the room was not connected yet.
        """
        if self._session is None:
            raise RoomEndedError("the room is not connected; call `await room.connect(url, token)` first")
        return self._session

    def attach(self, session: RoomSession) -> None:
        """The room connects."""
        self._session = session

    # Tracks.

    @property
    def track_publications(self) -> dict[str, LocalTrackPublication]:
        """Published tracks by sid."""
        if self._session is None:
            return {}
        return {publication.sid: publication for publication in self._session.tracks.publications}

    @property
    def publications(self) -> list[TrackPublication]:
        """Published tracks."""
        return list(self.track_publications.values())

    async def publish_track(
        self, track: LocalAudioTrack, options: TrackPublishOptions | None = None
    ) -> LocalTrackPublication:
        """Publishes a track: what its source captures is sent from now on."""
        return await self.session.tracks.publish(track, options or TrackPublishOptions())

    async def unpublish_track(self, track_sid: str) -> None:
        """Unpublishes a track."""
        await self.session.tracks.unpublish(track_sid)

    # Messages.

    async def publish_data(
        self,
        payload: bytes | str,
        *,
        reliable: bool = True,
        destination_identities: Sequence[str] = (),
        topic: str = "",
    ) -> None:
        """Sends data, at most 64,000 bytes (48,000 if they are no text).

        Args:
            payload: text, or bytes.
            reliable: accepted for LiveKit's sake; all data is reliable over WebSocket.
            destination_identities: who gets it; by default all others.
            topic: what it is about.
        """
        data = {"topic": topic, "to": list(destination_identities)} | payload_fields(payload)
        await self.session.requests.request("data.send", data)

    async def send_text(self, text_: str, *, topic: str = "lk.chat", destination_identities: Sequence[str] = ()) -> str:
        """Sends text and returns its id. With the topic `lk.chat` it becomes part of a session's history."""
        reply = await self.session.requests.request(
            "text.send", {"text": text_, "topic": topic, "to": list(destination_identities)}
        )
        return text(reply, "id", "")

    async def publish_dtmf(self, *, digit: str, code: int | None = None) -> None:
        """Presses keys: 1 to 64 of `0` to `9`, `*`, `#`, `A` to `D`, and `w` for a pause.

        Args:
            digit: one key or several.
            code: accepted for LiveKit's sake; follows from `digit`.
        """
        await self.session.requests.request("dtmf.send", {"digits": digit})

    async def publish_transcription(self, segment: TranscriptSegment) -> None:
        """Sends a segment of transcript, or a revision of one.

        An agent's segments with `words` and their times tell after a clear which words were heard.
        """
        await self.session.send_segment(segment)

    # Procedures.

    async def perform_rpc(
        self,
        *,
        destination_identity: str,
        method: str,
        payload: str = "",
        response_timeout: float | None = None,
    ) -> str:
        """Calls a procedure of another participant and returns its response.

        Raises:
            RpcError: it failed, or its callee is not there.
        """
        seconds = _RPC_TIMEOUT if response_timeout is None else response_timeout
        reply = await self.session.requests.request(
            "rpc.request",
            {
                "to": destination_identity,
                "method": method,
                "payload": payload,
                "timeout_ms": min(max(int(seconds * 1_000), 1), 60_000),
            },
            # The gateway tells that the callee is late up to 0.5 s later.
            timeout=seconds + 2.0,
        )
        return text(reply, "payload", "")

    @overload
    def register_rpc_method(self, method_name: str, handler: H) -> H: ...
    @overload
    def register_rpc_method(self, method_name: str, handler: None = None) -> Callable[[H], H]: ...
    def register_rpc_method(self, method_name: str, handler: H | None = None) -> H | Callable[[H], H]:
        """Registers a procedure that others may call, as a call or as a decorator.

        Args:
            method_name: its name.
            handler: takes `RpcInvocationData` and returns the response, at most 15,360 bytes, or an awaitable of it.
                It raises `RpcError` to choose code and message of a failure.
        """
        if handler is not None:
            self.rpc_methods.register(method_name, handler)
            return handler

        def register(decorated: H) -> H:
            self.rpc_methods.register(method_name, decorated)
            return decorated

        return register

    def unregister_rpc_method(self, method: str) -> None:
        """Removes a procedure."""
        self.rpc_methods.unregister(method)

    # State.

    async def set_metadata(self, metadata: str) -> None:
        """Changes the metadata, if the token permits it."""
        await self.session.requests.request("participant.update", {"metadata": metadata})

    async def set_name(self, name: str) -> None:
        """Changes the name, if the token permits it."""
        await self.session.requests.request("participant.update", {"name": name})

    async def set_attributes(self, attributes: dict[str, str]) -> None:
        """Merges attributes, if the token permits it; an empty value deletes its key."""
        await self.session.requests.request("participant.update", {"attributes": attributes})

    async def set_agent_state(self, state: str) -> None:
        """Announces the state of an agent. With an ahead track, `speaking` follows playout by itself."""
        await self.session.set_agent_state(state)

    async def set_hold(self, held: bool) -> None:
        """Puts this participant on hold, or takes it off: meanwhile it neither sends nor receives audio."""
        await self.session.set_held(held)
