"""A webhook endpoint that keeps the codes that a backend would mail, and the gateway's clock for them."""

import asyncio
import json
import sqlite3
import sys

from harness import REPOSITORY, World

sys.path.append(str(REPOSITORY / "Tests/Interop"))
from endpoint import Endpoint  # noqa: E402

RESET = "account.password_reset_requested"
CONFIRMATION = "account.email_confirmation_requested"


class Inbox:
    """Accepts webhooks from construction on; `settings` make a gateway send them here."""

    def __init__(self):
        # Signed with the key of `serve --dev`.
        self.endpoint = Endpoint("secret", seed=1)
        self.settings = {"webhook": {"urls": [self.endpoint.url]}}

    def codes(self, kind: str) -> list[str]:
        """The codes of a kind, oldest first, as `8F2K-93QM`."""
        with self.endpoint.lock:
            events = [json.loads(body) for body in self.endpoint.bodies.values()]
        return [event["account"]["code"] for event in events if event["event"] == kind]

    async def code(self, kind: str, number: int = 1) -> str:
        """Waits for the code with this number, counted from 1."""
        for _ in range(100):
            if len(self.codes(kind)) >= number:
                return self.codes(kind)[number - 1]
            await asyncio.sleep(0.1)
        raise AssertionError(f"no code number {number}: {self.codes(kind)}, {self.endpoint.failures}")

    def close(self):
        self.endpoint.server.shutdown()
        self.endpoint.server.server_close()


def let_pass(world: World, seconds: int):
    """Makes the store's codes older, as if time had passed."""
    database = sqlite3.connect(world.path("data") / "patchbay.sqlite", timeout=10)
    with database:
        changed = database.execute("UPDATE account_codes SET made_at = made_at - ?1, expires_at = expires_at - ?1", (1000 * seconds,)).rowcount
    database.close()
    if changed == 0:
        raise AssertionError("the store has no codes")
