"""A PostgreSQL server of its own for a test, from Debian's packages: on a Unix socket in a temporary folder, with the default settings.

The server ends with the program, however that ends. The newest version in /usr/lib/postgresql is used. Needs the standard library only.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

INSTALLED = "/usr/lib/postgresql"
TIMEOUT = 60
# The shell between the test and the server. It ends the server when its standard input ends, and removes the folder unless it is told that
# the server is to be started again. Its first argument is the folder, the rest the server's command.
LIFELINE = """
folder=$1; shift
"$@" >>"$folder/server.log" 2>&1 &
read -r kept
kill -QUIT $! 2>/dev/null
wait
[ -n "$kept" ] || rm -rf "$folder"
"""


class PostgresServer:
    """Runs from construction to `close()`, with pauses from `kill()` to `start()`."""

    def __init__(self, settings=()):
        versions = sorted((int(name) for name in os.listdir(INSTALLED) if name.isdigit()), reverse=True) if os.path.isdir(INSTALLED) else []
        if not versions:
            raise SystemExit(f"no PostgreSQL in {INSTALLED}: run `make setup-tests`, or install the package postgresql")
        self.programs = f"{INSTALLED}/{versions[0]}/bin"
        self.settings = list(settings)
        self.databases = 0
        self.shell = None
        self.folder = tempfile.mkdtemp(prefix="pb-")
        try:
            if os.geteuid() == 0:
                os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, -1)
            initdb = ["initdb", "-D", self.folder + "/data", "-U", "postgres", "--locale=C", "--encoding=UTF8", "--auth=trust"]
            subprocess.run(self.unprivileged(initdb), check=True, cwd="/", stdout=subprocess.DEVNULL)
            self.start()
        except BaseException:
            self.close()
            raise

    def unprivileged(self, command):
        """PostgreSQL refuses to run as root."""
        command = [f"{self.programs}/{command[0]}", *command[1:]]
        return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command] if os.geteuid() == 0 else command

    # Databases

    def make_database(self):
        """Returns the URI of a new database."""
        self.databases += 1
        name = f"test{self.databases}"
        self.run(f"CREATE DATABASE {name}")
        return self.uri(name)

    def uri(self, database):
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def run(self, statement, database=None):
        """Runs a statement in a database, given by its URI, and returns its output, fields separated by tabs."""
        command = [f"{self.programs}/psql", "-d", database or self.uri("postgres"), "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1"]
        outcome = subprocess.run(command + ["-c", statement], capture_output=True, text=True)
        if outcome.returncode != 0:
            raise SystemExit(f"PostgreSQL: {outcome.stderr.strip()}")
        return outcome.stdout.strip()

    def is_ready(self):
        return subprocess.run([f"{self.programs}/pg_isready", "-q", "-h", self.folder]).returncode == 0

    # Life and death

    def start(self):
        """Starts the server and waits until it has recovered and accepts connections."""
        settings = ["listen_addresses=", f"unix_socket_directories={self.folder}", *self.settings]
        command = self.unprivileged(["postgres", "-D", self.folder + "/data"] + [part for setting in settings for part in ("-c", setting)])
        # The pipe is closed on exec, so that no other process keeps the server alive.
        # A session of its own: signals to the test's process group do not reach the shell before it has removed the folder.
        self.shell = subprocess.Popen(
            ["bash", "-c", LIFELINE, "bash", self.folder, *command], cwd="/", stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True)
        self.wait_until("the server answers", self.is_ready)

    def kill(self):
        """Ends all of the server's processes at once with SIGKILL, as a power failure would."""
        processes = self.processes()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in processes:
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass
        self.wait_until("the server has ended", lambda: not any(status(process) for process in processes))
        # The shell collects the server's process: a server does not start while the number of its predecessor exists.
        self.end_shell("kept\n")

    def close(self):
        """Ends the server and removes its folder."""
        if self.shell:
            self.end_shell("")
        shutil.rmtree(self.folder, ignore_errors=True)

    def end_shell(self, line):
        shell, self.shell = self.shell, None
        shell.stdin.write(line)
        shell.stdin.close()
        shell.wait()

    def processes(self):
        """Returns the server's main process and its children."""
        with open(self.folder + "/data/postmaster.pid") as file:
            main = int(file.readline())
        children = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        return [main] + [process for process in children if status(process) == main]

    def wait_until(self, what, condition):
        began = time.monotonic()
        while not condition():
            if time.monotonic() - began > TIMEOUT:
                raise SystemExit(f"PostgreSQL: did not happen within {TIMEOUT} s: {what}")
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def status(process):
    """Returns the parent of a running process; None if there is no such process, or it has ended."""
    try:
        with open(f"/proc/{process}/stat") as file:
            letter, parent = file.read().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if letter in "ZX" else int(parent)
