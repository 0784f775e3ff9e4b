"""The widget on pages: the page of examples, and elements that are older than their script."""

import asyncio
import time

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console, mint
from states import inspect
from widget_page import Assistant, definition


@check("the page of examples works with a gateway for development, and its examples can be copied")
async def examples_page(world: World):
    agent = await world.start("agent", "start", "--dev", "--url", world.gateway)
    async with Browser() as browser:
        page = await browser.open(world.files.origin + "/web/widget/examples.html")
        await page.until("document.querySelector('#widget').state === 'collapsed' && document.querySelector('#talk').state === 'collapsed'")
        expect_equal(await page.run("return document.querySelector('#later').state"), "idle")
        await page.until("/^Mit .+ sprechen$/.test(document.querySelector('#german').shadowRoot.querySelector('.launcher-label').textContent)")
        await page.until("document.querySelector('#mail').state === 'collapsed' && JSON.parse(document.querySelector('#mail').context).from === 'Emily Stone'")
        await inspect(page, "widget-examples")
        await page.run("document.querySelector('#consent').click()")
        await page.until("document.querySelector('#later').state === 'collapsed'")
        await page.run("navigator.clipboard.writeText = async (text) => (window.copied = text); document.querySelector('section button').click()")
        await page.until("/web\\/dist\\/patchbay-assistant.js/.test(window.copied) && !copied.includes('voice.example')")
        # A conversation with the embedded assistant, without a login.
        await page.run("window.widget = document.querySelector('#widget'); window.text = (selector) => widget.shadowRoot.querySelector(selector).textContent")
        for _ in range(60):
            await page.run("widget.start()")
            await page.until("widget.state !== 'connecting'", timeout=40)
            await asyncio.sleep(2)
            if not await page.run("return /Waiting/.test(text('.panel .status-text'))"):
                break
            await page.run("widget.stop()")
        await page.until("widget.shadowRoot.querySelectorAll('.panel .word[data-heard]').length > 2", timeout=60)
        await page.until("/Listening/.test(text('.panel .status-text'))", timeout=60)
        await page.run("const { shadowRoot } = widget; shadowRoot.querySelector('[aria-label=\"Transcript and text\"]').click(); shadowRoot.querySelector('.composer input').value = 'What is your name?'; shadowRoot.querySelector('.composer').requestSubmit()")
        await page.until("/voice assistant/.test(text('.panel .lines'))", timeout=60)
        await page.run("widget.stop()")
        expect_quiet_console(page)
    expect_equal(agent.returncode, None, "the assistant's exit code")


@check("a widget that is on the page before its script keeps its token provider, and moving it keeps the call")
async def upgrade(world: World):
    async with Browser() as browser:
        world.files.answers["/v1/assistants/shop"] = (200, definition())
        token = mint(sub="page", exp=int(time.time()) + 600, video={"roomJoin": True, "room": "upgrade"})
        page = await browser.open(world.page)
        await page.run(
            """
            window.widget = document.createElement('patchbay-assistant')
            widget.setAttribute('assistant-id', 'shop')
            widget.tokenProvider = async () => ({ url, token })
            document.body.append(widget)
            await import('/web/patchbay-assistant.js')
            """, url=world.gateway, token=token)
        await page.until("widget.state === 'collapsed'")
        assistant = await Assistant.join(world, "upgrade")
        await page.run("widget.start()")
        await page.until("widget.state === 'expanded'")
        await page.run("document.body.prepend(widget)")
        await asyncio.sleep(0.3)
        expect_equal(await page.run("return widget.state"), "expanded")
        await page.run("widget.remove()")
        await assistant.client.event("participant.left", participant="page")
        expect_quiet_console(page)
