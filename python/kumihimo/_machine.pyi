"""Described machines, and this host."""

from collections.abc import Sequence
import os
from typing import Final

import kumihimo._placement
import kumihimo._topology


class PredictionErrors:
    """How far measured times are from predictions."""

    @property
    def source(self) -> str: ...

    @property
    def fewest_nodes(self) -> int: ...

    @property
    def most_nodes(self) -> int: ...

    @property
    def day_to_day(self) -> float | None: ...

    @property
    def correlation(self) -> float:
        """Of errors of two algorithms of different classes."""

    @property
    def correlation_in_class(self) -> float:
        """The same of one class."""

    @property
    def rows(self) -> list[tuple[str, str, int, float, float, float]]:
        """
        Classes of algorithms and of lengths, the times that each rests on, low and high factors and the median.
        """

    classes: Final[tuple[list[str], list[str]]] = ...
    """Those of algorithms and of lengths that a row may name."""

class Machine:
    """
    A topology and the numbers that a prediction needs, each with its source.
    """

    @property
    def name(self) -> str: ...

    @property
    def library_collectives(self) -> list[tuple[str, int, int, int, float]]:
        """
        Collective, ranks, nodes, bytes and seconds of the MPI library's own calls; empty: nobody has measured them.
        """

    @property
    def summary(self) -> str: ...

    @property
    def family(self) -> str: ...

    @property
    def shape(self) -> kumihimo._topology.Shape: ...

    @property
    def nodes(self) -> int: ...

    @property
    def default_ranks_per_node(self) -> int: ...

    @property
    def cores(self) -> int: ...

    @property
    def compute_rates(self) -> tuple[float, float]:
        """
        Flops that a rank computes each second, 0 if the machine file lacks them; bytes that its node moves.
        """

    @property
    def software_state(self) -> str:
        """Whose numbers these are; empty: of no named state."""

    @property
    def software_states(self) -> list[str]:
        """The names of those that the file describes."""

    @property
    def prediction_errors(self) -> PredictionErrors | None:
        """None where no calibration has found them."""

    @property
    def node_names(self) -> list[str]:
        """As the scheduler calls them; empty: they have only numbers."""

    def segment_bytes_of(self, bytes: int) -> int:
        """The segment of a pipelined algorithm for a vector of so many bytes."""

    @property
    def segment_bytes(self) -> int: ...

    def link_name(self, link: int) -> str: ...

    @property
    def links(self) -> list[tuple[int, int, int, int]]:
        """Every directed link: its number, both ends, and its class."""

    @property
    def switches(self) -> int:
        """As ends of links they are numbered from `nodes` on."""

    def route(self, from_: int, to: int) -> list[int]:
        """The numbers of the links that a message crosses, in order."""

    @property
    def link_classes(self) -> list[str]:
        """The names of the classes; none: all links are alike."""

    def with_shape(self, job: kumihimo._topology.Shape) -> Machine:
        """The same machine as a job of this shape sees it."""

    def with_box(self, box: str, job: kumihimo._topology.Shape | None = None) -> Machine:
        """The same machine as a job in this box of Tofu sees it."""

    def without(self, nodes: Sequence[Sequence[int]], cables: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Machine:
        """
        After these nodes of the job's torus have died, and cables between neighbours.
        """

    def with_slow(self, nodes: Sequence[tuple[int, float]], links: Sequence[tuple[int, int, float]]) -> Machine:
        """
        With slow nodes (node, factor) and links between neighbours (from, to, factor).
        """

    def with_routing(self, routing: str) -> Machine:
        """With another of its family's ways of routing."""

    @property
    def on_switches(self) -> bool: ...

    def as_torus(self, torus: kumihimo._topology.Shape) -> Machine:
        """The same numbers on a torus of its own."""

    @property
    def network(self) -> str: ...

    @property
    def losses(self) -> str:
        """What the job lacks of its torus because parts are dead; or empty."""

    def numbers_to_toml(self) -> str:
        """The sections of a machine file, without [topology]."""

    def to_json(self) -> str: ...

    def to_text(self) -> str: ...

def load(path_or_name: str, search: Sequence[str | os.PathLike], software: str = '') -> Machine:
    """`software`: a state of the software; the file's default."""

def names(search: Sequence[str | os.PathLike]) -> list[str]: ...

class Job:
    """
    The nodes that a job has of a machine, and slots for its ranks on each.
    """

    def __init__(self, machine: Machine) -> None:
        """All nodes, with as many ranks on each as the machine says."""

    @staticmethod
    def with_ranks_per_node(machine: Machine, ranks: int) -> Job: ...

    @staticmethod
    def with_node_sizes(machine: Machine, sizes: Sequence[int]) -> Job:
        """With so many ranks on each node; a node of none belongs to others."""

    @property
    def machine(self) -> Machine: ...

    @property
    def slots(self) -> kumihimo._placement.Slots: ...

    @property
    def rank_space(self) -> kumihimo._topology.RankSpace: ...

    def rank_space_of(self, placement: kumihimo._placement.Placement) -> kumihimo._topology.RankSpace:
        """What the ranks see when they are placed so."""

class Host:
    """What hwloc says of this host."""

    @property
    def processor(self) -> str: ...

    @property
    def cores(self) -> int: ...

    @property
    def hardware_threads(self) -> int: ...

    @property
    def numa_nodes(self) -> int: ...

    @property
    def memory_bytes(self) -> int: ...

    @property
    def last_level_cache_bytes(self) -> int: ...

    @property
    def core_cache_bytes(self) -> int: ...

    @property
    def levels(self) -> list[tuple[str, int]]: ...

    @property
    def not_nested(self) -> list[tuple[str, int]]:
        """
        Levels that were left out because they do not nest in the one around them.
        """

    @property
    def unnamed(self) -> list[tuple[str, int]]:
        """Groups and dies, which are no levels of a machine."""

    @property
    def uneven(self) -> list[tuple[str, int]]:
        """
        Levels that were left out because their parts have different numbers of cores.
        """

def parse_host_list(text: str) -> list[str]:
    """The names in a list such as n[01-03,7]."""

def host_list(names: Sequence[str]) -> str:
    """The names as a list, consecutive numbers joined."""

def discover_host() -> Host: ...

def host_of(processor: str, memory_bytes: int, parts: Sequence[tuple[str, int, Sequence[int]]]) -> Host:
    """
    A host from the kind, the bytes and the processing units of each of its parts.
    """

def parse(text: str, file_name: str, software: str = '') -> Machine:
    """A machine from the text of its file."""

class Calibration:
    """
    Figures taken on this host; rates in bytes per second, times in seconds.
    """

    def __init__(self, method: str, ranks: int, memory_bandwidth: float, copy_bandwidth: float, message_latency: float, reduction_rate: float, reduction_rate_scalar: float, message_cost: float, relay_latency: float, segment_bytes: int) -> None: ...

def this_machine(host: Host, calibration: Calibration) -> Machine: ...
