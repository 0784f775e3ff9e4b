"""Receives webhooks and checks that each arrives once, signed, and in the order in which the gateway stored them."""

import asyncio
import collections
import json
import sqlite3
from pathlib import Path
from typing import Callable

from .gateway import is_signed

# What each call's room sends, besides `session_ended` and `summary_ready`.
OF_A_CALL = {"room_started": 1, "participant_joined": 2, "track_published": 2, "track_unpublished": 2, "participant_left": 2,
             "room_finished": 1, "session_ended": 1}


class Receiver:
    def __init__(self, left: Callable[[str], None]) -> None:
        self.left = left
        # By identifier: the position of its first arrival.
        self.arrivals: dict[str, int] = {}
        self.repeated = 0
        self.unsigned = 0
        self.events: collections.Counter[str] = collections.Counter()
        # By room, until it is complete.
        self.of_room: dict[str, collections.Counter[str]] = {}
        self.complete = 0
        self.misplaced: list[str] = []

    async def start(self) -> str:
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=256)
        self.server = server
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hooks"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])}
            body = await reader.readexactly(int(fields["content-length"]))
            self.unsigned += not is_signed(fields["authorization"], body)
            self.take(json.loads(body))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def take(self, event: dict) -> None:
        if event["id"] in self.arrivals:
            self.repeated += 1
            return
        self.arrivals[event["id"]] = len(self.arrivals)
        name = event["event"]
        self.events[name] += 1
        room = event["session"]["roomName"] if "session" in event else event.get("room", {}).get("name", "")
        if not room.startswith("session-") or name == "summary_ready":
            return
        seen = self.of_room.setdefault(room, collections.Counter())
        if (name == "room_started" and seen - collections.Counter(session_ended=1)) or (name != "session_ended" and seen["room_finished"]):
            self.misplaced.append(f"{name} of {room} after {dict(seen)}")
        seen[name] += 1
        if name == "participant_left" and seen[name] == 2:
            self.left(room)
        if seen == OF_A_CALL:
            del self.of_room[room]
            self.complete += 1

    def compare(self, database: Path) -> list[str]:
        """Compares arrivals with the store after the gateway has ended; one sentence per problem."""
        rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute("SELECT 'EV_' || id, lane, status FROM webhooks ORDER BY number")
        last: dict[bytes, int] = {}
        stored = undelivered = unseen = overtaken = 0
        for identifier, lane, status in rows:
            stored += 1
            undelivered += status != "delivered"
            position = self.arrivals.get(identifier)
            if position is None:
                unseen += 1
                continue
            overtaken += position < last.get(lane, -1)
            last[lane] = position
        found = {"are stored as undelivered": undelivered, "never arrived": unseen, "arrived before an earlier one of their room": overtaken,
                 "arrived twice": self.repeated, "were not signed": self.unsigned, "are not in the store": len(self.arrivals) - (stored - unseen)}
        return [f"{count} webhooks {what}" for what, count in found.items() if count] + self.misplaced[:5]
