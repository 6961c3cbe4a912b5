"""How long a subject takes, in a model."""

from collections.abc import Sequence
from typing import overload

import kumihimo._collectives
import kumihimo._goal
import kumihimo._loggp
import kumihimo._machine
import kumihimo._packet
import kumihimo._placement
import kumihimo._programs
import kumihimo._replay
import kumihimo._schedule
import kumihimo._topology


class Accepted:
    @property
    def subject(self) -> str: ...

    @property
    def options(self) -> list[str]: ...

class Model:
    """A row of models.def."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...

    @property
    def fidelity(self) -> str: ...

    @property
    def needs_machine(self) -> bool: ...

    @property
    def accepts(self) -> list[Accepted]: ...

def models() -> list[Model]: ...

def stages() -> list[tuple[str, str, str]]:
    """
    Of the model flow: name, what it does, and what is done without it; empty: it is not switched off.
    """

class CollectiveCase:
    """A collective by an algorithm or a schedule; by neither: by any."""

    def __init__(self, collective: kumihimo._schedule.Collective, variant: kumihimo._collectives.Variant | None = None, parameters: kumihimo._collectives.Parameters = ..., schedule: kumihimo._schedule.Schedule | None = None) -> None: ...

class Place:
    """
    Where a subject runs: a job of a machine, or as many ranks on each node.
    """

    def __init__(self, job: kumihimo._machine.Job | None = None, placement: kumihimo._placement.Placement | None = None, space: kumihimo._topology.RankSpace | None = None, ranks_per_node: int = 1, scalar_reduction: bool = False) -> None: ...

class Disturbance:
    """Noise, nodes that die, and other jobs."""

    def __init__(self, noise: kumihimo._goal.Noise | None = None, deaths: Sequence[tuple[int, float | None, float]] = [], background: kumihimo._packet.Background = ...) -> None:
        """
        `deaths`: node, seconds, or None and the share of the time without deaths.
        """

class Options:
    """What a model is told beside, and what it is to tell."""

    def __init__(self) -> None: ...

    @property
    def link_bytes(self) -> bool: ...

    @link_bytes.setter
    def link_bytes(self, arg: bool, /) -> None: ...

    without: Sequence[str]
    """Stages of the model flow to switch off, by name."""

    explain: bool
    """Whether the model flow tells what each stage did."""

    @property
    def by_rank(self) -> bool: ...

    @by_rank.setter
    def by_rank(self, arg: bool, /) -> None: ...

    @property
    def noise_alone(self) -> bool: ...

    @noise_alone.setter
    def noise_alone(self, arg: bool, /) -> None: ...

    @property
    def timeline(self) -> bool: ...

    @timeline.setter
    def timeline(self, arg: bool, /) -> None: ...

    @property
    def over_time(self) -> bool: ...

    @over_time.setter
    def over_time(self, arg: bool, /) -> None: ...

    @property
    def map_rows(self) -> int: ...

    @map_rows.setter
    def map_rows(self, arg: int, /) -> None: ...

    @property
    def map_bins(self) -> int: ...

    @map_bins.setter
    def map_bins(self, arg: int, /) -> None: ...

    @property
    def ideal_network(self) -> bool: ...

    @ideal_network.setter
    def ideal_network(self, arg: bool, /) -> None: ...

    @property
    def factors(self) -> kumihimo._replay.NetworkFactors: ...

    @factors.setter
    def factors(self, arg: kumihimo._replay.NetworkFactors, /) -> None: ...

    @property
    def intervals(self) -> int:
        """
        Of a recording: most intervals, every so many ranks, the least one in seconds.
        """

    @intervals.setter
    def intervals(self, arg: tuple[int, int, float], /) -> None: ...

    @property
    def packets(self) -> kumihimo._packet.Options: ...

    @packets.setter
    def packets(self, arg: kumihimo._packet.Options, /) -> None: ...

    @property
    def loggops(self) -> str | None: ...

    @loggops.setter
    def loggops(self, text: str | None) -> None: ...

    @property
    def cpus(self) -> int | None: ...

    @cpus.setter
    def cpus(self, number: int | None) -> None: ...

    @property
    def nics(self) -> int | None: ...

    @nics.setter
    def nics(self, number: int | None) -> None: ...

class LogGopsModel:
    """Parameters of LogGOPS, and what a rank's own work takes."""

    @property
    def parameters(self) -> kumihimo._loggp.Parameters: ...

    @property
    def rates(self) -> kumihimo._goal.WorkRates: ...

def loggops(place: Place, options: Options = ...) -> LogGopsModel:
    """Of a place's machine, but for what the options give."""

def rates(model: str, place: Place, options: Options = ...) -> kumihimo._goal.WorkRates:
    """What a rank's own work takes in the model."""

class Prediction:
    """What a model says of a subject."""

    @property
    def model(self) -> str: ...

    @property
    def seconds(self) -> float: ...

    @property
    def bound_seconds(self) -> float: ...

    @property
    def limiting(self) -> str: ...

    @property
    def accuracy(self) -> str: ...

    @property
    def algorithm(self) -> str: ...

    @property
    def parameters(self) -> str: ...

    @property
    def segments(self) -> int: ...

    @property
    def link_bytes(self) -> list[float]: ...

    @property
    def times(self) -> kumihimo._replay.Times | None: ...

    @property
    def timeline(self) -> str: ...

    @property
    def timeline_left_out(self) -> int: ...

    @property
    def delays(self) -> kumihimo._loggp.Delays | None: ...

    @property
    def too_long(self) -> float: ...

    @property
    def too_short(self) -> float: ...

    @property
    def link_utilisation(self) -> object:
        """By link, by bin of time: share that is busy."""

    @property
    def bin_seconds(self) -> float: ...

    @property
    def start_seconds(self) -> float: ...

    @property
    def background(self) -> list[kumihimo._packet.BackgroundUse]: ...

    def to_json(self) -> str: ...

@overload
def predict(model: str, subject: CollectiveCase, place: Place, disturbance: Disturbance = ..., options: Options = ...) -> Prediction: ...

@overload
def predict(model: str, subject: kumihimo._programs.NamedPrograms, place: Place, disturbance: Disturbance = ..., options: Options = ...) -> Prediction: ...

@overload
def predict(model: str, subject: kumihimo._goal.Graphs, place: Place, disturbance: Disturbance = ..., options: Options = ...) -> Prediction: ...

@overload
def predict(model: str, subject: kumihimo._replay.Program, place: Place, disturbance: Disturbance = ..., options: Options = ...) -> Prediction: ...

def prediction_schema() -> str:
    """The JSON Schema of Prediction.to_json()."""
