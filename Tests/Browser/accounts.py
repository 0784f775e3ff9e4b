"""Accounts with sessions, and the page /sessions as a user sees it."""

import datetime
import json
import time

from devtools import Browser, Page
from harness import World, click, fetch, fill

PASSWORD = "correct horse battery"
CONVERSATION = [
    ("user", "Please book a table for two at the harbour tomorrow at seven."),
    ("assistant", "I have booked a table for two at the harbour for tomorrow at seven. I will send you the address."),
    ("user", "Thank you. Please remind me to call my sister before dinner."),
    ("assistant", "I will remind you to call your sister at six."),
]


class User:
    """An account, and what its devices do."""

    def __init__(self, world: World, email: str = "ann@example.org", **settings):
        self.world, self.email = world, email
        self.token = fetch(world, "POST", "/v1/auth/register", {"email": email, "password": PASSWORD})["access_token"]
        # Answer the question about logging, unless a check tests it.
        self.ask("PATCH", "/v1/users/me", {"settings": {"logging_enabled": True, "has_seen_onboarding": True} | settings})

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        return fetch(self.world, method, path, body, self.token)

    def start(self) -> dict:
        return self.ask("POST", "/v1/sessions/start", {"context": "web"})

    def turn(self, session: str, speaker: str, text: str, at: datetime.datetime):
        timestamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.ask("POST", f"/v1/sessions/{session}/turn", {"speaker": speaker, "text": text, "timestamp": timestamp})

    def talk(self, *turns: tuple[str, str], ends: bool = True) -> str:
        """A session with these turns."""
        session = self.start()["session_id"]
        now = datetime.datetime.now(datetime.timezone.utc)
        for number, (speaker, text) in enumerate(turns):
            self.turn(session, speaker, text, now + datetime.timedelta(seconds=4 * number))
        if ends:
            self.ask("POST", "/v1/sessions/end", {"session_id": session})
        return session

    def summarized(self, session: str) -> dict:
        for _ in range(100):
            record = self.ask("GET", f"/v1/sessions/{session}")
            if record["session"]["summary_status"] == "ready":
                return record
            time.sleep(0.1)
        raise AssertionError("no summary")


async def with_store(world: World, **settings):
    """Starts the gateway again, with accounts."""
    config = world.path("gateway.yaml")
    # JSON is YAML.
    config.write_text(json.dumps({"data": str(world.path("data")), "accounts": {"registrations_per_hour": 0}} | settings))
    world.arguments = ("--config", str(config))
    await world.restart_gateway(*world.arguments)


async def open_sessions(browser: Browser, world: World, address: str = "") -> Page:
    page = await browser.open(f"{world.files.origin}/sessions{address}")
    await page.until("document.querySelector('login-view .card') !== null")
    return page


async def log_in(page: Page, email: str = "ann@example.org", password: str = PASSWORD):
    await fill(page, "login-view input[type=email]", email)
    await fill(page, "login-view input[type=password]", password)
    await click(page, "login-view button[type=submit]")


async def logged_in(browser: Browser, world: World, email: str = "ann@example.org", address: str = "") -> Page:
    page = await open_sessions(browser, world, address)
    await log_in(page, email)
    await page.until("document.querySelector('account-menu button').checkVisibility()")
    return page
