"""Checks a running gateway against docs/protocol from outside, with tokens from LiveKit's package and an independent WebSocket client.

    python Tests/Interop/interop.py --url wss://127.0.0.1:7880 --ca certs/dev/ca.cert.pem --key devkey --secret secret

Every check has its own room, so all run concurrently; checks that measure latency start later. Timing-sensitive checks that
fail are retried alone. Prints a line for each check. Exit codes: 0 success, 1 failure, 2 usage error.
"""

import argparse
import asyncio
import importlib
import sys
import time
import traceback
from pathlib import Path

import contract
from harness import Check, World, checks

# Each module registers its checks.
for module in sorted(path.relative_to(Path(__file__).parent) for path in Path(__file__).with_name("checks").rglob("*.py")):
    importlib.import_module(".".join(module.with_suffix("").parts))

TIME_LIMIT = 90
TRIES = 3


async def run_one(check: Check, world: World, verbose: bool, *, alone: bool = False) -> bool:
    if not alone:
        await asyncio.sleep(check.delay)
    began = time.monotonic()
    fault = None
    try:
        async with asyncio.timeout(TIME_LIMIT):
            await check.function(world)
    except AssertionError as error:
        fault = str(error) or "an assertion"
        if verbose:
            traceback.print_exc()
    except TimeoutError:
        fault = f"timed out after {TIME_LIMIT} s"
    except Exception as error:
        fault = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
        if verbose:
            traceback.print_exc()
    await world.leave_all()
    took = time.monotonic() - began
    print(f"{'FAIL' if fault else 'ok  '} {took:5.1f} s  {check.title}", flush=True)
    if fault:
        print(f"               {fault}", flush=True)
    return fault is None


def check_contract(is_whole: bool) -> list[bool]:
    """Final checks: every message matched the contract, and every event type occurred."""
    results = []
    faults = contract.violations[:20]
    print(("FAIL" if faults else "ok  ") + "          every message has exactly the fields of the contract, and seq has no gap")
    for fault in faults:
        print(f"               {fault}")
    results.append(not faults)
    if is_whole:
        expected = contract.events.keys() - contract.not_covered
        missing = expected - contract.seen
        print(("FAIL" if missing else "ok  ") + f"          all {len(expected)} event types occurred")
        if missing:
            print(f"               missing: {', '.join(sorted(missing))}")
        results.append(not missing)
    return results


async def main() -> int:
    parser = argparse.ArgumentParser(description="Interop checks of a Patchbay gateway.")
    parser.add_argument("--url", default="wss://127.0.0.1:7880", help="the gateway (default %(default)s)")
    parser.add_argument("--ca", default="certs/dev/ca.cert.pem", help="the CA certificate to trust (default %(default)s)")
    parser.add_argument("--key", default="devkey", help="the API key (default %(default)s)")
    parser.add_argument("--secret", default="secret", help="the API secret (default %(default)s)")
    parser.add_argument(
        "--resume-seconds", type=float, default=20, help="the gateway's `resume_seconds` (default %(default)s)")
    parser.add_argument("--only", default="", help="run only checks whose title contains this")
    parser.add_argument("--list", action="store_true", help="list the checks and exit")
    parser.add_argument("--verbose", action="store_true", help="print tracebacks of failed checks")
    options = parser.parse_args()

    chosen = [check for check in checks if options.only in check.title]
    if options.list:
        print("\n".join(check.title for check in chosen))
        return 0
    if not chosen:
        parser.error(f"no check title contains \"{options.only}\"")
    try:
        world = World(options.url, options.ca, options.key, options.secret, options.resume_seconds)
    except OSError as error:
        parser.error(f"--ca {options.ca}: {error.strerror}; run `make certs` to create it")
    try:
        status, _, _ = await world.http("GET", "/healthz")
    except OSError as error:
        print(f"cannot reach a gateway at {options.url}: {error}; start one with `patchbay serve --dev`", file=sys.stderr)
        return 1
    if status != 200:
        print(f"the gateway at {options.url} is not healthy: {status}", file=sys.stderr)
        return 1

    began = time.monotonic()
    results = await asyncio.gather(*(run_one(check, world.another(), options.verbose, alone=len(chosen) == 1) for check in chosen))
    for index, check in enumerate(chosen):
        for _ in range(TRIES - 1 if check.timing_sensitive else 0):
            if not results[index]:
                print("retrying alone:")
                results[index] = await run_one(check, world.another(), options.verbose, alone=True)
    results += check_contract(is_whole=not options.only)
    print(f"{results.count(True)} passed, {results.count(False)} failed in {time.monotonic() - began:.1f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
