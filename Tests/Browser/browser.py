"""Checks the browser library and the web pages in headless Chromium, against a gateway that it starts on a free port.

    python Tests/Browser/browser.py --patchbay .build/release/patchbay [--only TEXT] [--jobs N | --measure [--minutes N]]

With PATCHBAY_SCREENS=FOLDER, which is made if necessary, checks of pages save screenshots of their states there, as `make screens` does.
Prints a line for each check. Exit codes: 0 success, 1 failure, 2 usage error.
"""

import argparse
import asyncio
import importlib
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from harness import checks, options
from world import REPOSITORY, World

# Each module registers its checks.
for module in sorted(path.relative_to(Path(__file__).parent) for path in Path(__file__).with_name("checks").rglob("*.py")):
    importlib.import_module(".".join(module.with_suffix("").parts))


async def run(check, command: Path, verbose: bool) -> bool:
    began = time.monotonic()
    fault = text = None
    try:
        limit = check.time_limit + (60 * options.minutes if check.is_timed else 0)
        async with asyncio.timeout(limit), World(command) as world:
            text = await check.function(world)
    except TimeoutError:
        fault = "timed out"
        if verbose:
            traceback.print_exc()
    except Exception as error:
        fault = str(error) or type(error).__name__
        if verbose:
            traceback.print_exc()
    first, *rest = (fault or text or "").splitlines() or [""]
    # The reason stands on the line of its check, where a search for failures finds it.
    title = f"{check.title}: {first}" if fault else check.title
    lines = [f"{'FAIL' if fault else 'ok  '} {time.monotonic() - began:5.1f} s  {title}"]
    lines += [f"               {line}" for line in (rest if fault else [first, *rest]) if line]
    print("\n".join(lines), flush=True)
    return fault is None


async def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the browser library in headless Chromium.")
    parser.add_argument("--patchbay", type=Path, default=REPOSITORY / ".build/release/patchbay", help="the command")
    parser.add_argument("--only", help="run the checks whose titles contain this")
    parser.add_argument("--jobs", type=int, default=1, help="run this many checks at once, each with a gateway and a browser of its own")
    parser.add_argument("--measure", action="store_true", help="run the measurements instead of the checks")
    parser.add_argument("--minutes", type=int, default=options.minutes, help="how long the long call of the measurements takes, by default 60")
    parser.add_argument("--verbose", action="store_true", help="print tracebacks")
    arguments = parser.parse_args()
    if arguments.minutes < 4:
        parser.error("--minutes: pass 4 or more")
    options.minutes = arguments.minutes
    if screens := os.environ.get("PATCHBAY_SCREENS"):
        Path(screens).mkdir(parents=True, exist_ok=True)
    chosen = [check for check in checks if check.is_measurement == arguments.measure and (arguments.only or "") in check.title]
    if not chosen:
        parser.error("no such check")
    if arguments.jobs < 1 or (arguments.measure and arguments.jobs > 1):
        parser.error("--jobs: pass 1 or more; measurements run alone")
    # Like Ctrl-C: browsers and gateways are ended, too.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    turn = asyncio.Semaphore(arguments.jobs)

    async def run_in_turn(check) -> bool:
        async with turn:
            return await run(check, arguments.patchbay, arguments.verbose)

    results = await asyncio.gather(*(run_in_turn(check) for check in chosen if not check.is_alone))
    results += [await run(check, arguments.patchbay, arguments.verbose) for check in chosen if check.is_alone]
    return 0 if all(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except (asyncio.CancelledError, KeyboardInterrupt):
        sys.exit("interrupted")
