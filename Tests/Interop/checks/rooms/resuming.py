"""Resuming after a lost connection."""

from harness import *


def told(client: Client, *kinds: str) -> list[tuple[str, dict]]:
    """Returns the events of these types in order of arrival."""
    return [(kind, data) for kind, data in client.events if kind in kinds]


def place(client: Client) -> tuple[str, int]:
    return client.hello["participant"]["sid"], client.hello["participant"]["joined_at"]


@check("a resume replays missed events once and in order, then hello; sid, tracks, subscriptions and frames continue")
async def coming_back(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    hers, other, his = await alice.publish(name="one"), await alice.publish(name="two"), await bob.publish()
    await bob.event("track.published", track=other)
    await bob.request("track.subscribe", track=other["sid"], subscribed=False)
    heard = speech(hers["alias"], 5)
    await talk(alice, heard)
    await bob.receive_frames(5)
    await talk(bob, speech(his["alias"], 5))
    bob.abort(reset=True)
    await bob.closed()

    await alice.event("participant.updated", participant="bob", connection="reconnecting")
    for index in range(3):
        await alice.request("text.send", text=str(index))
    third = await alice.publish(name="three")
    await talk(alice, speech(hers["alias"], 5, first=5))
    procedure = asyncio.create_task(alice.request("rpc.request", to="bob", method="are you there"))
    carol = await world.join("carol")
    await carol.event("participant.updated", participant="bob", connection="reconnecting")
    expect("bob" in [one["identity"] for one in carol.hello["participants"]], "hello omits a reconnecting participant")

    again = await world.resume(bob)
    expect_equal(again.hello.get("resumed"), True)
    kinds = [kind for kind, _ in again.events]
    missed = [(kind, data) for kind, data in again.events[: kinds.index("hello")]]
    expect_equal([data["text"] for kind, data in missed if kind == "text"], ["0", "1", "2"])
    expect_equal([data["track"] for kind, data in missed if kind == "track.published"], [third])
    expect_equal([data["identity"] for kind, data in missed if kind == "participant.joined"], ["carol"])
    expect_equal(kinds.count("hello"), 1)
    expect_equal(place(again), place(bob), "the place")
    expect_equal(again.hello["participant"]["tracks"], [his])
    expect(again.hello["resume_token"] != bob.hello["resume_token"], "the resume token did not change")
    for client in (alice, carol):
        await client.event("participant.updated", participant="bob", connection="connected")

    call = await again.event("rpc.request", method="are you there")
    await again.request("rpc.response", request_id=call["request_id"], payload="yes")
    expect_equal(await procedure, {"payload": "yes"})
    fresh = speech(hers["alias"], 5, first=10)
    await talk(alice, speech(other["alias"], 5))
    await talk(alice, fresh)
    expect_frames(await again.receive_frames(5), fresh, "after it, and nothing of before")
    mine = speech(his["alias"], 5, first=5)
    await talk(again, mine)
    expect_frames((await alice.receive_frames(10))[5:], mine, "on the alias that it had")
    expect(not alice.has_event("participant.left", participant="bob"), "participant.left for bob")
    expect_equal(len(told(alice, "participant.joined")), 2, "participant.joined")


@check("talkspurts stay paired across a resume, and hold and mute are preserved")
async def states(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    first, second = await bob.publish(), await bob.publish()
    await bob.request("track.mute", track=second["sid"], muted=True)
    await talk(bob, speech(first["alias"], 3))
    await alice.event("talk.started")
    bob.abort(reset=True)
    again = await world.resume(bob)
    expect_equal([track["muted"] for track in again.hello["participant"]["tracks"]], [False, True])
    expect_equal((await alice.event("talk.stopped"))["track"], first["sid"])
    await again.request("call.hold", held=True)
    again.abort(reset=True)
    third = await world.resume(again)
    frames = speech(first["alias"], 6, first=3)
    await talk(third, frames[:3])
    await third.request("call.hold", held=False)
    await talk(third, frames[3:])
    expect_frames((await alice.receive_frames(6))[3:], frames[3:], "frames after the hold")
    starts, stops = told(alice, "talk.started"), told(alice, "talk.stopped")
    expect(len(starts) - len(stops) in (0, 1), f"{len(starts)} starts, {len(stops)} stops")
    expect_equal(place(third), place(bob), "the place after two resumes")


@check("a resume closes a connection that still appears alive with 4104, without bye and without events")
async def changing_networks(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish()
    await bob.event("track.published")
    again = await world.resume(bob)
    expect_equal((again.hello["resumed"], await bob.closed()), (True, 4104))
    expect(not bob.has_event("bye"), "the old connection received bye")
    await expect_no_event(alice, "participant.updated", participant="bob")
    expect(not told(alice, "participant.left"), "participant.left for bob")
    frames = speech(track["alias"], 3)
    await talk(alice, frames)
    expect_frames(await again.receive_frames(3), frames)


@check("an ahead track continues for a resumed subscriber", timing_sensitive=True)
async def ahead(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(mode="ahead")
    sent = speech(track["alias"], 150)
    await alice.send_bundled(sent)
    await bob.receive_frames(50)
    bob.abort(reset=True)
    again = await world.resume(bob)
    expect_equal(again.hello["resumed"], True)
    await again.until(lambda: any(frame == sent[-1].bytes for frame in again.received_frames()) or None, 10, "the last frame")
    rest = again.received_frames()
    expect_frames(rest, sent[-len(rest) :], "the rest")
    # The remainder: the connection was cut 0.7 s into 3 s.
    expect(60 <= len(rest) <= 118, f"{len(rest)} of 150 frames")


@check("an ahead track continues when its publisher resumes", timing_sensitive=True)
async def ahead_publisher(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(mode="ahead")
    sent = speech(track["alias"], 150)
    await alice.send_bundled(sent[:100])
    await alice.request("playout.mark", track=track["sid"], ts=144_000, name="end")
    await bob.receive_frames(20)
    alice.abort(reset=True)
    again = await world.resume(alice)
    expect_equal((again.hello["resumed"], again.hello["participant"]["tracks"]), (True, [track]))
    await again.send_bundled(sent[100:])
    expect_frames(await bob.receive_frames(150), sent)
    expect_equal((await again.event("playout.marked", name="end"))["status"], "played")
    expect_equal([kind for kind, _ in told(bob, "playout.started", "playout.finished")][:1], ["playout.started"])
    expect_equal(len(told(bob, "playout.started")), 1, "utterances")


@check("a resume requires its token, the same identity, the resume window and a complete event log")
async def refusals(world: World):
    alice, bob, mallory = await world.join_all("alice", "bob", "mallory")

    async def expect_fresh(client: Client, lost: Client):
        expect_equal((client.hello.get("resumed"), client.events[0][0], place(client) != place(lost)), (False, "hello", True))

    # Another identity's resume token.
    bob.abort(reset=True)
    await alice.event("participant.updated", participant="bob", connection="reconnecting")
    again = await world.resume(mallory, token=bob.hello["resume_token"])
    await expect_fresh(again, mallory)
    expect_equal((again.hello["participant"]["identity"], await mallory.closed()), ("mallory", 4104))
    # An unknown token: a fresh join, and the newest connection wins.
    fresh = await world.resume(bob, token="RT_00112233445566778899aabbccddeeff")
    await expect_fresh(fresh, bob)
    await alice.event("participant.left", participant="bob", reason="DUPLICATE_IDENTITY")
    # A used token, after its successor was confirmed.
    second = await world.resume(fresh)
    expect_equal(second.hello["resumed"], True)
    await second.request("ping")
    await asyncio.sleep(0.5)
    third = await world.resume(second, token=fresh.hello["resume_token"])
    await expect_fresh(third, second)
    # More events were missed than are retained.
    third.abort(reset=True)
    await third.closed()
    for index in range(260):
        if index == 150:
            # Requests are limited to a burst of 200 and 100 a second.
            await asyncio.sleep(1)
        await alice.send_message({"type": "data.send", "data": {"topic": str(index), "payload": ""}})
    await alice.request("ping")
    fourth = await world.resume(third)
    await expect_fresh(fourth, third)
    # The resume window has passed.
    alive_at = asyncio.get_running_loop().time()
    fourth.abort(reset=True)
    await world.expect_disconnect(alice, "bob", "SIGNAL_CLOSE", alive_at)
    late = await world.resume(fourth)
    await expect_fresh(late, fourth)
    plain = await world.join("plain")
    expect("resumed" not in plain.hello, "`resumed` without a resume request")
