"""A call of an hour: memory, and whether highlighted words stay with the voice."""

import array
import asyncio
import base64
import statistics
import time
import wave
from pathlib import Path

from checks.library.audio import concatenated
from checks.library.figures import percentile
from devtools import Browser, Page
from harness import World, expect, join_page, measurement, mint, open_page, options
from widget_page import Assistant, recorded_packets

PACKETS = 500
SECONDS = PACKETS / 50
TEXT = "Once there was a lighthouse on a small island far from the coast and the keeper had a dog and two goats."
# Parts of a turn; then the assistant pauses, and the user speaks.
PARTS = 3
PAUSE = 2
QUESTION = "What happened then?"
WARM_UP_MINUTES = 2


def marked_speech(world: World) -> Path:
    """Speech with a loud click of 1 kHz in each second."""
    source = concatenated(world, SECONDS + 1)
    target = world.path("marked.wav")
    with wave.open(str(source)) as file:
        parameters, samples = file.getparams(), array.array("h", file.readframes(file.getnframes()))
    loudest = max(max(samples), -min(samples))
    speech = array.array("h", (round(sample * 10000 / loudest) for sample in samples))
    # Half a period of 1 kHz has 24 samples.
    click = [30000 if n // 24 % 2 == 0 else -30000 for n in range(480)]
    for start in range(24000, len(speech) - 480, 48000):
        speech[start : start + 480] = array.array("h", click)
    with wave.open(str(target), "wb") as file:
        file.setparams(parameters)
        file.writeframes(speech.tobytes())
    return target


class Call:
    """One page with a microphone in a call with an assistant that keeps speaking."""

    def __init__(self, name: str, world: World, browser: Browser, page: Page, packets: list[bytes]):
        self.name, self.world, self.browser, self.page, self.packets = name, world, browser, page, packets
        self.memory: list[dict] = []
        self.positions: list[list[float]] = []
        self.words: list[float] = []

    async def start(self):
        # DevTools would keep a record of each frame.
        await self.page.send("Network.disable")
        await self.page.attach_to_worklets()
        await self.page.send("Performance.enable")
        self.assistant = await Assistant.join(self.world, self.name)
        packets = [base64.b64encode(packet).decode() for packet in self.packets]
        await self.page.run(
            """
            const { Listener, findMarks } = await import('/tests/listening.js')
            const marks = await findMarks(packets)
            if (marks.length !== seconds) throw new Error(`${marks.length} marks in ${seconds} s`)
            window.listener = new Listener(room, marks, seconds * 48000)
            """, packets=packets, seconds=round(SECONDS))

    async def talk(self):
        """Speaks until it is cancelled."""
        turn = 0
        while True:
            await self.assistant.state("speaking")
            for part in range(PARTS):
                await self.assistant.say(TEXT, self.packets, id=f"a{turn}-{part}")
            await asyncio.sleep(PARTS * SECONDS)
            await self.assistant.state("listening")
            await self.assistant.heard(QUESTION, id=f"u{turn}")
            await asyncio.sleep(PAUSE)
            # The client keeps everything it receives.
            self.assistant.client.messages.clear()
            self.assistant.client.frames.clear()
            turn += 1

    async def sample(self):
        errors = await self.page.run("return listener.take()")
        expect(len(errors["position"]) > 100, f"{self.name}: only {len(errors['position'])} positions could be compared")
        self.positions.append(errors["position"])
        self.words += errors["word"]
        self.memory.append(await self.measure_memory())

    async def measure_memory(self) -> dict:
        # Browsers let garbage wait, in worklets for many minutes. What is measured is what stays.
        waiting = private_memory(await self.renderer())
        await self.page.collect_garbage()
        metrics = {metric["name"]: metric["value"] for metric in (await self.page.send("Performance.getMetrics"))["metrics"]}
        worklets = [await self.browser.send("Runtime.getHeapUsage", session) for session in self.page.worklets]
        return {
            "heap": metrics["JSHeapUsedSize"] / 1e6, "worklet": sum(one["usedSize"] for one in worklets) / 1e6,
            "process": private_memory(await self.renderer()), "with_garbage": waiting, "nodes": metrics["Nodes"],
            "listeners": metrics["JSEventListeners"],
        }

    async def renderer(self) -> int:
        """The process of the page: the renderer that works; Chromium keeps a spare one."""
        processes = (await self.browser.send("SystemInfo.getProcessInfo"))["processInfo"]
        return max((one for one in processes if one["type"] == "renderer"), key=lambda one: one["cpuTime"])["id"]

    def progress(self) -> str:
        memory, position = self.memory[-1], self.positions[-1]
        return (
            f"{self.name}: heap {memory['heap']:.2f} MB, worklet {memory['worklet']:.2f} MB, process {memory['process']:.1f} MB "
            f"({memory['with_garbage']:.1f} with garbage), {memory['nodes']} nodes, "
            f"{memory['listeners']} listeners, position {statistics.median(position):+.1f} ms ({min(position):+.0f} to {max(position):+.0f})")

    def report(self) -> str:
        # Free memory is returned to the system some time after the collection: the lowest values are compared.
        memory = self.memory[WARM_UP_MINUTES - 1 :]
        count = min(15, len(memory) // 3)
        first, last = ({key: [one[key] for one in part] for key in part[0]} for part in (memory[:count], memory[-count:]))
        grown = {key: min(last[key]) - min(first[key]) for key in first}
        positions = [error for minute in self.positions for error in minute]
        medians = [statistics.median(minute) for minute in self.positions]
        return "\n".join([
            f"{self.name}: growth from minutes {WARM_UP_MINUTES} to {WARM_UP_MINUTES + count - 1} to the last {count}: heap {grown['heap']:+.2f} MB, "
            f"worklet {grown['worklet']:+.2f} MB, process {grown['process']:+.1f} MB (at most {max(one['with_garbage'] for one in memory):.0f} MB "
            f"with garbage), {grown['nodes']:+.0f} nodes, "
            f"{grown['listeners']:+.0f} listeners",
            f"position: {len(positions)} compared, median {statistics.median(positions):+.1f} ms, 1 % below {percentile(positions, 0.01):+.1f} ms, "
            f"1 % above {percentile(positions, 0.99):+.1f} ms, from {min(positions):+.1f} to {max(positions):+.1f} ms",
            f"drift: medians of minutes from {min(medians):+.1f} to {max(medians):+.1f} ms, the last minus the first "
            f"{medians[-1] - medians[0]:+.1f} ms",
            f"words are highlighted after their beginning: median {percentile(self.words, 0.5):.0f} ms, p95 {percentile(self.words, 0.95):.0f} ms, "
            f"most {max(self.words):.0f} ms",
        ])


def private_memory(process: int) -> float:
    """What belongs to this process alone, also if it was swapped out. How much of Chromium's program is in memory depends on other processes."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in rollup if line.startswith(("Anonymous:", "Swap:"))) * 1024 / 1e6


async def open_library(browser: Browser, world: World) -> Page:
    page = await open_page(browser, world)
    # What the page logs for checks would grow.
    await page.run("happened.push = () => 0")
    await join_page(page, world, "library")
    await page.run("await room.localParticipant.setMicrophoneEnabled(true)")
    return page


async def open_playground(browser: Browser, world: World) -> Page:
    token = mint(sub="page", exp=int(time.time()) + 7200, video={"roomJoin": True, "room": "playground"})
    world.files.answers["/v1/dev/session"] = (200, {"url": world.gateway, "token": token, "room": "playground", "identity": "page"})
    page = await browser.open(f"{world.files.origin}/")
    button = "[...document.querySelectorAll('button')].find((one) => one.checkVisibility() && one.textContent === 'Start call')"
    await page.until(f"{button} && !{button}.disabled")
    await page.run(f"{button}.click()")
    await page.run("window.call = (await import('/web/playground/model/call.js')).call")
    await page.until("call.room?.localParticipant.tracks.size === 1")
    await page.run("window.room = call.room")
    return page


@measurement("an hour's call: memory, and the drift between voice and highlighted words", is_timed=True)
async def long_call(world: World):
    packets = await recorded_packets(world, marked_speech(world), PACKETS)
    microphone = concatenated(world, 60)
    async with Browser(microphone=microphone, repeat=True) as first, Browser(microphone=microphone, repeat=True) as second:
        calls = [
            Call("library", world, first, await open_library(first, world), packets),
            Call("playground", world, second, await open_playground(second, world), packets),
        ]
        for call in calls:
            await call.start()
        async with asyncio.TaskGroup() as tasks:
            activities = [tasks.create_task(call.talk()) for call in calls]
            began = time.monotonic()
            for minute in range(1, options.minutes + 1):
                await asyncio.sleep(began + 60 * minute - time.monotonic())
                for call in calls:
                    await call.sample()
                    print(f"               {time.monotonic() - began:5.0f} s  {call.progress()}", flush=True)
            for activity in activities:
                activity.cancel()
    return "\n".join(call.report() for call in calls)
