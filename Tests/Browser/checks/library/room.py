"""Requests, events, playout and resuming, with an assistant written in Python on the other side."""

import asyncio
import json
import ssl
import sys

from devtools import Browser
from harness import REPOSITORY, World, check, expect, expect_equal, expect_quiet_console, join_page, open_page

sys.path.append(str(REPOSITORY / "Tests/Interop"))
from patchbay_client import Client, Frame  # noqa: E402

SILENCE = bytes.fromhex("f8fffe")
# Makes the page's latest WebSocket known as `socket`.
KNOWN_SOCKET = "const Original = WebSocket; window.WebSocket = class extends Original { constructor(...all) { super(...all); window.socket = this } }"


async def join_agent(world: World, room: str, identity: str = "agent") -> Client:
    token = await world.token("--room", room, "--identity", identity, "--kind", "agent")
    return await Client.connect(world.gateway, token, tls=ssl._create_unverified_context())


def speech(track: dict, seconds: float, *, start: int = 0, sequence: int = 0, epoch: int = 0) -> list[Frame]:
    count = round(seconds * 50)
    return [Frame(track["alias"], sequence + n, start + 960 * n, SILENCE, epoch=epoch, flags=0x80 if n == 0 else 0) for n in range(count)]



@check("text, data, DTMF, procedures, agent state and transcripts arrive in both directions")
async def messages(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "messages")
        agent = await join_agent(world, "messages")
        await page.until("room.remoteParticipants.has('agent')")
        await page.run(
            """
            window.got = []
            for (const name of ['text', 'data', 'tool', 'turnMetrics', 'card', 'transcript', 'dtmf', 'onboardingFinished']) room.on(name, (value) => got.push([name, value]))
            room.on('agentState', (participant, state) => got.push(['agentState', participant.identity + ' ' + state]))
            room.registerRpcMethod('double', ({ payload }) => String(payload * 2))
            room.registerRpcMethod('refuse', () => { throw new patchbay.RpcError(77, 'not today') })
            """)
        # From the page.
        await page.run("await room.sendText('hello'); await room.sendData('cursor', {x: 1}); await room.sendDTMF('5#'); await room.sendData('raw', new Uint8Array([0, 255]))")
        expect_equal((await agent.event("text"))["text"], "hello")
        expect_equal(json.loads((await agent.event("data", topic="cursor"))["payload"]), {"x": 1})
        expect_equal((await agent.event("data", topic="raw"))["payload_base64"], "AP8=")
        expect_equal((await agent.event("dtmf"))["digits"], "5#")
        error = await page.run("try { await room.request('track.mute', {track: 'TR_none', muted: true}) } catch ({code, retryable}) { return [code, retryable] }")
        expect_equal(error, ["not_found", False])
        # Procedures.
        expect_equal(await agent.request("rpc.request", to="page", method="double", payload="21"), {"payload": "42"})
        for method, code in (("refuse", 77), ("unknown", 1400)):
            try:
                await agent.request("rpc.request", to="page", method=method)
                raise AssertionError("answered")
            except Exception as refusal:
                expect_equal(getattr(refusal, "code", refusal), code)
        call = asyncio.create_task(page.run("return room.performRpc('agent', 'weather', 'Bern')"))
        request = await agent.event("rpc.request")
        await agent.request("rpc.response", request_id=request["request_id"], payload="sunny")
        expect_equal(await call, "sunny")
        # To the page.
        await agent.request("agent.state", state="thinking")
        await agent.request("text.send", text="<b>hi</b>")
        await agent.request("transcript.segment", id="s", rev=2, role="assistant", text="Hello there", final=True)
        await agent.request("transcript.segment", id="s", rev=1, role="assistant", text="overtaken")
        await agent.request("transcript.segment", id="s", rev=3, role="assistant", text="Hello there.", final=True)
        for kind, data in (
            ("tool.started", {"id": "t", "name": "find"}), ("turn.metrics", {"turn": 1, "end_of_turn_ms": 250, "interrupted": False}),
            ("card", {"id": "c", "kind": "info", "title": "T", "body": "B", "actions": []}), ("card", {"id": "broken"}),
            ("onboarding.finished", {"completed": True}),
        ):
            await agent.request("data.send", topic="patchbay.assistant", payload=json.dumps({"type": kind, "data": data}))
        await page.until("got.some(([name]) => name === 'onboardingFinished')")
        got = await page.run("return got.filter(([name]) => name !== 'data')")
        names = [name for name, _ in got]
        expect_equal(names, ["agentState", "text", "transcript", "transcript", "tool", "turnMetrics", "card", "onboardingFinished"])
        expect_equal(got[0][1], "agent thinking")
        expect_equal(got[1][1]["text"], "<b>hi</b>")
        expect_equal(got[5][1], {"participant": "agent", "turn": 1, "interrupted": False, "endOfTurn": 250})
        expect_equal(await page.run("return room.transcript.map(({rev, text}) => [rev, text])"), [[3, "Hello there."]])
        expect_quiet_console(page)


@check("playout is reported, highlighted, marked and cleared", alone=True)
async def playout(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "playout")
        agent = await join_agent(world, "playout")
        track = await agent.publish(name="voice", source="assistant", mode="ahead")
        await page.run("window.positions = []; room.on('playout', ({word, spokenChars, playedTs}) => positions.push([word, spokenChars, playedTs]))")
        words = [{"text": text, "start_ts": 48000 * n // 2, "end_ts": 48000 * (n + 1) // 2} for n, text in enumerate(["Hello,", "dear", "old", "friend."])]
        await agent.request(
            "transcript.segment", id="s", role="assistant", text="Hello, dear old friend.", final=True, track=track["sid"], start_ts=0, end_ts=96000, words=words)
        await agent.request("playout.mark", track=track["sid"], ts=48000, name="middle")
        await agent.send_bundled(speech(track, 2))
        mark = await agent.event("playout.marked", timeout=10)
        expect_equal((mark["name"], mark["status"]), ("middle", "played"))
        finished = await agent.event("playout.finished", timeout=10)
        expect_equal((finished["played_ts"], finished["played_ms"], finished["estimated"]), (96000, 2000, False))
        positions = await page.run("return positions")
        # About 40 a second, for 2 s.
        expect(40 < len(positions) < 160, f"{len(positions)} positions")
        expect_equal(sorted({word for word, _, _ in positions if word >= 0}), [0, 1, 2, 3])
        expect_equal(sorted({chars for _, chars, _ in positions}), [6, 11, 15, 23])
        expect(all(before[2] <= after[2] for before, after in zip(positions, positions[1:])), "positions go back")
        # The page stops the assistant.
        await agent.send_bundled(speech(track, 10, start=96000, sequence=100))
        await asyncio.sleep(1.5)
        before = await page.run("await room.clearPlayout({identity: 'agent', reason: 'button'}); return room.stats()")
        cleared = await agent.event("playout.cleared")
        expect_equal((cleared["by"], cleared["reason"], cleared["epoch"], cleared["estimated"]), ("page", "button", 1, False))
        expect(700 < cleared["played_ms"] < 1900, cleared)
        await page.until("room.stats().buffered === 0")
        # The next epoch plays, and what was discarded is no loss.
        await agent.send_bundled(speech(track, 1, start=96000 + 480000, sequence=600, epoch=1))
        finished = await agent.event("playout.finished", timeout=10)
        expect_equal((finished["played_ms"], finished["estimated"]), (1000, False))
        stats = await page.run("return room.stats()")
        expect_equal(stats["framesLost"], before["framesLost"], "frames lost")
        expect(stats["framesCleared"] > 300, stats)
        expect_quiet_console(page)


@check("mute and hold are requested, applied and shown")
async def mute_and_hold(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "mute")
        agent = await join_agent(world, "mute")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true); window.got = []; for (const name of ['muted', 'held']) room.on(name, ({identity}, value) => got.push([name, identity, value]))")
        await agent.event("track.published")
        await agent.receive_frames(5)
        await page.run("await room.localParticipant.setMuted(true)")
        await agent.event("track.muted")
        sent = await page.run("return room.stats().framesSent")
        await asyncio.sleep(0.5)
        expect_equal(await page.run("return room.stats().framesSent"), sent, "frames sent while muted")
        await page.run("await room.localParticipant.setMuted(false)")
        await page.run("await room.localParticipant.setHeld(true)")
        await page.until("room.localParticipant.held")
        await page.run("await room.localParticipant.setHeld(false)")
        await agent.event("call.resumed")
        count = len(agent.received_frames())
        await agent.receive_frames(count + 5)
        expected = [["muted", "page", True], ["muted", "page", False], ["held", "page", True], ["held", "page", False]]
        expect_equal(await page.run("return got"), expected)
        await page.run("await room.localParticipant.setMicrophoneEnabled(false)")
        await agent.event("track.unpublished")


@check("a lost connection is resumed: events are replayed, the microphone continues", alone=True)
async def resume(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        # Sockets that can be broken as a network change breaks them. A busy page has frames to send before it learns of that.
        await page.run(
            """
            const Original = WebSocket
            window.WebSocket = class extends Original {
              constructor(...all) { super(...all); window.socket = this }
              set onclose(listener) { super.onclose = listener && ((event) => setTimeout(listener, 200, event)) }
            }
            """)
        await join_page(page, world, "resume")
        agent = await join_agent(world, "resume")
        await page.run("window.texts = []; room.on('text', ({text}) => texts.push(text)); await room.localParticipant.setMicrophoneEnabled(true)")
        track = (await agent.event("track.published"))["track"]
        await agent.receive_frames(10)
        sid = await page.run("return room.localParticipant.sid")
        await page.run("socket.close(3001)")
        await agent.event("participant.updated", connection="reconnecting")
        await agent.request("text.send", text="meanwhile")
        await agent.event("participant.updated", connection="connected")
        await page.until("room.state === 'connected' && texts.includes('meanwhile')")
        expect_equal(await page.run("return [room.localParticipant.sid, room.stats().reconnects, texts.length]"), [sid, 1, 1])
        count = len(agent.received_frames(track["alias"]))
        frames = await agent.receive_frames(count + 10, alias=track["alias"])
        sequences = [Frame.parse(frame).sequence for frame in frames]
        expect(all((b - a) % 65536 == 1 for a, b in zip(sequences, sequences[1:])), f"sequence numbers {sequences}")
        stamps = [Frame.parse(frame).timestamp for frame in frames]
        expect(all(a < b for a, b in zip(stamps, stamps[1:])), "timestamps go back")
        states = await page.run("return happened.filter(({name}) => name === 'state').map(({data}) => data)")
        expect_equal(states, ["connecting", "connected", "reconnecting", "connected"])
        expect(not agent.has_event("participant.left"), "left")


@check("a network change is noticed at once")
async def network_change(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        # Sockets that stay open and carry nothing any more, as after a change from Wi-Fi to a mobile network.
        await page.run(
            """
            const Original = WebSocket
            window.WebSocket = class extends Original {
              constructor(...all) { super(...all); window.socket = this }
              send(message) { if (!this.isDead) super.send(message) }
            }
            """)
        await join_page(page, world, "change")
        took = await page.run(
            """
            socket.isDead = true
            const began = performance.now()
            window.dispatchEvent(new Event('online'))
            await new Promise((resolve) => room.on('state', (state) => state === 'connected' && resolve()))
            return performance.now() - began
            """)
        expect(took < 5000, f"resumed after {took:.0f} ms")
        expect_equal(await page.run("return room.stats().reconnects"), 1)
        # While the network is fine, nothing happens.
        await page.run("window.dispatchEvent(new Event('online')); await new Promise((resolve) => setTimeout(resolve, 3000))")
        expect_equal(await page.run("return [room.state, room.stats().reconnects]"), ["connected", 1])


@check("after a restart of the gateway, the page joins anew and publishes again")
async def gateway_restart(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await join_page(page, world, "restart")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true); await room.localParticipant.setMuted(true)")
        port = int(world.gateway.rsplit(":", 1)[1])
        world.server.kill()
        await world.server.wait()
        await page.until("room.state === 'reconnecting'")
        await world.start_gateway(port)
        await page.until("room.state === 'connected'", timeout=30)
        agent = await join_agent(world, "restart")
        tracks = [track for participant in agent.hello["participants"] for track in participant["tracks"]]
        if not tracks:
            tracks = [(await agent.event("track.published"))["track"]]
        await page.until("room.localParticipant.tracks.size === 1 && [...room.localParticipant.tracks.values()][0].muted")
        await page.run("await room.localParticipant.setMuted(false)")
        await agent.receive_frames(10)
