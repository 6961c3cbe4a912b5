"""The search for a placement."""

from collections.abc import Sequence

import kumihimo._machine
import kumihimo._placement
import kumihimo._topology
import kumihimo._traffic


class Progress:
    """How far a search is, and the best placement so far."""

    @property
    def phase(self) -> str: ...

    @property
    def done(self) -> float:
        """Share of the phase."""

    @property
    def average_hops(self) -> float: ...

    @property
    def link_bytes_max(self) -> float: ...

    @property
    def least_hops(self) -> float:
        """The best proved bound."""

class Measures:
    """What a placement is judged by."""

    @property
    def average_hops(self) -> float:
        """Of a byte."""

    @property
    def hop_bytes(self) -> float: ...

    @property
    def link_bytes_max(self) -> int:
        """Of the busiest directed link."""

    @property
    def off_node_bytes(self) -> int: ...

class Candidate:
    """A placement that was looked at."""

    @property
    def name(self) -> str: ...

    @property
    def average_hops(self) -> float: ...

    @property
    def hop_bytes(self) -> float: ...

    @property
    def link_bytes_max(self) -> int: ...

    @property
    def off_node_bytes(self) -> int: ...

    @property
    def seconds(self) -> float | None:
        """Predicted, for the objective time."""

    @property
    def within_cap(self) -> bool:
        """Whether its busiest link carries no more than it may."""

class Mapping:
    """The placement that a search chose, and what it knows of it."""

    @property
    def placement(self) -> kumihimo._placement.Placement: ...

    @property
    def chosen(self) -> int:
        """Index in candidates."""

    @property
    def candidates(self) -> list[Candidate]:
        """The usual order first."""

    @property
    def lattices(self) -> list[str]:
        """Grids that were recognised."""

    @property
    def bounds(self) -> list[tuple]:
        """Name, average hops that no placement is below, why; highest first."""

    @property
    def link_bounds(self) -> list[tuple]:
        """
        Name, bytes that the busiest link carries at least, why; highest first.
        """

    @property
    def complete(self) -> bool:
        """Not stopped."""

    @property
    def libraries(self) -> list[str]:
        """That cut graphs."""

    @property
    def levels(self) -> list[tuple]:
        """
        Of each level within nodes: name, bytes across in the usual order, bytes across.
        """

class Run:
    """A search on threads of its own."""

    def wait(self, seconds: float) -> bool:
        """True: it has ended."""

    def progress(self) -> Progress: ...

    def stop(self) -> None:
        """It ends soon, with the best placement so far."""

    def result(self) -> Mapping:
        """Waits; once only."""

def start(traffic: kumihimo._traffic.Traffic, job: kumihimo._machine.Job, objective: str = 'hop-bytes', effort: str = 'standard', seed: int = 1, grid: kumihimo._topology.Shape | None = None, link_cap: bool = True, threads: int = 0, starts: Sequence[tuple[str, kumihimo._placement.Placement]] = [], libraries: bool = True, usual: tuple[str, kumihimo._placement.Placement] | None = None, within_node: Sequence[tuple[str, int]] = []) -> Run: ...

def measure(traffic: kumihimo._traffic.Traffic, job: kumihimo._machine.Job, placement: kumihimo._placement.Placement) -> Measures: ...

def link_loads(traffic: kumihimo._traffic.Traffic, job: kumihimo._machine.Job, placement: kumihimo._placement.Placement) -> list[int]:
    """Bytes by link number, as the machine's topology numbers its links."""
