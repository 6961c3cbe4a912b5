"""Results as the programs of the OSU Micro-Benchmarks write them, which many scripts read, and as csv.

Each block has the head and the columns of the program that it names; the figures are medians.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable

from kumihimo.text.json_types import JsonObject

SYNCHRONISATION = {
    "flush": "MPI_Win_flush",
    "lock_flush": "MPI_Win_flush",
    "request": "MPI_Rput/MPI_Rget, MPI_Win_flush",
    "lock": "MPI_Win_lock/unlock",
    "lock_all": "MPI_Win_lock_all/unlock_all",
    "fence": "MPI_Win_fence",
    "pscw": "MPI_Win_post/start/complete/wait",
}
WINDOW = {
    "allocate": "MPI_Win_allocate",
    "create": "MPI_Win_create",
    "dynamic": "MPI_Win_create_dynamic",
    "shared": "MPI_Win_allocate_shared",
}
WIDTH, NAME, FIELD = 10, 20, 18

# By (library, measure): the title of OSU's program, and the kind of its columns.
PROGRAMS = {
    ("mpi", "put_quiet"): ("OSU MPI_Put Latency Test", "latency"),
    ("mpi", "get"): ("OSU MPI_Get latency Test", "latency"),
    ("mpi", "put_bandwidth"): ("OSU MPI_Put Bandwidth Test", "bandwidth"),
    ("mpi", "get_bandwidth"): ("OSU MPI_Get Bandwidth Test", "bandwidth"),
    ("mpi", "put_both_ways"): ("OSU MPI_Put Bi-directional Bandwidth Test", "bandwidth"),
    ("mpi", "fetch_add"): ("OSU MPI_Fetch_and_op latency Test", "latency"),
    ("mpi", "compare_and_swap"): ("OSU MPI_Compare_and_swap latency Test", "latency"),
    ("mpi", "barrier"): ("OSU MPI Barrier Latency Test", "barrier"),
    ("mpi", "broadcast"): ("OSU MPI Broadcast Latency Test", "average"),
    ("mpi", "reduce"): ("OSU MPI Allreduce Latency Test", "average"),
    ("mpi", "collect"): ("OSU MPI Allgather Latency Test", "average"),
    ("shmem", "put_quiet"): ("OSU OpenSHMEM Put Test", "latency"),
    ("shmem", "get"): ("OSU OpenSHMEM Get Test", "latency"),
    ("shmem", "put_rate"): ("OSU OpenSHMEM Put Message Rate Test", "rate"),
    ("shmem", "fetch_add"): ("OSU OpenSHMEM Atomic Operation Rate Test", "atomics"),
    ("shmem", "compare_and_swap"): ("OSU OpenSHMEM Atomic Operation Rate Test", "atomics"),
    ("shmem", "swap"): ("OSU OpenSHMEM Atomic Operation Rate Test", "atomics"),
    ("shmem", "barrier"): ("OSU OpenSHMEM Barrier Latency Test", "barrier"),
    ("shmem", "broadcast"): ("OSU OpenSHMEM Broadcast Latency Test", "average"),
    ("shmem", "reduce"): ("OSU OpenSHMEM Reduce Latency Test", "average"),
    ("shmem", "collect"): ("OSU OpenSHMEM FCollect Latency Test", "average"),
}
CALLS = {"fetch_add": "shmem_long_fadd", "compare_and_swap": "shmem_long_cswap", "swap": "shmem_long_swap"}


def sized(title: str, value: Callable[[JsonObject], float]) -> tuple[str, Callable[[JsonObject], str]]:
    return f"{'# Size':<{WIDTH}}{title:>{FIELD}}", lambda row: f"{row['bytes']:<{WIDTH}}{value(row):>{FIELD}.2f}"


def microseconds(row: JsonObject) -> float:
    return row["seconds"] * 1e6


def atomics_line(row: JsonObject) -> str:
    rate = 1e-6 / row["seconds"]
    return f"{CALLS[row['measure']]:<{NAME}}{rate:>{FIELD}.2f}{microseconds(row):>{FIELD}.2f}"


# The line above the figures, and the line of one. Barriers have OSU's 17 columns.
COLUMNS = {
    "latency": sized("Latency (us)", microseconds),
    "bandwidth": sized("Bandwidth (MB/s)", lambda row: row["bytes_per_second"] / 1e6),
    "rate": sized("Messages/s", lambda row: row["messages_per_second"]),
    "average": (f"{'# Size':<{WIDTH}}{'Avg Latency(us)':>{FIELD}}", sized("", microseconds)[1]),
    "barrier": ("# Avg Latency(us)", lambda row: f"{microseconds(row):>17.2f}"),
    "atomics": (f"{'# Operation':<{NAME}}{'Million ops/s':>{FIELD}}{'Latency (us)':>{FIELD}}", atomics_line),
}


def block_of(row: JsonObject) -> tuple:
    title, kind = PROGRAMS[row["library"], row["measure"]]
    return title, kind, row["mpi"], row.get("window_kind"), row.get("synchronisation"), row["place"]


def as_osu(results: Iterable[JsonObject]) -> str:
    """A block for each program, MPI library, window, synchronisation and place; measures that OSU has not are left
    out."""
    blocks: dict[tuple, list[JsonObject]] = {}
    for row in results:
        if "seconds" in row and (row["library"], row["measure"]) in PROGRAMS:
            blocks.setdefault(block_of(row), []).append(row)
    lines: list[str] = []
    for (title, kind, mpi, window, synchronisation, place), rows in blocks.items():
        lines += ["", f"# {title}"] if lines else [f"# {title}"]
        if window and kind in ("latency", "bandwidth"):
            lines += [f"# Window creation: {WINDOW[window]}", f"# Synchronization: {SYNCHRONISATION[synchronisation]}"]
        lines.append(f"# Kumihimo: {mpi}, {place}; medians")
        head, line = COLUMNS[kind]
        lines += [head, *map(line, rows)]
    return "\n".join(lines) + "\n"


CSV_COLUMNS = (
    *(
        "library",
        "mpi",
        "window_kind",
        "synchronisation",
        "place",
        "measure",
        "bytes",
        "ranks",
        "seconds",
        "low",
        "high",
    ),
    *("bytes_per_second", "messages_per_second", "operations_per_second", "overlap", "samples", "launches", "right"),
)


def as_csv(results: Iterable[JsonObject]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in results:
        if "seconds" in row:
            writer.writerow(["" if row.get(name) is None else row.get(name) for name in CSV_COLUMNS])
    return out.getvalue()


WRITERS = {"osu": as_osu, "csv": as_csv}
FORMATS = ("table", "json", *WRITERS)
