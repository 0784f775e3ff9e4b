"""The page /calls: two browsers call each other, and use everything that the page offers during a call."""

import asyncio

from harness import MARKUP, World, check, click, expect, expect_equal
from phones import navigate, open_calls, phones, with_users
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
        # The call continues while minimized.
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
        # Call back, from the list of recent calls.
        await bob.press("Call", "recent-list button")
        await ann.press("Answer")
        await ann.is_in_call()
        await ann.hears()
        await ann.press("End call", "call-screen button")
        await bob.page.until("document.querySelector('call-screen').hidden")
        for phone in (ann, bob):
            await phone.expect_quiet()


# Messages of the channel arrive late.
DELAY_CHANNEL = """
    const Original = WebSocket
    window.WebSocket = class extends Original {
      set onmessage(listener) { super.onmessage = listener && (this.url.includes('/v1/events') ? (event) => setTimeout(listener, 3000, event) : listener) }
    }
"""


@check("calls: who is declined before joining the call's room learns of it")
async def early_decline(world: World):
    await with_users(world, "ann", "bob")
    async with phones(world, "ann", "bob") as (ann, bob):
        await ann.page.send("Page.addScriptToEvaluateOnNewDocument", source=DELAY_CHANNEL)
        await navigate(ann.page, world, "/calls")
        await ann.page.until("document.querySelector('account-menu .pill')?.textContent === 'Reachable'")
        await ann.call("@bob")
        await bob.shows("@ann", "incoming-calls")
        # The refusal of the room arrives between the reply to the call's start and the call's end.
        await asyncio.sleep(1)
        await bob.press("Decline")
        await ann.shows("@bob declined")


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
        # The other device continues the call.
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
        # When the shown call ends, the other one is shown.
        await ann.press("End call", "call-screen button")
        await bob.shows("@eve", "call-screen h2")
        await bob.press("Hold")
        await eve.hears()
        # A third caller: answering ends the current call.
        await ann.call("@bob")
        await bob.press("End and answer")
        await eve.shows("Call ended")
        await bob.shows("@ann", "call-screen h2")
        await bob.is_in_call()
