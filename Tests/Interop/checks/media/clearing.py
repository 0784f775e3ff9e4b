"""Clears: unplayed audio is discarded everywhere."""

from dataclasses import replace

from harness import *

# How long, in seconds, frames of the old epoch may still arrive after the clear.
NO_LATER = 0.1


def of_epoch(epoch: int, frames: list[Frame]) -> list[Frame]:
    return [replace(frame, epoch=epoch) for frame in frames]


def expect_cut(cut: dict, epoch: int, after: float, published: float) -> None:
    """Expects this playout position, in seconds, at the clear."""
    expect_equal(cut["epoch"], epoch, "epoch")
    expect(abs(cut["played_ms"] / 1000 - after) < 0.1, f"{cut} after {after:.3f} s")
    expect(abs(cut["played_ts"] / 48 - cut["played_ms"]) <= 1, cut)
    expect(abs(cut["played_ms"] + cut["discarded_ms"] - published * 1000) <= 1, cut)


async def dropped(world: World, reason: str) -> int:
    _, _, body = await world.http("GET", "/metrics")
    lines = [line for line in body.decode().splitlines() if line.startswith("patchbay_frames_dropped_total{") and f'"{reason}"' in line]
    return sum(int(float(line.split()[-1])) for line in lines)


@check("a clear by the publisher is reported to all, discards old frames, and the next epoch starts immediately", timing_sensitive=True, delay=6)
async def by_publisher(world: World):
    agent, bob = await world.join_all("agent", "bob", kind="agent")
    track = await agent.publish(source="assistant", mode="ahead")
    sid, alias = track["sid"], track["alias"]
    await agent.request("playout.mark", track=sid, ts=240_000, name="sentence")
    words = [{"text": word, "start_ts": at * 48_000, "end_ts": (at + 1) * 48_000} for at, word in enumerate("one two three".split())]
    await agent.request(
        "transcript.segment", id="s", role="assistant", track=sid, text="One, two, three.", final=True, start_ts=0, end_ts=144_000,
        words=words)
    await agent.send_bundled(speech(alias, 500))
    await bob.event("playout.started")
    await bob.event("agent.state", state="speaking")
    await asyncio.sleep(1.2)
    cut = await agent.request("playout.clear", track=sid, reason="barge-in")
    done = asyncio.get_running_loop().time()
    expect_equal(set(cut), {"epoch", "played_ts", "played_ms", "discarded_ms", "estimated"})
    expect_cut(cut, 1, done - agent.time_of("playout.started"), 10)
    expect_equal(cut["estimated"], True)
    for client in (agent, bob):
        expect_equal(await client.event("playout.cleared"), cut | {"track": sid, "by": "agent", "reason": "barge-in"})
        revised = await client.event("transcript.segment", id="s", rev=1)
        expect_equal((revised["spoken"], revised["spoken_chars"]), ("interrupted", 3))
    marked = await agent.event("playout.marked", name="sentence")
    expect_equal((marked["status"], marked["played_ts"]), ("cleared", cut["played_ts"]))
    await bob.event("agent.state", state="listening")
    stopped = await bob.event("talk.stopped", track=sid)
    expect_equal((stopped["reason"], stopped["ts"]), ("cleared", cut["played_ts"]))
    for client, promised in (
        (agent, ["playout.cleared", "playout.marked", "talk.stopped", "transcript.segment"]),
        (bob, ["playout.cleared", "talk.stopped", "transcript.segment", "agent.state"]),
    ):
        kinds = [kind for kind, _ in client.events]
        kinds = [kind for kind in kinds[kinds.index("playout.cleared") :] if kind in promised]
        expect_equal(kinds, promised, "the order of events")

    refused = await dropped(world, "epoch")
    await agent.send_bundled(speech(alias, 25, first=500))
    await agent.request("ping")
    await asyncio.sleep(0.3)
    expect(await dropped(world, "epoch") >= refused + 25, "frames of the old epoch were not counted")
    told = bob.time_of("playout.cleared")
    late = [frame for at, frame in bob.frames if at > told + NO_LATER]
    expect(not late, f"{len(late)} frames after the clear")
    count = len(bob.frames)
    fresh = of_epoch(1, speech(alias, 30, first=525))
    asked = asyncio.get_running_loop().time()
    await agent.send_bundled(fresh)
    expect_equal((await bob.event("playout.started", epoch=1))["ts"], 525 * 960)
    expect_frames((await bob.receive_frames(count + 30))[count:], fresh)
    expect(bob.frames[count][0] - asked < 0.1, "the new epoch was delayed")
    carol = await world.join("carol")
    expect_equal(carol.hello["participants"][0]["tracks"][0]["epoch"], 1, "epoch for newcomers")


@check("a subscriber's clear uses its own playout position; two crossing clears have one epoch each", timing_sensitive=True)
async def by_listener(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish(mode="ahead")
    sid, alias = track["sid"], track["alias"]
    await alice.send_bundled(speech(alias, 250))
    await bob.receive_frames(20)
    await bob.request("playout.progress", track=sid, epoch=0, played_ts=9_600, buffered_ms=200)
    cut = await bob.request("playout.clear", track=sid)
    expect_equal((cut["epoch"], cut["estimated"]), (1, False))
    expect(9_600 <= cut["played_ts"] <= 9_600 + 9_600, cut)
    for client in (alice, bob):
        expect_equal(await client.event("playout.cleared"), cut | {"track": sid, "by": "bob"})
    await bob.request("playout.progress", track=sid, epoch=1, played_ts=None, buffered_ms=0)
    fresh = of_epoch(1, speech(alias, 250, first=250))
    await alice.send_bundled(fresh)
    await bob.event("playout.started", epoch=1)
    cuts = await asyncio.gather(*(client.request("playout.clear", track=sid) for client in (alice, bob)))
    expect_equal(sorted(cut["epoch"] for cut in cuts), [2, 3])
    for client in (alice, bob):
        for epoch in (2, 3):
            await client.event("playout.cleared", epoch=epoch)
    # The clear is reported although nothing plays, because the epoch changes.
    idle = await bob.request("playout.clear", track=sid)
    expect_equal((idle["epoch"], idle["played_ts"], idle["played_ms"], idle["discarded_ms"]), (4, None, 0, 0))
    await alice.event("playout.cleared", epoch=4)
    kinds = [kind for kind, _ in alice.events if kind.startswith("playout.") and kind != "playout.marked"]
    expect_equal(kinds[:4], ["playout.started", "playout.cleared", "playout.started", "playout.cleared"])


@check("live tracks cannot be cleared; only publisher and subscribers may clear")
async def refusals(world: World):
    alice, bob = await world.join_all("alice", "bob")
    deaf = await world.join("deaf", can_subscribe=False)
    live, ahead = await alice.publish(), await alice.publish(mode="ahead")
    await bob.event("track.published", track=ahead)
    for client in (alice, bob):
        await expect_error("invalid_argument", client.request("playout.clear", track=live["sid"]))
    await expect_error("not_allowed", deaf.request("playout.clear", track=ahead["sid"]))
    await bob.request("track.subscribe", track=ahead["sid"], subscribed=False)
    await expect_error("not_allowed", bob.request("playout.clear", track=ahead["sid"]))
    await expect_error("not_found", alice.request("playout.clear", track="TR_AMnothing"))
    await expect_error("not_allowed", bob.request("playout.mark", track=ahead["sid"], ts=0, name="x"))
    await expect_no_event(alice, "playout.cleared")
