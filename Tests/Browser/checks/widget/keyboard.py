"""The widget and its talk view by keyboard alone; a whole conversation is in `conversations.py`."""

from devtools import Browser
from harness import World, check, expect, expect_equal
from keyboard import Keyboard
from widget_page import Assistant, definition, open_widget

ACTIONS = [{"id": "discard", "title": "Discard"}, {"id": "send", "title": "Send"}]
REFUSE = """
    const { mediaDevices } = navigator
    window.original ??= mediaDevices.getUserMedia.bind(mediaDevices)
    mediaDevices.getUserMedia = async () => { throw new DOMException('no', name) }
"""
UNKNOWN = (404, {"code": "assistant_not_found", "message": "unknown"})


@check("the widget: everything can be done with the keyboard")
async def panel(world: World):
    links = {"history_url": "https://shop.example/history", "feedback_url": "https://shop.example/feedback"}
    async with Browser() as browser:
        # An assistant that cannot be loaded at first.
        page = await open_widget(browser, world, described=UNKNOWN)
        keys = Keyboard(page)
        await keys.tour()
        world.files.answers["/v1/assistants/shop"] = (200, definition(start_state="expanded", **links))
        await keys.act("Try again")
        await page.until("widget.state === 'expanded'")
        await keys.expect_kept("Try again")
        # Before a conversation.
        await keys.tour()
        await keys.go("Earlier conversations")
        await keys.press("Escape")
        await page.until("widget.state === 'collapsed'")
        await keys.expect_focus("Talk to Robin")
        # The microphone is blocked, then missing.
        assistant = await Assistant.join(world)
        await page.run(REFUSE, name="NotAllowedError")
        await keys.press(" ")
        await keys.expect_focus("Microphone Access Required")
        await keys.tour()
        await page.run(REFUSE, name="NotFoundError")
        await keys.act("Enable Microphone")
        await page.until("/No microphone was found/.test(text('.notice p'))")
        await keys.act("Type instead")
        await keys.expect_focus("Message")
        await keys.type("Hello")
        await keys.act("Send")
        expect_equal((await assistant.client.event("text"))["text"], "Hello")
        await keys.tour()
        await page.run("navigator.mediaDevices.getUserMedia = original")
        await keys.act("Try the microphone again")
        await assistant.client.event("track.published")
        await keys.act("Back to the voice")
        # Cards: a failure, and a draft that is edited and sent.
        await assistant.tell("tool.failed", id="t", name="find_order", message="No answer.", retry=True)
        await page.until("!!part('.card')")
        await keys.tour()
        await keys.act("Try again")
        expect_equal((await assistant.client.event("text", text="Try again: find order"))["text"], "Try again: find order")
        for answer in ("Dismiss this card", "Send"):
            await assistant.tell("card", id=answer, kind="draft", title="To Ann", body="Dear Ann", actions=ACTIONS)
            await page.until("text('.card h3') === 'To Ann'")
            await keys.go("Text of the draft")
            await keys.type("Dear Ann, hello")
            await keys.act(answer)
            await page.until("!part('.card')")
        expect_equal((await assistant.message("card.action"))["fields"], {"body": "Dear Ann, hello"})
        # What the assistant says is interrupted.
        await keys.act("Mute", " ")
        await assistant.state("speaking")
        await page.until("[...shadow.querySelectorAll('button')].some((one) => one.textContent === 'Interrupt' && one.checkVisibility())")
        await keys.act("Interrupt")
        await assistant.state("listening")
        await keys.expect_kept("Interrupt")
        await keys.act("End the conversation")
        await keys.expect_focus("Talk to Robin")
        # A gateway that cannot be reached.
        await page.run("window.provider = widget.tokenProvider; widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await keys.press("Enter")
        await keys.expect_focus("No connection")
        await keys.tour()
        await keys.go("Close")
        await keys.press("Escape")
        await keys.expect_focus("Talk to Robin")
        # A connection that is cancelled.
        await page.run("widget.tokenProvider = () => new Promise(() => {})")
        await keys.press("Enter")
        await keys.expect_focus("Cancel the connection")
        await keys.press("Enter")
        await keys.expect_focus("Talk to Robin")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("the icon of the widget opens its error with the keyboard")
async def icon(world: World):
    async with Browser() as browser:
        page = await open_widget(browser, world, described=UNKNOWN, icon_only="")
        keys = Keyboard(page)
        await keys.tour()
        await keys.act("This assistant does not exist")
        await keys.expect_focus("This assistant does not exist")
        await keys.tour()
        await keys.go("Try again")
        await keys.press("Escape")
        await page.until("!part('.problem')")
        expect_equal(await page.run("return shadow.activeElement.className"), "launcher")


@check("the talk view: everything can be done with the keyboard, and the focus stays in it until it is closed")
async def talk(world: World):
    described = definition(onboarding=("Welcome.",))
    async with Browser() as browser:
        page = await open_widget(browser, world, described=(200, described), presentation="talk")
        keys = Keyboard(page)
        assistant = await Assistant.join(world)
        await keys.go("Talk to Robin")
        await keys.press("Enter")
        await keys.expect_focus("Stop the conversation")
        await assistant.message("onboarding.start")
        await assistant.state("speaking")
        await page.until("[...shadow.querySelectorAll('button')].some((one) => one.textContent === 'Skip introduction' && one.checkVisibility())")
        await keys.act("Skip introduction")
        await assistant.state("listening")
        await page.until("/Listening/.test(text('.status-text'))")
        stops = await keys.tour()
        expect("Start" not in stops and "Talk to Robin" not in stops, f"the focus leaves the dialog: {stops}")
        await keys.go("Voice")
        await keys.press("ArrowDown")
        await page.until("text('.voice-menu .hint') === 'From the next conversation on'")
        await keys.act("Where is my order?")
        expect_equal((await assistant.client.event("text"))["text"], "Where is my order?")
        await keys.act("Transcript and text")
        await keys.expect_focus("Message")
        await keys.tour()
        await keys.go("Message")
        await keys.press("Escape")
        await keys.expect_focus("Stop the conversation")
        await keys.act("Mute", " ")
        await assistant.client.event("track.muted")
        await keys.act("End and close")
        await page.until("!part('.talk')")
        await keys.expect_focus("Talk to Robin")
        # Its error is a screen of its own.
        await page.run("widget.tokenProvider = async () => ({ url: 'wss://127.0.0.1:9', token: 'a.b.c' })")
        await keys.press("Enter")
        await keys.expect_focus("No connection")
        await keys.tour()
        await keys.go("Try again")
        await keys.press("Escape")
        await page.until("!part('.talk')")
        await keys.expect_focus("Talk to Robin")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)
