"""Calls between users and assistants, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .http import HTTPClient, TokenSource, segment
from .paging import pages
from .records import decode, decode_list


@dataclass(frozen=True, slots=True)
class CallMember:
    """A party of a call. `state` is `invited`, `joined` or `left`."""

    party: str
    status: str
    state: str = "left"
    held: bool = False
    muted: bool = False
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call; `status` is `started`, `ringing` or `answered`, and how it has ended afterwards."""

    id: str
    room: str
    seq: int
    status: str
    caller: str
    caller_name: str = ""
    metadata: str = ""
    members: list[CallMember] = field(default_factory=list)
    started_at: datetime | None = None
    answered_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CallAccess:
    """A call, and what admits to its room: absent if the call has ended, because everyone was busy."""

    call: Call
    livekit_url: str | None = None
    livekit_token: str | None = None
    room_name: str | None = None


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that the user has left, with the user's own status."""

    id: str
    caller: str
    status: str
    started_at: datetime
    ended_at: datetime
    caller_name: str = ""
    members: list[CallMember] = field(default_factory=list)
    answered_at: datetime | None = None


class CallService:
    """The calls of a user. A backend or a bot calls this way; devices that ring have a channel."""

    def __init__(self, http: HTTPClient, token: TokenSource) -> None:
        self._http = http
        self._token = token

    async def start(
        self,
        to: list[str],
        *,
        caller_name: str | None = None,
        metadata: str | None = None,
        idempotency_key: str | None = None,
    ) -> CallAccess:
        """Calls others: ids, e-mail addresses, `@handle` or `assistant:<id>`."""
        body: dict[str, Any] = {"to": to}
        if caller_name is not None:
            body["caller_name"] = caller_name
        if metadata is not None:
            body["metadata"] = metadata
        data = await self._http.json(
            "POST", "/v1/calls", token=await self._token(), body=body, idempotency_key=idempotency_key
        )
        return decode(CallAccess, data)

    async def current(self) -> list[Call]:
        """The calls that the user is invited to or has joined, oldest first."""
        return decode_list(Call, await self._http.json("GET", "/v1/calls", token=await self._token()))

    async def get(self, call_id: str) -> Call:
        """A call, up to two minutes after its end."""
        data = await self._http.json("GET", f"/v1/calls/{segment(call_id)}", token=await self._token())
        return decode(Call, data["call"])

    async def answer(self, call_id: str) -> CallAccess:
        """Answers a call."""
        return decode(CallAccess, await self._post(call_id, "answer"))

    async def join(self, call_id: str) -> CallAccess:
        """Another token for the room of a call that the user is in."""
        return decode(CallAccess, await self._post(call_id, "join"))

    async def reject(self, call_id: str, *, busy: bool = False, reason: str | None = None) -> Call:
        """Declines a call."""
        body = {"busy": busy} | ({"reason": reason} if reason else {})
        return await self._change(call_id, "reject", body)

    async def cancel(self, call_id: str) -> Call:
        """Withdraws a call that nobody has answered."""
        return await self._change(call_id, "cancel")

    async def hang_up(self, call_id: str) -> Call:
        """Leaves a call."""
        return await self._change(call_id, "hangup")

    async def hold(self, call_id: str, held: bool = True) -> Call:
        """Holds a call or resumes it."""
        return await self._change(call_id, "hold" if held else "resume")

    async def mute(self, call_id: str, muted: bool = True) -> Call:
        """Mutes or unmutes the user."""
        return await self._change(call_id, "mute", {"muted": muted})

    async def invite(self, call_id: str, to: list[str]) -> Call:
        """Invites more parties."""
        return await self._change(call_id, "invite", {"to": to})

    def history(self, limit: int = 50) -> AsyncIterator[PastCall]:
        """Past calls, the last ended first; `limit` is the size of a page."""
        return pages(self._http, self._token, "/v1/calls/history", PastCall, limit)

    async def _change(self, call_id: str, what: str, body: Any = None) -> Call:
        return decode(Call, (await self._post(call_id, what, body))["call"])

    async def _post(self, call_id: str, what: str, body: Any = None) -> Any:
        path = f"/v1/calls/{segment(call_id)}/{what}"
        return await self._http.json("POST", path, token=await self._token(), body=body)
