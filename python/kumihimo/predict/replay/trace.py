"""A program to replay, whatever it was read from."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo import _goal, _replay


@dataclass
class Trace:
    """A recorded program, and the names of its places."""

    recording: _replay.Recording | None  # None: a GOAL file
    sites: list[str]  # "MPI_Send at solver.c:12"
    regions: list[str]
    seconds: float  # of the recording, from the end of MPI_Init to the beginning of MPI_Finalize
    computing: list[float]  # by rank: the time of the recording outside MPI
    silent: dict[str, int]  # calls that move no data here, which the replay leaves out
    events: int = 0
    crowded: tuple[str, int, int] | None = None  # the host with most ranks a processor: their numbers, if above one
    graphs: _goal.Graphs | None = None  # of a GOAL file
    shared: bool = False  # computing is the time that ranks had a processor, which they shared
    left_out: int = 0  # events that the recorder had no room for
    mpi: str = ""  # what the MPI library called itself, where the recording tells
    off: float = 0.0  # the longest time that recording was off on a rank, in seconds
    generated: bool = False  # a workload, which nobody recorded
