"""The npm package's bundles in a page."""

import asyncio
import tarfile

from devtools import Browser
from harness import REPOSITORY, World, check, expect, expect_equal, expect_quiet_console
from widget_page import START, Assistant


@check("the bundles of the npm package find their worklets, and the widget talks")
async def bundles(world: World):
    packing = await asyncio.create_subprocess_exec(str(REPOSITORY / "packaging/npm"), str(world.folder), stdout=asyncio.subprocess.DEVNULL)
    expect_equal(await packing.wait(), 0, "packaging/npm")
    with tarfile.open(next(world.folder.glob("*.tgz"))) as archive:
        archive.extractall(world.folder, filter="data")
    world.files.answers["/v1/assistants/shop"] = (200, {"id": "shop", "name": "Robin"})
    async with Browser() as browser:
        page = await browser.open(world.page)
        token = await world.token("--room", "bundles", "--identity", "page")
        await page.run(
            """
            const { Room } = await import('/files/package/dist/patchbay.js')
            window.room = new Room()
            await room.connect(url, token)
            await room.localParticipant.setMicrophoneEnabled(true)
            window.chunks = []
            room.tap('page', (samples) => chunks.push(samples))
            """, url=world.gateway, token=token)
        await page.until("chunks.length > 10 && !room.audioBlocked")
        await page.run("room.disconnect()")
        assistant = await Assistant.join(world, "widget")
        token = await world.token("--room", "widget", "--identity", "user")
        await page.run(
            """
            await import('/files/package/dist/patchbay-assistant.js')
            window.widget = document.createElement('patchbay-assistant')
            widget.tokenProvider = async () => ({ url, token })
            widget.setAttribute('assistant-id', 'shop')
            document.body.append(widget)
            window.part = (selector) => [...widget.shadowRoot.querySelectorAll(selector)].find((element) => element.checkVisibility())
            """, url=world.gateway, token=token)
        await page.until("widget.state === 'collapsed'")
        await page.run(START)
        await page.until("widget.state === 'expanded'")
        await assistant.state("listening")
        await page.until("/Listening/.test(part('.status-text').textContent)")
        expect(await page.run("return widget.shadowRoot.adoptedStyleSheets.length > 4 && widget.shadowRoot.adoptedStyleSheets.every(({ cssRules }) => cssRules.length > 0)"), "styles are missing")
        # The script of the gateway beside the bundle.
        await page.run("await import('/web/patchbay-assistant.js')")
        expect_quiet_console(page)
