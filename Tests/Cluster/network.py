"""Where the processes of a cluster run: each in a network namespace of its own, or all on the loopback interface.

Namespaces need root. They belong to a namespace of the test's own, in which nothing else of the machine is visible, and end with the test.
"""

import os
import socket
import subprocess
import sys

ENTERED = "CLUSTER_TEST_NETWORK"
# An address of the bridge that nobody has: packets to it reach nobody.
NOBODY = "02:00:00:00:00:fe"


def enter_namespace():
    """Replaces this process by itself in a network namespace and a mount namespace of its own, unless it is there already."""
    if os.environ.get(ENTERED):
        return
    os.environ[ENTERED] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, *sys.argv])


class Namespaces:
    """A bridge, with a namespace for each host. The test itself, and the load, are on the bridge."""

    can_cut = True
    NETWORK = "10.77.0"

    def __init__(self):
        os.makedirs("/run/netns", exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "address", "add", f"{self.NETWORK}.254/24", "dev", "br0")
        run("ip", "link", "set", "br0", "up")
        self.hosts = []
        self.own_address = f"{self.NETWORK}.254"

    def add(self, host):
        """Returns the address of a new host."""
        self.hosts.append(host)
        address = self.address(host)
        run("ip", "netns", "add", host)
        run("ip", "link", "add", f"br-{host}", "type", "veth", "peer", "name", "eth0", "netns", host)
        run("ip", "link", "set", f"br-{host}", "master", "br0", "up")
        for command in (["link", "set", "lo", "up"], ["address", "add", address + "/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            run("ip", "-n", host, *command)
        return address

    def address(self, host):
        return f"{self.NETWORK}.{self.hosts.index(host) + 1}"

    def port(self, wanted):
        return wanted

    def release(self):
        pass

    def command(self, host, command):
        return ["ip", "netns", "exec", host, *command]

    def cut(self, host, *others):
        """Loses all packets between a host and others, silently, in both directions."""
        for a, b in self.both_ways(host, others):
            run("ip", "-n", a, "neighbour", "replace", self.address(b), "lladdr", NOBODY, "nud", "permanent", "dev", "eth0")

    def heal(self, host, *others):
        for a, b in self.both_ways(host, others):
            run("ip", "-n", a, "neighbour", "delete", self.address(b), "dev", "eth0")

    def both_ways(self, host, others):
        return [pair for other in others for pair in ((host, other), (other, host))]


class Loopback:
    """All on one address, with free ports. Cannot be cut."""

    can_cut = False
    own_address = "127.0.0.1"

    def __init__(self):
        self.reserved = []

    def add(self, host):
        return "127.0.0.1"

    def port(self, wanted):
        """Returns a free port, which stays reserved until `release`, so that no two are the same."""
        self.reserved.append(socket.socket())
        self.reserved[-1].bind(("127.0.0.1", 0))
        return self.reserved[-1].getsockname()[1]

    def release(self):
        for reserved in self.reserved:
            reserved.close()
        self.reserved = []

    def command(self, host, command):
        return command


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
