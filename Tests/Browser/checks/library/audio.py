"""Audio in both directions, compared with its source."""

import asyncio
import wave
from pathlib import Path

from devtools import Browser
from harness import DEMO, LONG_SPEECH, SPEECH, World, check, expect, expect_equal, expect_quiet_console, join_page, measurement, open_page

RAW = {"echoCancellation": False, "noiseSuppression": False, "autoGainControl": False}


@check("the microphone reaches a listener with the same words", alone=True)
async def microphone_reaches_listener(world: World):
    heard = world.path("heard.ogg")
    async with Browser(microphone=SPEECH) as browser:
        page = await open_page(browser, world)
        listener = await world.join("mic", "listener", "--record", str(heard))
        await join_page(page, world, "mic")
        await page.run("window.stopRecording = recordTap('page'); await room.localParticipant.setMicrophoneEnabled(true, options)", options=RAW)
        await asyncio.sleep(seconds(SPEECH) + 2)
        stats = await page.run("return room.stats()")
        captured = await compare(page, world, SPEECH, "stopRecording()")
        expect(captured["median"] > 0.95, f"captured: {captured}")
        await page.run("room.disconnect()")
        await world.end(listener)
        # The microphone plays from its opening, a little before the page captures.
        result = await compare(page, world, SPEECH, "await analysis.load(url), 0.1", url=world.url(heard))
        expect_same_speech(result)
        expect_equal(stats["microphoneDropped"], 0, "dropped frames")
        started = [line for line in listener.lines if '"talk.started"' in line]
        stopped = [line for line in listener.lines if '"talk.stopped"' in line]
        expect(started and len(stopped) == len(started), f"{len(started)} talkspurts started, {len(stopped)} stopped")
        expect(any('"reason":"end"' in line for line in stopped), f"no talkspurt ended by its flag: {stopped}")
        expect_quiet_console(page)


@check("what the page plays is what a participant said, live", alone=True)
async def plays_live(world: World):
    # Frames that a busy machine delays by more than the playout delay are not what is checked.
    for attempt in range(5):
        result = await play(world, LONG_SPEECH, f"live-{attempt}")
        if not result["pauses"]:
            break
    expect_same_speech(result)


@check("what the page plays is what an assistant sent ahead of real time", alone=True)
async def plays_ahead(world: World):
    result = await play(world, LONG_SPEECH, "ahead", "--ahead")
    expect_same_speech(result)
    expect(result["stats"]["framesLost"] == 0, result["stats"])


@check("the loopback option plays through a peer connection", alone=True)
async def loopback(world: World):
    async with Browser() as browser:
        page = await open_page(browser, world)
        await page.run(
            """
            const Original = RTCPeerConnection
            window.peers = []
            window.RTCPeerConnection = class extends Original { constructor(...all) { super(...all); peers.push(this) } }
            """)
        await join_page(page, world, "loopback", loopback=True)
        await world.join("loopback", "speaker", "--play", str(LONG_SPEECH))
        await page.until("room.stats().framesReceived > 100")
        energy = await page.run(
            "return Math.max(...(await Promise.all(peers.map(async (peer) => [...(await peer.getStats()).values()].find(({type}) => type === 'inbound-rtp')?.totalAudioEnergy ?? 0))))")
        expect(energy > 0.0001, f"the peer connection carried an energy of {energy}")
        await page.run("room.disconnect()")
        expect_equal(await page.run("return peers.map(({connectionState}) => connectionState)"), ["closed", "closed"])
        expect_quiet_console(page)


@measurement("60 s of speech, live: correlation and the longest gap")
async def plays_a_minute(world: World):
    return describe(await play(world, concatenated(world, 60), "minute"))


@measurement("60 s of speech, ahead of real time: correlation and the longest gap")
async def plays_a_minute_ahead(world: World):
    return describe(await play(world, concatenated(world, 60), "minute", "--ahead"))


def describe(result: dict) -> str:
    stats = result["stats"]
    return (
        f"{result['windows']} windows, median correlation {result['median']:.3f}, 10th percentile {result['tenth']:.3f}, "
        f"longest gap {result['gapMs']} ms (at {result['gapAt']:.1f} s)\n"
        f"{stats['framesLost']} lost, {stats['framesLate']} late, skipped {stats['skipped']:.0f} ms, {stats['underruns']} underruns, "
        f"audio clock lost {result['clock_lost_ms']} ms, {len(result['pauses'])} frames arrived after over 55 ms, at most {max(result['pauses'], default=0)} ms")


def expect_same_speech(result: dict):
    """Opus at 32 kbit/s keeps words rather than waveforms: decoded without any loss, windows of these recordings correlate by 0.8."""
    expect(result["whole"] > 0.8 and result["median"] > 0.7 and result["windows"] > 5, result)
    expect(result["gapMs"] <= 20, result)


async def play(world: World, recording: Path, room: str, *arguments: str) -> dict:
    async with Browser() as browser:
        page = await open_page(browser, world)
        # When frames arrive, to tell what the machine delays from what the page loses.
        await page.run(
            """
            const Original = WebSocket
            window.arrivals = []
            window.WebSocket = class extends Original {
              constructor(...all) {
                super(...all)
                this.addEventListener('message', ({ data }) => typeof data !== 'string' && arrivals.push(performance.now()))
              }
            }
            window.pauses = () => arrivals.slice(1).map((at, index) => at - arrivals[index]).filter((pause) => pause > 55)
            """)
        await join_page(page, world, room)
        await page.run("window.stopRecording = recordTap(null); window.began = performance.now()")
        speaker = await world.join(room, "speaker", "--play", str(recording), "--exit-after-play", *arguments)
        await asyncio.wait_for(speaker.wait(), seconds(recording) + 30)
        await asyncio.sleep(0.5)
        stats, wall, pauses = await page.run("return [room.stats(), (performance.now() - began) / 1000, pauses()]")
        result = await compare(page, world, recording, "stopRecording()")
        expect_quiet_console(page)
        # Without a sound card, Chromium's audio clock loses time when the processor is busy; live audio is then skipped.
        return result | {"stats": stats, "clock_lost_ms": round((wall - result["seconds"]) * 1000), "pauses": [round(pause) for pause in pauses]}


async def compare(page, world: World, recording: Path, heard: str, **values) -> dict:
    """Compares a recording with an expression of the page."""
    copy = world.path(f"source-{recording.name}")
    copy.write_bytes(recording.read_bytes())
    return await page.run(f"return analysis.compare(await analysis.load(source), {heard})", source=world.url(copy), **values)


def seconds(path: Path) -> float:
    with wave.open(str(path)) as file:
        return file.getnframes() / file.getframerate()


def concatenated(world: World, duration: float) -> Path:
    """The recordings of demo/, repeated."""
    target = world.path(f"speech-{duration}.wav")
    parts, length = [], 0.0
    sources = sorted(DEMO.glob("*.wav"))
    with wave.open(str(sources[0])) as first:
        parameters = first.getparams()
    while length < duration:
        source = sources[len(parts) % len(sources)]
        with wave.open(str(source)) as file:
            expect_equal(file.getframerate(), parameters.framerate, f"sampling rate of {source.name}")
            parts.append(file.readframes(file.getnframes()))
        length += seconds(source)
    with wave.open(str(target), "wb") as file:
        file.setparams(parameters)
        file.writeframes(b"".join(parts))
    return target
