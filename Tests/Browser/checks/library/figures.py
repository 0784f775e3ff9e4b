"""Delay: mouth to ear, recovery after a stall, and a connection that is too slow for the microphone."""

import asyncio
import math
import struct
import wave
from pathlib import Path

from devtools import Browser, Page
from harness import World, expect, join_page, measurement, open_page

CLICK_INTERVAL_MS = 500


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.floor(len(ordered) * share))]


def click_train(path: Path, seconds: int) -> Path:
    """Bursts of 1 kHz for 10 ms, which Opus keeps, every 500 ms."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        for index in range(seconds * 1000 // CLICK_INTERVAL_MS):
            samples = [round(24000 * math.sin(2 * math.pi * n / 48)) if n < 480 else 0 for n in range(48 * CLICK_INTERVAL_MS)]
            file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path


# Two rooms in one page, so that one clock measures both ends. `delays(from)` are [time, delay] of clicks since then.
LOOPBACK = """
    // A socket whose messages can be held back.
    const Original = WebSocket
    window.WebSocket = class extends Original {
      held = null
      set onmessage(listener) {
        super.onmessage = listener && ((event) => (this.held ? this.held.push([listener, event]) : listener.call(this, event)))
      }
      constructor(...all) { super(...all); window.socket = this }
      stall(duration) {
        this.held = []
        setTimeout(() => { const held = this.held; this.held = null; for (const [listener, event] of held) listener.call(this, event) }, duration)
      }
    }
    window.pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration))
    window.mouth = new patchbay.Room()
    window.ear = new patchbay.Room()
    await mouth.connect(url, tokens[0])
    await ear.connect(url, tokens[1])
    window.times = { mouth: [], ear: [] }
    const watch = (name) => {
      const clock = new analysis.SampleClock()
      let quiet = 100
      return (samples, frame) => {
        clock.note(samples, frame)
        const index = samples.findIndex((sample) => Math.abs(sample) > 0.1)
        if (index >= 0 && quiet > 5) times[name].push(clock.timeOf(frame + index))
        quiet = index >= 0 ? 0 : quiet + 1
      }
    }
    await mouth.localParticipant.setMicrophoneEnabled(true, { echoCancellation: false, noiseSuppression: false, autoGainControl: false })
    mouth.tap('mouth', watch('mouth'))
    ear.tap(null, watch('ear'))
    window.delays = (from) => times.mouth.filter((at) => at > from)
      .map((at) => [at, times.ear.find((heard) => heard > at && heard < at + 480) - at]).filter(([, delay]) => delay > 0)
"""

# Where a frame's time goes in the page. `spent.encoder`, `.transport` and `.decoder` are lists of milliseconds.
STAGES = """
    window.spent = { encoder: [], transport: [], decoder: [] }
    const note = (stage, since) => since !== undefined && spent[stage].push(performance.now() - since)
    const Encoder = AudioEncoder
    const encoding = []
    window.AudioEncoder = class extends Encoder {
      constructor({ output, ...rest }) { super({ output: (...all) => { note('encoder', encoding.shift()); output(...all) }, ...rest }) }
      encode(...all) { encoding.push(performance.now()); super.encode(...all) }
    }
    // By sequence number, as the gateway passes frames on byte for byte.
    const sent = new Map()
    const sequence = (data) => new DataView(data.buffer ?? data, data.byteOffset ?? 0).getUint16(4)
    const Socket = WebSocket
    window.WebSocket = class extends Socket {
      constructor(...all) {
        super(...all)
        this.addEventListener('message', ({ data }) => typeof data !== 'string' && note('transport', sent.get(sequence(data))))
      }
      send(data) {
        if (typeof data !== 'string') sent.set(sequence(data), performance.now())
        super.send(data)
      }
    }
    const Decoder = AudioDecoder
    const decoding = []
    window.AudioDecoder = class extends Decoder {
      constructor({ output, ...rest }) { super({ output: (...all) => { note('decoder', decoding.shift()); output(...all) }, ...rest }) }
      decode(...all) { decoding.push(performance.now()); super.decode(...all) }
    }
"""


def spread(values: list[float]) -> str:
    return f"median {percentile(values, 0.5):.1f} ms, p95 {percentile(values, 0.95):.1f} ms, most {max(values):.1f} ms"


async def connect_loopback(page: Page, world: World):
    tokens = [await world.token("--room", "clicks", "--identity", name) for name in ("mouth", "ear")]
    await page.run(LOOPBACK, url=world.gateway, tokens=tokens)


@measurement("mouth to ear on loopback, from one page to another")
async def mouth_to_ear(world: World):
    async with Browser(microphone=click_train(world.path("clicks.wav"), 70)) as browser:
        page = await open_page(browser, world)
        await page.run(STAGES)
        await connect_loopback(page, world)
        await asyncio.sleep(60)
        values, spent, stats = await page.run("return [delays(0).map(([, delay]) => delay), spent, ear.stats()]")
    expect(len(values) > 60, f"{len(values)} clicks were heard")
    lines = [
        f"{len(values)} clicks: {spread(values)}, from captured samples to played samples; the output adds {stats['outputLatency']:.0f} ms",
        f"jitter {stats['jitter']:.0f} ms, playout delay {stats['playoutDelay']:.0f} ms, skipped {stats['skipped']:.0f} ms, "
        f"{stats['underruns']} underruns",
        "a frame is complete after: 20 ms",
    ]
    names = {"encoder": "encoder", "transport": "socket, gateway, socket", "decoder": "decoder"}
    lines += [f"{name}: {spread(spent[stage])}" for stage, name in names.items()]
    known = 20 + sum(percentile(spent[stage], 0.5) for stage in names)
    lines.append(f"buffer, which waits for late frames: median {percentile(values, 0.5) - known:.0f} ms (what remains)")
    return "\n".join(lines)


@measurement("recovery of the delay after a 1 s stall of the socket")
async def stall(world: World):
    lines = []
    async with Browser(microphone=click_train(world.path("clicks.wav"), 60)) as browser:
        page = await open_page(browser, world)
        await connect_loopback(page, world)
        await asyncio.sleep(5)
        for _ in range(4):
            before, after, skipped = await page.run(
                """
                const skipped = ear.stats().skipped
                const start = performance.now()
                socket.stall(1000)
                await pause(6500)
                const inWindow = (from, to) => delays(from).filter(([at]) => at < to)
                return [inWindow(start - 3000, start - 500), inWindow(start + 1000, start + 6000).map(([at, delay]) => [at - start - 1000, delay]), ear.stats().skipped - skipped]
                """, timeout=30)
            usual = percentile([delay for _, delay in before], 0.5)
            late = [(at, delay) for at, delay in after if abs(delay - usual) > 20]
            in_time = [delay for at, delay in after if at > 2000]
            lines.append(
                f"usually {usual:.0f} ms; {len(late)} of {len(after)} clicks in 5 s after the stall differ by more than 20 ms"
                f"{', the last %.1f s after it' % (late[-1][0] / 1000) if late else ''}; from 2 s on at most {max(in_time):.0f} ms; skipped {skipped:.0f} ms")
    return "\n".join(lines)


@measurement("a socket that does not send: microphone frames are dropped, not queued")
async def slow_uplink(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        # Buffered bytes as a slow network causes them.
        await page.run(
            """
            const Original = WebSocket
            window.extra = 0
            window.WebSocket = class extends Original { get bufferedAmount() { return super.bufferedAmount + window.extra } }
            """)
        await join_page(page, world, "slow")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true)")
        await page.until("room.stats().framesSent > 20")
        counts = await page.run(
            """
            const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration))
            const before = room.stats()
            window.extra = 2000
            await pause(1000)
            const during = room.stats()
            window.extra = 0
            await pause(1000)
            const after = room.stats()
            return [during.framesSent - before.framesSent, during.microphoneDropped - before.microphoneDropped, after.framesSent - during.framesSent]
            """)
        expect(counts[0] <= 2 and counts[1] > 5 and counts[2] > 5, counts)
        return f"1 s with 2000 bytes buffered: {counts[0]} frames sent, {counts[1]} dropped; 1 s later: {counts[2]} sent"
