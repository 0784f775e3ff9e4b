"""The playout delay of a live track, with a clock and arrival times of the check's own."""

from devtools import Browser, Page
from harness import World, check, expect, open_page

# The worklet outside an audio context: `play(lateness, seconds)` feeds it, and returns the delay and what was skipped so far.
WORKLET = """
    let frame = 0
    let report = null
    Date.now = () => Math.floor(frame / 48)
    Object.defineProperty(window, 'currentFrame', { get: () => frame })
    window.AudioWorkletProcessor = class { port = { postMessage: (message) => (report = message.report) } }
    const loaded = new Promise((resolve) => (window.registerProcessor = (name, type) => resolve(type)))
    await import('/web/patchbay/playback-worklet.js')
    const player = new (await loaded)({ processorOptions: { mode: 'live', startDelay } })
    const output = [[new Float32Array(128)]]
    let ts = 0
    // Frames of 20 ms as samples: a sine, noise that is too quiet to be heard, or nothing.
    const samples = (kind) => Float32Array.from({ length: 960 }, (_, index) => (kind === 'loud' ? 0.5 * Math.sin(index / 10) : 0.001))
    window.play = (seconds, { lateness = () => 0, kind = () => 'loud' } = {}) => {
      const waiting = []
      for (const end = frame + seconds * 48000; frame < end; frame += 128) {
        while (ts + 960 <= frame) {
          const content = kind((ts / 48000) % 2)
          if (content) waiting.push({ at: ts + 960 + 48 * lateness(ts / 960), data: { type: 'audio', ts, samples: samples(content) } })
          ts += 960
        }
        while (waiting.length && waiting[0].at <= frame) player.port.onmessage({ data: waiting.shift().data })
        player.process([], output)
      }
      return { delay: report.delay, jitter: report.jitter, skipped: report.skipped, underruns: report.underruns }
    }
    // Of two seconds of speech, the last 0.3.
    window.pauses = (at) => (at < 1.7 ? 'loud' : null)
    window.quiet = (at) => (at < 1.7 ? 'loud' : 'quiet')
"""


async def start(browser: Browser, world: World, delay: float = 60) -> Page:
    page = await open_page(browser, world)
    await page.run(WORKLET, startDelay=delay)
    return page


def expect_delay(found: dict, delay: float):
    expect(abs(found["delay"] - delay) < 4, f"a delay of {delay} ms was expected: {found}")


@check("the playout delay falls while frames arrive steadily, and returns when one is late")
async def falls_and_returns(world: World):
    async with Browser() as browser:
        page = await start(browser, world)
        expect_delay(await page.run("return play(4, { kind: pauses })"), 60)
        expect_delay(await page.run("return play(6, { kind: pauses })"), 40)
        # One frame that is not too late to be played.
        await page.run("play(0.5, { kind: pauses, lateness: (() => { let count = 0; return () => (count++ === 5 ? 30 : 0) })() })")
        found = await page.run("return play(4, { kind: pauses })")
        expect_delay(found, 60)
        expect(found["underruns"] == 0, found)
        expect_delay(await page.run("return play(25, { kind: pauses })"), 60)
        expect_delay(await page.run("return play(15, { kind: pauses })"), 40)


@check("a falling playout delay skips what is quiet, and no speech")
async def skips_what_is_quiet(world: World):
    async with Browser() as browser:
        page = await start(browser, world)
        found = await page.run("return play(20)")
        expect_delay(found, 60)
        expect(found["skipped"] == 0, found)
        expect_delay(await page.run("return play(4, { kind: quiet })"), 40)


@check("jitter raises the playout delay above the start delay, and a delay below 40 ms is kept")
async def keeps_bounds(world: World):
    async with Browser() as browser:
        page = await start(browser, world)
        found = await page.run("return play(20, { kind: pauses, lateness: (index) => 70 * ((index * 7) % 10) / 9 })")
        expect(found["jitter"] > 50, found)
        expect_delay(found, found["jitter"] + 15)
        for delay, steady in ((20, 20), (50, 40), (200, 180)):
            other = await start(browser, world, delay)
            expect_delay(await other.run("return play(3, { kind: pauses })"), delay)
            expect_delay(await other.run("return play(7, { kind: pauses })"), steady)
