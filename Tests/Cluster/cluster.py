"""The processes of a cluster: nats-server, PostgreSQL and gateways. They end with the test, also if it is killed."""

import ctypes
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Interop"))

from endpoint import Endpoint
from postgres import PostgresServer

KEY, SECRET = "devkey", secrets.token_hex(20)
START_TIMEOUT = 60
libc = ctypes.CDLL(None)


def die_with_parent():
    PR_SET_PDEATHSIG = 1
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A process on a host, with its output in a file. It can be started again."""

    def __init__(self, network, host, command, log):
        self.command, self.log = network.command(host, command), log
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent, cwd="/", start_new_session=True)

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.is_running:
            self.process.kill()
            self.process.wait()


class Gateway(Process):
    def __init__(self, name, network, address, ports, command, log):
        super().__init__(network, name, command, log)
        self.name, self.address = name, address
        self.port, self.node_port, self.metrics_port = ports

    @property
    def url(self):
        return f"wss://{self.address}:{self.port}"

    def metrics(self):
        """Returns sums of its metrics by name; empty if it does not answer."""
        try:
            with urllib.request.urlopen(f"http://{self.address}:{self.metrics_port}/metrics", timeout=2) as response:
                lines = response.read().decode().splitlines()
        except OSError:
            return {}
        sums = {}
        for line in lines:
            if found := re.match(r"(\w+)(?:\{.*\})? ([0-9.e+-]+)$", line):
                sums[found[1]] = sums.get(found[1], 0) + float(found[2])
        return sums


class Cluster:
    """Three gateways with what they need, in a folder of their own.

    Parameters:
        network: `Namespaces` or `Loopback`.
        have_urls: whether clients are told the node's own URL (`cluster.url`).
        settings: for all gateways, beside those that they need here.
    """

    NODES = ["n1", "n2", "n3"]

    def __init__(self, network, patchbay, have_urls=False, settings=None):
        self.network, self.patchbay = network, os.path.abspath(patchbay)
        self.have_urls, self.added_settings = have_urls, settings or {}
        self.folder = tempfile.mkdtemp(prefix="patchbay-cluster-")
        self.postgres = None
        self.gateways = {}
        self.nats = None
        self.endpoint = Endpoint(SECRET, seed=1, host=network.own_address)
        addresses = {host: network.add(host) for host in self.NODES + ["nats", "postgres"]}
        ports = {node: [network.port(wanted) for wanted in (7880, 7890, 7881)] for node in self.NODES}
        nats_port = network.port(4222)
        network.release()
        self.make_certificates(sorted(set(addresses.values())))
        self.start_postgres(addresses["postgres"])
        self.start_nats(addresses["nats"], nats_port)
        self.write_file("master.key", secrets.token_hex(32))
        for node in self.NODES:
            self.add_gateway(node, addresses, ports[node], f"{addresses['nats']}:{nats_port}")

    # Starting

    def write_file(self, name, text):
        path = f"{self.folder}/{name}"
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o600)
        return path

    def make_certificates(self, addresses):
        names = ",".join(f"IP:{address}" for address in addresses)
        for extensions in (["-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem", "-addext", "keyUsage=critical,keyCertSign"],
                           ["-subj", "/CN=gateway", "-keyout", "server.key", "-out", "server.pem", "-addext", f"subjectAltName={names}",
                            "-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key"]):
            command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90"]
            done = subprocess.run(command + extensions, cwd=self.folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"openssl: {done.stderr.strip()}")

    def start_postgres(self, address):
        network = self.network

        class Server(PostgresServer):
            def unprivileged(self, command):
                return network.command("postgres", super().unprivileged(command))

        self.postgres = Server(settings=[f"listen_addresses={address}", "max_connections=200"] if network.can_cut else [])
        self.database = self.postgres.make_database()
        if network.can_cut:
            with open(self.postgres.folder + "/data/pg_hba.conf", "a") as rules:
                rules.write("host all all 10.0.0.0/8 trust\n")
            self.postgres.run("SELECT pg_reload_conf()")
            self.database = f"postgresql://postgres@{address}/test1"

    def start_nats(self, address, port):
        program = shutil.which("nats-server") or "/usr/sbin/nats-server"
        command = [program, "-js", "-sd", self.folder + "/nats", "-a", address, "-p", str(port)]
        self.nats = Process(self.network, "nats", command, self.folder + "/nats.log")
        self.nats.start()
        self.nats_address = (address, port)
        wait_until("NATS answers", lambda: answers(self.nats_address))

    def add_gateway(self, node, addresses, ports, nats):
        address = addresses[node]
        cluster = {
            "nats": [nats], "address": f"{address}:{ports[1]}", "host": address, "ca_file": f"{self.folder}/ca.pem",
            "trusted_nodes": sorted({addresses[other] for other in self.NODES}),
        }
        if self.have_urls:
            cluster["url"] = f"wss://{address}:{ports[0]}"
        self.gateways[node] = self.make_gateway(node, address, ports, {
            "public_url": f"wss://{addresses['n1']}:{ports[0]}", "database": self.database, "cluster": cluster, **self.added_settings})

    def make_gateway(self, name, address, ports, settings):
        """Returns a gateway that has not been started. Without `cluster` in its settings it runs alone; None leaves out a setting."""
        settings = {
            "host": address, "port": ports[0], "shards": 1, "cert": f"{self.folder}/server.pem", "key": f"{self.folder}/server.key",
            "keys": {KEY: SECRET}, "node": name, "master_key_file": f"{self.folder}/master.key", "metrics_host": address,
            "metrics_port": ports[2], "drain_timeout": 30, "webhook": {"urls": [self.endpoint.url]}, "room": {"departure_timeout": 2},
            **settings,
        }
        # JSON is YAML.
        text = json.dumps({setting: value for setting, value in settings.items() if value is not None})
        command = [self.patchbay, "serve", "--config", self.write_file(f"{name}.yaml", text)]
        return Gateway(name, self.network, address, ports, command, f"{self.folder}/{name}.log")

    def start(self):
        for gateway in self.gateways.values():
            gateway.start()
            # The first one makes the tables.
            self.await_ready(gateway)
        wait_until("all nodes see each other", lambda: all(
            gateway.metrics().get("patchbay_cluster_nodes") == len(self.NODES) for gateway in self.gateways.values()))

    def await_ready(self, gateway):
        def is_ready():
            if not gateway.is_running:
                raise SystemExit(f"{gateway.name} did not start; see {gateway.log}:\n{tail(gateway.log)}")
            return gateway.metrics().get("patchbay_cluster_connected") == 1
        wait_until(f"{gateway.name} is ready", is_ready)

    # Looking

    def homes(self):
        """Returns how many rooms each node that answers is the home of."""
        rooms = {node: gateway.metrics().get("patchbay_cluster_rooms") for node, gateway in self.gateways.items() if gateway.is_running}
        return {node: int(count) for node, count in rooms.items() if count is not None}

    def upgrade(self, node, token):
        """Asks a node for a WebSocket. Returns the status of the response; 0 if there is none."""
        gateway = self.gateways[node]
        trust = ssl.create_default_context(cafile=self.folder + "/ca.pem")
        try:
            with socket.create_connection((gateway.address, gateway.port), timeout=10) as plain:
                with trust.wrap_socket(plain, server_hostname=gateway.address) as tls:
                    tls.sendall((
                        f"GET /v1/rtc HTTP/1.1\r\nHost: {gateway.address}:{gateway.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                        f"Sec-WebSocket-Protocol: patchbay.v1\r\nAuthorization: Bearer {token}\r\n\r\n").encode())
                    words = tls.recv(4096).split()
                    return int(words[1]) if len(words) > 1 else 0
        except OSError:
            return 0

    def webhooks(self):
        """Returns the rows of the outbox, oldest first."""
        command = [self.patchbay, "webhook", "list", "--json", "--limit", "100000", "--database", self.database,
                   "--master-key", self.folder + "/master.key"]
        listed = subprocess.run(command, capture_output=True, text=True)
        if listed.returncode != 0:
            raise SystemExit(f"webhook list: {listed.stderr}")
        return json.loads(listed.stdout)[::-1]

    # Ending

    def close(self, keep=False):
        for process in [*self.gateways.values(), self.nats]:
            if process:
                process.kill()
        if self.postgres:
            self.postgres.close()
        if keep:
            print(f"The logs of the gateways and of NATS are in {self.folder}.")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def answers(address):
    try:
        socket.create_connection(address, timeout=1).close()
        return True
    except OSError:
        return False


def wait_until(what, condition, timeout=START_TIMEOUT):
    """Returns the seconds that it took."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > timeout:
            raise SystemExit(f"did not happen within {timeout} s: {what}")
        time.sleep(0.05)
    return time.monotonic() - began


def tail(path, lines=5):
    with open(path, errors="replace") as file:
        return "".join(file.readlines()[-lines:])
