"""Checks of the tests that kill a gateway or its database: acknowledged ends are announced, exactly once and in order.

Rows are the store's webhooks, oldest first. Needs the standard library only.
"""

import collections
import json
import time

# Upper bounds in seconds, including retries of rejected webhooks.
WEBHOOK_TIMEOUT = 90
SUMMARY_TIMEOUT = 200
# A session whose room is gone ends two minutes after the gateway's start.
END_TIMEOUT = 240


def await_webhooks(gateway, ended, with_summaries):
    """Waits until all stored webhooks have been delivered."""
    began = time.monotonic()
    while True:
        rows = gateway.webhooks()
        waiting = [row for row in rows if row["status"] != "delivered"]
        known = {name: {row["room"] for row in rows if row["event"] == name} for name in ("session_ended", "summary_ready")}
        rooms = {f"session-{session}" for session in ended}
        unreported = rooms - known["session_ended"]
        if unreported:
            raise SystemExit(f"{len(unreported)} acknowledged ends have no webhook: {list(unreported)[:5]}")
        unsummarized = rooms - known["summary_ready"] if with_summaries else set()
        started, finished = (collections.Counter(row["room"] for row in rows if row["event"] == f"room_{name}") for name in ("started", "finished"))
        if not waiting and not unsummarized and not started - finished:
            return
        timeout = SUMMARY_TIMEOUT if with_summaries else WEBHOOK_TIMEOUT
        if time.monotonic() - began > timeout:
            raise SystemExit(
                f"after {timeout} s {len(waiting)} webhooks are pending, {waiting[:3]}, {len(unsummarized)} sessions have no summary, "
                f"and {len(started - finished)} rooms are open")
        time.sleep(1)


CALL_ENDS = {f"call_{status}" for status in ("completed", "cancelled", "rejected", "busy", "timeout", "failed")}


def check_ends(rows, bodies, couples):
    """Checks that every announced room and every acknowledged call ended exactly once, in order.

    Webhooks that the gateway wrote while it stopped, such as a summary's, are delivered after its next start only.
    """
    rooms = collections.defaultdict(list)
    calls = collections.defaultdict(list)
    for row in rows:
        if row["id"] not in bodies:
            continue
        event = json.loads(bodies[row["id"]])
        if row["event"] in ("room_started", "room_finished"):
            rooms[event["room"]["sid"]].append(row["event"])
        elif row["event"].startswith("call_"):
            calls[event["call"]["id"]].append(row["event"])
    open_rooms = {sid: events for sid, events in rooms.items() if events != ["room_started", "room_finished"]}
    if open_rooms:
        raise SystemExit(f"{len(open_rooms)} of {len(rooms)} rooms did not end exactly once: {list(open_rooms.items())[:5]}")
    acknowledged = {call for couple in couples for call in couple.calls}
    silent = acknowledged - set(calls)
    if silent:
        raise SystemExit(f"{len(silent)} of {len(acknowledged)} acknowledged calls were never announced: {list(silent)[:5]}")
    for call, events in calls.items():
        ends = [event for event in events if event in CALL_ENDS]
        if len(ends) != 1 or events[0] != "call_started" or events[-1] != ends[0]:
            raise SystemExit(f"{call} did not end exactly once: {events}")
    outcomes = collections.Counter(events[-1] for events in calls.values())
    print(f"{len(rooms)} rooms and {len(calls)} calls ended exactly once: {dict(outcomes)}")


def check_session_ends(rows, sessions):
    ends = collections.Counter(row["room"] for row in rows if row["event"] == "session_ended")
    wrong = {session: ends[f"session-{session}"] for session in sessions if ends[f"session-{session}"] != 1}
    if wrong:
        raise SystemExit(f"{len(wrong)} of {len(sessions)} sessions did not end exactly once: {list(wrong.items())[:5]}")
    print(f"{len(sessions)} sessions ended exactly once")


def await_ends(gateway, sessions):
    began = time.monotonic()
    while True:
        ended = {row["room"] for row in gateway.webhooks() if row["event"] == "session_ended"}
        open_sessions = [session for session in sessions if f"session-{session}" not in ended]
        if not open_sessions:
            return
        if time.monotonic() - began > END_TIMEOUT:
            raise SystemExit(f"after {END_TIMEOUT} s {len(open_sessions)} sessions have not ended: {open_sessions[:5]}")
        time.sleep(2)


def check_outbox(rows):
    """Checks that no webhook was stored twice, not even one whose commit was lost."""
    doubled = [number for number, count in collections.Counter(row["id"] for row in rows).items() if count > 1]
    if doubled:
        raise SystemExit(f"{len(doubled)} webhooks are stored more than once: {doubled[:5]}")


def check_joins(rows, joins):
    """Checks that each join of a gateway that went on was announced once."""
    announced = collections.Counter(row["room"] for row in rows if row["event"] == "participant_joined")
    wrong = {room: (count, announced[room]) for room, count in joins.items() if announced[room] != count}
    if wrong:
        raise SystemExit(f"{len(wrong)} of {len(joins)} rooms announced other joins than there were: {list(wrong.items())[:5]}")
    print(f"{sum(joins.values())} joins beside deaths of the server were announced once")
