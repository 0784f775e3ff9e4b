"""Tracks: publish, mute, subscribe, unpublish."""

from harness import *


@check("publishing and unpublishing produce events, and hello lists tracks")
async def publishing(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish()
    expect_equal(
        {name: value for name, value in track.items() if name not in ("sid", "alias")},
        {"participant": "alice", "name": "", "source": "microphone", "codec": "opus", "mode": "live", "muted": False, "frame_ms": 20,
         "dtx": False, "fec": False, "channels": 1, "epoch": 0}, "the defaults")
    expect_equal((await bob.event("track.published", participant="alice"))["track"], track)
    expect(not alice.has_event("track.published"), "the publisher received track.published for its own track")
    carol = await world.join("carol")
    expect_equal(carol.hello["participants"][0]["tracks"], [track])
    await expect_error("not_allowed", bob.request("track.unpublish", track=track["sid"]))
    await expect_error("not_found", alice.request("track.unpublish", track="TR_AMnothing"))
    expect_equal(await alice.request("track.unpublish", track=track["sid"]), {})
    for client in (alice, bob, carol):
        await client.event("track.unpublished", participant="alice", track=track["sid"])
    await alice.send(speech(track["alias"], 1)[0])
    other = await alice.publish(frame_ms=2.5)
    expect(other["alias"] != track["alias"] and other["frame_ms"] == 2.5, other)
    await alice.leave()
    await bob.event("track.unpublished", track=other["sid"])
    expect(not bob.frames, "frames of an unpublished track")


@check("track.publish enforces its limits")
async def publish_limits(world: World):
    alice = await world.join("alice")
    for code, fields in (
        ("unsupported", {"codec": "pcm"}), ("invalid_argument", {"frame_ms": 30}),
        ("invalid_argument", {"frame_ms": "20"}), ("invalid_argument", {"channels": 3}), ("invalid_argument", {"channels": 0}),
        ("invalid_argument", {"source": "camera"}), ("invalid_argument", {"mode": "later"}), ("limit_exceeded", {"name": "n" * 257}),
    ):
        await expect_error(code, alice.publish(**fields))
    aliases = {(await alice.publish())["alias"] for _ in range(20)}
    expect_equal(len(aliases), 20)
    await expect_error("limit_exceeded", alice.publish())


@check("a muted track forwards nothing; changes produce one event for all")
async def muting(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish()
    frames = speech(track["alias"], 30)
    await talk(alice, frames[:10])
    await alice.request("track.mute", track=track["sid"], muted=True)
    await alice.request("track.mute", track=track["sid"], muted=True)
    for client in (alice, bob):
        await client.event("track.muted", participant="alice", track=track["sid"])
    await talk(alice, frames[10:20])
    carol = await world.join("carol")
    expect_equal(carol.hello["participants"][0]["tracks"][0]["muted"], True)
    await alice.request("track.mute", track=track["sid"], muted=False)
    for client in (alice, bob):
        await client.event("track.unmuted", track=track["sid"])
    await talk(alice, frames[20:])
    expect_frames(await bob.receive_frames(20), frames[:10] + frames[20:])
    expect_equal(len([1 for kind, _ in bob.events if kind == "track.muted"]), 1, "track.muted")


@check("a room admin may mute but not unmute another's track; others may do neither")
async def muting_others(world: World):
    alice, bob = await world.join_all("alice", "bob")
    admin = await world.join("admin", room_admin=True)
    sid = (await alice.publish())["sid"]
    await expect_error("not_allowed", bob.request("track.mute", track=sid, muted=True))
    await admin.request("track.mute", track=sid, muted=True)
    await alice.event("track.muted", track=sid)
    await expect_error("not_allowed", admin.request("track.mute", track=sid, muted=False))
    await expect_error("not_found", admin.request("track.mute", track="TR_AMnothing", muted=True))
    await expect_error("invalid_argument", alice.request("track.mute", track=sid))
    await expect_error("invalid_argument", alice.request("track.mute", track=7, muted=True))


@check("with auto_subscribe=false, frames arrive only between subscribe and unsubscribe")
async def subscribing(world: World):
    alice = await world.join("alice")
    bob = await world.join("bob", kind="agent", query={"auto_subscribe": "false"})
    track = await alice.publish()
    frames = speech(track["alias"], 40)
    await bob.event("track.published")
    await talk(alice, frames[:10])
    await bob.request("track.subscribe", track=track["sid"], subscribed=True)
    await talk(alice, frames[10:20])
    expect_frames(await bob.receive_frames(10), frames[10:20])
    await bob.request("track.subscribe", track=track["sid"], subscribed=False)
    await talk(alice, frames[20:30])
    await bob.request("track.subscribe", track=track["sid"], subscribed=True)
    await talk(alice, frames[30:])
    expect_frames(await bob.receive_frames(20), frames[10:20] + frames[30:])
    await expect_error("invalid_argument", alice.request("track.subscribe", track=track["sid"], subscribed=True))
    await expect_error("not_found", bob.request("track.subscribe", track="TR_AMnothing", subscribed=True))


@check("grants for publishing, sources and subscribing are enforced")
async def media_grants(world: World):
    speaker = await world.join("speaker")
    mute = await world.join("mute", kind="agent", can_publish=False)
    deaf = await world.join("deaf", can_subscribe=False)
    narrow = await world.join("narrow", can_publish_sources=["assistant"])
    await expect_error("not_allowed", mute.publish())
    await expect_error("not_allowed", narrow.publish(source="microphone"))
    await narrow.publish(source="assistant")
    await (await world.join("wide", can_publish_sources=["microphone"])).publish(source="assistant")
    track = await speaker.publish()
    await deaf.event("track.published", participant="speaker")
    await expect_error("not_allowed", deaf.request("track.subscribe", track=track["sid"], subscribed=True))
    await talk(speaker, speech(track["alias"], 10))
    await mute.receive_frames(10)
    expect(not deaf.frames, "a participant without canSubscribe received frames")


@check("a participant on hold neither sends nor receives audio, and its state is restored")
async def holding(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    hers, his = await alice.publish(), await bob.publish()
    await alice.event("track.published")
    a, b = speech(hers["alias"], 30), speech(his["alias"], 30)
    await asyncio.gather(talk(alice, a[:10]), talk(bob, b[:10]))
    await asyncio.gather(alice.receive_frames(10), bob.receive_frames(10))
    expect_equal(await alice.request("call.hold", held=True), {})
    for client in (alice, bob):
        await client.event("call.held", participant="alice")
    await bob.event("talk.stopped", participant="alice")
    carol = await world.join("carol")
    await carol.event("call.held", participant="alice")
    await asyncio.gather(talk(alice, a[10:20]), talk(bob, b[10:20]))
    await alice.request("call.hold", held=False)
    for client in (alice, bob):
        await client.event("call.resumed", participant="alice")
    await asyncio.gather(talk(alice, a[20:]), talk(bob, b[20:]))
    expect_frames(await alice.receive_frames(20), b[:10] + b[20:])
    expect_frames(await bob.receive_frames(20), a[:10] + a[20:])
