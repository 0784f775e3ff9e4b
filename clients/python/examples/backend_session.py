"""A backend that starts a session for a user: python backend_session.py EMAIL PASSWORD, with PATCHBAY_URL.

An app gets the room's URL and token from the backend, and joins with them. The authority's file is in SSL_CERT_FILE.
"""

import asyncio
import sys

from patchbay import Room
from patchbay.api import APIError, PatchbayAPI, User


async def log_in(api: PatchbayAPI, email: str, password: str) -> User:
    """Registers the user, unless there is one."""
    try:
        user = await api.accounts.register(email, password)
        # Nothing is kept without the user's consent.
        await user.update_settings(logging_enabled=True, retention_days=30)
        return user
    except APIError as error:
        if error.code != "email_taken":
            raise
        return await api.accounts.log_in(email, password)


async def main(email: str, password: str) -> None:
    """Starts a session, says a sentence in its room as the app would, and shows what was kept."""
    async with PatchbayAPI() as api:
        user = await log_in(api, email, password)
        access = await user.sessions.start("phone")
        print(f"session {access.session_id} in room {access.room_name}")
        async with Room.connect(access.url, access.token) as room:
            await room.local_participant.send_text("Please book a table for two.")
        await user.sessions.end(access.session_id)
        while (session := await user.sessions.get(access.session_id)).summary is None:
            await asyncio.sleep(0.2)
        for turn in session.turns:
            print(f"{turn.speaker}: {turn.text}")
        print(f"summary: {session.summary.title}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
