"""What is measured: a cluster of three gateways, a gateway that runs alone, and calls on them."""

import contextlib
import dataclasses
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cluster import KEY, SECRET, Cluster, Gateway, Process, die_with_parent, wait_until
from load import Load
from network import Loopback

from clustering.meter import Interval, Meter

PACKAGE = Path(__file__).resolve().parents[2]
USERS_ISSUER, USERS_SECRET = "https://login.bench.example", secrets.token_hex(20)
# Given to clients by nodes that do not know their own URL; nobody listens there.
PUBLIC_URL = "wss://127.0.0.1:9"
JOIN_TIMEOUT = 60
WARM_UP_SECONDS = 2


@dataclass
class Plan:
    """How much is measured: intervals of some seconds, in rounds with new connections."""

    calls: int
    seconds: float
    rounds: int
    intervals: int
    # Calls whose placement is looked at, for each way to connect.
    placed: int
    # Calls whose rooms are recorded: more, because writes at the same time share their costs.
    recorded: int


class Cores(Loopback):
    """The loopback interface, with all gateways on one core, so that they have equal conditions, and everything else on the others."""

    def __init__(self) -> None:
        super().__init__()
        cores = sorted(os.sched_getaffinity(0))
        self.gateway_core = cores[0] if len(cores) > 1 and shutil.which("taskset") else None
        if self.gateway_core is not None:
            os.sched_setaffinity(0, cores[1:])

    def command(self, host: str, command: list[str]) -> list[str]:
        is_gateway = host not in ("nats", "postgres")
        return ["taskset", "-c", str(self.gateway_core), *command] if is_gateway and self.gateway_core is not None else command


class Testbed:
    def __init__(self, patchbay: str, cluster_load: str, load_test: str, plan: Plan) -> None:
        self.cluster_load, self.load_test, self.plan = cluster_load, load_test, plan
        # Webhooks of joins would still be delivered during the measurements, by any node of the cluster.
        users = {"issuer": USERS_ISSUER, "algorithm": "HS256", "secret": USERS_SECRET}
        settings = {"public_url": PUBLIC_URL, "webhook": None, "users": users}
        network = Cores()
        self.cluster = Cluster(network, patchbay, have_urls=True, settings=settings)
        ports = [network.port(0) for _ in range(3)]
        network.release()
        self.alone = self.cluster.make_gateway(
            "alone", network.own_address, ports, {"database": self.cluster.postgres.make_database(), **settings})
        self.gateways: dict[str, Gateway] = {**self.cluster.gateways, "alone": self.alone}
        self.idle: dict[str, float] = {}

    def start(self, idle_seconds: float) -> None:
        self.cluster.start()
        self.alone.start()
        self.cluster.await_ready(self.alone)
        processes: dict[str, Process] = {**self.gateways, "nats": self.cluster.nats}
        self.meter = Meter(processes, self.cluster.nats_address)
        time.sleep(WARM_UP_SECONDS)
        interval = self.meter.interval(idle_seconds)
        self.idle = {name: seconds / interval.seconds for name, seconds in interval.cpu.items()}
        print("  without calls, of a core: " + ", ".join(f"{name} {share:.2%}" for name, share in self.idle.items()), flush=True)

    def restart(self, *names: str) -> None:
        """Replaces gateways that have no rooms: a process's addresses in memory have an influence on its speed."""
        for name in names:
            gateway = self.gateways[name]
            gateway.signal(signal.SIGTERM)
            wait_until(f"{name} has ended", lambda gateway=gateway: not gateway.is_running)
            gateway.start()
            self.cluster.await_ready(gateway)
        wait_until("all nodes see each other", lambda: all(
            gateway.metrics().get("patchbay_cluster_nodes") == len(Cluster.NODES) for gateway in self.cluster.gateways.values()))

    def measure(self) -> Interval:
        return self.meter.interval(self.plan.seconds)

    # Calls

    @contextlib.contextmanager
    def loads(self, *groups: list[str], calls: int = 0) -> Iterator[list[Load]]:
        """Calls with state that changes, on several groups of gateways at the same time. Within a group, connections go to them in turn."""
        # Slowly enough that a call's first party is at home before the second one comes.
        loads = [
            Load(self.cluster_load, self.cluster, calls or self.plan.calls, gateways=[self.gateways[name] for name in group], joins_per_second=25)
            for group in groups]
        try:
            for load in loads:
                if load.settle(JOIN_TIMEOUT) is None:
                    raise SystemExit(f"only {load.joined} of {2 * load.calls} participants joined, and {load.hearing} hear the other")
            time.sleep(WARM_UP_SECONDS)
            yield loads
        finally:
            for load in loads:
                load.close()

    def end(self, loads: list[Load]) -> list[dict]:
        """Ends calls, and returns their reports."""
        with ThreadPoolExecutor() as pool:
            reports = list(pool.map(Load.end, loads))
        self.await_empty()
        return reports

    @contextlib.contextmanager
    def streams(self, *names: str) -> Iterator[None]:
        """Calls whose state does not change, on several gateways at the same time."""
        processes = [self.start_stream(self.gateways[name]) for name in names]
        try:
            tracks = 2 * self.plan.calls
            wait_until("all calls go on", lambda: all(self.gateways[name].metrics().get("patchbay_tracks") == tracks for name in names))
            time.sleep(WARM_UP_SECONDS)
            yield
            for process in processes:
                process.send_signal(signal.SIGINT)
            for process in processes:
                process.wait(JOIN_TIMEOUT)
            self.await_empty()
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def start_stream(self, gateway: Gateway) -> subprocess.Popen:
        command = [
            self.load_test, "--url", gateway.url, "--ca", self.cluster.folder + "/ca.pem", "--api-key", KEY, "--api-secret", SECRET,
            "--calls", str(self.plan.calls), "--rate", "100", "--warmup", "0", "--seconds", "86400", "--seed", str(secrets.randbits(32))]
        return subprocess.Popen(
            command, cwd=PACKAGE, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr, preexec_fn=die_with_parent,
            start_new_session=True)

    def await_empty(self) -> None:
        wait_until("all rooms have ended", lambda: all(gateway.metrics().get("patchbay_rooms") == 0 for gateway in self.gateways.values()))

    def close(self, keep: bool) -> None:
        self.alone.kill()
        self.cluster.close(keep=keep)


def as_json(interval: Interval) -> dict:
    return dataclasses.asdict(interval)
