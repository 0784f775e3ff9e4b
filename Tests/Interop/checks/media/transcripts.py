"""Transcripts."""

from harness import *


@check("segments are forwarded with all fields; higher revisions replace them, stale ones are answered and not forwarded")
async def segments(world: World):
    alice, bob = await world.join_all("alice", "bob")
    track = await alice.publish()
    whole = {
        "id": "seg-1", "rev": 2, "role": "user", "participant": "alice", "track": track["sid"],
        "text": "Grüß Gott", "final": False, "language": "de-AT",
        "start_ts": 48_000, "end_ts": 4_294_967_295, "spoken": "in_progress", "spoken_chars": 4,
        "words": [
            {"text": "Grüß", "start_ts": 48_000, "end_ts": 66_000, "confidence": 0.5},
            {"text": "Gott", "start_ts": 68_000, "end_ts": 96_000},
        ],
    }
    expect_equal(await alice.request("transcript.segment", **whole), {})
    expect_equal(await bob.event("transcript.segment"), whole)
    await alice.request("transcript.segment", id="seg-1", rev=2, role="user", text="the same again")
    await alice.request("transcript.segment", id="seg-1", rev=1, role="user", text="stale")
    await alice.request("transcript.segment", id="seg-1", rev=3, role="user", text="Servus", final=True)
    expect_equal(
        await bob.event("transcript.segment"),
        {"id": "seg-1", "rev": 3, "role": "user", "participant": "alice", "text": "Servus", "final": True, "language": ""})
    await expect_no_event(alice, "transcript.segment")
    expect_equal(len([1 for kind, _ in bob.events if kind == "transcript.segment"]), 2, "segments at bob's")


@check("only agents transcribe for others, and segment ids belong to their speaker")
async def whose(world: World):
    alice = await world.join("alice")
    agent = await world.join("agent", kind="agent")
    await agent.request("transcript.segment", id="a", role="user", participant="alice", text="hers")
    expect_equal((await alice.event("transcript.segment"))["participant"], "alice")
    await agent.request("transcript.segment", id="b", role="assistant", text="its own")
    expect_equal((await alice.event("transcript.segment", id="b"))["participant"], "agent")
    for fields in ({"role": "assistant"}, {"role": "user", "participant": "agent"}):
        await expect_error("not_allowed", alice.request("transcript.segment", id="c", text="x", **fields))
    await expect_error("not_found", agent.request("transcript.segment", id="d", role="user", participant="nobody", text="x"))
    await expect_error("invalid_argument", alice.request("transcript.segment", id="b", rev=9, role="user", text="consumed"))
    for code, fields in (
        ("invalid_argument", {"id": ""}), ("invalid_argument", {"id": "i" * 129}), ("invalid_argument", {"rev": -1}),
        ("invalid_argument", {"role": "narrator"}), ("limit_exceeded", {"text": "x" * 16_385}), ("invalid_argument", {"start_ts": -1}),
        ("invalid_argument", {"spoken": "maybe"}),
    ):
        await expect_error(code, alice.request("transcript.segment", **({"id": "e", "role": "user", "text": "x"} | fields)))


@check("a new participant receives the last 50 segments in order before any new event")
async def replay(world: World):
    agent = await world.join("agent", kind="agent")
    for index in range(60):
        await agent.request("transcript.segment", id=f"s{index}", role="assistant", text=str(index), final=True)
    await agent.request("transcript.segment", id="s30", rev=1, role="assistant", text="30 revised", final=True)
    late = await world.join("late")
    await agent.request("transcript.segment", id="new", role="assistant", text="new")
    await late.event("transcript.segment", id="new")
    texts = [data["text"] for kind, data in late.events if kind == "transcript.segment"]
    expect_equal(texts, [str(index) if index != 30 else "30 revised" for index in range(10, 60)] + ["new"])
    expect_equal(late.events[1][0], "transcript.segment", "right after hello comes")
