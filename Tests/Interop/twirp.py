"""LiveKit's server API from two sides: the unmodified package `livekit-api` (protobuf), and JSON over HTTP.

Every failure names the request, what was expected and what was seen.
"""

import contextlib
from dataclasses import dataclass

import aiohttp
import yarl
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from livekit import api
from livekit.protocol import agent, agent_dispatch, egress, models, room

from harness import World, expect, expect_equal, json

STATUS = {
    "unauthenticated": 401, "permission_denied": 403, "not_found": 404, "bad_route": 404, "invalid_argument": 400, "malformed": 400,
    "already_exists": 409, "resource_exhausted": 429, "failed_precondition": 412, "unimplemented": 501, "internal": 500,
    "unavailable": 503, "canceled": 408,
}

# What each method answers.
ANSWERS: dict[str, type[Message]] = {
    "RoomService/CreateRoom": models.Room,
    "RoomService/ListRooms": room.ListRoomsResponse,
    "RoomService/DeleteRoom": room.DeleteRoomResponse,
    "RoomService/ListParticipants": room.ListParticipantsResponse,
    "RoomService/GetParticipant": models.ParticipantInfo,
    "RoomService/RemoveParticipant": room.RemoveParticipantResponse,
    "RoomService/MutePublishedTrack": room.MuteRoomTrackResponse,
    "RoomService/UpdateParticipant": models.ParticipantInfo,
    "RoomService/UpdateSubscriptions": room.UpdateSubscriptionsResponse,
    "RoomService/SendData": room.SendDataResponse,
    "RoomService/UpdateRoomMetadata": models.Room,
    "RoomService/PerformRpc": room.PerformRpcResponse,
    "AgentDispatchService/CreateDispatch": agent_dispatch.AgentDispatch,
    "AgentDispatchService/DeleteDispatch": agent_dispatch.AgentDispatch,
    "AgentDispatchService/ListDispatch": agent_dispatch.ListAgentDispatchResponse,
    "Egress/StartRoomCompositeEgress": egress.EgressInfo,
    "Egress/StopEgress": egress.EgressInfo,
    "Egress/ListEgress": egress.ListEgressResponse,
}


@dataclass
class Reply:
    """The response to `request`, as it came."""

    request: str
    status: int
    content_type: str | None
    body: bytes

    def json(self):
        expect_equal(self.content_type, "application/json", f"{self.request}: Content-Type of {self.body[:200]!r}")
        try:
            return json.loads(self.body)
        except ValueError:
            raise AssertionError(f"{self.request}: {self.body[:200]!r} instead of JSON") from None

    def answer(self):
        """The JSON of a success."""
        expect_equal(self.status, 200, f"{self.request}: {self.body[:300]!r}; status")
        return self.json()

    def expect_error(self, code: str, *, message: str = "", status: int | None = None) -> dict:
        """Expects an error in Twirp's format, whatever the format of the request."""
        error = self.json()
        expect(set(error) in ({"code", "msg"}, {"code", "msg", "meta"}), f"{self.request}: {error!r} instead of code, msg and meta")
        expect_equal((error["code"], self.status), (code, status or STATUS[code]), f"{self.request}: code and status of {error!r}")
        expect(message in error["msg"], f"{self.request}: msg {error['msg']!r} instead of one with {message!r}")
        expect(isinstance(error["msg"], str) and error["msg"], f"{self.request}: no msg in {error!r}")
        return error


class Official:
    """LiveKit's client, unmodified. Errors carry a note that names their request."""

    def __init__(self, client: api.LiveKitAPI):
        self.room, self.agent_dispatch, self.egress = map(_Named, (client.room, client.agent_dispatch, client.egress))


class _Named:
    def __init__(self, service):
        self._service = service

    def __getattr__(self, method: str):
        call = getattr(self._service, method)

        async def named(*arguments):
            try:
                return await call(*arguments)
            except api.TwirpError as failure:
                shown = ", ".join(f"{{{one_line(one)}}}" if isinstance(one, Message) else repr(one) for one in arguments)
                failure.add_note(f"{method}({shown}), expected to succeed")
                raise

        return named


class ServerAPI:
    """The server API of the gateway under test. `official` is LiveKit's client, which signs a token for each request."""

    def __init__(self, world: World, session: aiohttp.ClientSession):
        self.world, self.session = world, session
        self.official = Official(api.LiveKitAPI(world.url, world.key, world.secret, session=session))
        self.base = world.url.replace("ws", "http", 1)

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, world: World, source: str | None = None):
        """`source`: the local address to connect from."""
        connector = aiohttp.TCPConnector(ssl=world.tls, local_addr=(source, 0) if source else None)
        # As in livekit-api: an answer takes at most ten seconds.
        async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=10), trust_env=False) as session:
            yield cls(world, session)

    def with_token(self, token: str) -> Official:
        """LiveKit's client with one token for all requests."""
        return Official(api.LiveKitAPI(self.world.url, token=token, session=self.session))

    def admin(self, room: str | None = None) -> str:
        return self.world.service_token(room_admin=True, room=self.world.room if room is None else room)

    async def send(
        self, method: str, body: bytes, *, token: str | None = None, content_type: str | None = "application/json",
        path: str | None = None, verb: str = "POST", headers: dict | None = None,
    ) -> Reply:
        """Sends bytes. `method` is such as `RoomService/CreateRoom`, unless there is a `path`."""
        headers = dict(headers or {})
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if content_type is not None:
            headers["Content-Type"] = content_type
        path = f"/twirp/livekit.{method}" if path is None else path
        skipped = ["Content-Type"] if content_type is None else []
        async with self.session.request(
            verb, yarl.URL(self.base + path, encoded=True), data=None if verb == "GET" else body, headers=headers, skip_auto_headers=skipped
        ) as response:
            request = f"{verb} {path} ({content_type}) {body[:160]!r}"
            return Reply(request, response.status, response.headers.get("Content-Type"), await response.read())

    async def json(self, method: str, body, token: str | None) -> Reply:
        return await self.send(method, json.dumps(body).encode(), token=token)

    async def protobuf(self, method: str, request: Message, token: str | None) -> Message:
        """Sends a message with a token of the caller's choice, and expects success."""
        reply = await self.send(method, request.SerializeToString(), token=token, content_type="application/protobuf")
        expect_equal(
            (reply.status, reply.content_type), (200, "application/protobuf"),
            f"{method} {{{one_line(request)}}}: {reply.body[:300]!r}; status and Content-Type")
        return ANSWERS[method].FromString(reply.body)

    async def same_answer(self, method: str, request: Message, token: str, *, ignoring: tuple[str, ...] = ()) -> Message:
        """Asks in protobuf and in JSON, with names in snake_case and in camelCase, and compares the answers.

        `ignoring`: members whose values differ between two questions.
        """
        answer = await self.protobuf(method, request, token)
        expected = documented_json(answer)
        for preserving in (True, False):
            reply = await self.json(method, MessageToDict(request, preserving_proto_field_name=preserving), token)
            faults = differences(reply.answer(), expected, set(ignoring))
            expect(not faults, f"{reply.request}: {'; '.join(faults[:8])}")
        return answer


def one_line(message: Message) -> str:
    return str(message).replace("\n", " ").strip()[:160]


async def expect_failure(code: str, what: str, request, *, message: str = "") -> api.TwirpError:
    """Expects a request of LiveKit's client to fail. `what` names it."""
    try:
        answer = await request
    except api.TwirpError as failure:
        expect_equal((failure.code, failure.status), (code, STATUS[code]), f"{what}: code and status ({failure.message!r})")
        expect(message in failure.message, f"{what}: msg {failure.message!r} instead of one with {message!r}")
        return failure
    raise AssertionError(f"{what}: answered {{{one_line(answer) if isinstance(answer, Message) else answer}}} instead of {code}")


def documented_json(message: Message) -> dict:
    """Twirp's JSON of a message: names in snake_case, zero values, and null for messages that are not set."""
    shown = MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    return _with_nulls(message, shown)


def _with_nulls(message: Message, shown: dict) -> dict:
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        value = getattr(message, field.name)
        if field.is_repeated:
            for item, entry in zip(value, shown[field.name], strict=True):
                _with_nulls(item, entry)
        elif message.HasField(field.name):
            _with_nulls(value, shown[field.name])
        elif field.containing_oneof is None:
            shown[field.name] = None
    return shown


def differences(found, expected, ignoring: set[str], path: str = "") -> list[str]:
    """Where two JSON values differ."""
    if isinstance(found, dict) and isinstance(expected, dict):
        faults = [f"{path}.{name} is missing" for name in expected.keys() - found.keys()]
        faults += [f"{path}.{name} is {found[name]!r}, which the message does not have" for name in found.keys() - expected.keys()]
        for name in sorted((found.keys() & expected.keys()) - ignoring):
            faults += differences(found[name], expected[name], ignoring, f"{path}.{name}")
        return faults
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [
            fault for index, pair in enumerate(zip(found, expected, strict=True))
            for fault in differences(*pair, ignoring, f"{path}[{index}]")
        ]
    same = found == expected and type(found) is type(expected)
    return [] if same else [f"{path or 'the answer'} is {found!r} instead of {expected!r}"]


__all__ = [
    "ANSWERS", "Reply", "ServerAPI", "agent", "agent_dispatch", "documented_json", "egress", "expect_failure", "models", "one_line", "room",
]
