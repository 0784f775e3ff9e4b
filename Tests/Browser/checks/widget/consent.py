"""The widget on a page with accounts: the consent question, and the notice during a logged conversation."""

import asyncio

from accounts import User, with_store
from checks.pages.consent import QUESTION, consent
from devtools import Browser, Page
from harness import World, check, expect_equal
from keyboard import Keyboard
from states import inspect
from widget_page import START, open_widget

NOTE = "Assistant call may be recorded for your summaries."


async def with_account(page: Page, user: User):
    """Connects the page to the gateway of its files, with its user `user`."""
    await page.run(
        """
        widget.tokenProvider = null
        widget.accountProvider = async () => (window.providings = (window.providings ?? 0) + 1, access)
        widget.setAttribute('url', location.origin)
        // The gateway's own address, which sessions name, is another one here.
        const Original = WebSocket
        window.WebSocket = function (url, protocols) { return new Original(url.replace(/^ws.*?:\\/\\/[^/]+/, gateway), protocols) }
        Object.assign(window.WebSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })
        """, access=user.token, gateway=user.world.gateway)
    await page.until("widget.state === 'collapsed'")


@check("the widget with an account asks once whether conversations are kept, and a logged one says so")
async def once(world: World):
    await with_store(world)
    unasked = {"logging_enabled": False, "has_seen_onboarding": False}
    ann, bob = User(world, **unasked), User(world, "bob@example.org", **unasked)
    async with Browser() as browser:
        for presentation in ("widget", "talk"):
            page = await open_widget(browser, world, presentation=presentation)
            user, answer, is_allowed = (ann, "Allow logging & summaries", True) if presentation == "widget" else (bob, "Don’t allow", False)
            await with_account(page, user)
            keys = Keyboard(page)
            await page.run("part('.launcher').focus()")
            await keys.press("Enter")
            await keys.expect_focus(QUESTION)
            expect_equal(await page.run("return widget.state"), "connecting")
            await inspect(page, f"{presentation}-consent")
            # Leave without an answer: nothing was started, and the next call asks again.
            await page.run("part('.stop').click()")
            # The talk view takes a moment to close.
            await page.until("widget.state === 'collapsed' && !part('dialog')")
            expect_equal((consent(user), user.ask("GET", "/v1/sessions")), ((False, False), []))
            await page.run("part('.launcher').focus()")
            await keys.press("Enter")
            await keys.expect_focus(QUESTION)
            # Simulate the `hello` of a gateway that logs.
            await page.run("Object.defineProperty((await import('/web/patchbay.js')).Room.prototype, 'logged', { get: () => isAllowed })", isAllowed=is_allowed)
            await keys.act(answer)
            await page.until("widget.state === 'expanded'")
            expect_equal(consent(user), (True, is_allowed))
            expect_equal(await page.run("return text('.logged') ?? ''"), NOTE if is_allowed else "")
            if is_allowed:
                await inspect(page, f"{presentation}-logged")
            [session] = user.ask("GET", "/v1/sessions")
            expect_equal(session["ended_at"], None)
            await page.run("part('.stop').click()")
            await page.until("widget.state === 'collapsed'")
            while user.ask("GET", "/v1/sessions")[0]["ended_at"] is None:
                await asyncio.sleep(0.2)
            await page.run(START)
            await page.until("widget.state === 'expanded'")
            await page.run("part('.stop').click()")
            await page.until("widget.state === 'collapsed'")
        # An account provider that throws is a problem of the page.
        await page.run("widget.accountProvider = async () => { throw new Error('Log in first') }")
        await page.run(START)
        await page.until("/Log in first/.test(text('.problem p') ?? '')")
