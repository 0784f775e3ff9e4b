"""The widget and its talk view in every state: whether everybody can use them, and their screenshots."""

import time

from devtools import Browser, Page
from harness import World, check, expect_equal, mint
from states import expect_no_faults, inspect, load_axe
from widget_page import START, Assistant, begin, definition, emulate, open_widget, recorded_packets

ACTIONS = [{"id": "discard", "title": "Discard"}, {"id": "send", "title": "Send"}]
REFUSE = "navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', name) }"
UNKNOWN = (404, {"code": "assistant_not_found", "message": "unknown"})


async def show_conversation(page: Page, world: World, prefix: str, packets: list[bytes], **described):
    """Walks through a conversation. `prefix` of the screenshots: widget or talk."""
    named = f"{prefix}-expanded" if prefix == "widget" else prefix
    assistant = await begin(page, world)
    await inspect(page, f"{named}-listening")
    await assistant.heard("Where is my order?")
    await assistant.state("thinking")
    await page.until("text('.status-text') === 'Looking it up…'")
    await inspect(page, f"{named}-thinking")
    await assistant.state("speaking")
    await assistant.say("It will be with you on Friday, at about seven in the evening.", packets, seconds=4)
    await page.until("shadow.querySelectorAll('.word[data-heard]').length > 5")
    await inspect(page, f"{named}-speaking")
    await assistant.state("listening")
    await page.run("part('[aria-label=Mute]').click()")
    await page.until("/muted/.test(text('.status-text'))")
    await inspect(page, f"{named}-muted")
    await page.run("part('[aria-label=\"Transcript and text\"]').click()")
    await page.until("widget.state === 'transcript'")
    await inspect(page, f"{prefix}-transcript")
    await page.run("part('[aria-label=\"Back to the voice\"]').click()")
    await assistant.tell("tool.failed", id="t", name="find_order", message="The shop does not answer.", retry=True)
    await page.until("!!part('.card')")
    await inspect(page, f"{prefix}-card-failed")
    body = "Dear team,\n\nplease deliver on Friday."
    await assistant.tell("card", id="d", kind="draft", title="To the delivery service", body=body, actions=ACTIONS)
    await page.until("shadow.querySelectorAll('.card').length === 2")
    await page.run("part('[aria-label=\"Dismiss this card\"]').click()")
    await inspect(page, f"{prefix}-card-draft")
    assistant.client.abort()
    await page.until("/is gone/.test(text('.notice p'))")
    await inspect(page, f"{prefix}-assistant-gone")
    world.server.kill()
    await world.server.wait()
    await page.until("/Reconnecting/.test(text('.status-text'))")
    await inspect(page, f"{prefix}-reconnecting")
    await page.run("part('.stop').click()")
    await page.until("widget.state === 'collapsed'")


async def show_problems(page: Page, prefix: str):
    """Of the browser, and of a gateway that cannot be reached."""
    await page.run(REFUSE, name="NotAllowedError")
    await page.run(START)
    await page.until("text('.problem h2') === 'Microphone Access Required'")
    await inspect(page, f"{prefix}-microphone-denied")
    await page.run("part('.stop').click()")
    await page.until("widget.state === 'collapsed' && !part('.talk')")
    await page.run(REFUSE, name="NotFoundError")
    await page.run(START)
    await page.until("/No microphone was found/.test(text('.notice p'))")
    await inspect(page, f"{prefix}-microphone-missing")
    await page.run("part('.stop').click(); widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
    await page.until("widget.state === 'collapsed' && !part('.talk')")
    await page.run(START)
    await page.until("text('.problem h2') === 'No connection'")
    await inspect(page, f"{prefix}-error-connection")
    await page.run("[...shadow.querySelectorAll('.problem button')].find((one) => one.checkVisibility() && one.textContent === 'Close').click()")
    await page.until("widget.state === 'collapsed' && !part('.talk')")


async def show_connecting(page: Page, prefix: str):
    await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = () => new Promise(() => {})")
    await page.run(START)
    await page.until("widget.state === 'connecting'")
    await inspect(page, f"{prefix}-connecting")
    await page.run("part('.stop').click(); widget.tokenProvider = provider")
    await page.until("widget.state === 'collapsed' && !part('.talk')")


@check("the widget is accessible in every state")
async def widget(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, is_loaded=False, should_initialize="false")
        await page.run("window.fetched = fetch; window.fetch = () => new Promise(() => {}); widget.setAttribute('should-initialize', 'true')")
        await page.until("widget.state === 'loading'")
        await inspect(page, "widget-loading")
        page = await open_widget(browser, world, described=UNKNOWN)
        await inspect(page, "widget-error-initialization")
        page = await open_widget(browser, world, described=UNKNOWN, icon_only="")
        await inspect(page, "widget-error-icon")
        await page.run("part('.launcher').click()")
        await inspect(page, "widget-error-icon-open")
        page = await open_widget(browser, world, icon_only="")
        await inspect(page, "widget-collapsed-icon")
        await page.run(START)
        await page.until("widget.state === 'transcript'")
        assistant = await Assistant.join(world)
        await assistant.heard("Where is my order?")
        await assistant.client.request("transcript.segment", id="a", role="assistant", text="It will be with you on Friday, at about seven.", final=True)
        await page.until("shadow.querySelectorAll('.lines li').length === 2")
        await assistant.state("initializing")
        await page.until("/getting ready/.test(text('.status-text'))")
        await inspect(page, "widget-icon-transcript")
        await assistant.state("error")
        await page.until("/has a problem/.test(text('.status-text'))")
        await inspect(page, "widget-icon-agent-error")
        await assistant.client.leave()
        await page.run("widget.remove()")
        page = await open_widget(browser, world)
        await page.run("widget.tokenProvider = async () => { throw new Error('The shop is closed') }")
        await page.run(START)
        await page.until("widget.state === 'error'")
        await inspect(page, "widget-error-other")
        links = {"history_url": "https://shop.example/history", "feedback_url": "https://shop.example/feedback"}
        page = await open_widget(browser, world, described=(200, definition(start_state="expanded", **links)))
        await inspect(page, "widget-expanded-ready")
        arabic = definition(start_state="expanded") | {"name": "روبن", "quick_commands": ["أين طلبي؟", "ما الجديد؟"]}
        page = await open_widget(browser, world, described=(200, arabic))
        await page.run("document.documentElement.dir = 'rtl'")
        await inspect(page, "widget-rtl")
        page = await open_widget(browser, world)
        await inspect(page, "widget-collapsed")
        await show_connecting(page, "widget")
        await show_problems(page, "widget")
        page = await open_widget(browser, world)
        await show_conversation(page, world, "widget", await recorded_packets(world))


@check("the talk view is accessible in every state")
async def talk(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, definition(onboarding=("Welcome.",))), presentation="talk")
        assistant = await begin(page, world)
        await assistant.message("onboarding.start")
        await assistant.state("speaking")
        await page.until("[...shadow.querySelectorAll('button')].some((button) => button.textContent === 'Skip introduction' && button.checkVisibility())")
        await inspect(page, "talk-onboarding")
        page = await open_widget(browser, world, presentation="talk")
        await show_connecting(page, "talk")
        await show_problems(page, "talk")
        page = await open_widget(browser, world, presentation="talk")
        await show_conversation(page, world, "talk", await recorded_packets(world))


@check("all palettes of the widget have enough contrast")
async def palettes(world: World):
    async with Browser() as browser:
        for color in ("verdant", "twilight", "bloom", "mystic", "flare", "glacier", "sky"):
            presentation = "talk" if color in ("twilight", "flare", "sky") else "widget"
            page = await open_widget(browser, world, color, described=(200, definition(visualizer_color=color)), presentation=presentation)
            await load_axe(page)
            assistant = await begin(page, world, color)
            for view in ("expanded", "transcript"):
                if view == "expanded":
                    await assistant.heard("Where is my order?")
                    await assistant.tell("tool.failed", id="t", name="find", message="No answer.", retry=True)
                    await assistant.tell("card", id="d", kind="draft", title="To Ann", body="Dear Ann", actions=ACTIONS)
                    await page.until("shadow.querySelectorAll('.card').length === 2")
                else:
                    await page.run("part('[aria-label=\"Transcript and text\"]').click()")
                    await page.until("widget.state === 'transcript'")
                for theme in ("light", "dark"):
                    await emulate(page, theme=theme)
                    await expect_no_faults(page, f"{color}, {view}, {theme}", ["color-contrast"])
            await page.run("widget.remove()")
