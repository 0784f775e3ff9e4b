"""`ahead` tracks: sent faster than real time, paced by the gateway."""

from harness import *
from patchbay_client import unbundle

# Samples in the 20 ms of a frame.
FRAME = 960


@check("5 s sent in a burst arrive complete, bundled and paced at an early and a late subscriber", timing_sensitive=True, delay=6)
async def paced(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(source="assistant", mode="ahead")
    expect_equal(track["mode"], "ahead")
    expect_equal((await bob.event("track.published"))["track"], track)
    sent = speech(track["alias"], 250)
    began = asyncio.get_running_loop().time()
    await alice.send_bundled(sent)
    await alice.request("ping")
    expect(asyncio.get_running_loop().time() - began < 1, "the publisher was blocked")
    await asyncio.sleep(2)
    carol = await world.join("carol", kind="agent")
    started = {"participant": "alice", "track": track["sid"], "epoch": 0, "ts": 0}
    expect_equal(await carol.event("playout.started"), started, "a newcomer is told")
    expect_frames(await bob.receive_frames(250), sent)
    expect_equal(await bob.event("playout.started"), started)

    # The first frame starts the clock, so leads are measured from the start of the burst.
    leads = [began + Frame.parse(frame).timestamp / 48_000 - at for at, frame in bob.frames]
    expect(max(leads) <= 0.32, f"a frame came {max(leads) * 1000:.0f} ms before its time")
    expect(min(leads[15:]) >= 0.1, f"a frame came only {min(leads[15:]) * 1000:.0f} ms before its time")
    # Three messages start the playout and one follows every 100 ms: 12 in a second. A first message that arrives late by some
    # milliseconds must not bring the message of the next second into its window.
    times = [at for at, _ in bob.messages]
    most = max(sum(1 for other in times if at <= other < at + 0.95) for at in times)
    expect(most <= 12, f"{most} messages within 950 ms")
    sizes = [len(unbundle(message)) for _, message in bob.messages]
    expect(max(sizes) <= 5, f"{max(sizes)} frames in one message")

    await carol.event("playout.finished")
    late = carol.received_frames()
    expect_frames(late, sent[-len(late) :], "the late listener's")
    expect(120 <= len(late) <= 155, f"{len(late)} frames after joining 2 s into 5 s")
    leads = [began + Frame.parse(frame).timestamp / 48_000 - at for at, frame in carol.frames]
    expect(max(leads) <= 0.32, f"a frame came {max(leads) * 1000:.0f} ms before its time to the late listener")
    expect(not alice.frames, "the publisher received its own frames")


@check("an utterance ends when it has been played; the next one has its own clock", timing_sensitive=True, delay=6)
async def utterances(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(mode="ahead")
    sid, alias = track["sid"], track["alias"]
    # A second of speech, a gap of a second in the timestamps, half a second of speech.
    sent = speech(alias, 50) + [
        Frame(alias, frame.sequence - 50, frame.timestamp, frame.payload, frame.flags) for frame in speech(alias, 25, first=100)
    ]
    await alice.send_bundled(sent)
    finished = await bob.event("playout.finished")
    expect_equal(finished, {
        "participant": "alice", "track": sid, "epoch": 0, "played_ts": 125 * FRAME, "played_ms": 2500, "estimated": True,
    })
    expect_frames(bob.received_frames(), sent)
    took = bob.time_of("playout.finished") - bob.time_of("playout.started")
    expect(2.5 <= took < 2.9, f"2.5 s were finished after {took:.2f} s")
    later = speech(alias, 10, first=1000)
    asked = asyncio.get_running_loop().time()
    await alice.send_bundled(later)
    expect_equal((await bob.event("playout.started", ts=1000 * FRAME))["epoch"], 0)
    expect_frames((await bob.receive_frames(85))[75:], later)
    expect(bob.frames[75][0] - asked < 0.1, "the first frame after silence was delayed")


@check("an ahead track pauses while muted or on hold and loses nothing", timing_sensitive=True)
async def standing_still(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(mode="ahead")
    sent = speech(track["alias"], 100)
    await alice.send_bundled(sent)
    await bob.receive_frames(20)
    for pause in (lambda on: alice.request("track.mute", track=track["sid"], muted=on), lambda on: alice.request("call.hold", held=on)):
        await pause(True)
        await asyncio.sleep(0.2)
        count = len(bob.frames)
        await asyncio.sleep(0.8)
        expect_equal(len(bob.frames), count, "frames while it stands still")
        await pause(False)
        await bob.receive_frames(count + 20)
    expect_frames(await bob.receive_frames(100), sent)


@check("playout.backlog reports 45 s ahead, refused frames at 60 s, and recovery below 30 s", timing_sensitive=True)
async def backlog(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    high, full = await alice.publish(mode="ahead"), await alice.publish(mode="ahead")
    began = asyncio.get_running_loop().time()
    await alice.send_bundled(speech(high["alias"], 44 * 50))
    await alice.request("ping")
    await expect_no_event(alice, "playout.backlog")
    await alice.send_bundled(speech(high["alias"], 2 * 50, first=44 * 50))
    told = await alice.event("playout.backlog", track=high["sid"])
    expect_equal((told["state"], told["dropped"]), ("high", 0))
    expect(45_000 <= told["queued_ms"] <= 46_000, told)

    sent = speech(full["alias"], 62 * 50)
    await alice.send_bundled(sent)
    told = await alice.event("playout.backlog", track=full["sid"], state="full")
    expect(59_500 <= told["queued_ms"] <= 60_020 and 1 <= told["dropped"] <= 100, told)
    await alice.request("playout.clear", track=full["sid"])

    await alice.event("playout.backlog", track=high["sid"], state="low", timeout=25)
    took = alice.time_of("playout.backlog", track=high["sid"], state="low") - began
    expect(15.5 < took < 17.5, f"46 s were below 30 s after {took:.1f} s")
    expect(not bob.has_event("playout.backlog"), "a subscriber received playout.backlog")
