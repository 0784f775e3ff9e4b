"""Egress: audio recordings of the rooms of logged sessions, and nothing else."""

import secrets
import time

import contract
from harness import *
from twirp import *

Status = egress.EgressStatus


def composite(name: str, **fields) -> egress.RoomCompositeEgressRequest:
    output = egress.EncodedFileOutput(file_type=egress.EncodedFileType.OGG, filepath="recordings/{room_name}.ogg")
    return egress.RoomCompositeEgressRequest(**({"room_name": name, "audio_only": True, "file_outputs": [output]} | fields))


async def logged_session(world: World) -> tuple[dict, str] | None:
    """A session of a new user that has allowed logging, and the user's access token; None if the gateway has no store."""
    account = {"email": f"{secrets.token_hex(6)}@interop.example", "password": "correct horse"}
    status, _, content = await world.http("POST", "/v1/auth/register", body=account)
    if status == 404:
        return None
    expect_equal(status, 201, f"POST /v1/auth/register: {content[:200]!r}; status")
    token = json.loads(content)["access_token"]
    await world.http_json("PATCH", "/v1/users/me", token, {"settings": {"logging_enabled": True}})
    return await world.http_json("POST", "/v1/sessions/start", token, {"context": "phone"}), token


@check("StartRoomCompositeEgress records the room of a logged session until StopEgress")
async def recording(world: World):
    started = await logged_session(world)
    if started is None:
        contract.not_covered |= {"recording.started", "recording.stopped"}
        return
    session, user = started
    alice = await world.connect(session["livekit_token"])
    track = await alice.publish()
    async with ServerAPI.of(world) as server:
        recordings = server.official.egress
        request = composite(session["room_name"])
        info = await recordings.start_room_composite_egress(request)
        expect(info.egress_id.startswith(("EG_", "RC_")), f"StartRoomCompositeEgress: egress_id {info.egress_id!r}")
        composed = info.room_composite
        expect_equal(
            (info.room_name, info.room_id, composed.room_name, composed.audio_only),
            (session["room_name"], alice.hello["room"]["sid"], session["room_name"], True),
            "StartRoomCompositeEgress: room_name, room_id and room_composite")
        expect(info.status in (Status.EGRESS_STARTING, Status.EGRESS_ACTIVE), f"StartRoomCompositeEgress: {Status.Name(info.status)}")
        expect(abs(info.started_at / 1e9 - time.time()) < 30, f"StartRoomCompositeEgress: started_at is {info.started_at}, in ns")
        await alice.event("recording.started")
        (listed,) = (await server.official.room.list_rooms(api.ListRoomsRequest(names=[session["room_name"]]))).rooms
        expect_equal(listed.active_recording, True, "ListRooms: active_recording")
        await talk(alice, speech(track["alias"], 50))
        here = {"room_name": session["room_name"]}
        for filters in ({"egress_id": info.egress_id}, here, here | {"active": True}):
            (found,) = (await recordings.list_egress(egress.ListEgressRequest(**filters))).items
            expect_equal((found.egress_id, found.status), (info.egress_id, Status.EGRESS_ACTIVE), f"ListEgress {filters}")
        stop = egress.StopEgressRequest(egress_id=info.egress_id)
        stopped = await recordings.stop_egress(stop)
        expect_equal(stopped.egress_id, info.egress_id, "StopEgress: egress_id")
        expect(stopped.status in (Status.EGRESS_ENDING, Status.EGRESS_COMPLETE), f"StopEgress: {Status.Name(stopped.status)}")
        await alice.event("recording.stopped")
        deadline = time.monotonic() + 10
        while True:
            (ended,) = (await recordings.list_egress(egress.ListEgressRequest(egress_id=info.egress_id))).items
            if ended.status == Status.EGRESS_COMPLETE or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        expect_equal(Status.Name(ended.status), "EGRESS_COMPLETE", "ListEgress after StopEgress: status")
        expect(ended.ended_at >= ended.started_at > 0, f"ListEgress after StopEgress: {ended.started_at} to {ended.ended_at}")
        expect(len(ended.file_results) == 1, f"ListEgress after StopEgress: {len(ended.file_results)} file_results instead of 1")
        active = await recordings.list_egress(egress.ListEgressRequest(room_name=session["room_name"], active=True))
        expect_equal(len(active.items), 0, "ListEgress with active: true after StopEgress")
        await expect_failure("failed_precondition", "StopEgress of one that has ended", recordings.stop_egress(stop))
        names = await world.http_json("GET", f"/v1/sessions/{session['session_id']}/recordings", user)
        expect(names, f"GET /v1/sessions/…/recordings: {names}, without the recording")
        recorder = world.service_token(room_record=True)
        await server.same_answer("Egress/ListEgress", egress.ListEgressRequest(egress_id=info.egress_id), recorder)


@check("Egress refuses rooms without a logged session, and what a recording of audio is not")
async def refusals(world: World):
    await world.join("alice")
    async with ServerAPI.of(world) as server:
        recordings = server.official.egress
        await expect_failure(
            "failed_precondition", "StartRoomCompositeEgress of a room without a logged session",
            recordings.start_room_composite_egress(composite(world.room)))
        await expect_failure(
            "not_found", "StartRoomCompositeEgress of an unknown room", recordings.start_room_composite_egress(composite(world.room + "?")))
        unknown = egress.StopEgressRequest(egress_id="EG_nothing")
        await expect_failure("not_found", "StopEgress of an unknown id", recordings.stop_egress(unknown))
        for filters in ({"room_name": world.room}, {"egress_id": "EG_nothing"}, {"room_name": "no such room", "active": True}):
            found = await recordings.list_egress(egress.ListEgressRequest(**filters))
            expect_equal(len(found.items), 0, f"ListEgress {filters}: items")
        s3 = egress.EncodedFileOutput(filepath="x.ogg", s3=egress.S3Upload(bucket="b"))
        for what, fields in (
            ("video", {"audio_only": False}), ("an upload", {"file_outputs": [s3]}),
            ("a stream", {"file_outputs": [], "stream_outputs": [egress.StreamOutput(urls=["rtmp://example.org/x"])]}),
            ("segments", {"file_outputs": [], "segment_outputs": [egress.SegmentedFileOutput(filename_prefix="x")]}),
        ):
            await expect_failure(
                "unimplemented", f"StartRoomCompositeEgress with {what}",
                recordings.start_room_composite_egress(composite(world.room, **fields)))
        for what, request in (
            ("StartWebEgress", recordings.start_web_egress(egress.WebEgressRequest(url="https://example.org"))),
            ("StartParticipantEgress", recordings.start_participant_egress(
                egress.ParticipantEgressRequest(room_name=world.room, identity="alice"))),
            ("StartTrackCompositeEgress", recordings.start_track_composite_egress(
                egress.TrackCompositeEgressRequest(room_name=world.room))),
            ("StartTrackEgress", recordings.start_track_egress(egress.TrackEgressRequest(room_name=world.room, track_id="TR_x"))),
            ("StartEgress", recordings.start_egress(egress.StartEgressRequest(room_name=world.room))),
            ("UpdateLayout", recordings.update_layout(egress.UpdateLayoutRequest(egress_id="EG_nothing", layout="grid"))),
            ("UpdateStream", recordings.update_stream(egress.UpdateStreamRequest(egress_id="EG_nothing", add_output_urls=["rtmp://x"]))),
        ):
            await expect_failure("unimplemented", what, request)
