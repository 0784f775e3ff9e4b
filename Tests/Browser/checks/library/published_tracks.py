"""Audio of the page's own, published beside the microphone."""

from checks.library.room import KNOWN_SOCKET, join_agent
from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console, join_page, open_page
from patchbay_client import Frame

# A sine wave of half the full scale.
TONE_LEVEL = -9


@check("a track of the page is published beside the microphone, and goes on after a lost connection", alone=True)
async def published_tracks(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(KNOWN_SOCKET)
        await join_page(page, world, "tracks")
        agent = await join_agent(world, "tracks")
        await page.run(
            """
            const context = new AudioContext()
            const oscillator = new OscillatorNode(context, { frequency: 440 })
            const { stream } = oscillator.connect(new GainNode(context, { gain: 0.5 })).connect(new MediaStreamAudioDestinationNode(context))
            oscillator.start()
            window.tone = stream.getAudioTracks()[0]
            window.ended = []
            room.on('localTrackEnded', (track, reason) => ended.push([track === tone, reason]))
            await room.localParticipant.setMicrophoneEnabled(true)
            window.published = await room.localParticipant.publishTrack(tone, { name: 'tone', dtx: false })
            """)
        microphone, tone = [(await agent.event("track.published"))["track"] for _ in range(2)]
        expect_equal([microphone["name"], tone["name"], tone["source"], tone["dtx"]], ["microphone", "tone", "microphone", False])
        # After the beginning. A gap in what a busy browser captures makes a frame quieter, so one window in five must have none.
        for count in range(50, 250, 40):
            frames = await agent.receive_frames(count, alias=tone["alias"])
            levels = [-Frame.parse(frame).level for frame in frames[count - 40:count]]
            expect(max(levels) <= TONE_LEVEL + 1, f"levels {levels}")
            if min(levels) >= TONE_LEVEL - 1:
                break
        else:
            raise AssertionError(f"levels {levels}")
        await agent.receive_frames(10, alias=microphone["alias"])
        # Each track is muted by itself.
        await page.run("await published.setMuted(true)")
        await agent.event("track.muted", track=tone["sid"])
        count = len(agent.received_frames(microphone["alias"]))
        await agent.receive_frames(count + 10, alias=microphone["alias"])
        await page.run("await published.setMuted(false)")
        await agent.event("track.unmuted", track=tone["sid"])
        expect_equal(await page.run("return [published.sid, published.muted, room.localParticipant.muted, room.localParticipant.tracks.size]"), [tone["sid"], False, False, 2])
        # A lost connection.
        await page.run("socket.close(3001)")
        await agent.event("participant.updated", connection="connected")
        for track in (microphone, tone):
            count = len(agent.received_frames(track["alias"]))
            await agent.receive_frames(count + 10, alias=track["alias"])
        sequences = [Frame.parse(frame).sequence for frame in agent.received_frames(tone["alias"])]
        expect(all((b - a) % 65536 >= 1 for a, b in zip(sequences, sequences[1:])), f"sequence numbers {sequences}")
        # The page's track goes on, and can be published again.
        await page.run("await room.localParticipant.unpublishTrack(tone)")
        expect_equal((await agent.event("track.unpublished"))["track"], tone["sid"])
        expect_equal(await page.run("return [tone.readyState, room.localParticipant.tracks.size, ended]"), ["live", 1, []])
        await page.run("window.published = await room.localParticipant.publishTrack(tone, { name: 'tone', dtx: false })")
        again = (await agent.event("track.published"))["track"]
        await agent.receive_frames(10, alias=again["alias"])
        await page.run("room.disconnect()")
        expect_equal(await page.run("return tone.readyState"), "live")
        expect_quiet_console(page)
