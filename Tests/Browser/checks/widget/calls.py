"""The widget during a call: what the page, others in the room and the gateway change meanwhile."""

import time

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console, fetch, mint
from keyboard import Keyboard
from widget_page import begin, open_widget


@check("the talk view: a move in the page and another presentation keep the call, and the focus in the dialog")
async def kept(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, presentation="talk")
        keys = Keyboard(page)
        assistant = await begin(page, world)
        await page.run("const place = document.createElement('section'); document.body.prepend(place); place.append(widget)")
        await page.until("part('.talk')?.matches(':modal') && shadow.activeElement === part('.stop')")
        stops = await keys.tour()
        expect("Start" not in stops and "Talk to Robin" not in stops, f"the focus leaves the dialog: {stops}")
        for presentation in ("widget", "talk"):
            # The event of the dialog that is closed comes in a later task.
            await page.run(
                "widget.setAttribute('presentation', name); await new Promise((resolve) => setTimeout(resolve, 100))", name=presentation)
            shown = await page.run("return [widget.state, !!part('.talk'), !!part('.panel')]")
            expect_equal(shown, ["expanded", presentation == "talk", presentation != "talk"])
            await page.until("!!shadow.activeElement?.closest('.panel, .talk') && /Listening/.test(text('.status-text'))")
        expect_equal(await page.run("return states"), ["loading", "collapsed", "connecting", "expanded"])
        await page.press("Escape")
        await page.until("widget.state === 'collapsed' && !part('.talk')")
        await keys.expect_focus("Talk to Robin")
        expect_quiet_console(page)
        await assistant.client.leave()


@check("the widget shows that an administrator mutes and unmutes the user, who can unmute, too")
async def muted(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        track = (await assistant.client.event("track.published", participant="page"))["track"]["sid"]
        access = mint(sub="admin", exp=int(time.time()) + 600, video={"roomAdmin": True, "room": "widget"})
        for way in ("administrator", "user"):
            fetch(world, "PATCH", f"/v1/rooms/widget/tracks/{track}", {"muted": True}, access)
            await page.until("/You are muted/.test(text('.status-text')) && !!part('[aria-label=Unmute]')")
            if way == "user":
                await page.run("part('[aria-label=Unmute]').click()")
            else:
                fetch(world, "PATCH", f"/v1/rooms/widget/tracks/{track}", {"muted": False}, access)
            await page.until("/Listening/.test(text('.status-text')) && !!part('[aria-label=Mute]')")
        expect_quiet_console(page)
        await assistant.client.leave()
        await assistant.client.leave()


@check("the widget tells that the assistant has left, keeps the focus where another notice follows, and ends the call")
async def left(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        gone = "/Robin has ended/.test(text('.notice p')) && shadow.querySelectorAll('.notice button').length === 2"
        await assistant.client.leave()
        await page.until(gone)
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed'")
        expect_quiet_console(page)
        assistant = await begin(page, world)
        await assistant.client.leave()
        await page.until(gone)
        await page.run("window.button = part('.notice button'); button.focus()")
        world.server.kill()
        await world.server.wait()
        await page.until("shadow.querySelectorAll('.notice').length === 2")
        shown = await page.run("return [/continues as soon as/.test(text('.notice p')), shadow.activeElement === button]")
        expect_equal(shown, [True, True], "the notice, and the focus")
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed'")


@check("the widget keeps what is typed while a message is being sent, and what could not be sent")
async def typing(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        await page.run("part('[aria-label=\"Transcript and text\"]').click()")
        await page.until("widget.state === 'transcript'")
        await page.run(
            """
            const { prototype } = (await import('/web/patchbay.js')).Room
            prototype.sendText = () => new Promise((resolve, reject) => {
              Object.assign(window, { sent: resolve, refused: () => reject(new Error('refused.')) })
            })
            window.input = part('.composer input')
            window.submit = (text) => { input.value = text; part('.composer').requestSubmit(); return input.value }
            window.settled = () => new Promise((resolve) => setTimeout(resolve))
            """)
        shown = await page.run("const shown = submit('first'); input.value = 'second'; sent(); await settled(); return [shown, input.value]")
        expect_equal(shown, ["", "second"])
        expect_equal(await page.run("submit('first'); input.value = 'second'; refused(); await settled(); return input.value"), "second")
        expect_equal(await page.run("submit('first'); refused(); await settled(); return input.value"), "first")
        expect_quiet_console(page)
        await assistant.client.leave()
