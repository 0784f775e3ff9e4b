"""Pictures for the documents that need minutes: not part of the checks."""

import asyncio
import os

from checks.pages.dashboard import monologue, open_dashboard
from devtools import Browser
from harness import World, click, measurement, shows
from states import inspect

SPEAKERS = {"lobby": ("Ann", "Bela"), "call-CA_5kTz": ("Chiara", "Dan"), "reading-club": ("Eve", "Farid", "Greta"), "session-SE_9aLm": ("Hana",)}


@measurement("dashboard: a picture of a gateway at work, in the folder PATCHBAY_SCREENS")
async def dashboard(world: World):
    if not os.environ.get("PATCHBAY_SCREENS"):
        return "PATCHBAY_SCREENS names no folder: nothing was done"
    await world.restart_gateway("--shards", "2")
    speech = str(monologue(world, times=60))
    await world.start("agent", "start", "--dev", "--url", world.gateway)
    async with Browser() as browser:
        page = await open_dashboard(browser, world)
        # People come one after the other and read the page's figures, so that every plot has something to show.
        for number in range(2):
            for room, names in SPEAKERS.items():
                for index, name in enumerate(names):
                    if index % 2 == number:
                        await world.join(room, name.lower(), "--name", name, *(("--play", speech) if index == 0 else ("--echo",)))
                        await asyncio.sleep(3)
                        for _ in range(3):
                            await page.run("await fetch('/v1/voices')")
                dispatch = await world.start("dispatch", "create", "--dev", "--url", world.gateway, "--room", room, "--assistant", "default")
                await asyncio.wait_for(dispatch.wait(), 30)
                await asyncio.sleep(4)
        await asyncio.sleep(30)
        await click(page, ".rooms a", "lobby")
        await shows(page, "participant.joined", "room-panel")
        await asyncio.sleep(3)
        await inspect(page, "dashboard-live", sizes=("desktop",))
        return "saved dashboard-live"
