"""Traces of made-up programs, as `record --trace` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import rank_files

from kumihimo import cli
from kumihimo._trace import Kind
from kumihimo.run.profile import otf2_writing

CALLS = {"1": "MPI_Allreduce", "2": "MPI_Send", "3": "MPI_Recv", "4": "MPI_Isend", "5": "MPI_Wait", "6": "MPI_Test"}
CALLS |= {"7": "MPI_Ialltoallv", "8": "MPI_Bcast", "9": "MPI_Irecv", "10": "MPI_Initialized", "11": "MPI_Bsend"}
CALLS |= {"12": "MPI_Init", "13": "MPI_Allgatherv", "14": "MPI_Scatter", "15": "MPI_Neighbor_allgather"}
COLLECTIVES = {"MPI_Allreduce": "allreduce", "MPI_Bcast": "bcast", "MPI_Ialltoallv": "alltoall"}
COLLECTIVES |= {"MPI_Allgatherv": "allgather", "MPI_Scatter": "scatter", "MPI_Neighbor_allgather": "neighbor_allgather"}
WORLD, DUPLICATE = 1, 2  # numbers of communicators
NUMBERS = {name: int(number) for number, name in CALLS.items()}
LINES = {name: 10 + number for name, number in NUMBERS.items()}


OTF2 = pytest.mark.parametrize("traced", ["otf2"], indirect=True)  # of tests of that format alone


def need_otf2() -> None:
    if not otf2_writing.is_possible():
        pytest.skip("no python3-otf2 on this machine")


class Rank:
    """The raw events of a rank. Times are in nanoseconds; each call takes 10."""

    def __init__(self) -> None:
        self.now = 1000
        self.had = 0  # of a processor, since the last call; 0: not measured
        self.recorder = 0  # nanoseconds of the recorder since then
        self.lists: list[Sequence[int]] = []  # of parts
        self.communicators: list[dict] = []  # beside these two, as a profile has them
        self.regions = ["solve"]
        self.rows = [rank_files.event(self.now, Kind.begin_program)]

    def compute(self, ns: int) -> Rank:
        self.now += ns
        return self

    def had_processor(self, ns: int) -> Rank:
        self.had = ns
        return self

    def recorded(self, ns: int) -> Rank:
        self.recorder = ns
        return self

    def region(self, begins: bool, number: int = 0) -> Rank:
        kind = Kind.begin_region if begins else Kind.end_region
        self.rows.append(rank_files.event(self.now, kind, rank_files.region(number)))
        return self

    def call(
        self, name: str, *what: tuple[Kind, int, int, int, int], on: int = WORLD, parts: Sequence[int] = ()
    ) -> Rank:
        """Events of kind, bytes, partner, tag and request, on a communicator."""
        call = NUMBERS[name]
        entered = rank_files.entered(self.recorder, self.had, site=call - 1)
        self.rows.append(rank_files.event(self.now, Kind.enter, entered, call))
        self.had = self.recorder = 0
        self.now += 10
        if parts:
            self.lists.append(parts)
        for kind, size, partner, tag, request in what:
            if "collective" in kind.name:
                told = rank_files.collective(COLLECTIVES[name], size, partner, on, len(self.lists) if parts else 0)
            else:
                told = rank_files.message(size, partner, max(0, tag), on)
            self.rows.append(rank_files.event(self.now, kind, told, call, request=request))
        self.rows.append(rank_files.event(self.now, Kind.leave, call=call))
        return self

    def send(self, to: int, size: int = 8, tag: int = 1) -> Rank:
        return self.call("MPI_Send", (Kind.send, size, to, tag, 0))

    def receive(self, source: int, size: int = 8, tag: int = 1) -> Rank:
        return self.call("MPI_Recv", (Kind.receive, size, source, tag, 0))

    def allreduce(self, size: int = 8) -> Rank:
        return self.call("MPI_Allreduce", (Kind.collective, size, -1, -1, 0))

    def file(self, rank: int, ranks: int) -> bytes:
        end = rank_files.event(self.now, Kind.end_program, rank_files.elapsed(self.recorder, self.had))
        return rank_files.file(rank, ranks, b"".join([*self.rows, end]), self.lists)


def write_trace(folder: Path, ranks: list[Rank], processors: str | None = None) -> None:
    """The trace of these ranks in a new folder, as `record --trace` leaves it."""
    lines = [{"kumihimo_profile": 1, "mpi": "a library", "ranks": len(ranks), "sync": False}]
    lines[0]["trace"] = {"calls": CALLS}
    world = {"name": "MPI_COMM_WORLD", "site": None, "size": len(ranks), "leader": 0, "inter": False}
    sites = [{"file": "/home/step.py", "line": LINES[name], "function": "run"} for name in NUMBERS]
    for number, rank in enumerate(ranks):
        line = {"rank": number, "host": "h", "finalized": True, "communicators": []}
        line["communicators"] = [world | {"rank": number, "name": name} for name in ("MPI_COMM_WORLD", "MPI_Comm_dup")]
        line["communicators"] += rank.communicators
        line |= {} if processors is None else {"processors": processors}
        line |= {"calls": [], "sites": sites, "sizes": {}, "partners": [], "regions": []}
        line |= {"seconds": 1.0, "mpi_seconds": 0.1}
        trace = {"events": len(rank.rows) - 1, "left_out": 0, "regions": rank.regions}
        lines.append(line | {"trace": trace | {"sites": list(range(len(sites)))}})
    rank_files.write(folder, {number: rank.file(number, len(ranks)) for number, rank in enumerate(ranks)}, lines)


@pytest.fixture(params=["own", "otf2"])
def traced(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[list[Rank]], Path]:
    """The trace of these ranks: the folder of `record --trace`, or the OTF2 in it."""
    if request.param == "otf2":
        need_otf2()

    def written(ranks: list[Rank], processors: str | None = None) -> Path:
        folder = tmp_path / f"trace{len(list(tmp_path.iterdir()))}"
        write_trace(folder, ranks, processors)
        return otf2_writing.write(folder).parent if request.param == "otf2" else folder

    return written


@pytest.fixture
def replay(capsys: pytest.CaptureFixture) -> Callable[..., dict | str]:
    """The verb: its object with --json, else what it prints; of a failure the sentence."""

    def ran(*words: object) -> dict | str:
        code = cli.carry_out(["replay", *map(str, words)])
        told = capsys.readouterr()
        if code:
            return told.err
        return json.loads(told.out)["results"][0] if "--json" in words else told.out

    return ran
