"""Costs of frames and of the rooms' records.

Whatever is compared runs at the same time, on the same core and with the same calls, and is measured in the same intervals, because the
machine's speed varies more from minute to minute than the costs that are compared.
"""

from cluster import Cluster
from table import Row

from clustering.meter import Interval, Summary
from clustering.testbed import Testbed, as_json

COST_MAX = 1.5
LATENCY_ADDED_MAX_MS = 3
DEARER_MAX = 0.02
RECORDS_MAX = 0.1
CALLS_OF_A_NODE = 900
FRAMES_PER_CALL_AND_SECOND = 100
# A load that sends fewer of its frames has been late.
SENT_MIN = 0.98


def across_nodes(bed: Testbed) -> tuple[list[Row], dict]:
    """Frames that cross nodes: of calls whose user is connected to their home, and whose agent to another node.

    Each frame passes one connection between the nodes. Another node has the same calls with all connections. The nodes change parts.
    """
    figures = []
    for number in range(bed.plan.rounds):
        home, edge, direct = (Cluster.NODES[(number + position) % 3] for position in range(3))
        with bed.loads([home, edge], [direct]) as loads:
            share = loads[0].homes.get(home, 0) / bed.plan.calls
            intervals = []
            for index in range(bed.plan.intervals):
                for load in loads:
                    load.mark(f"interval-{index}")
                intervals.append(bed.measure())
            for load in loads:
                load.mark("end")
            reports = bed.end(loads)
        print(f"  round {number + 1}: {share:.0%} of the crossing calls have their home at {home}, agents come through {edge}", flush=True)
        for index, interval in enumerate(intervals):
            crossing, local = (latency(report, f"interval-{index}") for report in reports)
            costs = {
                "home": interval.frame_cost(home, bed.idle, (home, edge)), "edge": interval.frame_cost(edge, bed.idle, (home, edge)),
                "local": interval.frame_cost(direct, bed.idle)}
            check_load(bed, interval, [(home, edge), (direct,)])
            figures.append({
                "home": home, "edge": edge, "direct": direct, "at_home_share": share, "cpu_us_per_frame": microseconds(costs),
                "latency_ms": {"crossing": crossing, "local": local}, "interval": as_json(interval)})
            shown = ", ".join(f"{name} {cost:.1f} µs" for name, cost in microseconds(costs).items())
            added = ", ".join(f"{name} {crossing[name]:.2f} ms, local {local[name]:.2f} ms" for name in local)
            print(f"    {shown}; {added}", flush=True)
    return rows_across_nodes(figures), {"intervals": figures}


def rows_across_nodes(figures: list[dict]) -> list[Row]:
    rows = []
    for side, what in (("home", "at the home"), ("edge", "at the node that forwards it")):
        ratio = Summary.of([figure["cpu_us_per_frame"][side] / figure["cpu_us_per_frame"]["local"] for figure in figures])
        cost, local = (Summary.of([figure["cpu_us_per_frame"][name] for figure in figures]).median for name in (side, "local"))
        seen = f"{ratio.text('.2f')}: {cost:.1f} µs, local {local:.1f} µs"
        rows.append(Row(f"CPU per frame across nodes, {what}", f"≤ {COST_MAX} × local", seen, ratio.median <= COST_MAX))
    for percentile, asked in (("p50", None), ("p99", LATENCY_ADDED_MAX_MS)):
        added = Summary.of([
            figure["latency_ms"]["crossing"][percentile] - figure["latency_ms"]["local"][percentile] for figure in figures])
        rows.append(Row(
            f"latency that crossing adds, {percentile}", f"≤ {asked} ms" if asked else "–", added.text("+.2f", " ms"),
            added.median <= asked if asked else None))
    return rows


def latency(report: dict, part: str) -> dict[str, float]:
    """One way, from sending a frame to receiving it, in milliseconds."""
    others = next(found for found in report["parts"] if found["name"] == part)["others"]
    return {"p50": others["latency_p50_ms"], "p99": others["latency_p99_ms"]}


def in_cluster(bed: Testbed) -> tuple[list[Row], dict]:
    """Frames of calls at home in a cluster, against the same calls at a gateway without `cluster`."""
    figures = []
    for number in range(bed.plan.rounds):
        if number > 0:
            bed.restart("n1", "alone")
        # Neither is always the first.
        with bed.streams(*(["n1", "alone"] if number % 2 == 0 else ["alone", "n1"])):
            for _ in range(bed.plan.intervals):
                interval = bed.measure()
                check_load(bed, interval, [("n1",), ("alone",)])
                costs = {"cluster": interval.frame_cost("n1", bed.idle), "alone": interval.frame_cost("alone", bed.idle)}
                figures.append({"round": number + 1, "cpu_us_per_frame": microseconds(costs), "interval": as_json(interval)})
                print(f"  round {number + 1}: cluster {costs['cluster'] * 1e6:.2f} µs, alone {costs['alone'] * 1e6:.2f} µs, "
                      f"{costs['cluster'] / costs['alone'] - 1:+.1%}", flush=True)
    dearer = Summary.of([figure["cpu_us_per_frame"]["cluster"] / figure["cpu_us_per_frame"]["alone"] - 1 for figure in figures])
    alone = Summary.of([figure["cpu_us_per_frame"]["alone"] for figure in figures]).median
    row = Row(
        "CPU per local frame in a cluster", f"≤ {DEARER_MAX:+.0%}", f"{dearer.text('+.1%')} of {alone:.1f} µs", dearer.median <= DEARER_MAX)
    return [row], {"intervals": figures}


def records(bed: Testbed) -> tuple[list[Row], dict]:
    """Calls whose state changes once a second, in a cluster and without, scaled to those of a busy node."""
    figures = []
    for number in range(bed.plan.rounds):
        with bed.loads(*([["n1"], ["alone"]] if number % 2 == 0 else [["alone"], ["n1"]]), calls=bed.plan.recorded) as loads:
            for _ in range(bed.plan.intervals):
                interval = bed.measure()
                check_load(bed, interval, [("n1",), ("alone",)], bed.plan.recorded)
                costs = scaled(bed, interval)
                writes = interval.writes / interval.seconds / bed.plan.recorded
                figures.append({
                    "round": number + 1, "share_of_core": costs, "writes_per_call_and_second": writes, "interval": as_json(interval)})
                print(f"  round {number + 1}: {CALLS_OF_A_NODE} calls take {costs['gateway']:+.1%} of a core more at the gateway, "
                      f"and {costs['nats']:.1%} at nats-server, with {writes:.2f} writes per call and second", flush=True)
            bed.end(loads)
    gateway, nats = (Summary.of([figure["share_of_core"][name] for figure in figures]) for name in ("gateway", "nats"))
    writes = Summary.of([figure["writes_per_call_and_second"] for figure in figures])
    return [
        Row("records: writes per call and second", "–", writes.text(".2f"), None),
        Row(f"records of {CALLS_OF_A_NODE} calls, CPU of the gateway", f"≤ {RECORDS_MAX:.0%} of a core", gateway.text(".1%"),
            gateway.median <= RECORDS_MAX),
        Row(f"records of {CALLS_OF_A_NODE} calls, CPU of nats-server", "–", nats.text(".1%"), None),
    ], {"intervals": figures, "calls": bed.plan.recorded}


def scaled(bed: Testbed, interval: Interval) -> dict[str, float]:
    """Shares of a core. Only what comes with calls grows with their number; the rest is there without calls."""
    frames = CALLS_OF_A_NODE * FRAMES_PER_CALL_AND_SECOND
    dearer = interval.frame_cost("n1", bed.idle) - interval.frame_cost("alone", bed.idle)
    return {
        "gateway": dearer * frames + bed.idle["n1"] - bed.idle["alone"],
        "nats": interval.busy("nats", bed.idle) / bed.plan.recorded * CALLS_OF_A_NODE + bed.idle["nats"],
    }


def check_load(bed: Testbed, interval: Interval, groups: list[tuple[str, ...]], calls: int = 0) -> None:
    expected = (calls or bed.plan.calls) * FRAMES_PER_CALL_AND_SECOND * interval.seconds
    for group in groups:
        sent = sum(interval.frames[name] for name in group)
        if sent < SENT_MIN * expected:
            print(f"    doubtful: only {sent / expected:.0%} of the frames were sent at {', '.join(group)}; use fewer --calls", flush=True)


def microseconds(costs: dict[str, float]) -> dict[str, float]:
    return {name: cost * 1e6 for name, cost in costs.items()}
