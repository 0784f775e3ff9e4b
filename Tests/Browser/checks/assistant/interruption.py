"""Barge-in: how long the embedded assistant is heard after the user has begun to speak."""

import asyncio
import wave
from pathlib import Path

from checks.assistant.call import dispatch
from checks.library.figures import percentile
from devtools import Browser
from harness import DEMO, World, expect, join_page, measurement, open_page

TRIES = 50
TIME_LIMIT = 660
# After each recording, so that interruptions come at different places of the answer.
PAUSES = (4.0, 4.7, 3.6, 5.3, 4.4, 3.8, 5.0)
# One sentence, which is spoken without pauses: a pause would look like the effect of an interruption.
STORY = (
    "once there was a lighthouse on a small island far from the coast and the keeper had a dog and two goats and a garden with beans and every "
    "morning he climbed the stairs and cleaned the lamp with a soft cloth and in spring the birds came back and built their nests under the roof"
)


def conversation(path: Path) -> Path:
    """The recordings of demo/ with pauses, to be repeated."""
    sources = sorted(DEMO.glob("*.wav"))
    with wave.open(str(path), "wb") as target:
        target.setparams((1, 2, 48000, 0, "NONE", ""))
        target.writeframes(bytes(2 * 48000 * 3))
        for index, pause in enumerate(PAUSES * len(sources)):
            with wave.open(str(sources[index % len(sources)])) as source:
                target.writeframes(source.readframes(source.getnframes()))
            target.writeframes(bytes(2 * 48 * round(pause * 1000)))
    return path


# Everything is timed in samples of the page's audio context: what its microphone delivers, what it plays, and when events arrive.
OBSERVE = """
    const VOICED = 10 ** (-40 / 20)
    const LOUD = 0.003
    const SECOND = 48000
    // The page's microphone: the starts of frames with voice after a second without. Its output: loud milliseconds.
    window.onsets = []
    window.voiced = []
    window.loud = new Set()
    window.cleared = []
    window.asked = []
    let lastVoiced = -Infinity
    let isDue = false
    const ask = () => {
      asked.push(clock.currentTime * SECOND)
      room.sendText('say ' + story).catch(console.error)
    }
    room.tap('page', (samples, frame) => {
      const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
      if (level > VOICED) {
        if (frame - lastVoiced > SECOND) onsets.push(frame)
        voiced.push((lastVoiced = frame))
        isDue = true
      } else if (isDue && frame - lastVoiced > 1.2 * SECOND) {
        isDue = false
        ask()
      }
    })
    room.tap(null, (samples, frame) => samples.forEach((sample, index) => Math.abs(sample) > LOUD && loud.add(Math.floor((frame + index) / 48))))
    room.on('utterance', ({ type }) => type === 'cleared' && cleared.push(clock.currentTime * SECOND))
    const isLoud = (from, to) => {
      for (let time = Math.floor(from / 48); time < to / 48; time++) if (loud.has(time)) return true
      return false
    }
    // Tries whose outcome is known: the assistant was being heard when the user began.
    const isTry = (onset) => onset < (clock.currentTime - 3) * SECOND && isLoud(onset - 0.25 * SECOND, onset)
    window.tries = () => onsets.filter(isTry).map((onset) => {
      const event = cleared.find((at) => at > onset && at < onset + 2 * SECOND)
      if (event === undefined) return { isMissed: true }
      let last = Math.floor((event + 0.3 * SECOND) / 48)
      while (!loud.has(last)) last--
      // In a pause between words, silence begins with the event.
      const silent = Math.max((last + 1) * 48, event)
      return { total: (silent - onset) / 48, decision: (event - onset) / 48, page: (silent - event) / 48 }
    })
    // The assistant yielded although nobody spoke, and the page had not asked for anything else. Its clock advances in bursts.
    window.yielded = () => cleared.filter((at) => ![...voiced, ...asked].some((cause) => at >= cause && at < cause + SECOND)).length
    ask()
"""


@measurement("barge-in: from the user's first voiced frame to silence in the page, over 50 tries", time_limit=TIME_LIMIT)
async def barge_in(world: World):
    await world.start("agent", "start", "--dev", "--url", world.gateway)
    async with Browser(microphone=conversation(world.path("conversation.wav")), repeat=True) as browser:
        page = await open_page(browser, world)
        await page.run("window.AudioContext = class extends AudioContext { constructor(...all) { super(...all); window.clock = this } }")
        await join_page(page, world, "barge-in")
        await dispatch(world, page, "barge-in")
        await page.run("await room.localParticipant.setMicrophoneEnabled(true)")
        await page.run(OBSERVE, story=STORY)
        deadline = asyncio.get_running_loop().time() + TIME_LIMIT - 60
        while len(tries := await page.run("return tries()")) < TRIES and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(2)
        onsets, yielded, latency = await page.run("return [onsets.length, yielded(), room.stats().outputLatency]")
    expect(len(tries) >= TRIES, f"only {len(tries)} tries while the assistant spoke, of {onsets} utterances")
    found = [one for one in tries if "total" in one]
    expect(found, "no try interrupted the assistant")

    def describe(name: str) -> str:
        values = [one[name] for one in found]
        return f"median {percentile(values, 0.5):.0f} ms, p95 {percentile(values, 0.95):.0f} ms, most {max(values):.0f} ms"

    return (
        f"{len(found)} of {len(tries)} tries interrupted: {describe('total')}; the output adds {latency:.0f} ms\n"
        f"until the assistant has decided and the page is told: {describe('decision')}\n"
        f"until the page is silent: {describe('page')}\n"
        f"{len(tries) - len(found)} tries did not interrupt; {yielded} interruptions without a user's voice; "
        f"{onsets - len(tries)} other utterances, while the assistant was silent or whose outcome is still open")
