"""CPU time of processes and frames of gateways, in intervals, and statistics of several intervals."""

import json
import os
import socket
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from cluster import Gateway, Process

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of a process, with a resolution of 10 ms."""
    # The second field, the program's name in parentheses, may contain spaces.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


@dataclass
class Interval:
    """CPU seconds of each process, frames that each gateway has sent to subscribers, and writes of records."""

    seconds: float
    cpu: dict[str, float]
    frames: dict[str, float]
    # Writes of records, at all nodes.
    writes: int

    def busy(self, name: str, idle: dict[str, float]) -> float:
        """The share of a core that a process takes beyond its share without calls."""
        return self.cpu[name] / self.seconds - idle[name]

    def frame_cost(self, name: str, idle: dict[str, float], homes: tuple[str, ...] = ()) -> float:
        """CPU seconds of a gateway per frame that it, or the `homes` of the frames' rooms, have sent."""
        frames = sum(self.frames[home] for home in homes or (name,))
        if frames == 0:
            raise SystemExit(f"{name} has sent no frames")
        return self.busy(name, idle) * self.seconds / frames


class Meter:
    def __init__(self, processes: dict[str, Process], nats: tuple[str, int]) -> None:
        self.processes, self.nats = processes, nats

    def interval(self, seconds: float) -> Interval:
        """Waits for so long, and returns what has happened."""
        before = self.read()
        time.sleep(seconds)
        after = self.read()
        cpu, frames = ({name: after[kind][name] - count for name, count in before[kind].items()} for kind in ("cpu", "frames"))
        return Interval(after["time"] - before["time"], cpu, frames, after["writes"] - before["writes"])

    def read(self) -> dict:
        # One directly after the other; the gateways' answers take longer.
        now = time.monotonic()
        cpu = {name: cpu_seconds(process.process.pid) for name, process in self.processes.items()}
        frames = {
            name: process.metrics().get("patchbay_frames_sent_total", 0.0)
            for name, process in self.processes.items() if isinstance(process, Gateway)}
        return {"time": now, "cpu": cpu, "frames": frames, "writes": self.writes()}

    def writes(self) -> int:
        """How often any record has been written: the last number in the bucket's stream."""
        with socket.create_connection(self.nats, timeout=5) as connection, connection.makefile("rb") as answers:
            connection.sendall(
                b'CONNECT {"verbose":false}\r\nSUB _INBOX.bench.1 1\r\nPUB $JS.API.STREAM.INFO.KV_patchbay _INBOX.bench.1 0\r\n\r\n')
            while not (line := answers.readline()).startswith(b"MSG "):
                if not line:
                    raise SystemExit("NATS does not tell how many records were written")
            return json.loads(answers.read(int(line.split()[-1])))["state"]["last_seq"]


@dataclass
class Summary:
    """The median of several values, and their quartiles, which tell how much they vary."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: list[float]) -> "Summary":
        if len(values) < 2:
            return Summary(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return Summary(median, low, high)

    def text(self, form: str, unit: str = "", factor: float = 1) -> str:
        median, low, high = (format(value * factor, form) for value in (self.median, self.low, self.high))
        return f"{median}{unit} (quartiles {low} and {high})"
