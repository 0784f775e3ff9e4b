"""Talkspurts, active speakers and silence, derived from frame headers."""

from harness import *
from patchbay_client import END, START
from dataclasses import replace


@check("talkspurts start and stop by flags, voice bit, pause, silence, mute and leave", timing_sensitive=True)
async def talkspurts(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish()
    sid, alias = track["sid"], track["alias"]

    async def expect_spurt(first: int, end: int | None, reason: str):
        started = await bob.event("talk.started", participant="alice", track=sid)
        expect_equal(started["ts"], first * 960, f"start before {reason}")
        stopped = await bob.event("talk.stopped", participant="alice", track=sid)
        expect_equal(stopped["reason"], reason)
        if end is not None:
            expect_equal(stopped["ts"], end * 960, f"end by {reason}")
        else:
            expect(stopped["ts"] >= first * 960, stopped)

    # The first frame has 0x80, the last 0x40.
    frames = speech(alias, 10)
    await talk(alice, frames[:9] + [replace(frames[9], flags=END)])
    await expect_spurt(0, 10, "end")
    # No flag: the voice bit starts it, a pause ends it.
    frames = [replace(frame, flags=0) for frame in speech(alias, 10, first=100)]
    await talk(alice, frames)
    await expect_spurt(100, 110, "silence")
    # Frames continue, but are silent.
    loud = speech(alias, 5, first=200)
    quiet = [replace(frame, flags=0) for frame in speech(alias, 45, first=205, level=90, voice=False)]
    await talk(alice, loud + quiet)
    await expect_spurt(200, None, "silence")
    # A new 0x80 before the previous talkspurt ended.
    await talk(alice, speech(alias, 5, first=300) + speech(alias, 5, first=400))
    await expect_spurt(300, 305, "silence")
    await alice.request("track.mute", track=sid, muted=True)
    await expect_spurt(400, None, "muted")
    await alice.request("track.mute", track=sid, muted=False)
    await talk(alice, speech(alias, 5, first=500))
    # A new participant receives talk.started for a talkspurt in progress.
    await alice.send(replace(speech(alias, 1, first=505)[0], flags=0))
    carol = await world.join("carol")
    expect_equal((await carol.event("talk.started", participant="alice"))["ts"], 500 * 960)
    await alice.leave()
    await expect_spurt(500, None, "left")
    await carol.event("talk.stopped", participant="alice")
    started = [1 for kind, _ in bob.events if kind == "talk.started"]
    stopped = [1 for kind, _ in bob.events if kind == "talk.stopped"]
    expect_equal((len(started), len(stopped)), (6, 6), "starts and stops")


@check("speakers.changed reports active speakers in steps of 1/8, and those that stopped", timing_sensitive=True)
async def speakers(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish()
    await talk(alice, speech(track["alias"], 100, level=6))
    changes = [await bob.event("speakers.changed")]
    (speaker,) = changes[0]["speakers"]
    expect_equal((speaker["participant"], speaker["track"], speaker["active"]), ("alice", track["sid"], True))
    expect(0 < speaker["level"] <= 1 and (speaker["level"] * 8).is_integer(), speaker)
    carol = await world.join("carol")
    expect_equal([one["participant"] for one in (await carol.event("speakers.changed"))["speakers"]], ["alice"])
    stopped = await bob.event("speakers.changed", speakers=[{"participant": "alice", "track": track["sid"], "level": 0, "active": False}])
    expect(stopped, "did not stop")
    # Too quiet to be a speaker.
    await talk(alice, speech(track["alias"], 50, first=200, level=45))
    await asyncio.sleep(0.9)
    last = [data for kind, data in bob.events if kind == "speakers.changed"][-1]
    expect_equal(last, stopped, "what was said after quiet frames")


@check("silence is reported once after ten seconds; muted participants do not count as silent", timing_sensitive=True)
async def silence(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track, muted = await alice.publish(), await bob.publish()
    await bob.request("track.mute", track=muted["sid"], muted=True)
    await alice.send(Frame(track["alias"], 0, 0, b"\x78noise", level=30, flags=START | END))
    await talk(alice, speech(track["alias"], 100, first=1, level=70, voice=False))
    told = await bob.event("silence", timeout=20)
    expect_equal(told["participant"], "alice")
    expect(10_000 <= told["silent_ms"] < 12_000, told)
    await alice.event("silence", participant="alice")
    await asyncio.sleep(3)
    expect_equal(len([1 for kind, _ in bob.events if kind == "silence"]), 1, "silence")


@check("stats are sent every five seconds to the participant itself")
async def stats(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish()
    await talk(alice, speech(track["alias"], 50))
    await bob.receive_frames(50)
    first = await bob.event("stats", timeout=20)
    expect(first["rtt_ms"] >= 0 and first["dropped"] == 0 and first["sent"] <= 50, first)
    await bob.event("stats", sent=50, dropped=0)
    expect_equal((await alice.event("stats", timeout=20))["sent"], 0)
