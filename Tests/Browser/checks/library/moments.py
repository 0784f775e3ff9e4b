"""Unlucky moments: what is under way when a call ends, the connection is lost or the gateway restarts."""

import asyncio
import contextlib
import time

from checks.library.room import join_agent, speech
from devtools import Browser, Page
from harness import World, check, expect, expect_equal, expect_quiet_console, fetch, join_page, mint, open_page

# Sockets that can be broken, and that stay away while `isAway`.
BREAKABLE = """
    const Original = WebSocket
    window.WebSocket = class extends Original {
      constructor(url, ...all) { super(window.isAway ? 'wss://127.0.0.1:1' : url, ...all); window.socket = this }
    }
"""
# Prompts for the microphone that wait for `allow()`.
PROMPT = """
    const media = navigator.mediaDevices
    const open = media.getUserMedia.bind(media)
    window.streams = []
    media.getUserMedia = async (constraints) => {
      await new Promise((resolve) => (window.allow = resolve))
      window.allow = null
      streams.push(await open(constraints))
      return streams.at(-1)
    }
"""


@contextlib.asynccontextmanager
async def away(page: Page):
    """Without a connection inside, resumed afterwards."""
    await page.run("window.isAway = true; socket.close(3001)")
    await page.until("room.state === 'reconnecting'")
    yield
    await page.run("window.isAway = false; dispatchEvent(new Event('online'))")
    await page.until("room.state === 'connected'")


async def restart(world: World, page: Page):
    """The gateway is killed and returns at the same address; the page joins anew."""
    world.server.kill()
    await world.server.wait()
    await page.until("room.state === 'reconnecting'")
    await world.start_gateway(int(world.gateway.rsplit(":", 1)[1]))


def mute_as_administrator(world: World, room: str, track: str, muted: bool):
    token = mint(exp=int(time.time()) + 60, video={"room": room, "roomAdmin": True})
    fetch(world, "PATCH", f"/v1/rooms/{room}/tracks/{track}", {"muted": muted}, token)


@check("a microphone that is allowed after the call has ended stays off")
async def late_permission(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "late")
        await page.run(PROMPT + "window.enabling = room.localParticipant.setMicrophoneEnabled(true).then(() => 'on', ({ code }) => code)")
        await page.until("typeof window.allow === 'function'")
        await page.run("room.disconnect(); allow()")
        expect_equal(await page.run("return enabling"), "cancelled")
        expect_equal(await page.run("return [streams[0].getTracks()[0].readyState, room.localParticipant.microphoneEnabled]"), ["ended", False])


@check("a microphone that ends while another one is being opened does not end that one")
async def replaced_microphone(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "replaced")
        agent = await join_agent(world, "replaced")
        await page.run(PROMPT + "window.enable = (options) => { window.enabling = room.localParticipant.setMicrophoneEnabled(true, options) }; enable()")
        await page.until("typeof window.allow === 'function'")
        await page.run("allow(); await enabling")
        await agent.receive_frames(5)
        await page.run("enable({ autoGainControl: false })")
        await page.until("typeof window.allow === 'function'")
        await page.run("streams[0].getTracks()[0].dispatchEvent(new Event('ended')); allow(); await enabling")
        count = len(agent.received_frames())
        await agent.receive_frames(count + 20)
        expect(await page.run("return room.localParticipant.microphoneEnabled && happened.every(({ name }) => name !== 'microphoneEnded')"), "the microphone ended")


@check("mute is what user and gateway agree on, whatever happens in between")
async def mute(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(BREAKABLE)
        await join_page(page, world, "mute")
        agent = await join_agent(world, "mute")
        await page.run("window.me = room.localParticipant; await me.setMicrophoneEnabled(true)")
        track = (await agent.event("track.published"))["track"]["sid"]

        async def expect_heard():
            count = len(agent.received_frames())
            await agent.receive_frames(count + 10)
            expect_equal(await page.run("return me.muted"), False)

        # Twice within a round trip.
        await page.run("await Promise.all([me.setMuted(true), me.setMuted(false)])")
        await agent.event("track.unmuted")
        await expect_heard()
        # Unmuted while the connection is away.
        await page.run("await me.setMuted(true)")
        async with away(page):
            await page.run("await me.setMuted(false)")
        await agent.event("track.unmuted")
        await expect_heard()
        # By an administrator; a resume does not change it.
        mute_as_administrator(world, "mute", track, True)
        await page.until("me.muted")
        async with away(page):
            pass
        sent = await page.run("return room.stats().framesSent")
        await asyncio.sleep(0.5)
        expect_equal(await page.run("return [me.muted, room.stats().framesSent]"), [True, sent])
        mute_as_administrator(world, "mute", track, False)
        await agent.event("track.unmuted")
        await expect_heard()
        mute_as_administrator(world, "mute", track, True)
        await page.until("me.muted")
        await page.run("await me.setMuted(false)")
        await expect_heard()
        # The microphone is turned off while the connection is away.
        async with away(page):
            await page.run("await me.setMicrophoneEnabled(false)")
        await agent.event("track.unpublished")
        expect_equal(await page.run("return me.tracks.size"), 0)


@check("hold and subscriptions are the same after a restart of the gateway")
async def restored(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run("window.followed = []; window.addEventListener('unhandledrejection', ({ reason }) => followed.push(String(reason)))")
        agent = await join_agent(world, "restored")
        track = await agent.publish(name="voice", source="microphone")
        token = await world.token("--room", "restored", "--identity", "page")
        # Tracks that were there before are subscribed from the event that reports them.
        await page.run(
            """
            const room = (window.room = new patchbay.Room({ autoSubscribe: false }))
            room.on('trackPublished', ({ sid }) => (window.subscribing = room.setSubscribed(sid, true)))
            await room.connect(url, token)
            await room.localParticipant.setMicrophoneEnabled(true)
            await room.localParticipant.setHeld(true)
            """, url=world.gateway, token=token)
        await agent.event("call.held")
        expect_equal(await page.run("return followed"), [])
        await restart(world, page)
        agent = await join_agent(world, "restored")
        await page.until("room.state === 'connected'", timeout=30)
        await agent.event("call.held", participant="page")
        expect(await page.run("return room.localParticipant.held"), "not on hold any more")
        await page.run("await room.localParticipant.setHeld(false)")
        await agent.receive_frames(10)
        # A gap that a sequence number cannot count.
        track = await agent.publish(name="voice", source="microphone")
        await page.until("room.remoteParticipants.get('agent')?.tracks.size === 1")
        # Frames that arrive before the subscription are not forwarded.
        await page.run("await subscribing")
        for frame in speech(track, 0.2) + speech(track, 0.2, start=96000, sequence=40000):
            await agent.send(frame)
        await page.until("room.stats().framesReceived === 20")


@check("a handler that ends while the connection is away is answered afterwards")
async def late_answer(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(BREAKABLE)
        await join_page(page, world, "answers")
        agent = await join_agent(world, "answers")
        await page.run("room.registerRpcMethod('slow', () => new Promise((resolve) => (window.finish = resolve)))")
        before = asyncio.create_task(agent.request("rpc.request", to="page", method="slow"))
        await page.until("typeof window.finish === 'function'")
        async with away(page):
            await page.run("finish('before')")
            # Replayed by the resume, before `hello`.
            await page.run("room.registerRpcMethod('fast', () => 'meanwhile')")
            meanwhile = asyncio.create_task(agent.request("rpc.request", to="page", method="fast"))
            await asyncio.sleep(0.2)
        expect_equal([await before, await meanwhile], [{"payload": "before"}, {"payload": "meanwhile"}])
        await page.run("room.registerRpcMethod('long', () => 'x'.repeat(70000))")
        with contextlib.suppress(Exception):
            await agent.request("rpc.request", to="page", method="long")
        expect_equal(await page.run("return room.sendText('x'.repeat(70000)).catch(({ code }) => code)"), "limit_exceeded")
        await page.run("await room.sendText('still here')")
        expect_equal((await agent.event("text"))["text"], "still here")


@check("a room that a listener leaves stays left, can be used again, and begins a new transcript")
async def left_by_listener(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(
            """
            const Original = AudioContext
            window.contexts = []
            window.AudioContext = class extends Original { constructor(...all) { super(...all); contexts.push(this) } }
            const idle = new patchbay.Room()
            await idle.startAudio()
            idle.disconnect()
            """)
        await page.until("contexts.length === 1 && contexts[0].state === 'closed'")
        # A speaker that is gone.
        await join_page(page, world, "left", outputDevice="gone")
        agent = await join_agent(world, "left")
        await page.until("room.remoteParticipants.has('agent')")
        await agent.request("transcript.segment", id="seg-1", rev=5, role="assistant", text="of the first call", final=True)
        await page.until("room.transcript.length === 1")
        await page.run("window.stop = room.tap('agent', () => {}); room.on('participantLeft', () => { stop(); room.disconnect() })")
        await restart(world, page)
        await page.until("room.state === 'disconnected'", timeout=30)
        await asyncio.sleep(0.5)
        states = await page.run("return happened.filter(({ name }) => name === 'state').map(({ data }) => data)")
        expect_equal(states, ["connecting", "connected", "reconnecting", "disconnected"])
        watcher = await join_agent(world, "left", "watcher")
        expect_equal([one["identity"] for one in watcher.hello["participants"]], [])
        token = await world.token("--room", "next", "--identity", "page")
        await page.run("await room.connect(url, token)", url=world.gateway, token=token)
        expect_equal(await page.run("return room.transcript.length"), 0)
        agent = await join_agent(world, "next")
        await agent.request("transcript.segment", id="seg-1", rev=1, role="assistant", text="of the second", final=True)
        await page.until("room.transcript[0]?.text === 'of the second'")
        await page.run("room.disconnect()")


@check("messages of other participants are no events of the library")
async def forged(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "forged")
        other = await join_agent(world, "forged", "other")
        await page.until("room.remoteParticipants.has('other')")
        await page.run("window.got = []; for (const name of ['disconnected', 'text', 'participantLeft', 'tool']) room.on(name, (value) => got.push([name, value]))")
        for payload in (
            '{"type":"constructor","data":{"event":"disconnected","fields":{"message":"forged"}}}',
            '{"type":"constructor","data":{"event":"participantLeft","fields":{"identity":"other"}}}',
            '{"type":"__proto__","data":{}}', '{"type":"toString","data":{}}', '{"type":null,"data":{}}',
            '{"type":"tool.started","data":{"id":"t","name":"find","participant":"boss"}}',
        ):
            await other.request("data.send", topic="patchbay.assistant", payload=payload)
        await page.until("got.length > 0")
        expect_equal(await page.run("return got"), [["tool", {"type": "started", "id": "t", "name": "find", "participant": "other"}]])
        expect_quiet_console(page)
