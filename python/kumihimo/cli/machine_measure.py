"""`kumihimo machine measure`: this machine, or the nodes of a launcher, as a machine file of measured numbers."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from kumihimo.cli import options, output, progress
from kumihimo.cli.options import duration, option
from kumihimo.processes import launcher_environment
from kumihimo.text import files, quantities
from kumihimo.text.errors import wrong_value

if TYPE_CHECKING:
    from kumihimo.tune.bench.measured import Measured

MOST_SHOWN = 12  # rows of ranks
LEAST_PIECES, MOST_PIECES = 100, 2**26
LEAST_QUANTUM, MOST_QUANTUM = 1e-6, 1.0


def command(
    ranks: option("--ranks -p P", "Number of MPI processes [default: one a processor, at least 2].", int) = None,
    library: options.Library = None,
    name: option("--name NAME", "Name of the machine [default: the name of this host].") = None,
    out: options.written("--out -o OUT", "Machine file to write [default: NAME.toml, which must not exist].") = None,
    noise: option("--noise", "Measure noise of the operating system, too, and write its trace.") = False,
    seconds: duration("--seconds TIME", "With --noise: how long [default: 10s].") = None,
    quantum: duration("--quantum TIME", "With --noise: piece of work that is repeated [default: 10us].") = None,
    trace: options.written("--trace FILE", "With --noise: trace to write [default: NAME.noise].") = None,
    as_json: options.Json = False,
) -> None:
    """Measure this machine or cluster and write a machine file: messages, LogGOPS parameters of the MPI library,
    overlap, memory and noise.

    Start the command by mpirun or srun to measure several nodes.

    \b
    Examples:
    kumihimo machine measure --out my-machine.toml
    kumihimo machine measure --noise --seconds 60s
    mpirun --hostfile hosts -n 8 kumihimo machine measure --out my-cluster.toml
    """
    from kumihimo.processes import mpi
    from kumihimo.tune import bench
    from kumihimo.tune.bench import measured

    called = checked_name(name)
    place = launcher_environment.place()
    ranks = checked_ranks(ranks, place)
    parts, times = ["engine", "copies", "library"], {}
    if noise:
        parts.append("noise")
        times = checked_times(10.0 if seconds is None else seconds, 1e-5 if quantum is None else quantum)
    else:
        for option_name, value in (("--seconds", seconds), ("--quantum", quantum), ("--trace", trace)):
            if value is not None:
                raise wrong_value("--seconds, --quantum and --trace are of --noise", option_name, "add --noise")
    file = checked_file(out, called, ".toml", "--out")
    trace_file = checked_file(trace, called, ".noise", "--trace") if noise else None
    installation = mpi.choose(library or (place.family if place else None))
    launcher = bench.job.Launcher(ranks, installation, seconds=300 + 3 * times.get("noise_seconds", 0))
    steps = len(parts) + 3 * (place is None)
    with progress.bar("measuring", steps, lines=True) as advance:

        def tell(part: str) -> None:
            advance(f"{PARTS[part]}")

        found = measured.measure(launcher, parts, tell, **times)
        if place is None:  # processes of a launcher start the bench driver once
            tell("collectives")
            found.collectives = measured.library_collectives(launcher)
            tell("switch")
            found.round_of_turns = measured.turns(installation)
            tell("stream")  # beside waiting ranks it would be another number
            found.stream = stream()
    output.write(file, measured.machine_file(found, called))
    if trace_file and any(each.detours for each in found.noise):
        output.write(trace_file, trace_of(found))
    else:
        trace_file = None
    show(found, file, trace_file, as_json)


PARTS = {
    "engine": "transport and kernels",
    "copies": "copies within a node",
    "library": "messages of MPI",
    "noise": "noise",
    "collectives": "collectives of MPI",
    "switch": "ranks that share processors",
    "stream": "memory",
}


CACHES = {"core": "in a core's cache", "last_level": "in the last-level cache", "memory": "in memory"}


def checked_name(name: str | None) -> str:
    if name is None:
        return re.sub("[^A-Za-z0-9_.-]", "-", platform.node()) or "this-host"
    if not re.fullmatch("[A-Za-z0-9_.-]+", name):
        raise wrong_value(
            "the name of a machine must have only letters, digits, -, _ and .", f"'{name}'", "give another --name"
        )
    return name


def checked_ranks(asked: int | None, place: launcher_environment.LaunchPlace | None) -> int:
    from kumihimo.processes import mpi

    if place and asked not in (None, place.ranks):
        raise wrong_value(f"mpirun has started {place.ranks} ranks", f"--ranks {asked}", "leave --ranks out")
    ranks = place.ranks if place else max(2, mpi.available_processors()) if asked is None else asked
    if ranks < 2:
        raise wrong_value("messages need at least 2 ranks", ranks, "start more ranks")
    return ranks


def checked_times(seconds: float, quantum: float) -> dict[str, float]:
    if not LEAST_QUANTUM <= quantum <= MOST_QUANTUM:
        raise wrong_value("--quantum must be from 1us to 1s", quantities.seconds_text(quantum))
    if not LEAST_PIECES * quantum <= seconds <= MOST_PIECES * quantum:
        low, high = (quantities.seconds_text(pieces * quantum) for pieces in (LEAST_PIECES, MOST_PIECES))
        rule = f"--seconds must be from {low} to {high} with this --quantum"
        raise wrong_value(rule, quantities.seconds_text(seconds))
    return {"noise_seconds": seconds, "quantum_seconds": quantum}


def checked_file(asked: Path | None, name: str, suffix: str, option_name: str) -> Path:
    """Where to write. Found before anything is measured; under mpirun by the rank that writes."""
    path = asked or Path(name + suffix)
    if not launcher_environment.is_first():
        return path
    if asked is None and os.path.lexists(path):
        raise wrong_value("the file to write must not exist", f"'{path}'", f"give {option_name}, which may replace it")
    files.check_writable(path, option_name)
    return path


def stream() -> dict:
    """The triad on all processors, with the stores that are faster."""
    from kumihimo.network.node import measurements
    from kumihimo.network.node.theory import Peak

    threads = measurements.processors()
    asked = measurements.NodeMeasurement([threads], 5, do=progress.run_interruptible)
    rows = measurements.stream(asked, measurements.usual_array(), Peak())()["results"]
    triads = [row for row in rows if row["kernel"] == "triad"]
    best = max(triads, key=lambda row: row["bytes_per_second"]["median"])
    return {"threads": threads, "stores": best["stores"], "bytes_per_second": best["bytes_per_second"]["median"]}


def trace_of(found: Measured) -> str:
    from kumihimo.tune.bench import noise

    series = found.noise
    quantum = quantities.seconds_text(min(each.quantum for each in series) * 1e-9)
    comments = [
        "Noise of the operating system, measured by `kumihimo machine measure --noise`: start and length in ns.",
        f"{found.when}; quantum {quantum}; {quantities.counted(len(series), 'rank')}, one after another.",
    ]
    return noise.trace(series, comments)


# --- what it prints


def show(found: Measured, file: Path, trace_file: Path | None, as_json: bool) -> None:
    from kumihimo.tune.bench import measured, noise

    statistics = noise.statistics(found.noise) if found.noise else None
    said = measured.notes(found)
    if statistics and not statistics["detours"]:
        said.append("no detour was found, so there is no trace to write")
    if as_json:
        made = {key: value for key, value in asdict(found).items() if key not in ("noise", "notes")}
        made |= {"noise": statistics, "notes": said, "file": str(file)}
        made["trace"] = str(trace_file) if trace_file else None
        output.print_json({**made, **output.own_cost()})
        return
    show_messages(found)
    if found.collectives:
        show_collectives(found)
    show_rest(found)
    if statistics:
        show_noise(statistics)
    output.print_list("Notes", said)
    print()
    output.print_line(f"wrote {file}; use it with --machine {file}")
    if trace_file:
        output.print_line(f"wrote {trace_file}; use it with --noise trace:{trace_file}")


def show_messages(found: Measured) -> None:
    fit = found.point_to_point
    overlap = {each["bytes"]: each["share"] for each in fit["overlap"]}
    rows = []
    for each in fit["sizes"]:
        size = each["bytes"]
        if size.bit_length() % 2 == 0 and size not in overlap:
            continue
        rows.append(
            (
                quantities.bytes_text(size),
                quantities.seconds_text(each["round_trip"] / 2),
                quantities.rate_text(2 * size / each["round_trip"]),
                quantities.seconds_text(each["gap"]) if each["gap"] > 0 else "",
                quantities.seconds_text(each["overhead"]) if each.get("overhead", 0) > 0 else "",
                quantities.share_text(overlap[size]) if size in overlap else "",
            )
        )
    between = "between two nodes" if found.network else "between two ranks of a node"
    title = f"Messages of {found.mpi} {between} ({found.launch})"
    columns = ("bytes>", "latency>", "bandwidth>", "gap>", "overhead>", "overlap>")
    output.print_table(title, columns, rows)
    letters = ",".join(f"{letter}={value}" for letter, value in loggops_values(fit).items())
    output.print_list(
        "LogGOPS (ns, S in bytes)",
        [
            letters,
            f"the model's ping-pong differs by {quantities.share_text(fit['median_deviation'])} in the median, "
            f"{quantities.share_text(fit['largest_deviation'])} at most",
        ],
    )


def show_collectives(found: Measured) -> None:
    """A row for each length, a column for each collective; the barrier has no bytes."""
    names = list(dict.fromkeys(each["collective"] for each in found.collectives))
    times = {
        (each["bytes"], each["collective"]): quantities.seconds_text(each["seconds"]) for each in found.collectives
    }
    sizes = sorted({size for size, _ in times})
    rows = [(quantities.bytes_text(size), *(times.get((size, name), "") for name in names)) for size in sizes]
    print()
    title = f"Collectives of {found.mpi} on {quantities.counted(found.about['ranks'], 'rank')}"
    output.print_table(title, ("bytes>", *(f"{name}>" for name in names)), rows)


def loggops_values(fit: dict) -> dict[str, str]:
    """As `simulate --loggops` takes them; without a limit of eager messages the largest one that it takes."""
    from kumihimo.tune.bench.measured import decimal

    values = {letter: decimal(fit[letter] * 1e9) for letter in "LogGOR"}
    return {**values, "S": str(2**46 if fit["S"] is None else fit["S"])}


def show_rest(found: Measured) -> None:
    numbers = found.calibration
    seconds, rates = quantities.seconds_text, quantities.rate_text
    lines = [
        f"between two ranks of a node: message {seconds(numbers['message_cost'])}, latency "
        f"{seconds(numbers['message_latency'])}, stage {seconds(numbers['relay_latency'])}, "
        f"{rates(numbers['copy_bandwidth'])}",
        f"reductions: {rates(numbers['reduction_rate'])} by a thread, "
        f"{rates(numbers['reduction_rate_scalar'])} without SIMD",
        f"memory: {rates(numbers['memory_bandwidth'])} by copies of all ranks"
        + (f", {rates(found.stream['bytes_per_second'])} by STREAM triad" if found.stream else ""),
    ]
    if found.copies:
        each = (f"{rates(found.copies[f'copy_{cache}'])} {where}" for cache, where in CACHES.items())
        lines.append(f"a copy of a message within a node: {', '.join(each)}")
    if net := found.network:
        lines.insert(
            0,
            f"between two nodes: message {seconds(net['message_cost'])}, latency {seconds(net['message_latency'])}, "
            f"{rates(net['message_bandwidth'])}; {quantities.counted(net['pairs'], 'message')} at once: "
            f"{rates(net['pairs_bandwidth'])}",
        )
    output.print_list("Kumihimo's transport and kernels", lines)


def show_noise(found: dict) -> None:
    print()
    title = (
        f"Noise: {quantities.share_text(found['share_lost'])} of the time lost, "
        f"{found['detours_per_second']:.3g} detours/s a rank"
    )
    if found["detours"]:
        title += f", longest {quantities.seconds_text(found['longest_seconds'])}"
    title += f" (quantum {quantities.seconds_text(found['quantum_seconds'])})"
    rows = [
        (
            quantities.seconds_text(each["from_seconds"]),
            each["detours"],
            f"{each['detours_per_second']:.3g}",
            quantities.share_text(each["share_lost"]),
        )
        for each in found["histogram"]
    ]
    if not rows:
        output.print_line(title)
        return
    output.print_table(title, ("length from>", "detours>", "per second>", "time lost>"), rows)
    if len(found["ranks"]) <= MOST_SHOWN:
        print()
        rows = [
            (
                each["rank"],
                each["node"],
                each["detours"],
                quantities.share_text(each["share_lost"]),
                quantities.seconds_text(each["longest_seconds"]) if each["detours"] else "",
            )
            for each in found["ranks"]
        ]
        output.print_table("", ("rank>", "node", "detours>", "time lost>", "longest>"), rows)
