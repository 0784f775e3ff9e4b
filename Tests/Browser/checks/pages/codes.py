"""The page /sessions: codes for forgotten passwords, and for confirming the address. A gateway sends them to a webhook endpoint of the check."""

import contextlib
import urllib.error

from accounts import PASSWORD, User, log_in, logged_in, open_sessions, with_store
from devtools import Browser, Page
from harness import World, check, click, expect, expect_equal, fetch, fill, shows
from inbox import CONFIRMATION, RESET, Inbox, let_pass
from states import inspect, inspect_problems

NEW_PASSWORD = "a better password"
WRONG_CODE = "0000-0000"
FOCUSED = "const { activeElement } = document; return activeElement.labels?.[0]?.textContent ?? activeElement.textContent"
FOCUSED_CODE = "const { activeElement } = document; return [activeElement.autocomplete, activeElement.getAttribute('aria-invalid')]"
ANNOUNCED = "return [...document.querySelectorAll('body > .visually-hidden p')].map(({ textContent }) => textContent)"
SENDER = "[...document.querySelectorAll('button')].find((one) => one.checkVisibility() && one.textContent === 'Send a new code')"


async def forget(page: Page, email: str = "ann@example.org"):
    """Has a code sent to an address."""
    await click(page, "login-view button", "Forgot your password?")
    await shows(page, "Enter the address of your account")
    await fill(page, "reset-view input[type=email]", email)
    await click(page, "reset-view button[type=submit]")
    await shows(page, f"If {email} has an account, a code was sent to it")


async def log_out(page: Page):
    await click(page, "account-menu button", "Log out")
    await page.until("document.querySelector('login-view .card').checkVisibility()")


async def type_text(page: Page, text: str):
    await page.send("Input.insertText", text=text)


async def reset(page: Page, code: str, password: str = NEW_PASSWORD):
    await fill(page, "reset-view [autocomplete=one-time-code]", code)
    await fill(page, "reset-view [autocomplete=new-password]", password)
    await click(page, "reset-view button[type=submit]")


async def skip_minute(page: Page, world: World):
    """For the store's codes and for the page."""
    let_pass(world, 61)
    await page.run("const now = Date.now; Date.now = () => now() + 61_000")
    await page.until(f"{SENDER}.ariaDisabled !== 'true'")


async def send_new_code(page: Page, world: World, view: str):
    """Waits for the response: until then the view is busy and ignores clicks, although the code may have arrived."""
    await skip_minute(page, world)
    await click(page, f"{view} button", "Send a new code")
    await shows(page, "Possible again in ", view)


def expect_no_exceptions(page: Page):
    faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
    expect(not faults, faults)


@check("sessions: a forgotten password is replaced with a code, by keyboard, and nothing says which addresses have accounts")
async def forgotten(world: World):
    with contextlib.closing(Inbox()) as inbox:
        await with_store(world, **inbox.settings)
        ann = User(world)
        async with Browser() as browser:
            page = await open_sessions(browser, world)
            await page.run("document.querySelector('login-view input[type=email]').focus()")
            await type_text(page, "ann@example.org")
            for _ in range(3):
                await page.press("Tab")
            expect_equal(await page.run(FOCUSED), "Forgot your password?", "focus")
            await page.press("Enter")
            await shows(page, "Enter the address of your account", "reset-view")
            expect_equal(await page.run(FOCUSED), "Set a new password", "focus")
            expect_equal(await page.run("return document.querySelector('reset-view input').value"), "ann@example.org")
            await inspect(page, "sessions-forgot")
            # An address without an account, then one with an account.
            said = []
            for address in ("nobody@example.org", "ann@example.org"):
                await page.run("document.querySelector('reset-view input').focus(); document.activeElement.select()")
                await type_text(page, address)
                await page.press("Enter")
                await shows(page, f"If {address} has an account", "reset-view")
                expect_equal(await page.run(FOCUSED), "Code", "focus")
                announced = await page.run(ANNOUNCED)
                expect(f"If {address} has an account, a code was sent to it." in announced, announced)
                text = await page.run("return document.querySelector('reset-view').innerText")
                said.append(text.replace(address, "X").partition("Possible again")[0])
                if address == "nobody@example.org":
                    await click(page, "reset-view button", "Use another address")
                    expect_equal(await page.run(FOCUSED), "E-mail address", "focus")
            expect_equal(said[0], said[1])
            code = await inbox.code(RESET)
            await inspect(page, "sessions-reset")
            # A new code is possible after a minute; until then the button says so and keeps the focus.
            await page.run(f"{SENDER}.focus()")
            await page.press("Enter")
            announced = await page.run(ANNOUNCED)
            expect(any(text.startswith("A new code can be sent in ") for text in announced), announced)
            expect_equal(await page.run(FOCUSED), "Send a new code", "focus")
            await shows(page, "Possible again in ", "reset-view")
            # What cannot be a code costs no attempt.
            await reset(page, "ABC")
            expect_equal(await page.run("return document.querySelector('reset-view [autocomplete=one-time-code]').validity.patternMismatch"), True)
            await reset(page, WRONG_CODE)
            await shows(page, "This code is not valid", "reset-view")
            expect_equal(await page.run(FOCUSED_CODE), ["one-time-code", "true"])
            announced = await page.run("return document.querySelector('body > .visually-hidden [role=alert]').textContent")
            expect(announced.startswith("This code is not valid. "), announced)
            await inspect(page, "sessions-reset-refused", schemes=("light",))
            await inspect_problems(page, "sessions", "reset")
            # In lower case, with a space and a dash of a mail.
            await page.run("document.activeElement.select()")
            await type_text(page, f" {code[:2]}\u00a0{code[2:4]}\u2013{code[5:]} ".lower())
            await page.press("Tab")
            expect_equal(await page.run(FOCUSED), "New password", "focus")
            await page.run("document.activeElement.select()")
            await type_text(page, NEW_PASSWORD)
            await page.press("Enter")
            await shows(page, "No sessions yet")
            expect_equal(await page.run(FOCUSED), "Sessions", "focus")
            await page.until(f"(() => {{ {ANNOUNCED} }})().some((text) => text.startsWith('Your password was changed'))")
            expect_equal(inbox.codes(RESET), [code])
            try:
                ann.ask("GET", "/v1/users/me")
                raise AssertionError("the other device is still logged in")
            except urllib.error.HTTPError as error:
                expect_equal(error.code, 401)
            await page.reload()
            await shows(page, "No sessions yet")
            await log_out(page)
            await log_in(page, password=PASSWORD)
            await shows(page, "Wrong e-mail address or password")
            await log_in(page, password=NEW_PASSWORD)
            await shows(page, "No sessions yet")
            # A reset confirms the address.
            await page.run("location.hash = '#/settings'")
            await page.until("document.querySelector('address-settings .pill')?.textContent === 'Confirmed'")
            expect_no_exceptions(page)


@check("sessions: codes that are void or have expired are refused, and new ones replace them")
async def void_codes(world: World):
    with contextlib.closing(Inbox()) as inbox:
        await with_store(world, **inbox.settings)
        User(world)
        async with Browser() as browser:
            page = await open_sessions(browser, world)
            await forget(page)
            first = await inbox.code(RESET)
            for _ in range(5):
                with contextlib.suppress(urllib.error.HTTPError):
                    fetch(world, "POST", "/v1/auth/password/reset", {"email": "ann@example.org", "code": WRONG_CODE, "new_password": NEW_PASSWORD})
            await reset(page, first)
            await shows(page, "void after five wrong ones", "reset-view")
            await send_new_code(page, world, "reset-view")
            await page.until("document.querySelector('reset-view problem-list').hidden")
            second = await inbox.code(RESET, 2)
            expect_equal(await page.run(f"return {SENDER}.ariaDisabled"), "true")
            let_pass(world, 900)
            await reset(page, second)
            await shows(page, "This code is not valid", "reset-view")
            await send_new_code(page, world, "reset-view")
            third = await inbox.code(RESET, 3)
            await reset(page, second)
            await shows(page, "This code is not valid", "reset-view")
            await reset(page, third)
            await shows(page, "No sessions yet")
            # Back, with the address that was entered.
            await log_out(page)
            await forget(page, "bob@example.org")
            await click(page, "reset-view button", "Back to login")
            expect_equal(await page.run(FOCUSED), "Forgot your password?", "focus")
            expect_equal(await page.run("return document.querySelector('login-view input[type=email]').value"), "bob@example.org")
            # A form that was closed stays closed when its request is answered.
            await page.run("const { fetch: original } = window; window.fetch = async (...all) => { await new Promise((go) => (window.go = go)); return original(...all) }")
            await click(page, "login-view button", "Forgot your password?")
            await click(page, "reset-view button[type=submit]")
            await click(page, "reset-view button", "Back to login")
            await page.run("go()")
            await page.until("!document.querySelector('login-view button[type=submit]').disabled")
            expect_equal(await page.run("return document.querySelector('reset-view').hidden"), True)
            expect_no_exceptions(page)


@check("sessions: gateways that cannot send codes say so")
async def no_webhooks(world: World):
    await world.restart_gateway(has_data=False)
    async with Browser() as browser:
        page = await open_sessions(browser, world)
        await click(page, "login-view button", "Forgot your password?")
        await fill(page, "reset-view input[type=email]", "ann@example.org")
        await click(page, "reset-view button[type=submit]")
        await shows(page, "This gateway has no accounts", "reset-view")
        await with_store(world)
        User(world)
        await click(page, "reset-view button[type=submit]")
        await shows(page, "This gateway cannot send codes", "reset-view")
        expect_equal(await page.run(FOCUSED), "E-mail address", "focus")
        await inspect(page, "sessions-forgot-no-webhooks", schemes=("light",))
        await click(page, "reset-view button", "Back to login")
        await log_in(page)
        await shows(page, "No sessions yet")
        await page.run("location.hash = '#/settings'")
        await page.run("[...document.querySelectorAll('address-settings button')].find((one) => one.checkVisibility()).focus()")
        await page.press("Enter")
        await shows(page, "This gateway cannot send codes", "address-settings")
        expect_equal(await page.run(FOCUSED), "Confirm address…", "focus")


@check("sessions: an address that must be confirmed is asked for its code, also of an account that is older than the rule")
async def confirming(world: World):
    with contextlib.closing(Inbox()) as inbox:
        must_confirm = {"accounts": {"registrations_per_hour": 0, "confirm_email": True}} | inbox.settings
        await with_store(world, **must_confirm)
        async with Browser() as browser:
            page = await open_sessions(browser, world)
            await click(page, "login-view label", "Create an account")
            await log_in(page, "new@example.org")
            await shows(page, "A code was sent to new@example.org")
            expect_equal(await page.run(FOCUSED), "Confirm your e-mail address", "focus")
            await shows(page, "Possible again in ", "confirm-view")
            await inspect(page, "sessions-confirm")
            await inspect_problems(page, "sessions", "confirm")
            await fill(page, "confirm-view input", WRONG_CODE)
            await click(page, "confirm-view button", "Confirm")
            await shows(page, "This code is not valid")
            expect_equal(await page.run(FOCUSED), "Code", "focus")
            await send_new_code(page, world, "confirm-view")
            code = await inbox.code(CONFIRMATION, 2)
            await fill(page, "confirm-view input", code.lower().replace("-", " "))
            await click(page, "confirm-view button", "Confirm")
            await shows(page, "May your assistant calls be kept?")
            await click(page, "consent-view button", "Allow")
            await shows(page, "No sessions yet")
            await log_out(page)
            # The rule is turned on while an older account's page is open.
            await with_store(world, **inbox.settings)
            ann = User(world)
            await click(page, "login-view label", "Log in")
            await log_in(page)
            await shows(page, "No sessions yet")
            await with_store(world, **must_confirm)
            await page.run("location.hash = '#/settings'")
            await shows(page, "Keep my conversations", "settings-view")
            await page.run("document.querySelector('settings-view [type=number]').value = 90")
            await click(page, "settings-view button", "Save settings")
            await shows(page, "Have a code sent to it, or enter the one that you have", "confirm-view")
            # Another device has asked for a code.
            ann.ask("POST", "/v1/users/me/email_confirmation")
            await click(page, "confirm-view button", "Send a new code")
            await shows(page, "A code was sent just now", "confirm-view")
            await shows(page, "Possible again in ", "confirm-view")
            await fill(page, "confirm-view input", await inbox.code(CONFIRMATION, 3))
            await click(page, "confirm-view button", "Confirm")
            await page.until("!document.querySelector('settings-view').hidden")
            expect_no_exceptions(page)


@check("sessions: the settings show whether the address is confirmed, and confirm it by keyboard without losing other changes")
async def confirming_in_settings(world: World):
    with contextlib.closing(Inbox()) as inbox:
        await with_store(world, **inbox.settings)
        User(world)
        async with Browser() as browser:
            page = await logged_in(browser, world, address="#/settings")
            await shows(page, "Not confirmed", "address-settings")
            await fill(page, "settings-view [list=languages]", "de-AT")
            await page.run("[...document.querySelectorAll('address-settings button')].find((one) => one.checkVisibility()).focus()")
            await page.press("Enter")
            await page.until("document.activeElement.autocomplete === 'one-time-code'")
            announced = await page.run(ANNOUNCED)
            expect("A code was sent to ann@example.org." in announced, announced)
            await inspect(page, "sessions-settings-code", schemes=("light",), shown="address-settings")
            await type_text(page, WRONG_CODE)
            await page.press("Enter")
            await shows(page, "This code is not valid", "address-settings")
            expect_equal(await page.run(FOCUSED_CODE), ["one-time-code", "true"])
            await page.run("document.activeElement.select()")
            await type_text(page, await inbox.code(CONFIRMATION))
            await page.press("Enter")
            await page.until("document.querySelector('address-settings .pill').textContent === 'Confirmed'")
            await page.until("document.activeElement.closest('address-settings') !== null && document.activeElement.textContent.includes('ann@example.org')")
            expect("Your address is confirmed" in await page.run(ANNOUNCED), "not announced")
            expect_equal(await page.run("return document.querySelector('settings-view [list=languages]').value"), "de-AT")
            expect_no_exceptions(page)
