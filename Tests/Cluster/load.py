"""The program that makes the calls, `patchbay-cluster-load`, and what its progress tells."""

import json
import re
import subprocess
import threading
import time

from cluster import KEY, SECRET, die_with_parent

LINE = re.compile(
    r"(\d+) s: joined (\d+) hearing (\d+) of (\d+), frames (\d+) per second, homes (\S*), in (\S*): "
    r"calls lost (\d+), resumes (\d+), fresh joins (\d+)")


class Load:
    """Calls whose connections go to gateways in turn: to all of the cluster, or to those in `gateways`."""

    def __init__(self, program, cluster, calls, verbose=False, gateways=None, joins_per_second=100):
        self.calls, self.verbose = calls, verbose
        self.joined = self.hearing = 0
        self.homes = {}
        self.changed = 0.0
        gateways = gateways or cluster.gateways.values()
        urls = [part for gateway in gateways for part in ("--url", f"{gateway.name}={gateway.url}")]
        command = [program, *urls, "--calls", str(calls), "--joins-per-second", str(joins_per_second), "--ca", cluster.folder + "/ca.pem",
                   "--api-key", KEY, "--api-secret", SECRET, "--progress", "0.25"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, preexec_fn=die_with_parent,
            start_new_session=True)
        self.reader = threading.Thread(target=self.read_progress, daemon=True)
        self.reader.start()

    def read_progress(self):
        last = None
        for line in self.process.stderr:
            found = LINE.match(line)
            if not found:
                print(f"load: {line.rstrip()}", flush=True)
                continue
            self.joined, self.hearing = int(found[2]), int(found[3])
            self.homes = {name: int(count) for name, count in (pair.split(":") for pair in found[6].split(","))}
            self.changed = time.monotonic()
            if self.verbose and found[1] != last:
                last = found[1]
                print(f"  {line.rstrip()}", flush=True)

    @property
    def is_settled(self):
        """Everybody is connected and hears the other party, by a recent line."""
        return self.joined == self.hearing == 2 * self.calls and time.monotonic() - self.changed < 1

    def settle(self, timeout):
        """Waits until all calls go on; returns the seconds that it took, or None if it took too long."""
        began = time.monotonic()
        # What is known may be from before.
        time.sleep(0.3)
        while not self.is_settled:
            if self.process.poll() is not None:
                raise SystemExit(f"the load ended with {self.process.returncode}")
            if time.monotonic() - began > timeout:
                return None
            time.sleep(0.05)
        return time.monotonic() - began

    def mark(self, name, *nodes):
        self.process.stdin.write(" ".join(["mark", name, *nodes]) + "\n")
        # It looks once per millisecond; what follows must not come first.
        time.sleep(0.02)

    def avoid(self, *nodes):
        """Connects to none of these nodes from now on, as behind a load balancer."""
        self.process.stdin.write(" ".join(["avoid", *nodes]) + "\n")

    def end(self):
        """Returns the report."""
        self.process.stdin.write("end\n")
        report = self.process.stdout.read()
        if self.process.wait() != 0:
            raise SystemExit(f"the load ended with {self.process.returncode}")
        return json.loads(report)

    def close(self):
        self.process.kill()
        self.process.wait()
