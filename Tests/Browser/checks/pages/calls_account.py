"""The page /calls apart from its calls: contacts, login and logout, and a restart of the gateway."""

import asyncio

from accounts import log_in
from devtools import Browser
from harness import MARKUP, World, check, click, expect_equal, fill, shows
from phones import PHONE, navigate, phones, with_users
from states import inspect, inspect_problems


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
        await ann.has_joined()
        await bob.press("Decline")
        await ann.shows("Bob declined")
        await click(page, ".tabs a", "Contacts")
        await click(page, "contact-list:not([only]) li[data-address='@rtl'] [data-action=remove]")
        await click(page, "dialog button", "Remove")
        await page.until("document.querySelectorAll('contact-list:not([only]) li').length === 2")
        expect_equal([contact["address"] for contact in ann_user.ask("GET", "/v1/contacts")], ["eve@example.org", "@bob"])
        await ann.expect_quiet()


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
        # A login on one page is valid on the other.
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
