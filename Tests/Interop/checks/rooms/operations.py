"""Health, metrics and room administration over HTTP."""

from urllib.parse import quote

from harness import *


@check("health, readiness and metrics are served on the same port")
async def health(world: World):
    expect_equal((await world.http("GET", "/healthz"))[::2], (200, b"ok\n"))
    expect_equal((await world.http("GET", "/readyz"))[::2], (200, b"ready\n"))
    expect_equal((await world.http("HEAD", "/healthz"))[::2], (200, b""))
    status, headers, body = await world.http("GET", "/metrics")
    expect_equal((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
    names = {line.split()[2] for line in body.decode().splitlines() if line.startswith("# TYPE")}
    promised = {f"patchbay_{name}" for name in (
        "draining connections rooms participants tracks frames_received_total frames_sent_total frame_bytes_received_total "
        "frame_bytes_sent_total frames_queued_total frames_dropped_total frames_malformed_total control_received_total control_sent_total "
        "requests_refused_total joins_total joins_refused_total closed_total probes_sent_total connections_turned_away_total "
        "join_seconds loop_lag_seconds").split()}
    expect(promised <= names, f"no {promised - names}")
    expect_equal((await world.http_json("GET", "/nowhere", status=404))["code"], "not_found")
    expect_equal((await world.http_json("POST", "/metrics", body={}, status=405))["code"], "method_not_allowed")


@check("an administrator lists, inspects and updates rooms, mutes tracks and removes participants over HTTP")
async def administration(world: World):
    alice, bob = await world.join_all("alice", "bob")
    ghost = await world.join("ghost", hidden=True)
    track = await alice.publish()
    room, admin = f"/v1/rooms/{quote(world.room, safe='')}", world.service_token(room_admin=True, room=world.room)

    rooms = (await world.http_json("GET", "/v1/rooms", world.service_token(room_list=True)))["rooms"]
    (mine,) = [one for one in rooms if one["name"] == world.room]
    expect_equal((mine["sid"], mine["num_participants"], mine["num_tracks"]), (alice.hello["room"]["sid"], 3, 1))
    detail = await world.http_json("GET", room, admin)
    expect_equal(detail["room"], alice.hello["room"])
    expect_equal([one["identity"] for one in detail["participants"]], ["alice", "bob", "ghost"])
    expect_equal(detail["participants"][0]["tracks"], [track])

    expect_equal(await world.http_json("PATCH", room, admin, {"metadata": "news"}), {})
    for client in (alice, bob, ghost):
        expect_equal((await client.event("room.updated"))["room"]["metadata"], "news")
    await world.http_json("PATCH", f"{room}/tracks/{track['sid']}", admin, {"muted": True})
    await alice.event("track.muted", track=track["sid"])
    await world.http_json("PATCH", f"{room}/tracks/{track['sid']}", admin, {"muted": False})
    await alice.event("track.unmuted", track=track["sid"])
    await world.http_json("DELETE", f"{room}/participants/bob", admin)
    expect_equal(await bob.event("bye"), {"reason": "PARTICIPANT_REMOVED", "retryable": False})
    expect_equal(await bob.closed(), 4103)
    await alice.event("participant.left", participant="bob", reason="PARTICIPANT_REMOVED")
    await world.http_json("DELETE", room, world.service_token(room_create=True))
    expect_equal(await alice.event("bye"), {"reason": "ROOM_DELETED", "retryable": False})
    expect_equal((await alice.closed(), await ghost.closed()), (4102, 4102))
    expect_equal((await world.http_json("GET", room, admin, status=404))["code"], "room_not_found")
    again = await world.join("alice")
    expect(again.hello["room"]["sid"] != mine["sid"] and again.hello["room"]["metadata"] == "", "the room was not recreated")


@check("administration requires a token, the grant and the room; room names are percent-encoded")
async def administration_refusals(world: World):
    world.room += " ä§?&%"
    alice = await world.join("alice")
    named = quote(world.room, safe="")
    admin = world.service_token(room_admin=True, room=world.room)
    expect_equal((await world.http_json("GET", f"/v1/rooms/{named}", admin))["room"], alice.hello["room"])

    other = world.service_token(room_admin=True, room="another room")
    for method, path, token, body, status, code in (
        ("GET", "/v1/rooms", world.service_token(room_admin=True, room=world.room), None, 403, "missing_grant"),
        ("GET", f"/v1/rooms/{named}", other, None, 403, "missing_grant"),
        ("GET", f"/v1/rooms/{named}", world.token("x"), None, 403, "missing_grant"),
        ("DELETE", f"/v1/rooms/{named}", admin, None, 403, "missing_grant"),
        ("PATCH", f"/v1/rooms/{named}", admin, {"meta": 1}, 400, "invalid_body"),
        ("PATCH", f"/v1/rooms/{named}", admin, {"metadata": "m" * 524_289}, 413, "metadata_too_large"),
        ("DELETE", f"/v1/rooms/{named}/participants/nobody", admin, None, 404, "participant_not_found"),
        ("PATCH", f"/v1/rooms/{named}/tracks/TR_AMnothing", admin, {"muted": True}, 404, "track_not_found"),
        ("DELETE", "/v1/rooms/no%20such%20room", world.service_token(room_create=True), None, 404, "room_not_found"),
        ("PUT", f"/v1/rooms/{named}", admin, {}, 405, "method_not_allowed"),
        ("GET", "/v1/rooms", None, None, 401, "missing_token"),
    ):
        expect_equal((await world.http_json(method, path, token, body, status))["code"], code, f"{method} {path}")
