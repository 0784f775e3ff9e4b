"""Speech clips: texts that the gateway speaks once and keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..errors import APIError
from .http import HTTPClient, TokenSource, segment
from .records import decode, decode_list

_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ClipWord:
    """A word and its times from the beginning of the audio."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip; `status` is `queued`, `generating`, `ready`, `failed` or `cancelled`, `progress` 0 to 100."""

    id: str
    status: str
    progress: int = 0
    text: str = ""
    voice: str = ""
    provider: str = ""
    created_at: datetime | None = None
    mime_type: str | None = None
    duration_ms: int | None = None
    words: list[ClipWord] | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SpeechVoice:
    """A voice of a provider."""

    id: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class SpeechProvider:
    """Who speaks clips."""

    id: str
    voices: list[SpeechVoice]


class SpeechService:
    """The clips of a user; those of administrators are `PatchbayAPI.speech`. Needs a gateway with a store."""

    def __init__(self, http: HTTPClient, token: TokenSource) -> None:
        self._http = http
        self._token = token

    async def create(
        self, text: str, *, voice: str | None = None, provider: str | None = None, assistant: str | None = None
    ) -> Clip:
        """Asks for a clip; it is `ready` at once if there is one already."""
        return decode(Clip, await self._send("POST", "", _wish(text, voice, provider, assistant)))

    async def generate(
        self,
        text: str,
        *,
        voice: str | None = None,
        provider: str | None = None,
        assistant: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Clip:
        """Asks for a clip and waits until it is ready. A cancellation withdraws the request.

        Raises:
            APIError: the text could not be spoken.
        """
        clip = await self.create(text, voice=voice, provider=provider, assistant=assistant)
        reported = -1
        try:
            while clip.status in ("queued", "generating"):
                if progress is not None and clip.progress > reported:
                    reported = clip.progress
                    progress(reported)
                await asyncio.sleep(_POLL_SECONDS)
                clip = await self.get(clip.id)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.ensure_future(self._withdraw(clip.id)))
            raise
        if clip.status != "ready":
            raise APIError(200, f"clip_{clip.status}", clip.message or "the text could not be spoken; try again")
        if progress is not None:
            progress(100)
        return clip

    async def get(self, clip_id: str) -> Clip:
        """A clip."""
        return decode(Clip, await self._send("GET", f"/{segment(clip_id)}"))

    async def audio(self, clip_id: str) -> bytes:
        """A clip's audio: Ogg Opus, mono."""
        path = f"/v1/speech/{segment(clip_id)}/audio"
        return (await self._http.send("GET", path, token=await self._token())).content

    async def play(self, clip_id: str, room: str) -> None:
        """Plays a clip into an open room; returns when it has started."""
        await self._send("POST", f"/{segment(clip_id)}/play", {"room": room})

    async def delete(self, clip_id: str) -> None:
        """Withdraws the request for a clip, or forgets it."""
        await self._send("DELETE", f"/{segment(clip_id)}")

    async def list_clips(self, limit: int = 50) -> list[Clip]:
        """The newest clips."""
        response = await self._http.send("GET", "/v1/speech", token=await self._token(), query={"limit": limit})
        return decode_list(Clip, response.json())

    async def find(self, text: str, *, voice: str | None = None, provider: str | None = None) -> Clip | None:
        """The clip for a text; None if there is none. Generates nothing."""
        clips = decode_list(Clip, await self._send("POST", "/lookup", _wish(text, voice, provider, None)))
        return clips[0] if clips else None

    async def providers(self) -> list[SpeechProvider]:
        """Who speaks clips, and with which voices."""
        return decode_list(SpeechProvider, (await self._send("GET", "/providers")).get("providers"))

    async def _withdraw(self, clip_id: str) -> None:
        try:
            await self.delete(clip_id)
        except APIError:
            return

    async def _send(self, method: str, rest: str, body: Any = None) -> Any:
        return await self._http.json(method, f"/v1/speech{rest}", token=await self._token(), body=body)


def _wish(text: str, voice: str | None, provider: str | None, assistant: str | None) -> dict[str, str]:
    wish = {"text": text, "voice": voice, "provider": provider, "assistant": assistant}
    return {name: value for name, value in wish.items() if value is not None}
