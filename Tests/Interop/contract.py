"""The messages from the gateway as docs/protocol specifies them, as tables. Every field must be present, and no others may be."""

import re

violations: list[str] = []
seen: set[str] = set()


def violation(text: str) -> None:
    if text not in violations:
        violations.append(text)


class Optional:
    """A field that may be absent."""

    def __init__(self, shape):
        self.shape = shape


class OneOf:
    def __init__(self, *values):
        self.values = values


class Exactly:
    """Exactly true or false; JSON booleans are not numbers."""

    def __init__(self, value: bool):
        self.value = value


class Matching:
    def __init__(self, pattern: str):
        self.pattern = re.compile(pattern)


class ListOf:
    def __init__(self, shape):
        self.shape = shape


class MapOf:
    def __init__(self, shape):
        self.shape = shape


number = (int, float)
alphabet = "[2-9A-HJ-NP-Za-km-z]"
room_sid = Matching(rf"RM_{alphabet}{{12}}")
participant_sid = Matching(rf"PA_{alphabet}{{12}}")
track_sid = Matching(rf"TR_AM{alphabet}{{12}}")
recording_id = Matching(rf"RC_{alphabet}{{12}}")

permission = {
    "can_publish": bool, "can_subscribe": bool, "can_publish_data": bool, "can_publish_sources": ListOf(str),
    "can_update_metadata": bool, "hidden": bool,
}
participant = {
    "sid": participant_sid, "identity": str, "name": str,
    "kind": OneOf("standard", "ingress", "egress", "sip", "agent", "connector", "bridge"), "metadata": str,
    "attributes": MapOf(str), "permission": permission, "joined_at": int,
}
track = {
    "sid": track_sid, "alias": int, "participant": str, "name": str, "source": OneOf("microphone", "assistant"),
    "codec": OneOf("opus"), "mode": OneOf("live", "ahead"), "muted": bool, "frame_ms": number, "dtx": bool, "fec": bool,
    "channels": int, "epoch": int,
}
room = {"sid": room_sid, "name": str, "metadata": str, "created_at": int, "max_participants": int}
reason = OneOf(
    "UNKNOWN_REASON", "CLIENT_INITIATED", "DUPLICATE_IDENTITY", "SERVER_SHUTDOWN", "PARTICIPANT_REMOVED", "ROOM_DELETED",
    "STATE_MISMATCH", "JOIN_FAILURE", "MIGRATION", "SIGNAL_CLOSE", "ROOM_CLOSED", "USER_UNAVAILABLE", "USER_REJECTED",
    "CONNECTION_TIMEOUT", "MEDIA_FAILURE", "AGENT_ERROR",
)
# The playout position of an utterance.
position = {"played_ts": (int, type(None)), "played_ms": number, "estimated": bool}
state = OneOf("initializing", "idle", "listening", "thinking", "speaking", "error")

events = {
    "hello": {
        "protocol": OneOf(1), "server": {"version": str, "node": str}, "room": room,
        "participant": participant, "participants": ListOf(participant | {"tracks": ListOf(track)}),
        "session_id": (str, type(None)), "logged": Optional(bool), "resume_token": Matching(r"RT_[0-9A-Za-z]{12,}"), "resumed": Optional(Exactly(False)),
        "nodes": Optional(ListOf(str)),
        "ping_interval_ms": OneOf(5000), "ping_timeout_ms": OneOf(15000),
        "limits": {
            "max_frame_bytes": OneOf(1500), "max_message_bytes": OneOf(16384), "max_control_bytes": OneOf(65536),
            "live_frames_per_second": OneOf(100), "live_burst": OneOf(100), "ahead_ms": OneOf(60000),
            "metadata_bytes": OneOf(524288), "attributes_bytes": OneOf(65536), "data_bytes": OneOf(64000),
        },
    },
    "participant.joined": participant | {"participant": str, "tracks": ListOf(track)},
    "participant.left": {"participant": str, "reason": reason},
    "participant.updated": participant | {"participant": str, "connection": OneOf("connected", "reconnecting")},
    "track.published": {"participant": str, "track": track},
    "track.unpublished": {"participant": str, "track": track_sid},
    "track.muted": {"participant": str, "track": track_sid},
    "track.unmuted": {"participant": str, "track": track_sid},
    "speakers.changed": {"speakers": ListOf({"participant": str, "track": track_sid, "level": number, "active": bool})},
    "quality.changed": {"participant": str, "quality": OneOf("excellent", "good", "poor", "lost")},
    "talk.started": {"participant": str, "track": track_sid, "ts": int},
    "talk.stopped": {
        "participant": str, "track": track_sid, "ts": int, "reason": OneOf("end", "silence", "cleared", "muted", "left"),
    },
    "talk.earlier": {"participant": str, "track": track_sid, "ts": int, "live_ts": int},
    "silence": {"participant": str, "silent_ms": int},
    "playout.started": {"participant": str, "track": track_sid, "epoch": int, "ts": int},
    "playout.finished": position | {"participant": str, "track": track_sid, "epoch": int},
    "playout.cleared": position | {
        "track": track_sid, "epoch": int, "by": str, "discarded_ms": number, "reason": Optional(str),
    },
    "playout.marked": {
        "track": track_sid, "played_ts": (int, type(None)), "name": str, "status": OneOf("played", "cleared", "dropped", "timeout"),
    },
    "playout.backlog": {"track": track_sid, "queued_ms": number, "state": OneOf("high", "full", "low"), "dropped": int},
    "transcript.segment": {
        "id": str, "rev": int, "role": OneOf("user", "assistant"), "participant": str, "track": Optional(track_sid), "text": str,
        "final": bool, "language": str, "start_ts": Optional(int), "end_ts": Optional(int),
        "words": Optional(ListOf({"text": str, "start_ts": int, "end_ts": int, "confidence": Optional(number)})),
        "spoken": Optional(OneOf("new", "in_progress", "completed", "interrupted")), "spoken_chars": Optional(int),
    },
    "agent.state": {"participant": str, "state": state},
    "agent.joined": participant | {"participant": str, "tracks": ListOf(track)},
    "agent.lost": {"participant": str, "reason": reason},
    "agent.waiting": {"participant": str, "reason": OneOf("busy", "no_worker", "ended")},
    "data": {"participant": str, "topic": str, "payload": Optional(str), "payload_base64": Optional(str)},
    "text": {"participant": str, "id": Matching(rf"TX_{alphabet}{{12}}"), "topic": str, "text": str},
    "rpc.request": {
        "participant": str, "request_id": Matching(rf"RPC_{alphabet}{{12}}"), "method": str, "payload": str, "timeout_ms": int,
    },
    "dtmf": {"participant": str, "digits": str},
    "call.held": {"participant": str},
    "call.resumed": {"participant": str},
    "room.updated": {"room": room},
    "token.refreshed": {"token": str, "expires_at": int},
    "recording.started": {"recording": recording_id},
    "recording.stopped": {"recording": recording_id, "reason": OneOf("asked", "failed")},
    "server.draining": {"deadline": int},
    "bye": {"reason": reason, "retryable": bool},
    "stats": {"rtt_ms": number, "sent": int, "dropped": int, "late_p99_ms": number},
}

# The hello of a resumed connection includes the participant's own tracks.
resumed_hello = events["hello"] | {"participant": participant | {"tracks": ListOf(track)}, "resumed": Exactly(True)}

# Events that a run cannot provoke: this one requires a gateway that drains. A gateway without a store adds those of recordings.
not_covered = {"server.draining"}

replies = {
    "track": Optional(track), "id": Optional(str), "payload": Optional(str), "t": Optional(int), "token": Optional(str),
    "expires_at": Optional(int), "epoch": Optional(int), "played_ts": Optional((int, type(None))), "played_ms": Optional(number),
    "discarded_ms": Optional(number), "estimated": Optional(bool),
}


def check_event(message: dict) -> None:
    kind = message["type"]
    if set(message) != {"type", "seq", "data"}:
        violation(f"{kind} has the fields {sorted(message)}")
    elif kind not in events:
        violation(f"event {kind} is not in the contract")
    else:
        seen.add(kind)
        was_resumed = kind == "hello" and message["data"].get("resumed") is True
        _check(message["data"], resumed_hello if was_resumed else events[kind], kind)


def check_answer(message: dict) -> None:
    if set(message) != {"type", "re", "data"}:
        violation(f"{message['type']} has the fields {sorted(message)}")
    elif message["type"] == "reply":
        _check(message["data"], replies, "reply")
    else:
        _check(message["data"], {"code": (str, int), "message": str, "retryable": bool}, "error")


def check_message(message: bytes) -> None:
    if not 12 < len(message) <= 16384:
        violation(f"a binary message of {len(message)} bytes")
    elif message[0] not in (0x41, 0x42):
        violation(f"a binary message that starts with {message[0]:#x}")
    elif message[0] == 0x42 and not 1 <= message[1] <= 50:
        violation(f"a bundle of {message[1]} frames")


def _check(value, shape, path: str) -> None:
    match shape:
        case Optional():
            _check(value, shape.shape, path)
        case OneOf():
            if value not in shape.values or isinstance(value, bool):
                violation(f"{path} is {value!r}")
        case Exactly():
            if value is not shape.value:
                violation(f"{path} is {value!r}")
        case Matching():
            if not isinstance(value, str) or not shape.pattern.fullmatch(value):
                violation(f"{path} is {value!r}")
        case ListOf():
            if not isinstance(value, list):
                violation(f"{path} is {value!r}, expected a list")
            else:
                for item in value:
                    _check(item, shape.shape, f"{path}[]")
        case MapOf():
            if not isinstance(value, dict):
                violation(f"{path} is {value!r}, expected an object")
            else:
                for item in value.values():
                    _check(item, shape.shape, f"{path}.*")
        case dict():
            if not isinstance(value, dict):
                violation(f"{path} is {value!r}, expected an object")
                return
            for name, field in shape.items():
                if name in value:
                    _check(value[name], field, f"{path}.{name}")
                elif not isinstance(field, Optional):
                    violation(f"{path}.{name} is missing")
            for name in value.keys() - shape.keys():
                violation(f"{path}.{name} is not in the contract")
        case _:
            if not isinstance(value, shape) or (isinstance(value, bool) and shape is not bool):
                violation(f"{path} is {value!r}")
