"""Playout of `ahead` tracks: marks, reports, agent state."""

from harness import *

# Tolerance for the time of a mark, in seconds.
CLOSE = 0.06


async def expect_marked(publisher: Client, name: str, after: float, *, since: float, status: str = "played") -> dict:
    marked = await publisher.event("playout.marked", name=name)
    expect_equal(marked["status"], status, name)
    took = publisher.time_of("playout.marked", name=name) - since
    expect(abs(took - after) <= CLOSE, f"{name} was reported after {took:.3f} s instead of {after} s")
    return marked


@check("marks are reported when they are played, whenever they were set", timing_sensitive=True, delay=6)
async def marks(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(source="assistant", mode="ahead")

    async def mark(name: str, ts: int, sid: str = track["sid"]) -> dict:
        return await alice.request("playout.mark", track=sid, ts=ts, name=name)

    expect_equal(await mark("one second", 48_000), {})
    await alice.send_bundled(speech(track["alias"], 100))
    await alice.event("playout.started")
    began = alice.time_of("playout.started")
    await mark("a second and a half", 72_000)
    await mark("the end", 96_000)
    await mark("behind the end", 97_000)
    for name, after in (("one second", 1), ("a second and a half", 1.5), ("the end", 2)):
        marked = await expect_marked(alice, name, after, since=began)
        expect(abs(marked["played_ts"] - after * 48_000) <= 48_000 * CLOSE, marked)
    now = asyncio.get_running_loop().time()
    await mark("heard before", 10)
    await expect_marked(alice, "heard before", 0, since=now)
    await alice.event("playout.marked", name="behind the end", status="timeout", timeout=9)
    expect(not bob.has_event("playout.marked"), "a subscriber received playout.marked")

    await mark("never", 960_000)
    await alice.request("track.unpublish", track=track["sid"])
    await alice.event("playout.marked", name="never", status="dropped")
    live = await alice.publish()
    await expect_error("invalid_argument", mark("live", 0, live["sid"]))
    await expect_error("not_found", mark("none", 0, "TR_AMnothing"))
    await expect_error("invalid_argument", alice.request("playout.mark", track=live["sid"], ts=-1, name="x"))


@check("progress reports determine when marks and the end are reported", timing_sensitive=True, delay=6)
async def reports(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish(mode="ahead")
    sid = track["sid"]
    await bob.event("track.published")
    for name, ts in (("early", 24_000), ("late", 96_000)):
        await alice.request("playout.mark", track=sid, ts=ts, name=name)
    await alice.send_bundled(speech(track["alias"], 125))
    await bob.receive_frames(1)
    behind, heard_at = 0.4, bob.frames[0][0]

    async def report():
        while True:
            here = len(bob.frames) * 960
            played = min(here, int((asyncio.get_running_loop().time() - heard_at - behind) * 48_000))
            where = {"played_ts": played, "buffered_ms": (here - played) / 48} if played > 0 else {"buffered_ms": here / 48}
            await bob.send_message({"type": "playout.progress", "data": {"track": sid, "epoch": 0, **where}})
            await asyncio.sleep(0.2 if played < 120_000 else 60)

    reporting = asyncio.create_task(report())
    try:
        # A report for another epoch is ignored.
        expect_equal(await bob.request("playout.progress", track=sid, epoch=7, played_ts=96_000, buffered_ms=0), {})
        await expect_marked(alice, "early", 0.5 + behind, since=heard_at)
        await expect_marked(alice, "late", 2 + behind, since=heard_at)
        finished = await alice.event("playout.finished")
    finally:
        reporting.cancel()
    expect_equal((finished["played_ts"], finished["played_ms"], finished["estimated"]), (120_000, 2500, False))
    took = alice.time_of("playout.finished") - heard_at
    expect(2.5 + behind <= took + CLOSE and took < 3.5, f"finished after {took:.2f} s")


@check("progress is accepted for ahead tracks from their subscribers only")
async def report_refusals(world: World):
    alice, bob = await world.join_all("alice", "bob")
    deaf = await world.join("deaf", can_subscribe=False)
    live, ahead = await alice.publish(), await alice.publish(mode="ahead")
    for code, client, fields in (
        ("invalid_argument", bob, {"track": live["sid"]}), ("not_allowed", deaf, {}), ("not_allowed", alice, {}),
        ("not_found", bob, {"track": "TR_AMnothing"}), ("invalid_argument", bob, {"epoch": 256}),
        ("invalid_argument", bob, {"buffered_ms": 60_001}), ("invalid_argument", bob, {"buffered_ms": None}),
        ("invalid_argument", bob, {"played_ts": 2**32}),
    ):
        progress = {"track": ahead["sid"], "epoch": 0, "played_ts": 0, "buffered_ms": 0} | fields
        await expect_error(code, client.request("playout.progress", **progress))


@check("an agent's speaking state follows playout", timing_sensitive=True, delay=6)
async def assistant_state(world: World):
    alice = await world.join("alice")
    agent = await world.join("agent", kind="agent")
    track = await agent.publish(source="assistant", mode="ahead")
    await agent.request("agent.state", state="speaking")
    await expect_no_event(alice, "agent.state")
    await agent.send_bundled(speech(track["alias"], 50))
    await agent.request("agent.state", state="listening")
    await alice.event("playout.finished")
    await alice.event("agent.state", state="listening")
    told = [data["state"] for kind, data in alice.events if kind == "agent.state"]
    expect_equal(told, ["speaking", "listening"])
    spoken = alice.time_of("agent.state", state="listening") - alice.time_of("agent.state", state="speaking")
    expect(0.9 < spoken < 1.5, f"one second of speech was reported as speaking for {spoken:.2f} s")
