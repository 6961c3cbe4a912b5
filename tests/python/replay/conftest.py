"""Traces of made-up programs, as `record --trace` writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kumihimo import cli
from kumihimo.profile import otf2_writing as o

CALLS = {"1": "MPI_Allreduce", "2": "MPI_Send", "3": "MPI_Recv", "4": "MPI_Isend", "5": "MPI_Wait", "6": "MPI_Test"}
CALLS |= {"7": "MPI_Ialltoallv", "8": "MPI_Bcast", "9": "MPI_Irecv", "10": "MPI_Initialized", "11": "MPI_Bsend"}
WORLD, DUPLICATE = 1, 2  # numbers of communicators
NUMBERS = {name: int(number) for number, name in CALLS.items()}
LINES = {name: 10 + number for name, number in NUMBERS.items()}


@pytest.fixture(autouse=True)
def _otf2() -> None:
    try:
        o.library()
    except Exception:
        pytest.skip("no python3-otf2 on this machine")


class Rank:
    """The raw events of a rank. Times are in nanoseconds; each call takes 10."""

    def __init__(self) -> None:
        self.now = 1000
        self.had = 0  # of a processor, since the last call; 0: not measured
        self.recorder = 0  # nanoseconds of the recorder since then
        self.rows = [self.row(o.BEGIN_PROGRAM)]

    def row(
        self, what: int, call: int = 0, size: int = 0, partner: int = -1, tag: int = -1, more: int = 0, on: int = WORLD
    ) -> bytes:
        return o.ROW.pack(self.now, size, what, call, 0, partner, on, tag, more)

    def compute(self, ns: int) -> Rank:
        self.now += ns
        return self

    def had_processor(self, ns: int) -> Rank:
        self.had = ns
        return self

    def recorded(self, ns: int) -> Rank:
        self.recorder = ns
        return self

    def region(self, begins: bool) -> Rank:
        self.rows.append(self.row(o.BEGIN_REGION if begins else o.END_REGION, partner=0))
        return self

    def call(self, name: str, *what: tuple[int, int, int, int, int], on: int = WORLD) -> Rank:
        """Events of kind, bytes, partner, tag and request, on a communicator."""
        call = NUMBERS[name]
        self.rows.append(self.row(o.ENTER, call, self.recorder, partner=call - 1, more=self.had))
        self.had = self.recorder = 0
        began = self.now
        self.now += 10
        for kind, size, partner, tag, request in what:
            more = began if kind == o.COLLECTIVE else request
            self.rows.append(self.row(kind, call, size, partner, tag, more, on))
        self.rows.append(self.row(o.LEAVE, call))
        return self

    def send(self, to: int, size: int = 8, tag: int = 1) -> Rank:
        return self.call("MPI_Send", (o.SEND, size, to, tag, 0))

    def receive(self, source: int, size: int = 8, tag: int = 1) -> Rank:
        return self.call("MPI_Recv", (o.RECEIVE, size, source, tag, 0))

    def allreduce(self, size: int = 8) -> Rank:
        return self.call("MPI_Allreduce", (o.COLLECTIVE, size, -1, -1, 0))

    def events(self) -> bytes:
        return b"".join([*self.rows, self.row(o.END_PROGRAM, size=self.recorder, more=self.had)])


def write_trace(folder: Path, ranks: list[Rank], processors: str | None = None) -> None:
    """The trace of these ranks in a new folder, as `record --trace` leaves it."""
    raw = folder / o.RAW
    raw.mkdir(parents=True)
    lines = [{"kumihimo_profile": 1, "mpi": "a library", "ranks": len(ranks), "sync": False}]
    lines[0]["trace"] = {"calls": CALLS}
    world = {"name": "MPI_COMM_WORLD", "site": None, "size": len(ranks), "leader": 0, "inter": False}
    sites = [{"file": "/home/step.py", "line": LINES[name], "function": "run"} for name in NUMBERS]
    for number, rank in enumerate(ranks):
        events = rank.events()
        (raw / f"rank{number}.events").write_bytes(events)
        line = {"rank": number, "host": "h", "finalized": True, "communicators": []}
        line["communicators"] = [world | {"rank": number, "name": name} for name in ("MPI_COMM_WORLD", "MPI_Comm_dup")]
        line |= {} if processors is None else {"processors": processors}
        line |= {"calls": [], "sites": sites, "sizes": {}, "partners": [], "regions": []}
        line |= {"seconds": 1.0, "mpi_seconds": 0.1}
        trace = {"events": len(events) // o.ROW.size, "left_out": 0, "regions": ["solve"]}
        lines.append(line | {"trace": trace | {"sites": list(range(len(sites)))}})
    profile = folder.parent / "profile.jsonl"
    profile.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    o.write(folder, profile)


@pytest.fixture
def traced(tmp_path: Path) -> Callable[[list[Rank]], Path]:
    """The folder of the trace of these ranks."""

    def written(ranks: list[Rank], processors: str | None = None) -> Path:
        folder = tmp_path / f"trace{len(list(tmp_path.iterdir()))}"
        write_trace(folder, ranks, processors)
        return folder

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
