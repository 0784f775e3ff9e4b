"""Administration of rooms, and the assistants that are sent to them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .access_token import AccessToken, VideoGrants
from .http import HTTPClient, segment
from .records import decode, decode_list


@dataclass(frozen=True, slots=True)
class RoomSummary:
    """An open room. `created_at` is in seconds since 1970."""

    sid: str
    name: str
    metadata: str = ""
    created_at: int = 0
    max_participants: int = 0
    num_participants: int = 0
    num_tracks: int = 0
    num_speakers: int = 0


@dataclass(frozen=True, slots=True)
class Track:
    """A published track."""

    sid: str
    name: str = ""
    source: str = ""
    mode: str = "live"
    muted: bool = False


@dataclass(frozen=True, slots=True)
class RoomParticipant:
    """A participant of a room, hidden ones included."""

    sid: str
    identity: str
    name: str = ""
    kind: str = "standard"
    metadata: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    joined_at: int = 0
    tracks: list[Track] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RoomDetail:
    """A room with its participants."""

    room: RoomSummary
    participants: list[RoomParticipant] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RoomLog:
    """The latest events of a room, without what was said; `removed` counts earlier ones."""

    events: list[dict[str, Any]]
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """An assistant that is sent to a room.

    Attributes:
        status: `pending`, `offered`, `accepted`, `running`, `succeeded`, `failed` or `cancelled`.
        reason: `session`, `token`, `rule`, `request` or `call`.
        attempt: counts acceptances.
    """

    id: str
    room: str
    assistant: str
    metadata: str = ""
    reason: str = "request"
    status: str = "pending"
    attempt: int = 0
    call: str | None = None
    error: str | None = None
    traceparent: str | None = None


class RoomService:
    """Rooms and participants. Each request signs a token with just the grant that it needs."""

    def __init__(self, http: HTTPClient, api_key: str, api_secret: str) -> None:
        self._http = http
        self._key, self._secret = api_key, api_secret

    async def list_rooms(self) -> list[RoomSummary]:
        """All open rooms."""
        data = await self._http.json("GET", "/v1/rooms", token=self._token(VideoGrants(room_list=True)))
        return decode_list(RoomSummary, data.get("rooms"))

    async def get_room(self, room: str) -> RoomDetail:
        """A room and its participants; `APIError` with status 404 if it is not open."""
        return decode(RoomDetail, await self._admin("GET", room))

    async def update_room_metadata(self, room: str, metadata: str) -> None:
        """Changes a room's metadata."""
        await self._admin("PATCH", room, body={"metadata": metadata})

    async def delete_room(self, room: str) -> None:
        """Ends a room and disconnects its participants."""
        token = self._token(VideoGrants(room_create=True))
        await self._http.json("DELETE", f"/v1/rooms/{segment(room)}", token=token)

    async def remove_participant(self, room: str, identity: str) -> None:
        """Disconnects a participant."""
        await self._admin("DELETE", room, f"/participants/{segment(identity)}")

    async def mute_published_track(self, room: str, track_sid: str, muted: bool) -> None:
        """Mutes a track, or reverts a mute of the backend."""
        await self._admin("PATCH", room, f"/tracks/{segment(track_sid)}", body={"muted": muted})

    async def room_log(self, room: str) -> RoomLog:
        """The latest events of a room."""
        return decode(RoomLog, await self._admin("GET", room, "/events"))

    async def _admin(self, method: str, room: str, rest: str = "", body: Any = None) -> Any:
        token = self._token(VideoGrants(room_admin=True, room=room))
        return await self._http.json(method, f"/v1/rooms/{segment(room)}{rest}", token=token, body=body)

    def _token(self, grants: VideoGrants) -> str:
        return AccessToken(self._key, self._secret).with_grants(grants).with_ttl(600).to_jwt()


class AgentDispatchService:
    """Sends assistants to rooms. A room need not be open, and has at most one job of an assistant."""

    def __init__(self, http: HTTPClient, api_key: str, api_secret: str) -> None:
        self._http = http
        self._key, self._secret = api_key, api_secret

    async def create_dispatch(self, room: str, agent_name: str, metadata: str = "") -> Job:
        """Sends an assistant to a room, and returns its job: a new one, or the one it has already."""
        body = {"assistant": agent_name} | ({"metadata": metadata} if metadata else {})
        return decode(Job, (await self._send("POST", room, body=body))["job"])

    async def list_dispatch(self, room: str) -> list[Job]:
        """The jobs of a room, up to two minutes after their end."""
        return decode_list(Job, (await self._send("GET", room)).get("jobs"))

    async def delete_dispatch(self, dispatch_id: str, room: str) -> Job:
        """Ends a job and removes its assistant."""
        return decode(Job, (await self._send("DELETE", room, f"/{segment(dispatch_id)}"))["job"])

    async def _send(self, method: str, room: str, rest: str = "", body: Any = None) -> Any:
        grants = VideoGrants(room_admin=True, room=room)
        token = AccessToken(self._key, self._secret).with_grants(grants).with_ttl(600).to_jwt()
        return await self._http.json(method, f"/v1/rooms/{segment(room)}/agents{rest}", token=token, body=body)
