"""Results of the bench driver's calibration, and the machine file made from them."""

from __future__ import annotations

import datetime
import math
import os
import platform
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

from kumihimo import _collectives, _machine
from kumihimo.collectives import arguments
from kumihimo.predict.prediction_errors import OF_BLOCKS
from kumihimo.processes import launcher_environment, mpi
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.cases import NONE, BenchCase
from kumihimo.tune.bench.job import Launcher, run_measure, start
from kumihimo.tune.bench.nodes import real_nodes
from kumihimo.tune.bench.noise import Series

TURNS = 2  # ranks on each processor where turns are measured
LEAST_SECONDS = 1e-9  # that machine files state: below it the clock tells nothing


@dataclass
class Measured:
    """Rates in bytes per second, times in seconds; `noise` in nanoseconds. What was not asked for is empty."""

    about: JsonObject = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    calibration: JsonObject = field(default_factory=dict)
    network: JsonObject = field(default_factory=dict)
    point_to_point: JsonObject = field(default_factory=dict)
    copies: JsonObject = field(default_factory=dict)  # of messages within a node
    round_of_turns: float | None = None  # with two ranks on each processor of a node
    collectives: list[JsonObject] = field(default_factory=list)  # the MPI library's own: see library_collectives()
    noise: list[Series] = field(default_factory=list)
    stream: JsonObject | None = None  # the fastest triad: see kumihimo.node.measurements
    launch: str = ""
    host: str = field(default_factory=platform.node)
    date: str = field(default_factory=lambda: datetime.date.today().isoformat())
    load: float | None = None  # average of the minute before

    @property
    def nodes(self) -> list[str]:
        return self.about.get("nodes") or [self.host]

    @property
    def mpi(self) -> str:
        return self.about["mpi"].split(", package")[0].strip()

    @property
    def when(self) -> str:
        """Ends the source of each number."""
        where = self.host if len(self.nodes) == 1 else f"{len(self.nodes)} nodes ({self.nodes[0]} ..)"
        return f"{self.date}, {where}, {self.mpi}, {self.launch}"

    @property
    def most_ranks_a_node(self) -> int:
        of_rank = self.about.get("node_of_rank") or [0] * self.about["ranks"]
        return max(map(of_rank.count, set(of_rank)))

    @property
    def is_oversubscribed(self) -> bool:
        return self.most_ranks_a_node > self.about["processors"]


def measure(
    launcher: Launcher,
    parts: list[str],
    advance: Callable[[str], None] = lambda part: None,
    **options: float,
) -> Measured:
    """One launch. `parts` and `options`: of the task `calibrate` (bench_driver/tasks.hpp)."""
    installation = launcher.installation or mpi.choose()
    found = Measured(launch=launch_text(installation, launcher.ranks), load=load_average())

    def take(told: JsonObject) -> None:
        if "part" in told:
            advance(told["part"])
        elif "noise" in told:
            found.noise.append(Series(**{**told["noise"], "detours": list(map(tuple, told["noise"]["detours"]))}))
        elif "about" in told:
            found.about.update(told["about"])
        elif "notes" in told:
            found.notes += told["notes"]
        else:
            for name, value in told.items():
                setattr(found, name, value)

    task = {"task": "calibrate", "parts": parts, "library": str(installation.library), **options}
    start(task, installation, launcher, take)
    lacking = {
        "engine": found.calibration,
        "copies": found.copies,
        "switch": found.round_of_turns,
        "library": found.point_to_point,
        "noise": found.noise,
    }
    for part in parts:
        if not lacking[part]:
            raise failed(f"the bench driver wrote nothing of the part {part}")
    return found


def turns(installation: mpi.Installation) -> float:
    """Seconds of a round with two ranks on each processor of this node."""
    ranks = TURNS * mpi.available_processors()
    seconds = measure(Launcher(ranks, installation, seconds=60), ["switch"]).round_of_turns
    if seconds is None:
        raise failed("the bench driver wrote nothing of the part switch")
    return seconds


# Of our algorithms those that the library's own calls are measured beside, in the same loop.
BESIDE = {
    "allreduce": "recursive_doubling",
    "bcast": "binomial",
    "reduce": "binomial",
    "allgather": "ring",
    "alltoall": "linear",
    "barrier": "dissemination",
}
LENGTHS = (8, 64, 512, 4096, 2**15, 2**18, 2**21)
MOST_OF_BLOCKS = 2**24  # bytes of a rank's longest buffer


def library_collectives(launcher: Launcher) -> list[JsonObject]:
    """The library's own collectives on all ranks, of doubles: members `collective`, `ranks`, `nodes`, `bytes` (of the
    vector or block) and `seconds`, the median of a loop. On any nodes: none of these algorithms goes by them. Where the
    time is over, those that were measured."""
    cases = []
    for collective, algorithm in BESIDE.items():
        if not arguments.moves_data(collective):
            cases.append(BenchCase(collective, algorithm, shape=NONE))
            continue
        blocks = launcher.ranks if collective in OF_BLOCKS else 1
        lengths = [length for length in LENGTHS if length * blocks <= MOST_OF_BLOCKS]
        cases += [BenchCase(collective, algorithm, bytes=length, shape=NONE) for length in lengths]
    run = run_measure(
        cases,
        ranks=launcher.ranks,
        installation=launcher.installation,
        seconds=launcher.seconds,
        case_seconds=0.05,
        partial=True,
    )
    found = real_nodes(run.about)
    nodes = found.counts[1] if found else 1
    return [
        {
            "collective": case.collective,
            "ranks": launcher.ranks,
            "nodes": nodes,
            "bytes": case.bytes or 0,
            "seconds": result["library"]["seconds"],
        }
        for case, result in zip(cases, run.results)
    ]


def launch_text(installation: mpi.Installation, ranks: int) -> str:
    place = launcher_environment.place()
    if place is not None:
        return f"{place.ranks} ranks of the user's launcher"
    _, *words = installation.arguments(ranks)
    return shlex.join([installation.launcher.name, *words])


def load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def described(found: Measured, method: str, ranks: int | None = None) -> _machine.Machine:
    """This node. `method`: the source of its numbers."""
    numbers = {name: rounded(value) for name, value in found.calibration.items()}
    if found.stream:
        numbers["memory_bandwidth"] = rounded(found.stream["bytes_per_second"])
    if found.copies:
        numbers["message_latency"] = rounded(found.copies["message_latency"])
    calibration = _machine.Calibration(
        method,
        ranks or mpi.available_processors(),
        segment_bytes=_collectives.REAL_SEGMENT_BYTES,
        **numbers,
    )
    return _machine.this_machine(_machine.discover_host(), calibration)


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


# --- the machine file

IN_NODE = "between two ranks of a node"
HOW = {
    "memory_bandwidth": "copies by all ranks at once",
    "reduction_rate": "sums of 16384 doubles by one thread",
    "reduction_rate_scalar": "sums of 16384 doubles by one thread, one at a time",
    "shared_memory_bandwidth": f"a message of 8 MiB {IN_NODE}",
    "shared_memory_latency": f"ping-pong of 8 B {IN_NODE}, less message_cost and relay_latency",
    "message_cost": f"what each message of a burst of 8 adds, {IN_NODE}",
    "relay_latency": "what a round of local work adds",
}
EXCHANGE = "exchanges of two ranks of a node"
COPIES = {
    "send_cost": HOW["message_cost"],
    "slot": "a slot of the transport",
    "copy_short": f"{EXCHANGE} of 512 B, less those of 8 B",
    "streamed_bytes": "the shortest message that the transport stores past the cache",
    "streamed_latency": f"{EXCHANGE} of 4 KiB, less those of 8 B and their bytes",
    "core_cache": "hwloc",
    **{
        f"{name}_{cache}": f"{how}, {sizes}"
        for name, how in (
            ("copy", EXCHANGE),
            ("stream", "a message between two ranks of a node"),
            ("sum", f"{EXCHANGE} that are summed up"),
        )
        for cache, sizes in (
            ("core", "8 KiB to 64 KiB" if name != "stream" else "128 KiB to 512 KiB"),
            ("last_level", "1 MiB to 3 MiB"),
            ("memory", "32 MiB to 64 MiB"),
        )
    },
    "processor_switch": "rounds of messages of 8 B, two ranks a processor",
}
LOGGOPS = {
    "L": "ping-pong of 1 B, less 2 o",
    "o": "trains of 16 messages with pauses",
    "g": "trains of 16 messages",
    "G": "trains of 16 messages of 1 B to 4 MiB, a byte",
    "O": "trains of 16 messages with pauses, up to S, a byte",
    "S": "longest message whose send ends before its receive is there",
    "R": "round trips of messages longer than S, less what the other letters say",
    "reduction_rate": "MPI_Reduce_local of 8192 doubles, result bytes",
}


def machine_file(found: Measured, name: str) -> str:
    """The whole text, which is read once, so that what is wrong with it is said now."""
    node = described(found, found.when, found.about["processors"])
    numbers = node.numbers_to_toml().replace('assumed = "asked for"', 'assumed = "one rank a processor"')
    how = dict(HOW)
    if found.stream:
        how["memory_bandwidth"] = f"STREAM triad, {found.stream['threads']} threads"
    if found.network:
        numbers = of_network(numbers, found)
        how["message_cost"] = how["message_cost"].replace(IN_NODE, "between two nodes")
    for key, words in how.items():
        literal = words.replace("\\", r"\\")
        numbers = re.sub(rf'(?m)^({key} = .*measured = ")', rf"\g<1>{literal}; ", numbers)
    lines = [
        f"# Measured by `kumihimo machine measure` on {found.date}; format: docs/machines.md.",
        f"# {found.mpi}; {found.launch}; load average {load_text(found)} before.",
        *[f"# {note}" for note in notes(found)],
        f'name = "{name}"',
        f'summary = "{summary(found, node)}"',
        "",
        "[topology]",
        *topology(found),
        "",
        numbers.rstrip("\n"),
        *copies(found),
        *loggops(found),
        *of_library(found),
        "",
    ]
    text = "\n".join(lines)
    _machine.parse(text, "the measured machine file")
    return text


def load_text(found: Measured) -> str:
    return "unknown" if found.load is None else f"{found.load:.2f}"


def notes(found: Measured) -> list[str]:
    """Notes for the user about the numbers."""
    processors = found.about["processors"]
    said = list(found.notes)
    if found.is_oversubscribed:
        said.append(
            f"{found.most_ranks_a_node} ranks share {processors} processors of a node: messages wait for a processor, "
            "and noise contains the other ranks; start fewer ranks"
        )
    if found.copies and not _machine.discover_host().core_cache_bytes:
        said.append("hwloc knows no cache of a core: the machine file has no section [copies]")
    if found.load is not None and found.load > 0.5:
        said.append(
            f"other programs were running (load average {found.load:.2f} on {processors} processors): "
            "measure again on an idle machine"
        )
    return said


def summary(found: Measured, node: _machine.Machine) -> str:
    each = node.summary.replace('"', "'").replace("\\", "")
    return each if not found.network else f"{len(found.nodes)} nodes: {each}"


def topology(found: Measured) -> list[str]:
    if found.network:
        return [
            "# How nodes are joined cannot be measured here: one switch is assumed. `kumihimo machine import` makes",
            "# a file with the topology of Slurm's topology.conf and, by --like, the numbers of this one.",
            'family = "fat_tree"',
            f'arity = "{len(found.nodes)}"',
            'parents = "1"',
        ]
    levels = ", ".join(f'"{name} {cores}"' for name, cores in _machine.discover_host().levels)
    return ['family = "single_node"', *([f"levels = [{levels}]"] if levels else [])]


def of_network(numbers: str, found: Measured) -> str:
    """The sections with [network], and the message's costs of messages between nodes."""
    net = found.network
    one, pairs = net["message_bandwidth"], net["pairs"]
    all_ = max(net["pairs_bandwidth"], one)
    several = f"{pairs} messages of 8 MiB at once between two nodes"
    rows = [
        ("link_bandwidth", rate(all_), "measured", several),
        ("link_peak", rate(all_), "assumed", "as link_bandwidth; the peak of the hardware was not measured"),
        ("hop_latency", time(net["message_latency"] / 2), "measured",
         "half of a ping-pong of 8 B between two nodes, less message_cost and relay_latency, over two links"),
        ("engines", str(max(1, math.ceil(rounded(all_) / rounded(one)))), "assumed",
         "link_bandwidth / engine_bandwidth, rounded up"),
        ("engine_bandwidth", rate(one), "measured", "a message of 8 MiB between two nodes"),
        ("injection_bandwidth", rate(all_), "measured", several),
    ]  # fmt: skip
    lines = [
        f'{key} = {{ value = {value}, {kind} = "{how}{f"; {found.when}" if kind == "measured" else ""}" }}'
        for key, value, kind, how in rows
    ]
    for key in ("message_cost", "relay_latency"):
        numbers = re.sub(rf"(?m)^({key} = {{ value = )[^,]*", rf"\g<1>{time(net[key])}", numbers)
    return "\n".join(["[network]", *lines, "", numbers])


def copies(found: Measured) -> list[str]:
    """The section of messages within a node; none where a cache or a number was not found."""
    numbers = {**found.copies, "core_cache": _machine.discover_host().core_cache_bytes}
    limits = {}
    for name in ("copy", "stream", "sum") if found.copies else ():  # a farther cache is not the faster one
        for near, far in (("core", "last_level"), ("last_level", "memory")):
            nearer, own = numbers[f"{name}_{near}"], numbers[f"{name}_{far}"]
            if nearer < own:
                numbers[f"{name}_{far}"] = nearer
                limits[f"{name}_{far}"] = f"; limited to {name}_{near}, as {decimal(own / 1e9)} GB/s was faster"
    if found.round_of_turns is not None and found.copies:
        each = (found.round_of_turns - found.copies["message_latency"] - found.copies["send_cost"]) / TURNS
        numbers["processor_switch"] = max(each, LEAST_SECONDS)
    if any(not numbers.get(key) for key in COPIES):
        return []
    lines = ["", "[copies]"]
    for key, how in COPIES.items():
        value = numbers[key]
        text = f'"{value} B"' if isinstance(value, int) else rate(value) if value > 1 else time(value)
        source = how if how == "hwloc" else f"{how}{limits.get(key, '')}; {found.when}"
        lines.append(f'{key} = {{ value = {text}, measured = "{source}" }}')
    return lines


def loggops(found: Measured) -> list[str]:
    """The section of what was measured above 0: the rest is derived, as S, where all messages up to 4 MiB are eager."""
    fit = found.point_to_point
    if not fit:
        return []
    between = "between two nodes" if found.network else IN_NODE
    lines = ["", "[loggops]"]
    for letter, how in LOGGOPS.items():
        value = fit[letter]
        if letter == "S":
            text = f'"{value} B"' if value else None
        elif letter == "reduction_rate":
            text = rate(value)
        elif letter in "GOR":
            text = time(value) if value > 0 else None
        else:
            text = time(max(value, LEAST_SECONDS))
        if text:
            where = "" if letter == "reduction_rate" else f", {between}"
            lines.append(f'{letter} = {{ value = {text}, measured = "{how}{where}; {found.when}" }}')
    return lines


def of_library(found: Measured) -> list[str]:
    """The section of the library's own collectives."""
    if not found.collectives:
        return []
    how = "medians of loops beside our own algorithms, doubles"
    rows = [
        f'  {{ collective = "{each["collective"]}", ranks = {each["ranks"]}, nodes = {each["nodes"]}, '
        f"bytes = {each['bytes']}, time = {time(max(each['seconds'], LEAST_SECONDS))} }},"
        for each in found.collectives
    ]
    return ["", "[library_collectives]", f'source = "{how}; {found.when}"', "rows = [", *rows, "]"]


def time(seconds: float) -> str:
    """As machine files write it."""
    return f'"{decimal(seconds * 1e9)} ns"'


def rate(bytes_per_second: float) -> str:
    return f'"{decimal(bytes_per_second / 1e9)} GB/s"'


def decimal(number: float) -> str:
    """Four digits without an exponent."""
    return f"{rounded(number):.12f}".rstrip("0").rstrip(".")
