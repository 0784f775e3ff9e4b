"""The page /calls: two browsers call each other, with everything that can happen to a call."""

import asyncio

from accounts import log_in
from devtools import Browser
from harness import MARKUP, World, check, click, expect, expect_equal, fill, shows
from phones import PHONE, open_calls, phones, with_users
from states import inspect, inspect_problems


@check("calls: two browsers ring, answer, hear each other, hold, send tones, mute, and hang up", alone=True)
async def conversation(world: World):
    ann_user, bob_user = await with_users(world, "ann", "bob")
    async with phones(world, "ann", "bob") as (ann, bob):
        await ann.call("@bob")
        await ann.shows("Ringing…", "call-screen")
        await bob.shows("@ann", "incoming-calls")
        await inspect(bob.page, "calls-incoming")
        await inspect(ann.page, "calls-ringing")
        await bob.press("Answer")
        await ann.is_in_call()
        await bob.is_in_call()
        await ann.hears()
        await bob.hears()
        await inspect(ann.page, "calls-connected")
        # Hold: neither hears the other.
        await ann.press("Hold")
        await ann.shows("On hold", "call-screen")
        await bob.shows("They put you on hold", "call-screen")
        await bob.hears(False)
        await ann.hears(False)
        await inspect(ann.page, "calls-held")
        await ann.press("Hold")
        await bob.shows("Connected", "call-screen")
        await bob.hears()
        # Tones, by the keypad and by typing.
        await ann.press("Keypad")
        for key in ("1", "5", "9"):
            await click(ann.page, "dial-pad .key", key)
        await ann.page.run("for (const key of '0#') document.dispatchEvent(new KeyboardEvent('keydown', { key }))")
        await bob.shows("Tones received: 1590#", "call-screen")
        expect_equal(await ann.page.run("return document.querySelector('dial-pad output').textContent"), "1590#")
        await inspect(ann.page, "calls-keypad")
        # Mute.
        await ann.press("Mute")
        await bob.hears(False)
        expect_equal(await ann.page.run("return document.querySelector('call-screen [aria-pressed=true]').textContent"), "Mute")
        await ann.press("Mute")
        await bob.hears()
        # Minimized, the call goes on.
        await ann.press("Minimize")
        await ann.shows("@bob", "call-bar")
        await inspect(ann.page, "calls-minimized")
        await bob.hears()
        await ann.press("Return to the call", "call-bar button")
        await ann.press("End call", "call-screen button")
        for phone in (ann, bob):
            await phone.shows("Call ended", "main > problem-list")
            await phone.page.until("document.querySelector('call-screen').hidden")
        await bob.shows("Incoming", "recent-list")
        await ann.shows("Outgoing", "recent-list")
        await inspect(bob.page, "calls-recents")
        history = ann_user.ask("GET", "/v1/calls/history")
        expect(history[0]["status"] == "completed" and history[0]["answered_at"], history)
        # Back, from the list.
        await bob.press("Call", "recent-list button")
        await ann.press("Answer")
        await ann.hears()
        await ann.press("End call", "call-screen button")
        await bob.page.until("document.querySelector('call-screen').hidden")
        for phone in (ann, bob):
            await phone.expect_quiet()


@check("calls: busy, declined, withdrawn, missed, and addresses that nobody has")
async def outcomes(world: World):
    await with_users(world, "ann", "bob", "eve", ring_timeout=20)
    async with phones(world, "ann", "bob", "eve") as (ann, bob, eve):
        await eve.call("nobody@example.org")
        await eve.shows("Nobody can be called at this address", "people-view")
        await inspect(eve.page, "calls-unknown-address", schemes=("light",))
        await eve.call(MARKUP[:40])
        await eve.shows("This is not an address", "people-view")
        await eve.call("@bob")
        await bob.press("Decline")
        await eve.shows("@bob declined")
        await eve.call("@bob")
        await bob.shows("@eve", "incoming-calls")
        await eve.press("Cancel", "call-screen button")
        await bob.shows("Missed call")
        await bob.page.until("document.querySelector('incoming-calls').hidden")
        await ann.call("@bob")
        await bob.press("Answer")
        await bob.is_in_call()
        await eve.call("@bob")
        await eve.shows("@bob is busy")
        await inspect(eve.page, "calls-busy")
        await ann.press("End call", "call-screen button")
        await bob.shows("Call ended")
        # Nobody answers.
        await eve.press("Call again")
        await bob.shows("@eve", "incoming-calls")
        await eve.shows("No answer", timeout=90)
        await bob.shows("Missed call")
        await inspect(bob.page, "calls-missed")
        await bob.shows("Missed", "recent-list")
        await bob.press("Call again")
        await eve.press("Answer")
        await bob.is_in_call()
        await inspect_problems(bob.page, "calls", "ended", "missed", "microphone", "audio", "room", "call")


@check("calls: two tabs answer one call, and another device takes it over")
async def devices(world: World):
    await with_users(world, "ann", "bob")
    async with phones(world, "ann", "bob") as (ann, bob):
        tab = await open_calls(bob.page.browser, world, "bob@example.org")
        await ann.call("@bob")
        for phone in (bob, tab):
            await phone.shows("@ann", "incoming-calls")
        await asyncio.gather(*(phone.page.run("document.querySelector('incoming-calls .answer')?.click()") for phone in (bob, tab)))
        await ann.is_in_call()
        connected = "document.querySelector('call-screen').checkVisibility()"
        await bob.page.until(f"{connected} || document.querySelector('.elsewhere li') !== null")
        await tab.page.until(f"{connected} || document.querySelector('.elsewhere li') !== null")
        in_call = [await phone.page.run(f"return {connected}") for phone in (bob, tab)]
        expect_equal(sorted(in_call), [False, True])
        winner, other = (bob, tab) if in_call[0] else (tab, bob)
        await other.page.until("/another device/i.test(document.querySelector('main > problem-list').textContent)")
        await other.shows("On another device: @ann", "people-view")
        await inspect(other.page, "calls-elsewhere")
        await winner.is_in_call()
        await ann.hears()
        # The other one continues it.
        await other.press("Continue here")
        await other.is_in_call()
        await winner.shows("Continued on another device")
        await other.hears()
        await ann.hears()
        await ann.press("End call", "call-screen button")
        await other.shows("Call ended")
        await winner.page.until("document.querySelector('.elsewhere li') === null")


@check("calls: during a call another one rings, is answered, and both are switched")
async def waiting(world: World):
    await with_users(world, "ann", "bob", "eve", waiting="ring")
    async with phones(world, "ann", "bob", "eve") as (ann, bob, eve):
        await ann.call("@bob")
        await bob.press("Answer")
        await bob.is_in_call()
        await eve.call("@bob")
        await bob.shows("@eve", "incoming-calls")
        await bob.shows("End and answer", "incoming-calls")
        await inspect(bob.page, "calls-waiting")
        await bob.press("Hold and answer")
        await bob.is_in_call()
        await bob.shows("@eve", "call-screen h2")
        await ann.shows("They put you on hold")
        await eve.hears()
        await inspect(bob.page, "calls-two")
        await bob.press("Switch")
        await bob.shows("@ann", "call-screen h2")
        await eve.shows("They put you on hold")
        await ann.hears()
        # The end of the shown call gives the screen to the other.
        await ann.press("End call", "call-screen button")
        await bob.shows("@eve", "call-screen h2")
        await bob.press("Hold")
        await eve.hears()
        # A third caller: the call in progress is ended.
        await ann.call("@bob")
        await bob.press("End and answer")
        await eve.shows("Call ended")
        await bob.shows("@ann", "call-screen h2")
        await bob.is_in_call()


@check("calls: contacts and favourites are added, changed, called and removed; hostile names are text")
async def contacts(world: World):
    ann_user, _ = await with_users(world, "ann", "bob")
    ann_user.ask("PUT", "/v1/contacts", {"contacts": [{"address": "eve@example.org", "name": MARKUP}, {"address": "@rtl", "name": "\u202eevil\u202c עברית"}]})
    async with phones(world, "ann", "bob") as (ann, bob):
        page = ann.page
        await click(page, ".tabs a", "Contacts")
        await ann.shows("onerror", "contact-list")
        expect_equal(await page.run("return [document.querySelectorAll('contact-list img').length, window.hacked]"), [0, None])
        await inspect(page, "calls-contacts")
        await ann.press("Add a contact")
        await inspect(page, "calls-add-contact")
        await fill(page, "dialog .field:nth-of-type(1) input", "Bob")
        await fill(page, "dialog .field:nth-of-type(2) input", "not an address")
        await click(page, "dialog button", "Save")
        await shows(page, "This is not an address", "dialog")
        await fill(page, "dialog .field:nth-of-type(2) input", "EVE@example.org")
        await click(page, "dialog button", "Save")
        await shows(page, "This address is among your contacts", "dialog")
        await fill(page, "dialog .field:nth-of-type(2) input", "@bob")
        await click(page, "dialog button", "Save")
        await page.until("document.querySelector('dialog') === null")
        await click(page, "contact-list li[data-address='@bob'] [data-action=favourite]")
        await page.until("document.querySelector('contact-list:not([only]) li[data-address=\"@bob\"] [aria-pressed=true]') !== null")
        expect_equal(ann_user.ask("GET", "/v1/contacts")[2], {"address": "@bob", "name": "Bob", "favorite": True})
        await click(page, ".tabs a", "Favourites")
        await ann.shows("Bob", "contact-list")
        await inspect(page, "calls-favourites", schemes=("light",))
        await click(page, "contact-list[only] [data-action=call]")
        await ann.shows("Bob", "call-screen h2")
        await bob.press("Decline")
        await ann.shows("Bob declined")
        await click(page, ".tabs a", "Contacts")
        await click(page, "contact-list:not([only]) li[data-address='@rtl'] [data-action=remove]")
        await click(page, "dialog button", "Remove")
        await page.until("document.querySelectorAll('contact-list:not([only]) li').length === 2")
        expect_equal([contact["address"] for contact in ann_user.ask("GET", "/v1/contacts")], ["eve@example.org", "@bob"])
        await ann.expect_quiet()


async def navigate(page, world: World, path: str):
    page.loaded.clear()
    await page.send("Page.navigate", url=world.files.origin + path)
    await asyncio.wait_for(page.loaded.wait(), 30)


@check("calls: the login is that of the page of sessions; a restart of the gateway is survived; logging out hangs up")
async def logging_in(world: World):
    await with_users(world, "ann", "bob")
    async with phones(world, "bob") as (bob,), Browser() as browser:
        page = await browser.open(f"{world.files.origin}/calls")
        await page.until("document.querySelector('login-view .card')?.checkVisibility()")
        await inspect(page, "calls-login")
        await log_in(page, password="wrong password")
        await shows(page, "Wrong e-mail address or password")
        await inspect_problems(page, "calls", "login")
        # Logged in on one page is logged in on the other.
        await navigate(page, world, "/sessions")
        await page.until("document.querySelector('login-view input[type=email]')?.checkVisibility()")
        await log_in(page)
        await shows(page, "No sessions yet")
        page.loaded.clear()
        await click(page, "account-menu a", "Calls")
        await asyncio.wait_for(page.loaded.wait(), 30)
        await page.until("document.querySelector('account-menu .pill')?.textContent === 'Reachable'")
        await inspect(page, "calls-empty")
        # The gateway restarts.
        await world.end(world.server)
        await shows(page, "Reconnecting")
        await inspect_problems(page, "calls", "channel", "connection", "support", "dial")
        await world.start_gateway(0, *world.arguments)
        world.files.gateway = world.gateway
        await page.until("document.querySelector('account-menu .pill').textContent === 'Reachable'", timeout=90)
        await bob.page.until("document.querySelector('account-menu .pill').textContent === 'Reachable'", timeout=90)
        await bob.call("@ann")
        await shows(page, "@bob", "incoming-calls")
        await click(page, "incoming-calls button", "Answer")
        await bob.is_in_call()
        await click(page, "account-menu button", "Log out")
        await shows(page, "Log in to call and be called")
        await bob.shows("Call ended")
        expect_equal(await page.run(PHONE + "return [store.state.calls.length, store.state.user, sessionStorage.length]"), [0, None, 0])
