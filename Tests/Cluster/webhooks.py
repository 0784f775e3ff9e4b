"""Whether the webhooks of the calls are those that must be: none lost, none twice, none in the wrong order."""

import collections
import time

from table import Row

TIMEOUT = 90
# Of one call: the same for both parties, one after the other.
EXPECTED = collections.Counter({
    "room_started": 1, "participant_joined": 2, "track_published": 2, "track_unpublished": 2, "participant_left": 2, "room_finished": 1})


def judge_webhooks(cluster, calls):
    """Waits until all rooms of calls have ended and all webhooks were delivered. Returns rows."""
    began = time.monotonic()
    while True:
        rows = cluster.webhooks()
        rooms = collections.defaultdict(collections.Counter)
        for row in rows:
            if (row["room"] or "").startswith("cluster-"):
                rooms[row["room"]][row["event"]] += 1
        waiting = sum(row["status"] != "delivered" for row in rows)
        ended = sum(events["room_finished"] > 0 for events in rooms.values())
        if (ended >= calls and not waiting) or time.monotonic() - began > TIMEOUT:
            break
        time.sleep(1)
    kinds = {event for events in rooms.values() for event in events} & set(EXPECTED)
    lost = sum(max(0, EXPECTED[kind] - events[kind]) for events in rooms.values() for kind in kinds) + 6 * (calls - len(rooms))
    doubled = sum(max(0, events[kind] - EXPECTED[kind]) for events in rooms.values() for kind in kinds)
    doubled += len(rows) - len({row["id"] for row in rows})
    yield Row("webhooks not delivered", "0", str(waiting), waiting == 0)
    yield Row("webhooks lost", "0", str(lost), lost == 0)
    yield Row("webhooks doubled in the outbox", "0", str(doubled), doubled == 0)
    inverted = count_inverted(cluster.endpoint, rows)
    yield Row("webhooks inverted or changed", "0", str(inverted), inverted == 0)


def count_inverted(endpoint, rows):
    """Deliveries in another order than the outbox's, and rooms in another order than a room's life has."""
    written = collections.defaultdict(list)
    for row in rows:
        written[row["room"]].append(row["id"])
    wrong = [f"changed: {failure}" for failure in endpoint.failures]
    for room, events in endpoint.rooms().items():
        names = [event["event"] for event in events]
        order = [event["id"] for event in events]
        if order != [number for number in written[room] if number in order]:
            wrong.append(f"{room}: delivered in another order than written: {names}")
        elif "room_started" in names[1:] or "room_finished" in names[:-1]:
            wrong.append(f"{room}: begins or ends in between: {names}")
        else:
            for identity in ("user", "agent"):
                own = [event["event"] for event in events if event.get("participant", {}).get("identity") == identity]
                if "participant_joined" in own[1:] or "participant_left" in own[:-1]:
                    wrong.append(f"{room}: {identity} joins or leaves in between: {own}")
    for example in wrong[:5]:
        print(f"  {example}")
    return len(wrong)
