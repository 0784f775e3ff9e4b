"""The widget with bad input: foreign texts, no microphone, no gateway, no access."""

import json
import time

from devtools import Browser
from harness import World, check, expect, expect_equal, expect_quiet_console, mint
from widget_page import START, Assistant, begin, definition, faults, open_widget


@check("the widget shows markup as text, and texts in their own direction")
async def foreign_texts(world: World):
    markup = '<img src=x onerror="window.broken = 1"><b>Robin</b>'
    described = definition(start_text=markup, thinking_text=markup, logo_url="https://127.0.0.1:9/logo.png", history_url="javascript:window.broken = 1") | {
        "name": markup, "quick_commands": [markup, "مرحبا"]}
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, described))
        expect_equal(await page.run("return text('.launcher-label')"), markup)
        assistant = await begin(page, world)
        await assistant.heard(markup)
        await assistant.tell("card", id="c", kind="info", title=markup, body=markup, actions=[{"id": "a", "title": markup}])
        await assistant.tell("tool.failed", id="t", name="x", message=markup, retry=False)
        await page.until("shadow.querySelectorAll('.card').length === 2")
        await page.run("part('[aria-label=\"Transcript and text\"]').click()")
        await page.until(f"text('.lines p span') === {json.dumps(markup)}")
        await assistant.heard("مرحبا كيف حالك", id="rtl")
        await page.until("shadow.querySelectorAll('.lines li').length === 2")
        directions = await page.run("return [...shadow.querySelectorAll('.lines p')].map((line) => getComputedStyle(line).direction)")
        expect_equal(directions, ["ltr", "rtl"])
        await page.run("part('.lines') && part('.composer input').focus()")
        found = await page.run("return [window.broken, shadow.querySelectorAll('b').length, shadow.querySelectorAll('img[onerror]').length, !!part('.links a')]")
        expect_equal(found, [None, 0, 0, False])
        expect(await page.run("return !!part('.logo-letter')"), "no letter in place of the logo that cannot be loaded")
        violations = [line for line in faults(page) if "logo.png" not in line]
        expect(not violations, violations)


@check("without a microphone the widget says what to do, and the conversation goes on by text")
async def no_microphone(world: World):
    refuse = "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', name) }"
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await Assistant.join(world)
        await page.run("window.original = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);" + refuse, name="NotAllowedError")
        await page.run(f"part('.launcher').focus(); {START}")
        await page.until("text('.problem h2') === 'Microphone Access Required'")
        steps = await page.run("return [...part('.steps').children].map(({ textContent }) => textContent)")
        expect(len(steps) == 3 and "Allow" in steps[1], steps)
        await page.until("shadow.activeElement === part('.problem h2')")
        await page.run("navigator.mediaDevices.getUserMedia = window.original; part('.problem .primary').click()")
        await page.until("!part('.problem') && widget.state === 'expanded'")
        await assistant.client.event("track.published")
        await page.run("part('.stop').click()")
        await page.run(refuse, name="NotFoundError")
        await page.run(START)
        await page.until("/No microphone was found/.test(text('.notice p'))")
        await page.run("[...shadow.querySelectorAll('.notice button')].find(({ textContent }) => textContent === 'Type instead').click()")
        await page.until("widget.state === 'transcript'")
        expect_equal(await page.run("return part('.transcript').getAttribute('aria-live')"), "polite")
        await page.run("part('.composer input').value = 'Hello'; part('.composer').requestSubmit()")
        expect_equal((await assistant.client.event("text"))["text"], "Hello")
        expect_quiet_console(page)


@check("what goes wrong is told with what to do, and can be tried again")
async def errors(world: World):
    problem = "return [widget.state, text('.problem h2'), [...part('.problem .actions').children].map(({ textContent }) => textContent)]"
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(404, {"code": "assistant_not_found", "message": "unknown"}))
        expect_equal(await page.run(problem), ["error", "This assistant does not exist", ["Try again"]])
        world.files.answers["/v1/assistants/shop"] = (200, definition())
        await page.run("part('.problem .primary').click()")
        await page.until("widget.state === 'collapsed'")
        # The gateway is gone.
        await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await page.run(START)
        await page.until("widget.state === 'error'")
        expect_equal(await page.run(problem), ["error", "No connection", ["Try again", "Close"]])
        # The token has expired; the page's provider is asked again.
        expired = mint(sub="page", exp=int(time.time()) - 600, video={"roomJoin": True, "room": "widget"})
        await page.run("widget.tokenProvider = async () => ({ url, token }); part('.problem .primary').click()", url=world.gateway, token=expired)
        await page.until("text('.problem h2') === 'Your access has expired'")
        await page.run("widget.tokenProvider = async () => { throw new Error('<b>Log in</b>') }; part('.problem .primary').click()")
        await page.until("/<b>Log in<.b>/.test(text('.problem p'))")
        await page.run("widget.tokenProvider = async () => undefined; part('.problem .primary').click()")
        await page.until("text('.problem h2') === 'This page gives no access'")
        await page.run("part('.problem button').click()")
        await page.until("widget.state === 'collapsed'")
        # In a call: removed, and the gateway ends.
        await page.run("widget.tokenProvider = provider")
        await begin(page, world)
        world.server.kill()
        await world.server.wait()
        await page.until("/Reconnecting/.test(text('.status-text')) && /continues as soon as/.test(text('.notice p'))")
        await page.run("part('.stop').click()")
        await page.until("widget.state === 'collapsed'")
        # Without an assistant, and without a gateway that answers.
        await page.run("widget.removeAttribute('assistant-id')")
        await page.until("text('.problem h2') === 'No assistant is chosen'")
        world.files.answers["/v1/assistants/other"] = (503, {"code": "store_busy", "message": "too many requests"})
        await page.run("widget.setAttribute('assistant-id', 'other')")
        await page.until("text('.problem h2') === 'The assistant cannot be loaded'")
        unknown = [line for line in faults(page) if "127.0.0.1:9" not in line and "WebSocket" not in line]
        expect(not unknown, unknown)


@check("an error of the icon is red, has a name, and opens its message")
async def icon_error(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(404, {"code": "assistant_not_found", "message": "unknown"}), icon_only="")
        label, color = await page.run("return [part('.launcher').getAttribute('aria-label'), getComputedStyle(part('.launcher-icon')).backgroundColor]")
        expect(label.startswith("This assistant does not exist. "), label)
        expect_equal(color, "rgb(179, 38, 30)")
        expect_equal(await page.run("return !!part('.problem')"), False)
        await page.run("part('.launcher').click()")
        expect_equal(await page.run("return [text('.problem h2'), part('.launcher').getAttribute('aria-expanded')]"), ["This assistant does not exist", "true"])
