"""Frames: unmodified, in order, to their subscribers only."""

from harness import *
from patchbay_client import DISCONTINUITY, bundle


@check("two participants exchange 200 frames each way unmodified in real time")
async def both_ways(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    tracks = [await alice.publish(name="mic"), await bob.publish(name="mic", source="assistant", dtx=True, fec=True, channels=2)]
    expect(tracks[0]["alias"] != tracks[1]["alias"], "two tracks have the same alias")
    expect_equal((await bob.event("track.published", participant="alice"))["track"], tracks[0])
    sent = [speech(track["alias"], 200, first=65_450) for track in tracks]
    await asyncio.gather(talk(alice, sent[0]), talk(bob, sent[1]))
    expect_frames(await bob.receive_frames(200), sent[0], "alice's at bob's")
    expect_frames(await alice.receive_frames(200), sent[1], "bob's at alice's")


@check("a frame arrives within milliseconds at three subscribers", timing_sensitive=True)
async def fan_out(world: World):
    speaker, *listeners = await world.join_all("speaker", "one", "two", "three")
    track = await speaker.publish()
    await asyncio.gather(*(one.event("track.published") for one in listeners))
    loop, sent_at = asyncio.get_running_loop(), {}
    for frame in speech(track["alias"], 50):
        sent_at[frame.bytes] = loop.time()
        await speaker.send(frame)
        await asyncio.sleep(0.02)
    for listener in listeners:
        await listener.receive_frames(50)
        expect_equal([frame for _, frame in listener.frames], list(sent_at))
        delays = sorted(at - sent_at[frame] for at, frame in listener.frames)
        # A busy machine may delay some frames, but not half of them.
        expect(delays[25] < 0.1, f"half of the frames took over {delays[25] * 1000:.0f} ms")
    expect(not speaker.frames, "the publisher received its own frames")


@check("bundles are unpacked, and their frames arrive complete and in order")
async def bundles(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    first, second = await alice.publish(), await alice.publish()
    await bob.event("track.published", track=second)
    ones, twos = speech(first["alias"], 30), speech(second["alias"], 30)
    mixed = [frame for pair in zip(ones, twos) for frame in pair]
    for start in range(0, 60, 10):
        await alice.send(bundle([frame.bytes for frame in mixed[start : start + 10]]))
    expect_frames(await bob.receive_frames(60), mixed)
    # A full bundle.
    fifty = speech(first["alias"], 50, first=30)
    await asyncio.sleep(0.6)
    await alice.send(bundle([frame.bytes for frame in fifty]))
    expect_frames(await bob.receive_frames(110), mixed + fifty)


@check("a fragmented WebSocket message is reassembled")
async def fragments(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track = await alice.publish()
    (frame,) = speech(track["alias"], 1)
    await alice.socket.send([frame.bytes[:5], frame.bytes[5:13], frame.bytes[13:]])
    expect_frames(await bob.receive_frames(1), [frame])
    await alice.socket.send(['{"type":"text.se', 'nd","data":{"te', 'xt":"in pieces"}}'])
    expect_equal((await bob.event("text"))["text"], "in pieces")


@check("the longest frame is forwarded; invalid frames and other participants' aliases are not")
async def refused_frames(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    hers, his = await alice.publish(), await bob.publish()
    await bob.event("track.published")
    good = speech(hers["alias"], 4)
    longest = Frame(hers["alias"], 4, 4 * 960, bytes(range(256)) * 5 + bytes(208))
    expect_equal(len(longest.bytes), 1500)
    plain = good[1].bytes
    bad = [
        b"", plain[:11], plain[:12], longest.bytes + b"x", b"\x01" + plain[1:], b"\x81" + plain[1:], b"\x43" + plain[1:],
        plain[:1] + bytes([DISCONTINUITY]) + plain[2:], plain[:1] + b"\x01" + plain[2:], plain[:2] + b"\0\0" + plain[4:],
        Frame(his["alias"], 0, 0, b"\x78stolen").bytes, Frame(60_000, 0, 0, b"\x78unknown").bytes,
        Frame(hers["alias"], 1, 960, b"\x78epoch", epoch=1).bytes,
        b"\x42", b"\x42\x00", bundle([plain]) + b"x", b"\x42\x02" + bundle([plain])[2:], bundle([bundle([plain])]),
        bytes([0x42, 51]) + bundle([plain])[2:] * 51,
    ]
    await alice.send(good[0])
    for message in bad:
        await alice.send(message)
    await alice.send(longest)
    expect_frames(await bob.receive_frames(2), [good[0], longest])
    expect(not alice.frames, "alice received her own frames")


@check("a live track is limited to 100 frames per second with bursts of 100", timing_sensitive=True)
async def rate(world: World):
    alice, bob = await world.join_all("alice", "bob", kind="agent")
    track, other = await alice.publish(), await alice.publish()
    await bob.event("track.published", track=other)
    for frame in speech(track["alias"], 300):
        await alice.send(frame)
    await alice.send(speech(other["alias"], 1)[0])
    await bob.receive_frames(1, other["alias"])
    count = len(bob.received_frames(track["alias"]))
    expect(100 <= count < 150, f"{count} of 300 frames at once were relayed")


@check("a subscriber that stops reading loses old frames, receives 0x08, then fresh frames; its quality drops", timing_sensitive=True)
async def stalled_listener(world: World):
    alice, bob = await world.join_all("alice", "bob")
    carol = await world.join("carol", kind="agent")
    track = await alice.publish()
    loop, sent_at = asyncio.get_running_loop(), {}

    async def speak():
        start = loop.time()
        for index, frame in enumerate(speech(track["alias"], 600)):
            sent_at[frame.sequence] = loop.time()
            await alice.send(frame)
            await asyncio.sleep(max(0, start + (index + 1) * 0.02 - loop.time()))

    speaking = asyncio.create_task(speak())
    await bob.receive_frames(75)
    bob.socket.transport.pause_reading()
    await asyncio.sleep(4)
    resumed = loop.time()
    bob.socket.transport.resume_reading()
    await speaking
    await asyncio.sleep(0.5)
    stale = [frame for at, frame in bob.frames if at >= resumed and at - sent_at[Frame.parse(frame).sequence] > 1]
    flagged = [Frame.parse(frame) for frame in bob.received_frames() if frame[1] & DISCONTINUITY]
    expect(len(stale) <= 40, f"{len(stale)} of 200 stale frames arrived after the pause")
    expect(flagged, "no frame has 0x08")
    sequences = [Frame.parse(frame).sequence for frame in bob.received_frames()]
    expect(sequences == sorted(set(sequences)), "frames out of order or twice")
    expect(sequences[-1] == 599, "the newest frame is missing")
    jumps = [after for before, after in zip(sequences, sequences[1:]) if after != before + 1]
    expect_equal([frame.sequence for frame in flagged], jumps, "0x08 stands where frames are missing")
    expect_equal(len(carol.received_frames()), 600, "frames at the listener that reads")
    quality = await alice.event("quality.changed", participant="bob", timeout=15)
    expect(quality["quality"] in ("good", "poor"), quality)
    await bob.until(lambda: any(kind == "stats" and data["dropped"] > 0 for kind, data in bob.events) or None, 12, "stats with drops")
