"""Kills an assistant's worker with SIGKILL in the middle of its answer, again and again, and checks that another one takes over.

    python3 Tests/Interop/kill_worker.py --patchbay .build/release/patchbay --rounds 20

Two workers serve a gateway; a killed one is replaced. In each round a user asks a recorded question in a new room, and the worker that answers is
killed a second later. Another worker must be speaking in the room within 4 s, and its answer must be to the question asked before. Needs the
speech models (`scripts/setup-models`) and the standard library only.
"""

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time

RECORDING = "demo/ps-librivox-0890.wav"
# A word of the recording that the rules' answer repeats.
KEYWORD = "selfish"
LIMIT = 4


class Worker:
    def __init__(self, options, url, folder, number):
        self.log = os.path.join(folder, f"worker-{number}.log")
        command = [options.patchbay, "agent", "start", "--dev", "--url", url]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)

    def logged(self, pattern):
        with open(self.log) as log:
            return re.search(pattern, log.read()) is not None

    @property
    def is_registered(self):
        return self.logged(r"\bregistered\b")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def await_registration(workers):
    deadline = time.monotonic() + 30
    while not all(worker.is_registered for worker in workers):
        if time.monotonic() > deadline:
            raise SystemExit("a worker did not register within 30 s")
        time.sleep(0.1)


def play_round(options, url, room, workers):
    """Returns the seconds from the kill to the next worker's speech, and that worker's answer."""
    gateway = ["--dev", "--url", url, "--room", room]
    subprocess.run([options.patchbay, "dispatch", "create", *gateway, "--assistant", "default"], check=True, stdout=subprocess.DEVNULL)
    user = subprocess.Popen(
        [options.patchbay, "join", *gateway, "--identity", "alice", "--play", RECORDING, "--listen", "--events", "--duration", "30"],
        stdout=subprocess.PIPE, text=True)
    asked = lost = False
    killed = spoke = None
    answer = ""
    for line in user.stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        kind, data = event.get("type"), event.get("data", {})
        if kind == "transcript.segment" and data["role"] == "user" and KEYWORD in data["text"]:
            asked = True
        elif kind == "agent.lost":
            lost = True
        elif kind == "agent.state" and data["state"] == "speaking":
            if asked and killed is None:
                time.sleep(1)
                next(worker for worker in workers if worker.logged(rf"room={room}\b")).kill()
                killed = time.monotonic()
            elif lost and spoke is None:
                spoke = time.monotonic() - killed
        elif spoke is not None and kind == "transcript.segment" and data["role"] == "assistant" and data["final"]:
            answer = data["text"]
            break
    user.terminate()
    user.wait()
    return spoke, answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--patchbay", default=".build/release/patchbay")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"wss://127.0.0.1:{port}"
    failures = 0
    times = []
    with tempfile.TemporaryDirectory() as folder:
        command = [options.patchbay, "serve", "--dev", "--port", str(port), "--log-level", "error"]
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        gateway.stdout.readline()
        workers = [Worker(options, url, folder, number) for number in range(2)]
        try:
            for number in range(options.rounds):
                await_registration(workers)
                seconds, answer = play_round(options, url, f"kill-{number}", workers)
                workers = [worker for worker in workers if worker.process.poll() is None]
                while len(workers) < 2:
                    workers.append(Worker(options, url, folder, f"{number}-{len(workers)}"))
                passed = seconds is not None and seconds <= LIMIT and KEYWORD in answer
                failures += not passed
                times += [seconds] if seconds is not None else []
                spoken = "no speech" if seconds is None else f"speaking after {seconds:.2f} s"
                print(f"{'ok' if passed else 'FAILED'}  round {number + 1}: {spoken}; {answer!r}", flush=True)
        finally:
            for worker in workers:
                worker.kill()
            gateway.terminate()
            gateway.wait()
    slowest = f", slowest {max(times):.2f} s" if times else ""
    print(f"{options.rounds - failures} of {options.rounds} rounds passed{slowest}")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
