"""Definitions of assistants."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from .access_token import AccessToken, VideoGrants
from .http import HTTPClient, segment
from .records import decode, decode_list


@dataclass(slots=True)
class Tool:
    """A function of a backend that the assistant calls. `parameters` is the text of a JSON Schema."""

    name: str
    url: str
    description: str | None = None
    parameters: str | None = None
    timeout_ms: int | None = None


@dataclass(slots=True)
class AssistantDefinition:
    """How an assistant speaks and what it can do (docs/protocol/assistants.md, "Definition")."""

    id: str
    name: str | None = None
    instructions: str | None = None
    greetings: list[str] | None = None
    voice: str | None = None
    language: str | None = None
    providers: dict[str, Any] | None = None
    tools: list[Tool] | None = None
    quick_commands: list[str] | None = None
    onboarding: list[str] | None = None
    filler_after_ms: int | None = None
    widget: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ListedAssistant:
    """A definition and where it comes from: `built_in`, `configuration` or `store`."""

    source: str
    assistant: AssistantDefinition


@dataclass(frozen=True, slots=True)
class AssistantCard:
    """What clients may see of an assistant."""

    id: str
    name: str = ""
    voice: str = ""
    language: str = ""
    quick_commands: list[str] = field(default_factory=list)
    onboarding: list[str] = field(default_factory=list)
    widget: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that users and assistants choose from."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool."""

    status: int
    body: str


class AssistantService:
    """Assistants, for administrators. Changing definitions needs a gateway with a store."""

    def __init__(self, http: HTTPClient, api_key: str, api_secret: str) -> None:
        self._http = http
        self._key, self._secret = api_key, api_secret

    async def list_assistants(self) -> list[ListedAssistant]:
        """All assistants."""
        data = await self._http.json("GET", "/v1/assistants", token=self._token())
        return decode_list(ListedAssistant, data.get("assistants"))

    async def get(self, assistant_id: str) -> AssistantCard:
        """What clients may see of an assistant."""
        return decode(AssistantCard, await self._http.json("GET", f"/v1/assistants/{segment(assistant_id)}"))

    async def put(self, definition: AssistantDefinition) -> AssistantDefinition:
        """Stores a definition; it applies to jobs that are accepted from then on."""
        body = _without_none(asdict(definition))
        path = f"/v1/assistants/{segment(definition.id)}"
        return decode(AssistantDefinition, await self._http.json("PUT", path, token=self._token(), body=body))

    async def delete(self, assistant_id: str) -> None:
        """Deletes a stored definition; the configuration's, if any, applies again."""
        await self._http.json("DELETE", f"/v1/assistants/{segment(assistant_id)}", token=self._token())

    async def voices(self) -> list[Voice]:
        """The voices."""
        return decode_list(Voice, (await self._http.json("GET", "/v1/voices")).get("voices"))

    async def call_tool(
        self,
        assistant_id: str,
        name: str,
        arguments: dict[str, Any],
        *,
        room: str | None = None,
        call_id: str | None = None,
    ) -> ToolResult:
        """Calls a tool as the assistant, and waits for its result.

        Raises:
            APIError: the tool failed; `retryable` says whether to try again.
        """
        token = assistant_token(assistant_id, self._key, self._secret)
        body = {"arguments": arguments} | _without_none({"room": room, "call_id": call_id})
        path = f"/v1/assistants/{segment(assistant_id)}/tools/{segment(name)}"
        return decode(ToolResult, await self._http.json("POST", path, token=token, body=body))

    def _token(self) -> str:
        return administrator_token(self._key, self._secret)


def administrator_token(key: str, secret: str) -> str:
    """A token for the routes of administrators."""
    return AccessToken(key, secret).with_grants(VideoGrants(room_create=True)).with_ttl(600).to_jwt()


def assistant_token(assistant_id: str, key: str, secret: str, ttl: int = 3_600) -> str:
    """A token of an assistant, for its channel and its routes."""
    token = AccessToken(key, secret).with_identity(f"assistant:{assistant_id}")
    return token.with_grants(VideoGrants(agent=True)).with_ttl(ttl).to_jwt()


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
