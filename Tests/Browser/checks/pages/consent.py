"""Consent to logging on the pages of an account: the question, both answers and no answer, with the data stored afterwards."""

from accounts import CONVERSATION, User, log_in, open_sessions, with_store
from devtools import Browser
from harness import World, check, click, expect_equal, expect_quiet_console, shows
from states import inspect

QUESTION = "May your assistant calls be kept?"


def consent(user: User) -> tuple[bool, bool]:
    settings = user.ask("GET", "/v1/users/me")["settings"]
    return settings["has_seen_onboarding"], settings["logging_enabled"]


def kept(user: User) -> int:
    """Holds a conversation and returns the number of its lines that are stored."""
    session = user.talk(*CONVERSATION)
    return len(user.ask("GET", f"/v1/sessions/{session}")["turns"])


@check("sessions: the first login asks once whether conversations are kept; without an answer nothing is")
async def first_login(world: World):
    await with_store(world)
    unasked = {"logging_enabled": False, "has_seen_onboarding": False}
    async with Browser() as browser:
        page = await open_sessions(browser, world)
        for email, button, is_allowed, lines in (
            ("ann@example.org", "Allow logging & summaries", True, 4), ("bob@example.org", "Don’t allow (voice-only, no history)", False, 0),
        ):
            user = User(world, email, **unasked)
            await log_in(page, email)
            await shows(page, QUESTION)
            expect_equal(await page.run("return [document.activeElement.textContent, document.querySelector('session-list').hidden]"), [QUESTION, True])
            await inspect(page, "sessions-consent")
            # Leaving without an answer: nothing is logged, and the next login asks again.
            expect_equal((consent(user), kept(user)), ((False, False), 0))
            await page.reload()
            await shows(page, QUESTION)
            await page.run("location.hash = '#/settings'")
            await shows(page, QUESTION)
            await page.run("location.hash = '#/'")
            # An answer that does not reach the gateway.
            world.files.hidden.add("/v1/users/me")
            await click(page, "consent-view button", button)
            await shows(page, "Your answer was not saved", "consent-view")
            world.files.hidden.clear()
            await click(page, "consent-view button", button)
            await page.until("!document.querySelector('session-list').hidden")
            expect_equal((consent(user), kept(user)), ((True, is_allowed), lines))
            await click(page, "account-menu button", "Log out")
            await shows(page, "Log in to see your sessions")
            await log_in(page, email)
            await page.until("!document.querySelector('session-list').hidden")
            await click(page, "account-menu button", "Log out")
            await shows(page, "Log in to see your sessions")
        page.console = [line for line in page.console if "Failed to load resource" not in line]
        expect_quiet_console(page)


@check("calls: the first login asks once whether conversations are kept, before the page takes calls")
async def first_login_on_calls(world: World):
    await with_store(world)
    ann = User(world, logging_enabled=False, has_seen_onboarding=False)
    async with Browser() as browser:
        page = await browser.open(f"{world.files.origin}/calls")
        await page.until("document.querySelector('login-view .card')?.checkVisibility()")
        await log_in(page)
        await shows(page, QUESTION, "consent-view")
        shown = "[document.activeElement.textContent, ...['people-view', 'account-menu .pill', 'login-view'].map((name) => document.querySelector(name).checkVisibility())]"
        expect_equal(await page.run(f"return {shown}"), [QUESTION, False, False, False])
        await inspect(page, "calls-consent")
        # An answer that does not reach the gateway.
        world.files.hidden.add("/v1/users/me")
        await click(page, "consent-view button", "Don’t allow")
        await shows(page, "Your answer was not saved", "consent-view")
        world.files.hidden.clear()
        await click(page, "consent-view button", "Allow logging & summaries")
        await page.until("document.querySelector('account-menu .pill').textContent === 'Reachable'")
        expect_equal((consent(ann), await page.run("return document.querySelector('consent-view').checkVisibility()")), ((True, True), False))
        await click(page, "account-menu button", "Log out")
        await shows(page, "Log in to call and be called")
        await log_in(page)
        await page.until("document.querySelector('people-view').checkVisibility()")
        page.console = [line for line in page.console if "Failed to load resource" not in line]
        expect_quiet_console(page)
