"""Recorded programs, run again in a model."""

from collections.abc import Sequence

import kumihimo._collectives
import kumihimo._goal
import kumihimo._topology


class Source:
    """A program of so many ranks."""

    @property
    def ranks(self) -> int: ...

    def count_of(self, call: int) -> int:
        """How often one of `calls` is performed."""

    def members(self, call: int) -> list[int]:
        """The ranks of the program that perform one of `calls`, in their order."""

    @property
    def calls(self) -> list[tuple[str, int, int, bool, bool]]:
        """
        The different collectives: name, ranks, bytes of the vector or a block, whether blocks differ, whether it is of all ranks in their order.
        """

class Recording(Source):
    """What each rank of a program did."""

    def __init__(self, ranks: int) -> None: ...

    def add_communicator(self, members: Sequence[int]) -> int:
        """Its number; 0 is the world."""

    def add_parts(self, bytes: Sequence[int]) -> int:
        """The number of this list, from 1."""

    def set(self, rank: int, rows: bytes) -> None:
        """The events of a rank, as they lie in memory."""

    def name_places(self, names: Sequence[str]) -> None:
        """Of call sites, for errors."""

    def complete(self) -> None: ...

class Recorded:
    """A recording of the recorder's files."""

    @property
    def recording(self) -> Recording: ...

    @property
    def sites(self) -> list[str]: ...

    @property
    def regions(self) -> list[str]: ...

    @property
    def seconds(self) -> float: ...

    @property
    def computing(self) -> list[float]: ...

    @property
    def events(self) -> int: ...

    @property
    def left_out(self) -> int:
        """Events that the recorder had no room for."""

    @property
    def shared(self) -> bool: ...

    @property
    def silent(self) -> list[tuple[str, int]]:
        """Calls that were left out, and how often."""

def read_recorded(files: Sequence[str], calls: Sequence[tuple[int, str, bool, bool]], sites: Sequence[str], regions: Sequence[str], communicators: Sequence[Sequence[int] | None], ranks: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]]) -> Recorded:
    """
    `files`: by rank. `calls`: number, name, whether the program begins when it leaves, whether its send ends before it is received. `communicators`: members, the first one is the world; None: unknown. `ranks`: of each, places in these lists by its numbers of sites, regions and communicators.
    """

class Extrapolation(Source):
    """A recording of another number of ranks."""

    def model_of(self, rank: int) -> int:
        """The recorded rank that does the same."""

def grid_of(recording: Recording) -> list[int]:
    """The grid on which its messages go the least distance."""

def scaled_grid(grid: Sequence[int], ranks: int) -> list[int]:
    """A grid of so many ranks with as many axes."""

def extrapolated(recording: Recording, from_: Sequence[int], to: Sequence[int], strong: bool) -> Extrapolation:
    """A program like the recording on a larger or smaller grid."""

def collectives() -> list[str]: ...

class Times:
    """Seconds of a replayed program."""

    @property
    def total(self) -> float: ...

    @property
    def last_rank(self) -> int: ...

    @property
    def end(self) -> list[float]: ...

    @property
    def computing(self) -> list[float]: ...

    @property
    def lost_to_noise(self) -> float: ...

    @property
    def operations(self) -> int: ...

    @property
    def messages(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def sites(self) -> list[tuple[int, float, float, int, int]]:
        """
        By call site: calls, time of all ranks, of the rank with most, this rank, ranks.
        """

    @property
    def regions(self) -> list[tuple[int, float, float, int, int]]: ...

    @property
    def intervals(self) -> list[tuple[int, int, bool, float, float]]:
        """Rank, place, whether it is a call, start, end."""

class NetworkFactors:
    """Of latency of a hop, cost of a message, and bandwidth."""

    def __init__(self, latency: float = 1.0, cost: float = 1.0, bandwidth: float = 1.0) -> None: ...

class ProgramSends:
    """What each rank of a recording sends, with its collectives."""

    def __init__(self, source: Source, chosen: Sequence[tuple[kumihimo._collectives.Variant, kumihimo._collectives.Parameters, float] | None], space: kumihimo._topology.RankSpace | None = None) -> None: ...

    @property
    def ranks(self) -> int: ...

    def sends(self, rank: int) -> tuple[list[int], list[int], list[int]]:
        """
        Of all sends of a rank: receivers in ascending order, bytes and messages of each.
        """

class Program:
    """A recording as graphs of operations."""

    @property
    def different(self) -> int:
        """Graphs that ranks share."""

    def site_of_wait(self, rank: int, operation: int) -> int | None:
        """Of the first call that leaves when the operation ends; None: of none."""

    def site_of(self, rank: int, operation: int) -> int | None:
        """Of the call that it is a part of; None: of none."""

    @property
    def graphs(self) -> kumihimo._goal.Graphs: ...

def program_of(source: Source, choices: Sequence[tuple[kumihimo._collectives.Variant, kumihimo._collectives.Parameters, float] | None], rates: kumihimo._goal.WorkRates, speed: float = 1.0, region_speed: Sequence[float] = [], balanced: bool = False, space: kumihimo._topology.RankSpace | None = None, windowed_from: int | None = None) -> Program:
    """
    `choices`: algorithm and parameters of each of source.calls, and seconds that each of its ranks takes beyond them; None: the call sends nothing. `windowed_from`: with more operations there are no graphs; times() makes them as it comes to them. None: there must be graphs.
    """

def program_of_goal(graphs: kumihimo._goal.Graphs, speed: float = 1.0, balanced: bool = False) -> Program:
    """The graphs of a GOAL file as a program without call sites."""
