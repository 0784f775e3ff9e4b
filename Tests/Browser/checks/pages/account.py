"""The page /sessions: logging in, staying logged in, settings and the account."""

import json
import urllib.error

from accounts import CONVERSATION, PASSWORD, User, log_in, logged_in, open_sessions, with_store
from devtools import Browser
from harness import World, check, click, expect, expect_equal, fetch, fill, shows
from states import inspect, inspect_problems


@check("sessions: wrong passwords, taken addresses and gateways without accounts are explained; a reload stays logged in")
async def logging_in(world: World):
    await world.restart_gateway(has_data=False)
    async with Browser() as browser:
        page = await open_sessions(browser, world)
        await log_in(page)
        await shows(page, "This gateway has no accounts")
        await inspect(page, "sessions-login-no-accounts", schemes=("light",))
        await with_store(world)
        User(world)
        await page.reload()
        await page.until("document.querySelector('login-view .card') !== null")
        await inspect(page, "sessions-login")
        await log_in(page, password="wrong password")
        await shows(page, "Wrong e-mail address or password")
        expect_equal(await page.run("return document.activeElement.type"), "password")
        await inspect(page, "sessions-login-wrong-password")
        await inspect_problems(page, "sessions", "login", "connection")
        await click(page, "login-view label", "Create an account")
        await click(page, "login-view button[type=submit]")
        await shows(page, "This address has an account")
        await inspect(page, "sessions-register-taken", schemes=("light",))
        await log_in(page, "new@example.org")
        await shows(page, "May your assistant calls be kept?")
        await click(page, "consent-view button", "Don’t allow")
        await shows(page, "No sessions yet")
        # Kept nowhere while the page is shown, and only for a reload.
        expect_equal(await page.run("return [sessionStorage.length, localStorage.length, document.cookie]"), [0, 0, ""])
        await shows(page, "Your conversations are not kept")
        await inspect(page, "sessions-empty-not-kept", schemes=("light",))
        await page.reload()
        await shows(page, "No sessions yet")
        expect_equal(await page.run("return sessionStorage.length"), 0)
        await click(page, "account-menu button", "Log out")
        await shows(page, "Log in to see your sessions")
        await page.reload()
        await shows(page, "Log in to see your sessions")
        faults = [line for line in page.console if line.startswith("exception") or "Content Security" in line]
        expect(not faults, faults)


@check("sessions: an expired token is renewed, an ended login asks again, and a restart of the gateway is survived")
async def surviving(world: World):
    await with_store(world)
    ann = User(world)
    session = ann.talk(*CONVERSATION)
    ann.summarized(session)
    async with Browser() as browser:
        page = await logged_in(browser, world, address=f"#/sessions/{session}")
        await shows(page, "I will remind you to call your sister at six.", "session-transcript")
        # The page slept: its access token is refused once. Several requests share one renewal.
        renewals = await page.run(
            """
            const { reload } = await import('/web/sessions/model/commands.js')
            const original = fetch
            let renewals = 0
            window.fetch = async (path, options) => {
              if (path === '/v1/auth/refresh') renewals++
              if (options.headers.Authorization && renewals === 0) {
                return new Response(JSON.stringify({ code: 'token_expired', message: 'expired' }), { status: 401 })
              }
              return original(path, options)
            }
            await reload()
            return renewals
            """)
        expect_equal(renewals, 1)
        await shows(page, "I will remind you to call your sister at six.", "session-transcript")
        # The gateway restarts.
        await world.end(world.server)
        await page.run("const { reload } = await import('/web/sessions/model/commands.js'); await reload()")
        await shows(page, "The gateway cannot be reached")
        await shows(page, "I will remind you to call your sister at six.", "session-transcript")
        await inspect(page, "sessions-unreachable")
        await world.start_gateway(0, *world.arguments)
        world.files.gateway = world.gateway
        await page.until("document.querySelector('main > problem-list').hidden", timeout=40)
        # The login ends elsewhere.
        fetch(world, "PUT", "/v1/users/me/password", {"current_password": PASSWORD, "new_password": "another password"}, ann.token)
        await page.run("const { reload } = await import('/web/sessions/model/commands.js'); await reload()")
        await shows(page, "Your login has expired")
        await inspect(page, "sessions-login-expired")
        await log_in(page, password="another password")
        await shows(page, "I will remind you to call your sister at six.", "session-transcript")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)


@check("sessions: settings, password, data export and deleting the account")
async def settings(world: World):
    await with_store(world)
    ann = User(world)
    User(world, "bob@example.org", handle="bob")
    ann.talk(*CONVERSATION)
    async with Browser() as browser:
        page = await logged_in(browser, world, address="#/settings")
        await shows(page, "Keep my conversations", "settings-view")
        await inspect(page, "sessions-settings")
        await inspect_problems(page, "sessions", "settings", "password", "export")
        inputs = "const { activeElement } = document; const [logging, shares] = document.querySelectorAll('settings-view [type=checkbox]');"
        await page.run(inputs + "shares.click(); document.querySelector('settings-view [type=number]').value = 90")
        await fill(page, "settings-view [list=languages]", "de-AT")
        await fill(page, "settings-view [list=time-zones]", "Europe/Vienna")
        await click(page, "settings-view button", "Save settings")
        await shows(page, "Saved.", "settings-view")
        stored = ann.ask("GET", "/v1/users/me")["settings"]
        expect_equal(
            {name: stored[name] for name in ("shares_past_summaries", "retention_days", "language", "time_zone", "logging_enabled")},
            {"shares_past_summaries": True, "retention_days": 90, "language": "de-AT", "time_zone": "Europe/Vienna", "logging_enabled": True})
        for selector, value, text in (
            ("settings-view [list=time-zones]", "Mars/Olympus", "A setting is not valid"), ("settings-view [maxlength='32']", "bob", "This handle is taken"),
        ):
            await fill(page, selector, value)
            await click(page, "settings-view button", "Save settings")
            await shows(page, text, "settings-view")
            await fill(page, "settings-view [list=time-zones]", "UTC")
        await inspect(page, "sessions-settings-refused", schemes=("light",), shown="settings-view problem-list")
        await fill(page, "settings-view [autocomplete=current-password]", "wrong password")
        await fill(page, "settings-view [autocomplete=new-password]", "a better password")
        await click(page, "settings-view button", "Change password")
        await shows(page, "The current password is wrong", "settings-view")
        await fill(page, "settings-view [autocomplete=current-password]", PASSWORD)
        await click(page, "settings-view button", "Change password")
        await shows(page, "Changed. Other devices are logged out.", "settings-view")
        # The page goes on with the new tokens, other devices do not.
        try:
            ann.ask("GET", "/v1/users/me")
            raise AssertionError("the other device is still logged in")
        except urllib.error.HTTPError as error:
            expect_equal(error.code, 401)
        await page.run(
            """
            window.saved = []
            const original = URL.createObjectURL
            URL.createObjectURL = (blob) => (saved.push(blob), original(blob))
            HTMLAnchorElement.prototype.click = function () {}
            """)
        await click(page, "settings-view button", "Download my data")
        await page.until("saved.length === 1")
        export = json.loads(await page.run("return saved[0].text()"))
        expect_equal((export["user"]["email"], len(export["sessions"])), ("ann@example.org", 1))
        await click(page, "settings-view button", "Delete account")
        expect_equal(await page.run("return [document.activeElement.type, document.querySelector('dialog button.danger').disabled]"), ["text", True])
        await fill(page, "dialog input", "ANN@example.org")
        await inspect(page, "sessions-delete-account")
        await click(page, "dialog button", "Delete account")
        await shows(page, "Your account was deleted")
        await inspect(page, "sessions-account-deleted", schemes=("light",))
        await log_in(page, password="a better password")
        await shows(page, "Wrong e-mail address or password")
        expect([line for line in page.console if line.startswith("exception")] == [], page.console)
