"""A profile as a text in the form of mpiP's reports, for eyes and tools that are used to them."""

from __future__ import annotations

from pathlib import Path

from kumihimo import __version__
from kumihimo.run.profile.totals import Calls, Totals

WIDTH = 75
TOP = 20
# Calls that send, of which mpiP counts the sizes.
NOT_SENDING = ("Recv", "Irecv", "Mrecv", "Imrecv", "Probe", "Wait", "Test", "Win_", "Comm_", "Barrier", "Cart", "Graph")


def text(totals: Totals, command: str) -> str:
    ids = sites(totals)
    rows = together(totals)
    parts = (
        head(totals, command),
        times(totals),
        callsites(ids),
        aggregate_time(totals, rows, ids),
        aggregate_sent(rows, ids),
        ["@--- End of Report ".ljust(WIDTH, "-")],
    )
    return "\n".join(line for part in parts for line in part) + "\n"


def together(totals: Totals) -> list[Calls]:
    """The calls of each place on all communicators, the longest first. A rank counts once for each."""
    found: dict[tuple, Calls] = {}
    for calls in totals.by_time():
        known = found.setdefault(key(calls), Calls(calls.call, calls.place, ""))
        known.calls += calls.calls
        known.bytes += calls.bytes
        known.seconds += calls.seconds
        known.squares += calls.squares
        known.ranks += calls.ranks
    return sorted(found.values(), key=lambda c: (-c.seconds, c.call))


def title(words: str) -> list[str]:
    rule = "-" * WIDTH
    return [rule, f"@--- {words} ".ljust(WIDTH, "-"), rule]


def head(totals: Totals, command: str) -> list[str]:
    return [
        "@ mpiP",
        f"@ Command : {command}",
        f"@ Version                  : 3.5.0 form, by kumihimo {__version__}",
        "@ MPIP env var             : [null]",
        "@ Collector Rank           : 0",
        *[f"@ MPI Task Assignment      : {rank} {host}" for rank, host, _, _ in totals.tasks],
        "",
    ]


def percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def times(totals: Totals) -> list[str]:
    rows = [
        f"{rank!s:>4} {seconds:>10.3g} {mpi:>10.3g} {percent(mpi, seconds):>8.2f}"
        for rank, _, seconds, mpi in [*totals.tasks, ("*", "", totals.seconds, totals.mpi_seconds)]
    ]
    return [*title("MPI Time (seconds)"), "Task    AppTime    MPITime     MPI%", *rows]


def sites(totals: Totals) -> dict[tuple, int]:
    """A number a call and place, whatever the communicator."""
    keys = sorted({key(c) for c in totals.calls.values()}, key=lambda k: (str(k[1]), k[0]))
    return {known: number for number, known in enumerate(keys, 1)}


def key(calls: Calls) -> tuple:
    return (calls.call, calls.place)


def short(call: str) -> str:
    return call.removeprefix("MPI_")


def callsites(ids: dict[tuple, int]) -> list[str]:
    rows = []
    for (call, place), number in ids.items():
        where = Path(place.file).name if place.file else f"{place.offset:#x}"
        line = place.line if place.file else "[unknown]"
        rows.append(f"{number:>3} {0:>3} {where:<20} {line!s:>9} {place.function or '[unknown]':<20} {short(call)}")
    return [
        *title(f"Callsites: {len(ids)}"),
        f"{'ID':>3} {'Lev':>3} {'File/Address':<20} {'Line':>9} {'Parent_Funct':<20} MPI_Call",
        *rows,
    ]


def aggregate_time(totals: Totals, found: list[Calls], ids: dict[tuple, int]) -> list[str]:
    of_program, of_mpi = totals.seconds, totals.mpi_seconds  # sums over the ranks
    longest = [c for c in found if c.call not in ("MPI_Init", "MPI_Init_thread")][:TOP]
    rows = [
        f"{short(c.call):<20} {ids[key(c)]:>4} {1e3 * c.seconds:>10.3g} {percent(c.seconds, of_program):>7.2f} "
        f"{percent(c.seconds, of_mpi):>7.2f} {c.calls:>10} {c.variation:>7.2f}"
        for c in longest
    ]
    return [
        *title("Aggregate Time (top twenty, descending, milliseconds)"),
        f"{'Call':<20} {'Site':>4} {'Time':>10} {'App%':>7} {'MPI%':>7} {'Count':>10} {'COV':>7}",
        *rows,
    ]


def aggregate_sent(found: list[Calls], ids: dict[tuple, int]) -> list[str]:
    sending = [c for c in found if c.bytes and not short(c.call).startswith(NOT_SENDING)]
    whole = sum(c.bytes for c in sending)
    rows = [
        f"{short(c.call):<20} {ids[key(c)]:>4} {c.calls:>10} {c.bytes:>10.3g} {c.bytes / c.calls:>10.3g} "
        f"{percent(c.bytes, whole):>6.2f}"
        for c in sorted(sending, key=lambda c: -c.bytes)[:TOP]
    ]
    return [
        *title("Aggregate Sent Message Size (top twenty, descending, bytes)"),
        f"{'Call':<20} {'Site':>4} {'Count':>10} {'Total':>10} {'Avrg':>10} {'Sent%':>6}",
        *rows,
    ]
