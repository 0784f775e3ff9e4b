"""Tokens, webhooks and typed results, without a gateway."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from patchbay.agents.attendance import Attendance
from patchbay.agents.job import Turn, TurnReports
from patchbay.agents.job_table import JobTable
from patchbay.api import AccessToken, APIError, Job, TokenError, TokenVerifier, VideoGrants, WebhookReceiver
from patchbay.api.access_token import sign
from patchbay.api.records import decode
from patchbay.connection.address import GatewayAddress
from patchbay.connection.disconnection import DisconnectReason
from patchbay.errors import ConnectError

KEY, SECRET = "key", "a secret of at least 32 characters"


def signed(**claims: Any) -> str:
    return sign({"iss": KEY, "exp": 4_000_000_000} | claims, SECRET)


def test_a_token_has_livekit_s_claims() -> None:
    token = (
        AccessToken(KEY, SECRET)
        .with_identity("alice")
        .with_name("Alice")
        .with_kind("agent")
        .with_text(False)
        .with_session("s1")
        .with_ttl(timedelta(minutes=1))
        .with_grants(VideoGrants(room_join=True, room="lobby", can_publish=False, can_publish_sources=["microphone"]))
    )
    claims = TokenVerifier(KEY, SECRET).verify(token.to_jwt())
    assert (claims.identity, claims.raw["name"], claims.raw["kind"]) == ("alice", "Alice", "agent")
    assert claims.video == {
        "roomJoin": True,
        "room": "lobby",
        "canPublish": False,
        "canSubscribe": True,
        "canPublishData": True,
        "canPublishSources": ["microphone"],
    }
    assert claims.raw["patchbay"] == {"text": False}
    assert claims.raw["session_id"] == "s1"
    assert claims.raw["exp"] - claims.raw["nbf"] == 60


def test_tokens_without_key_identity_or_room_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATCHBAY_API_KEY", raising=False)
    with pytest.raises(TokenError, match="PATCHBAY_API_KEY"):
        AccessToken()
    with pytest.raises(TokenError, match="with_identity"):
        AccessToken(KEY, SECRET).with_grants(VideoGrants(room_join=True, room="lobby")).to_jwt()
    with pytest.raises(TokenError, match=r"VideoGrants\.room"):
        AccessToken(KEY, SECRET).with_identity("alice").with_grants(VideoGrants(room_join=True)).to_jwt()


@pytest.mark.parametrize(
    ("token", "why"),
    [
        ("", "no token"),
        ("a.b", "no token"),
        ("a.b.c", "signature"),
        (signed()[:-2] + "xx", "signature"),
        (sign({"iss": "other", "exp": 4_000_000_000}, SECRET), "key other"),
        (sign({"iss": KEY, "exp": 1}, SECRET), "expired"),
        (sign({"iss": KEY, "exp": 4_000_000_000, "nbf": 3_999_999_999}, SECRET), "not valid yet"),
        (sign({"iss": KEY}, SECRET), "malformed"),
    ],
)
def test_bad_tokens_are_refused_with_the_reason(token: str, why: str) -> None:
    with pytest.raises(TokenError, match=why):
        TokenVerifier(KEY, SECRET).verify(token)


def test_a_webhook_counts_only_with_the_body_that_was_signed() -> None:
    body = json.dumps({"event": "call_answered", "id": "EV_1", "createdAt": "1763733600", "call": {"roomName": "r"}})
    token = signed(sha256=base64.b64encode(hashlib.sha256(body.encode()).digest()).decode())
    receiver = WebhookReceiver(TokenVerifier(KEY, SECRET))
    event = receiver.receive(body, token)
    assert (event.event, event.id, event.created_at, event.room_name) == ("call_answered", "EV_1", 1763733600, "r")
    with pytest.raises(TokenError, match="not the one that was signed"):
        receiver.receive(body + " ", token)
    with pytest.raises(TokenError, match="not the one that was signed"):
        receiver.receive(body, signed())
    other = "[]"
    empty = signed(sha256=base64.b64encode(hashlib.sha256(other.encode()).digest()).decode())
    with pytest.raises(TokenError, match="another form"):
        receiver.receive(other, empty)


@dataclass(frozen=True)
class Inner:
    at: datetime | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    ratio: float = 1.0
    inner: Inner = field(default_factory=Inner)
    many: list[Inner] = field(default_factory=list)
    free: dict[str, Any] = field(default_factory=dict)


def test_results_are_read_into_their_types() -> None:
    data = {"name": "x", "ratio": 2, "inner": {"at": "2026-11-21T14:00:00.000Z"}, "many": [{"at": None}], "new": 1}
    outer = decode(Outer, data)
    assert (outer.name, outer.ratio, outer.many) == ("x", 2.0, [Inner(None)])
    assert outer.inner.at is not None
    assert outer.inner.at.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "data", [None, [], {}, {"name": 7}, {"name": "x", "many": 3}, {"name": "x", "inner": {"at": "?"}}]
)
def test_answers_of_another_form_are_typed_errors(data: Any) -> None:
    with pytest.raises(APIError, match="is no Outer"):
        decode(Outer, data)


def test_urls_are_checked_before_anything_is_sent() -> None:
    assert str(GatewayAddress.parse("wss://voice.example.org")) == "voice.example.org port 443"
    assert GatewayAddress.parse("https://[::1]:443/base/").websocket_url("/v1/rtc", {"resume": "a b"}) == (
        "wss://[::1]:443/base/v1/rtc?resume=a%20b"
    )
    for url in ("", "voice.example.org", "ws://h", "http://h", "wss://", "wss://h?x=1", "wss://u@h", "wss://h:x"):
        with pytest.raises(ConnectError):
            GatewayAddress.parse(url)


def job(number: int) -> Job:
    return Job(f"JB_{number}", "lobby", "helper")


def test_a_worker_accepts_up_to_its_capacity_and_nothing_while_it_drains() -> None:
    table = JobTable(2)
    for number in range(2):
        assert table.may_accept(job(number))
        assert table.accept(job(number))
    assert not table.may_accept(job(2))
    # The offer of a job that it has is a renewal of its token.
    assert table.may_accept(job(1))
    assert not table.accept(job(1))
    assert table.cancel("JB_1")
    assert not table.cancel("JB_9")
    assert table.is_cancelled("JB_1")
    table.end("JB_1")
    assert table.may_accept(job(2))
    table.draining = True
    assert not table.may_accept(job(2))
    assert table.status() == {"load": 0.0, "jobs": 1, "draining": True}


def test_a_worker_reports_its_latest_turns_and_counts_the_others() -> None:
    reports = TurnReports()
    assert reports.take() == {}
    for number in range(260):
        reports.add(Turn(number, voice_to_voice_ms=375.4))
    first = reports.take()
    assert (len(first["turns"]), first["turns_dropped"]) == (32, 4)
    assert first["turns"][0] == {"turn": 4, "interrupted": False, "voice_to_voice_ms": 375}
    assert reports.take()["turns_dropped"] == 0


def test_an_agent_waits_for_users_who_may_come_back_and_for_no_others() -> None:
    attendance = Attendance(0.0)
    assert not attendance.is_over(19.0)
    assert attendance.is_over(20.0)
    attendance.join("alice")
    attendance.join("bob")
    assert attendance.deadline is None
    attendance.leave("alice", DisconnectReason.SIGNAL_CLOSE, 100.0)
    attendance.leave("bob", DisconnectReason.CLIENT_INITIATED, 105.0)
    assert not attendance.is_over(105.0)
    assert attendance.deadline == pytest.approx(120.0)
    assert attendance.is_over(120.0)
    attendance.join("alice")
    assert not attendance.is_over(200.0)
    attendance.leave("alice", DisconnectReason.CLIENT_INITIATED, 200.0)
    assert attendance.is_over(200.0)
    attendance.leave("alice", DisconnectReason.SIGNAL_CLOSE, 200.0)
    assert attendance.is_over(200.0)
