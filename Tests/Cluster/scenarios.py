"""What happens to the cluster while the calls go on, and what the end must show.

Each scenario begins its marks with its name, so that the load's figures can be told apart, and returns rows of the table.
"""

import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import signal
import time
from dataclasses import dataclass

from cluster import KEY, SECRET, wait_until
from table import Row

BASELINE_SECONDS = 10
OUTAGE_SECONDS = 30
PARTITION_SECONDS = 12
DRAIN_TIMEOUT = 60
# A load balancer checks every second.
LOAD_BALANCER_SECONDS = 1
SETTLE_TIMEOUT = 40


@dataclass
class Limits:
    """Seconds and milliseconds that decide. Counts are strict in any case."""

    gap_p50_ms: float = 2_500
    gap_max_ms: float = 4_000
    heal_seconds: float = 5
    new_room_seconds: float = 2
    latency_added_ms: float = 1
    rolling_gap_ms: float = 200
    # Also asked of calls that nothing happens to: no gap, no lost frame.
    untouched: bool = True


# Of a busy machine, where processes wait for each other: less than the time after which a call is lost.
GENEROUS = Limits(gap_p50_ms=12_000, gap_max_ms=18_000, heal_seconds=20, untouched=False)


class Scenarios:
    """Scenarios that the same calls go through, one after the other."""

    def __init__(self, cluster, load, limits, random, kills, pause_seconds, restart_after):
        self.cluster, self.load, self.limits, self.random = cluster, load, limits, random
        self.kills, self.pause_seconds, self.restart_after = kills, pause_seconds, restart_after
        self.rows = []
        # Functions from the report to rows, called at the end.
        self.judged = []

    NAMES = ["kill", "pause", "partition-home-nats", "partition-node", "partition-nats", "partition-postgres", "nats-stop", "postgres-stop",
             "rolling"]
    CUTS = {name for name in NAMES if name.startswith("partition")}
    # Of rooms that are opened to see whether that works. All scenarios of a run use other names: one cluster has them all.
    ROOM_NUMBERS = itertools.count(1)

    def run(self, name):
        print(f"{name}:", flush=True)
        getattr(self, name.replace("-", "_"))()

    # Helpers

    def busy_node(self):
        """A random one of the nodes that have rooms."""
        homes = self.cluster.homes()
        return self.random.choice(sorted(node for node, rooms in homes.items() if rooms > 0))

    def settle(self, what):
        if self.load.settle(SETTLE_TIMEOUT) is None:
            self.rows.append(Row(what, f"all calls within {SETTLE_TIMEOUT} s", f"{self.load.hearing} of {2 * self.load.calls} hear", False))

    def await_one_home(self, what):
        """Measures how long it takes until each room has one home, and each participant hears the other."""
        began = time.monotonic()
        homes = {}

        def is_healed():
            nonlocal homes
            homes = self.cluster.homes()
            return sum(homes.values()) == self.load.calls and self.load.is_settled

        with contextlib.suppress(SystemExit):
            wait_until(what, is_healed, SETTLE_TIMEOUT)
        took = time.monotonic() - began
        asked = self.limits.heal_seconds
        self.rows.append(Row(f"{what}: one home, all hear", f"within {asked:g} s", f"{took:.1f} s ({show(homes)})", took <= asked))

    def baseline(self, name):
        self.load.mark(f"{name}-before")
        time.sleep(BASELINE_SECONDS)

    def try_new_room(self, node="n1"):
        claims = {"iss": KEY, "sub": "visitor", "exp": int(time.time()) + 600,
                  "video": {"roomJoin": True, "room": f"new-{next(Scenarios.ROOM_NUMBERS)}"}}
        parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
        signature = hmac.new(SECRET.encode(), b".".join(parts), hashlib.sha256).digest()
        return self.cluster.upgrade(node, b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode())

    # Deaths and pauses

    def kill(self):
        for number in range(1, self.kills + 1):
            name = self.busy_node()
            gateway = self.cluster.gateways[name]
            print(f"  kill {number} of {self.kills}: {name}", flush=True)
            self.load.mark("kill", name)
            gateway.kill()
            time.sleep(self.restart_after)
            self.settle(f"kill {number}")
            gateway.start()
            self.cluster.await_ready(gateway)
            time.sleep(1)
            self.settle(f"restart after kill {number}")
        self.judged.append(self.judge_kills)

    def judge_kills(self, report):
        parts = Parts(report, "kill")
        limits, gaps = self.limits, parts.longest("home")
        p50, most = percentile(gaps, 0.5), percentile(gaps, 1)
        yield Row("kill: gap in media, p50", f"≤ {limits.gap_p50_ms:g} ms", f"{p50:.0f} ms of {len(gaps)}", p50 <= limits.gap_p50_ms)
        yield Row("kill: gap in media, at most", f"≤ {limits.gap_max_ms:g} ms", f"{most:.0f} ms", most <= limits.gap_max_ms)
        if limits.untouched:
            way, others = parts.longest("way"), parts.longest("others")
            yield Row("kill: gaps of calls through the node", "–", f"{len(way)}, at most {percentile(way, 1):.0f} ms", True)
            yield Row("kill: gaps of other calls", "0", f"{len(others)}, at most {percentile(others, 1):.0f} ms", not others)
            lost = parts.sum("others", "frames_lost")
            yield Row("kill: frames lost of other calls", "0", str(lost), lost == 0)

    def pause(self):
        name = self.busy_node()
        gateway = self.cluster.gateways[name]
        self.load.mark("pause", name)
        gateway.signal(signal.SIGSTOP)
        time.sleep(self.pause_seconds)
        gateway.signal(signal.SIGCONT)
        self.await_one_home(f"SIGSTOP of {self.pause_seconds:g} s")

    # Partitions

    def partition(self, name, what, host, others, nodes=()):
        self.load.mark(name, *nodes)
        self.cluster.network.cut(host, *others)
        time.sleep(PARTITION_SECONDS)
        self.cluster.network.heal(host, *others)
        self.await_one_home(what)

    def partition_home_nats(self):
        home = self.busy_node()
        self.partition("partition-home-nats", "home without NATS", home, ["nats"], [home])

    def partition_node(self):
        node = self.busy_node()
        self.partition("partition-node", "node without the others", node, [other for other in self.cluster.NODES if other != node], [node])

    def partition_nats(self):
        self.partition("partition-nats", "NATS without everything", "nats", self.cluster.NODES)
        self.judged.append(lambda report: judge_untouched(report, "partition-nats", "NATS without everything"))

    def partition_postgres(self):
        self.partition("partition-postgres", "PostgreSQL without everything", "postgres", self.cluster.NODES)
        self.judged.append(lambda report: judge_untouched(report, "partition-postgres", "PostgreSQL without everything"))

    # Outages

    def outage(self, name, what, stop, start):
        self.baseline(name)
        self.load.mark(name)
        stop()
        time.sleep(OUTAGE_SECONDS - 5)
        status = self.try_new_room()
        time.sleep(5)
        self.load.mark(f"{name}-after")
        start()
        began = time.monotonic()
        with contextlib.suppress(SystemExit):
            wait_until("new rooms", lambda: self.try_new_room() == 101, 30)
        took = time.monotonic() - began
        asked = self.limits.new_room_seconds
        self.rows.append(Row(f"{what} stopped: a new room", "503", str(status), status == 503))
        self.rows.append(Row(f"{what} back: a new room", f"within {asked:g} s", f"{took:.1f} s", took <= asked))
        self.settle(f"{what} back")
        self.judged.append(lambda report: self.judge_outage(report, name, what))

    def nats_stop(self):
        def start():
            self.cluster.nats.start()
        self.outage("nats-stop", "NATS", self.cluster.nats.kill, start)

    def postgres_stop(self):
        self.outage("postgres-stop", "PostgreSQL", self.cluster.postgres.kill, self.cluster.postgres.start)

    def judge_outage(self, report, name, what):
        before, during = Parts(report, f"{name}-before"), Parts(report, name)
        added = during.latency("others") - before.latency("others")
        asked = self.limits.latency_added_ms
        seen = f"{added:+.1f} ms ({before.latency('others'):.1f} ms before)"
        yield Row(f"{what} stopped: p99 of frames", f"≤ +{asked:g} ms", seen, added <= asked)
        answered = during.total("requests_acknowledged")
        expected = int(0.9 * self.load.calls * 2 * (OUTAGE_SECONDS - 4) / 2)
        yield Row(f"{what} stopped: requests acknowledged", f"≥ {expected}", str(answered), answered >= expected)
        yield from judge_untouched(report, name, f"{what} stopped")

    # Upgrade

    def rolling(self):
        exits = []
        for name, gateway in self.cluster.gateways.items():
            self.load.mark("rolling", name)
            gateway.signal(signal.SIGTERM)
            began = time.monotonic()
            time.sleep(LOAD_BALANCER_SECONDS)
            self.load.avoid(name)
            with contextlib.suppress(SystemExit):
                wait_until(f"{name} has ended", lambda: not gateway.is_running, DRAIN_TIMEOUT)
            exits.append(time.monotonic() - began)
            gateway.kill()
            gateway.start()
            self.cluster.await_ready(gateway)
            self.load.avoid()
            self.settle(f"restart of {name}")
            time.sleep(2)
        seen = ", ".join(f"{seconds:.1f}" for seconds in exits) + " s"
        self.rows.append(Row("rolling restart: a drain ends", f"< {DRAIN_TIMEOUT} s", seen, max(exits) < DRAIN_TIMEOUT))
        self.judged.append(self.judge_rolling)

    def judge_rolling(self, report):
        parts = Parts(report, "rolling")
        gaps = sorted(parts.longest("home") + parts.longest("way") + parts.longest("others"))
        # Only gaps over 200 ms are recorded; all other receivers have shorter ones.
        receivers = 2 * self.load.calls * len(self.cluster.NODES)
        p99 = percentile([0.0] * (receivers - len(gaps)) + gaps, 0.99)
        asked = self.limits.rolling_gap_ms
        seen = f"{'≤ 200' if p99 == 0 else f'{p99:.0f}'} ms ({len(gaps)} of {receivers} over 200 ms)"
        yield Row("rolling restart: gap in media, p99", f"≤ {asked:g} ms", seen, p99 <= asked)

    # The end

    def judge(self, report):
        """Returns the rows of these scenarios."""
        return self.rows + [row for judge in self.judged for row in judge(report)]


def judge_counts(reports, fresh_joins_max=0):
    """Returns the rows that all scenarios have in common.

    `fresh_joins_max`: parties that may have joined anew. A resume token that a node gives out just before its death may be in no record.
    """
    def total(name):
        return sum(report["total"][name] for report in reports)

    calls = sum(report["calls"] for report in reports)
    counts = [
        ("calls established", calls, sum(report["established"] for report in reports)),
        ("calls that go on at the end", calls, sum(report["connected"] for report in reports)),
        ("calls lost", 0, total("calls_lost")),
        ("acknowledged requests lost", 0, total("acknowledged_lost")), ("requests refused", 0, total("requests_refused")),
        ("event numbers repeated", 0, total("events_repeated")), ("event numbers left out", 0, total("events_skipped")),
    ]
    fresh = total("fresh_joins")
    return [
        *(Row(what, str(asked), str(seen), asked == seen) for what, asked, seen in counts),
        Row("joins instead of resumes", f"≤ {fresh_joins_max}" if fresh_joins_max else "0", str(fresh), fresh <= fresh_joins_max),
    ]


class Parts:
    """The parts of the report with one name."""

    def __init__(self, report, name):
        self.parts = [part for part in report["parts"] if part["name"] == name]

    def longest(self, group):
        return sorted(gap for part in self.parts for gap in part[group]["gaps"]["longest_ms"])

    def sum(self, group, field):
        return sum(part[group][field] for part in self.parts)

    def total(self, count):
        return sum(part["counts"][count] for part in self.parts)

    def latency(self, group):
        return max(part[group]["latency_p99_ms"] for part in self.parts)


def judge_untouched(report, name, what):
    parts = Parts(report, name)
    gaps, lost, resumes = parts.longest("others"), parts.sum("others", "frames_lost"), parts.total("resumes")
    seen = f"{len(gaps)}, {lost}, {resumes}"
    yield Row(f"{what}: gaps, frames lost, resumes", "0, 0, 0", seen, not gaps and lost == 0 and resumes == 0)


def percentile(ascending, share):
    return ascending[min(len(ascending) - 1, int(len(ascending) * share))] if ascending else 0.0


def show(homes):
    return ", ".join(f"{node} {rooms}" for node, rooms in sorted(homes.items()))
