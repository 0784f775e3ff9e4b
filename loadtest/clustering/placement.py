"""Whether the connections of two-party calls end at the home of their room, or are forwarded to it.

A call is a session of a user with an assistant, as apps start it: `POST /v1/sessions/start` goes through a load balancer to the nodes in
turn. Each node has a worker, one of which takes the job. Both parties then get a URL and a token.
"""

import http.client
import itertools
import json
import random
import ssl
import threading

from cluster import KEY, SECRET, Gateway, wait_until
from soaking.gateway import token
from table import Row

from clustering.channel import TIMEOUT, Channel
from clustering.testbed import PUBLIC_URL, USERS_ISSUER, USERS_SECRET, Testbed

ASSISTANT = "default"
SHARE_MIN = 0.95
BATCH = 10


class Session:
    """A call with what its parties have been given."""

    def __init__(self, user: str, started: dict, job: dict) -> None:
        self.user, self.id = user, started["session_id"]
        self.grants = [(given["livekit_url"], given["livekit_token"]) for given in (started, job)]
        self.channels: list[Channel] = []
        # Of both parties: where it is connected, and the home that its `hello` names.
        self.connected: list[str] = []
        self.homes: list[str] = []

    @property
    def is_at_home(self) -> bool:
        return self.connected == self.homes


class Worker(threading.Thread):
    """Accepts all jobs that it is offered: those of its node's rooms, or those of any node's."""

    def __init__(self, url: str, tls: ssl.SSLContext, accepted: dict[str, dict]) -> None:
        super().__init__(daemon=True)
        claims = {"sub": f"assistant:{ASSISTANT}", "video": {"agent": True}}
        self.channel = Channel(url, "/v1/events", token(claims, SECRET, KEY), tls)
        # Replies by room.
        self.accepted = accepted
        self.channel.event("hello")
        self.channel.request("worker.register", assistant_id=ASSISTANT, capacity=1_000)
        self.start()

    def run(self) -> None:
        while True:
            try:
                message = self.channel.receive()
                if message and message["type"] == "job.offered":
                    reply = self.channel.request("job.accept", job=message["data"]["job"]["id"])
                    self.accepted[reply["room_name"]] = reply
            except (SystemExit, OSError, ValueError):
                # The channel was closed; a missing job is noticed where it is waited for.
                return


class Calls:
    def __init__(self, bed: Testbed) -> None:
        self.bed = bed
        self.tls = ssl.create_default_context(cafile=bed.cluster.folder + "/ca.pem")
        self.gateways = list(bed.cluster.gateways.values())
        self.balancer = itertools.cycle(self.gateways)
        self.users = itertools.count(1)
        self.jobs: dict[str, dict] = {}
        self.workers = [Worker(gateway.url, self.tls, self.jobs) for gateway in self.gateways]

    def start(self) -> Session:
        user, gateway = f"user-{next(self.users)}", next(self.balancer)
        started = self.post(gateway, "/v1/sessions/start", user, {"context": "phone", "assistant_id": ASSISTANT})
        wait_until(f"a worker takes the job of {started['room_name']}", lambda: started["room_name"] in self.jobs, TIMEOUT)
        return Session(user, started, self.jobs[started["room_name"]])

    def post(self, gateway: Gateway, path: str, user: str, body: dict) -> dict:
        connection = http.client.HTTPSConnection(gateway.address, gateway.port, context=self.tls, timeout=TIMEOUT)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token({'sub': user}, USERS_SECRET, USERS_ISSUER)}"}
        connection.request("POST", path, json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"{gateway.name}, POST {path}: {response.status} {content.decode()}")
        return json.loads(content) if content else {}

    def connect(self, session: Session, party: int, uses_url: bool) -> None:
        url, room_token = session.grants[party]
        gateway = self.at(url) if uses_url else next(self.balancer)
        channel = Channel(gateway.url, "/v1/rtc", room_token, self.tls)
        session.channels.append(channel)
        session.connected.append(gateway.name)
        session.homes.append(channel.event("hello")["server"]["node"])

    def at(self, url: str) -> Gateway:
        """The node to which a URL leads."""
        return next(self.balancer) if url == PUBLIC_URL else next(gateway for gateway in self.gateways if gateway.url == url)

    def run(self, uses_url: bool) -> tuple[list[Session], float]:
        """Returns calls whose parties were connected, and the share of connections that were forwarded, as the gateways count them."""
        before, sessions = self.forwarded(), []
        while len(sessions) < self.bed.plan.placed:
            # Of a batch, because an agent loses its job if it does not join soon.
            batch = [self.start() for _ in range(min(BATCH, self.bed.plan.placed - len(sessions)))]
            # A balancer sees the connections of many calls at the same time.
            parties = [(session, party) for session in batch for party in range(2)]
            random.shuffle(parties)
            for session, party in parties:
                self.connect(session, party, uses_url)
            sessions += batch
        return sessions, (self.forwarded() - before) / (2 * len(sessions))

    def forwarded(self) -> float:
        return sum(gateway.metrics()["patchbay_upgrades_forwarded_total"] for gateway in self.gateways)

    def admitted_home(self, sessions: list[Session]) -> float:
        """The share of URLs of the home that another device of the user is given, when it asks each of the nodes."""
        given = [
            (session, self.post(gateway, f"/v1/sessions/{session.id}/token", session.user, {"context": "tablet"})["livekit_url"])
            for session in sessions for gateway in self.gateways]
        return sum(url == self.home(session).url for session, url in given) / len(given)

    def home(self, session: Session) -> Gateway:
        return self.bed.cluster.gateways[session.homes[0]]

    def end(self, sessions: list[Session]) -> None:
        for session in sessions:
            self.post(self.home(session), "/v1/sessions/end", session.user, {"session_id": session.id})
            for channel in session.channels:
                channel.close()
        self.bed.await_empty()

    def close(self) -> None:
        for worker in self.workers:
            worker.channel.close()


def placement(bed: Testbed) -> tuple[list[Row], dict]:
    rows, figures = [], {}
    calls = Calls(bed)
    for name, what, uses_url in (("url", "by the URL given", True), ("balancer", "through a balancer", False)):
        sessions, forwarded = calls.run(uses_url)
        share = sum(session.is_at_home for session in sessions) / len(sessions)
        figures[name] = {"calls": len(sessions), "at_home_share": share, "forwarded_share": forwarded}
        seen = f"{share:.0%} of {len(sessions)}; {forwarded:.0%} of connections forwarded"
        asked, passed = (f"≥ {SHARE_MIN:.0%}", share >= SHARE_MIN) if uses_url else ("–", None)
        rows.append(Row(f"two-party calls at home, {what}", asked, seen, passed))
        print(f"  {what}: {seen}", flush=True)
        if uses_url:
            share = figures[name]["device_at_home_share"] = calls.admitted_home(sessions)
            rows.append(Row("URLs of the home for a further device", "–", f"{share:.0%}", None))
        calls.end(sessions)
    calls.close()
    return rows, figures
