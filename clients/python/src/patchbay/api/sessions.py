"""Sessions of a user with an assistant: histories, summaries, recordings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from .http import HTTPClient, TokenSource, segment
from .paging import pages
from .records import decode

Context = Literal["phone", "tablet", "watch", "desktop", "web", "carplay"]


@dataclass(frozen=True, slots=True)
class SessionAccess:
    """Admits to the room of a session: `Room.connect(access.url, access.token)`."""

    session_id: str
    livekit_url: str
    livekit_token: str
    room_name: str
    logged: bool = False

    @property
    def url(self) -> str:
        """The gateway's URL."""
        return self.livekit_url

    @property
    def token(self) -> str:
        """The room token."""
        return self.livekit_token


@dataclass(frozen=True, slots=True)
class Session:
    """A session. `summary_status` is `none`, `pending`, `ready` or `failed`."""

    id: str
    user_id: str
    context: str
    started_at: datetime
    ended_at: datetime | None = None
    language: str | None = None
    logging_enabled_snapshot: bool = False
    summary_status: str = "none"


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said or written; `speaker` is `user` or `assistant`."""

    id: str
    timestamp: datetime
    speaker: str
    text: str
    audio_ref: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A session's summary. `provisional`: the language model has failed so far."""

    id: str
    title: str
    summary_text: str
    created_at: datetime
    action_items: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    provisional: bool = False


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """A session with its summary and turns."""

    session: Session
    summary: Summary | None = None
    turns: list[Turn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session in a list."""

    id: str
    title: str
    started_at: datetime
    summary_snippet: str = ""
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TurnReceipt:
    """`stored` is false if the user has not allowed that conversations are kept."""

    id: str
    stored: bool


class SessionService:
    """The sessions of a user. Needs a gateway with a store."""

    def __init__(self, http: HTTPClient, token: TokenSource) -> None:
        self._http = http
        self._token = token

    async def start(
        self,
        context: Context,
        *,
        assistant_id: str | None = None,
        client_context: str | None = None,
        voice: str | None = None,
        language: str | None = None,
        idempotency_key: str | None = None,
    ) -> SessionAccess:
        """Starts a session, with an assistant if one is named. The same key returns the same session for a day."""
        optional = {
            "assistant_id": assistant_id,
            "client_context": client_context,
            "voice": voice,
            "language": language,
        }
        body = {"context": context} | {name: value for name, value in optional.items() if value is not None}
        data = await self._http.json(
            "POST", "/v1/sessions/start", token=await self._token(), body=body, idempotency_key=idempotency_key
        )
        return decode(SessionAccess, data)

    async def join(self, session_id: str, context: Context) -> SessionAccess:
        """Admits another device of the user to a running session."""
        path = f"/v1/sessions/{segment(session_id)}/token"
        data = await self._http.json("POST", path, token=await self._token(), body={"context": context})
        return decode(SessionAccess, data)

    async def end(self, session_id: str) -> Session:
        """Ends a session, and disconnects everyone in its room; idempotent."""
        body = {"session_id": session_id}
        return decode(Session, await self._http.json("POST", "/v1/sessions/end", token=await self._token(), body=body))

    async def get(self, session_id: str) -> SessionDetail:
        """A session with its summary and turns."""
        path = f"/v1/sessions/{segment(session_id)}"
        return decode(SessionDetail, await self._http.json("GET", path, token=await self._token()))

    def list_sessions(self, limit: int = 50) -> AsyncIterator[SessionLine]:
        """All sessions, newest first; `limit` is the size of a page."""
        return pages(self._http, self._token, "/v1/sessions", SessionLine, limit)

    async def add_turn(
        self,
        session_id: str,
        speaker: Literal["user", "assistant"],
        text: str,
        *,
        timestamp: datetime | None = None,
        audio_ref: str | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        """Adds a turn. Final transcripts of the room become turns by themselves."""
        at = (timestamp or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body = {"speaker": speaker, "text": text, "timestamp": at} | ({"audio_ref": audio_ref} if audio_ref else {})
        path = f"/v1/sessions/{segment(session_id)}/turn"
        data = await self._http.json(
            "POST", path, token=await self._token(), body=body, idempotency_key=idempotency_key
        )
        return decode(TurnReceipt, data)

    async def export(self, session_id: str, format: Literal["txt", "json", "vtt", "srt", "pdf"] = "json") -> bytes:  # noqa: A002
        """A session as a file."""
        path = f"/v1/sessions/{segment(session_id)}/export"
        response = await self._http.send("GET", path, token=await self._token(), query={"format": format})
        return response.content

    async def recordings(self, session_id: str) -> list[str]:
        """The names of a session's recordings."""
        path = f"/v1/sessions/{segment(session_id)}/recordings"
        names: list[str] = await self._http.json("GET", path, token=await self._token())
        return names

    async def recording(self, session_id: str, name: str) -> bytes:
        """A recording, as Ogg Opus."""
        path = f"/v1/sessions/{segment(session_id)}/recordings/{segment(name)}"
        return (await self._http.send("GET", path, token=await self._token())).content

    async def delete(self, session_id: str) -> None:
        """Deletes a session and all its data."""
        await self._http.json("DELETE", f"/v1/sessions/{segment(session_id)}", token=await self._token())

    async def delete_all(self) -> None:
        """Deletes all sessions of the user."""
        await self._http.json("DELETE", "/v1/sessions", token=await self._token())
