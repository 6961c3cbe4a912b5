"""A trace of a made-up halo exchange, as `kumihimo record --trace` writes it, of as many ranks and steps as are asked.

Ranks are a periodic grid. In each step a rank computes, each time for another time; starts to receive from its four
neighbours and to send to them; waits for all; and takes part in an allreduce."""

from __future__ import annotations

import json
from pathlib import Path

import numpy

from kumihimo import _replay
from kumihimo._trace import Kind
from kumihimo.run.profile import trace_folder

CALLS = {"1": "MPI_Irecv", "2": "MPI_Isend", "3": "MPI_Waitall", "4": "MPI_Allreduce"}
IRECV, ISEND, WAITALL, ALLREDUCE = range(1, 5)
BYTES, NEIGHBOURS = 1024, 4
REQUESTS = 2 * NEIGHBOURS  # of a step
WORLD = 1  # number of the communicator
HEAD = [("at", "<i8"), ("kind", "u1"), ("call", "u1"), ("thread", "<u2"), ("request", "<u4")]
EVENT = numpy.dtype([*HEAD, ("first", "<i8"), ("words", "<i4", 4)])  # docs/profile-format.md


def grid_of(ranks: int) -> tuple[int, int]:
    rows = next(n for n in range(int(ranks**0.5), 0, -1) if ranks % n == 0)
    return rows, ranks // rows


def neighbours(rank: int, ranks: int) -> list[int]:
    """Those along one axis, then along the other."""
    rows, columns = grid_of(ranks)
    row, column = divmod(rank, columns)
    beside = [((row + 1) % rows, column), ((row - 1) % rows, column)]
    beside += [(row, (column + 1) % columns), (row, (column - 1) % columns)]
    return [at[0] * columns + at[1] for at in beside]


def step_of(rank: int, ranks: int) -> numpy.ndarray:
    """Its events, with times and requests from its beginning."""
    rows: list[tuple] = []
    now = 0

    def event(kind: Kind, call: int, request: int = 0, first: int = 0, words: tuple = (0, 0, 0, 0)) -> None:
        rows.append((now, kind.value, call, 0, request, first, words))

    def enter(call: int) -> None:
        event(Kind.enter, call, first=20, words=(0, 0, call - 1, 0))

    beside = neighbours(rank, ranks)
    told = [(to, way, WORLD, 0) for way, to in enumerate(beside)]  # partner, tag, communicator
    got = [(of, way ^ 1, WORLD, 0) for way, of in enumerate(beside)]
    for way in range(NEIGHBOURS):
        enter(IRECV)
        event(Kind.start_receive, IRECV, 1 + way, words=(-1, 0, WORLD, 0))
        now += 200
        event(Kind.leave, IRECV)
    for way in range(NEIGHBOURS):
        enter(ISEND)
        event(Kind.start_send, ISEND, 1 + NEIGHBOURS + way, BYTES, told[way])
        now += 300
        event(Kind.leave, ISEND)
    enter(WAITALL)
    now += 2000
    for way in range(NEIGHBOURS):
        event(Kind.end_receive, WAITALL, 1 + way, BYTES, got[way])
        event(Kind.end_send, WAITALL, 1 + NEIGHBOURS + way, BYTES, told[way])
    event(Kind.leave, WAITALL)
    enter(ALLREDUCE)
    now += 5000
    event(Kind.collective, ALLREDUCE, first=8, words=(-1, WORLD, 0, _replay.collectives().index("allreduce")))
    event(Kind.leave, ALLREDUCE)
    return numpy.array(rows, EVENT)


def events_of(rank: int, ranks: int, steps: int, seed: int = 1) -> numpy.ndarray:
    step = step_of(rank, ranks)
    all_steps = numpy.tile(step, (steps, 1))
    computing = numpy.random.default_rng([seed, rank]).integers(10_000, 30_000, steps)
    begins = 1_000_000 + numpy.cumsum(computing + 10_000)
    all_steps["at"] += begins[:, None]
    later = REQUESTS * numpy.arange(steps)[:, None]
    all_steps["request"] += numpy.where(step["request"] > 0, later, 0).astype("u4")
    ends = numpy.zeros(2, EVENT)
    ends["at"], ends["kind"] = (900_000, begins[-1] + 20_000), (Kind.begin_program.value, Kind.end_program.value)
    return numpy.concatenate([ends[:1], all_steps.reshape(-1), ends[1:]])


def write(folder: Path, ranks: int, steps: int) -> int:
    """The trace in a new folder: how many events it has."""
    (folder / trace_folder.EVENTS).mkdir(parents=True)
    world = {"name": "MPI_COMM_WORLD", "site": None, "size": ranks, "leader": 0, "inter": False}
    sites = [{"file": "/made/halo.py", "line": line, "function": "step"} for line in range(10, 14)]
    header = {"kumihimo_profile": 1, "mpi": "none", "ranks": ranks, "sync": False, "trace": {"calls": CALLS}}
    total = 0
    with (folder / trace_folder.PROFILE).open("w", encoding="utf-8") as profile:
        profile.write(json.dumps(header) + "\n")
        for rank in range(ranks):
            events = events_of(rank, ranks, steps)
            total += len(events)
            head = b"\x89KUMITR\n" + numpy.array([1, EVENT.itemsize, rank, ranks], "<u4").tobytes()
            head += numpy.array([len(events), 0, 0, 0, 0], "<u8").tobytes()
            with (folder / trace_folder.EVENTS / f"rank{rank}.events").open("wb") as file:
                file.write(head)
                events.tofile(file)
            line = {"rank": rank, "host": "h", "finalized": True, "communicators": [world | {"rank": rank}]}
            line |= {"calls": [], "sites": sites, "sizes": {}, "partners": [], "regions": []}
            line |= {"seconds": 1.0, "mpi_seconds": 0.1}
            line |= {"trace": {"events": len(events), "left_out": 0, "sites": [0, 1, 2, 3], "regions": []}}
            profile.write(json.dumps(line) + "\n")
    return total
