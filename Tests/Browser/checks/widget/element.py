"""The widget as a page uses it: methods, properties, events, attributes, and removal in every state."""

import asyncio

from devtools import Browser
from harness import MARKUP, World, check, expect, expect_equal, expect_quiet_console
from widget_page import START, Assistant, begin, definition, open_widget, recorded_packets

UNKNOWN = (404, {"code": "assistant_not_found", "message": "unknown"})
LISTEN = """
    window.told = []
    for (const name of ['state', 'status', 'muted', 'transcript', 'settings', 'levels'])
      document.addEventListener(`patchbay-${name}`, ({ detail, target }) => target === widget && told.push([name, structuredClone(detail)]))
"""


def told(name: str) -> str:
    return f"told.filter(([name]) => name === '{name}').map(([, detail]) => detail)"


@check("the element's methods start, mute, write and end, and every change is an event")
async def methods(world: World):
    packets = await recorded_packets(world)
    async with Browser() as browser:
        page = await open_widget(browser, world)
        expect_equal(await page.run("return [widget.settings.name, widget.settings.visualizer, widget.muted, widget.transcript, widget.levels]"), ["Robin", "verdant", False, [], {"user": 0, "agent": 0}])
        await page.run(LISTEN)
        # Nothing happens without a conversation, and with texts that are none.
        expect_equal(await page.run("widget.end(); return [await widget.toggleMute(), await widget.sendText('  '), await widget.sendText({}), widget.state]"), [False, False, False, "collapsed"])
        assistant = await Assistant.join(world)
        expect_equal(await page.run(f"return await widget.sendText({MARKUP!r})"), True)
        expect_equal((await assistant.client.event("text"))["text"], MARKUP)
        await assistant.state("listening")
        await page.until("/Listening/.test(text('.status-text'))")
        expect_equal(await page.run("return [await widget.toggleMute(), widget.muted, await widget.toggleMute()]"), [True, True, False])
        expect_equal(await page.run(f"return {told('muted')}"), [{"muted": True}, {"muted": False}])
        await assistant.state("speaking")
        await assistant.say("Seven in the evening.", packets, seconds=2)
        await page.until("widget.levels.agent > 0.05", timeout=5)
        await page.until("widget.transcript.length === 2 && widget.levels.agent === 0")
        items = await page.run("return widget.transcript.map(({ text, isUser, timestamp, isFinal }) => [text, isUser, Math.abs(Date.now() - timestamp) < 60_000, isFinal])")
        expect_equal(items, [[MARKUP, True, True, True], ["Seven in the evening.", False, True, True]])
        # Not for each word that is heard.
        expect_equal(await page.run(f"return {told('transcript')}.map(({{ changed }}) => changed.map(({{ text }}) => text))"), [[MARKUP], ["Seven in the evening."]])
        expect(await page.run(f"return {told('levels')}.length > 10 && {told('levels')}.every(({{ user, agent }}) => user >= 0 && user <= 1 && agent >= 0 && agent <= 1)"), "levels")
        await page.run("widget.end()")
        await page.until("widget.state === 'collapsed'")
        expect_equal(await page.run("return widget.transcript.length"), 2, "the transcript after the call")
        # The next conversation begins with an empty one, to which the gateway adds what was said in this room. `stop` is the older name.
        await page.run("widget.start()")
        await page.until("widget.state === 'expanded'")
        expect_equal(await page.run(f"return {told('transcript')}[2]"), {"transcript": [], "changed": []})
        await page.run("widget.stop()")
        await page.until("widget.state === 'collapsed'")
        expect_equal(await page.run(f"return {told('status')}.map(({{ status }}) => status)"), ["waiting", "idle"])
        await page.run("widget.setAttribute('theme', 'dark')")
        expect_equal(await page.run(f"return {told('settings')}.map(({{ settings }}) => settings.theme)"), ["dark"])
        expect_quiet_console(page)


@check("the widget's context reaches the page's token provider, whatever it contains")
async def context(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, context='{"screen":"orders"}')
        assistant = await begin(page, world)
        await page.run("widget.end()")
        await page.until("widget.state === 'collapsed'")
        for value, expected in (
            ("{ text: 'مرحبا <b>', list: [1] }", '{"text":"مرحبا <b>","list":[1]}'), ("'plain'", "plain"), ("null", None), ("undefined", None), ("() => 1", None),
        ):
            await page.run(f"widget.context = {value}; widget.start()")
            await page.until("widget.state === 'expanded'")
            found = await page.run("widget.end(); return [asked.at(-1).clientContext ?? null, widget.context]")
            expect_equal(found, [expected, expected or ""], value)
            await page.until("widget.state === 'collapsed'")
        thrown = await page.run("const circle = {}; circle.circle = circle; try { widget.context = circle } catch (error) { return error.name }")
        expect_equal(thrown, "TypeError")
        first = await page.run("return asked[0]")
        expect_equal(first, {"assistant": "shop", "voice": "nova", "clientContext": '{"screen":"orders"}'})
        await assistant.client.leave()


@check("the widget says that the assistant is getting ready, and that it has a problem")
async def agent_states(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world)
        assistant = await begin(page, world)
        await page.run(LISTEN)
        await assistant.state("initializing")
        await page.until("text('.status-text') === 'Robin is getting ready…' && widget.agentStatus === 'initializing' && !part('.notice')")
        await assistant.state("error")
        await page.until("text('.status-text') === 'Robin has a problem' && /Robin has run into a problem/.test(text('.notice p'))")
        expect_equal(await page.run("return [...shadow.querySelectorAll('.notice button')].map(({ textContent }) => textContent)"), ["Start again", "Close"])
        expect(await page.run("return /run into a problem/.test(shadow.querySelector('[role=alert]').textContent)"), "the problem is not announced")
        await assistant.state("listening")
        await page.until("/Listening/.test(text('.status-text')) && !part('.notice')")
        expect_equal(await page.run(f"return {told('status')}.map(({{ status }}) => status)"), ["initializing", "error", "idle"])
        expect_quiet_console(page)


@check("a widget that is removed in any state is idle, and works when it is added again")
async def removal(world: World):
    async with Browser() as browser:
        for icon_only in (False, True):
            room = f"removal-{icon_only}"
            page = await open_widget(browser, world, room, **({"icon_only": ""} if icon_only else {}))
            open_view = "transcript" if icon_only else "expanded"

            async def again(state: str):
                expect_equal(await page.run("return widget.state"), state)
                await page.run("widget.remove()")
                await page.until("widget.state === 'idle' && shadow.querySelector('.root').hidden && widget.settings === null")
                expect_equal(await page.run("widget.start(); return [await widget.sendText('x'), widget.state]"), [False, "idle"])
                await page.run("document.body.append(widget)")

            # What it loads does not arrive until the check has seen it loading.
            await page.run("window.original = fetch; window.fetch = () => new Promise(() => {})")
            await again("collapsed")
            await page.until("widget.state === 'loading'")
            await page.run("window.fetch = original")
            await again("loading")
            await page.until("widget.state === 'collapsed'")
            await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = () => new Promise(() => {})")
            await page.run(START)
            await again("connecting")
            await page.until("widget.state === 'collapsed'")
            await page.run("widget.tokenProvider = () => { throw new Error('closed') }")
            await page.run(START)
            await page.until("widget.state === 'error'")
            await again("error")
            await page.until("widget.state === 'collapsed'")
            await page.run("widget.tokenProvider = provider")
            assistant = await begin_in(page, world, room, open_view)
            await again(open_view)
            await assistant.client.event("participant.left", participant="page")
            await page.until("widget.state === 'collapsed' && !!part('.launcher')")
            # In the same task, it only moves.
            await page.run(START)
            await page.until(f"widget.state === '{open_view}'")
            await page.run("widget.remove(); document.body.append(widget)")
            await asyncio.sleep(0.2)
            expect_equal(await page.run("return widget.state"), open_view)
            await page.run("widget.remove()")
            expect([line for line in page.console if line.startswith("exception")] == [], page.console)


async def begin_in(page, world: World, room: str, view: str) -> Assistant:
    assistant = await Assistant.join(world, room)
    await page.run(START)
    await page.until(f"widget.state === '{view}'")
    return assistant


@check("the icon opens the transcript, never the view of the voice, and turns red for a lost connection")
async def icon_only(world: World):
    focused = "return shadow.activeElement?.getAttribute('aria-label')"
    async with Browser() as browser:
        page = await open_widget(browser, world, icon_only="", described=(200, definition(start_state="expanded")))
        expect_equal(await page.run("return [widget.state, text('.launcher-label') ?? null]"), ["collapsed", None])
        assistant = await Assistant.join(world)
        await page.run("part('.launcher').focus()")
        await page.press("Enter")
        await page.until("widget.state === 'transcript'")
        expect_equal(await page.run(focused), "End the conversation", "focus")
        await assistant.state("listening")
        await page.until("/Listening/.test(text('.status-text'))")
        expect_equal(await page.run("return [!!part('[aria-label=\"Back to the voice\"]'), !!part('.composer input'), !!part('[aria-label=Mute]')]"), [False, True, True])
        await page.press("Escape")
        await page.press("Tab")
        await page.press("Tab", shift=True)
        expect_equal(await page.run("return [widget.state, shadow.activeElement.getAttribute('aria-label')]"), ["transcript", "End the conversation"])
        await page.press("Enter")
        await page.until("widget.state === 'collapsed' && shadow.activeElement === part('.launcher')")
        expect_equal(await page.run("return states"), ["loading", "collapsed", "connecting", "transcript", "collapsed"])
        # The connection fails: only the icon shows it, until it is pressed.
        await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await page.press("Enter")
        await page.until("widget.state === 'error' && shadow.activeElement === part('.launcher')")
        shown = await page.run("return [!!part('.problem'), getComputedStyle(part('.launcher-icon')).backgroundColor, part('.launcher').getAttribute('aria-label').startsWith('No connection. ')]")
        expect_equal(shown, [False, "rgb(179, 38, 30)", True])
        await page.press("Enter")
        await page.until("text('.problem h2') === 'No connection' && shadow.activeElement === part('.problem h2')")
        await page.run("widget.tokenProvider = provider")
        await page.press("Tab")
        await page.press("Enter")
        await page.until("widget.state === 'transcript'")
        # With text beside the icon, there is the voice again.
        await page.run("widget.removeAttribute('icon-only')")
        await page.until("!!part('[aria-label=\"Back to the voice\"]')")
        await page.run("part('[aria-label=\"Back to the voice\"]').click()")
        await page.until("widget.state === 'expanded'")
        await page.run("widget.setAttribute('icon-only', '')")
        await page.until("widget.state === 'transcript'")
