"""The MPI library's own collectives, where the machine file has their measured times ([library_collectives]).

A model knows the messages of an algorithm, and not what a library's call takes beside them: checks, temporary memory,
copies. So the call is performed by an algorithm that the model does not find slower than the measured time, and each
rank then takes the rest of that time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kumihimo import _collectives, _machine, _predict
from kumihimo.predict.replay.choices import Call, Ground, alternatives, collective_of
from kumihimo.predict.replay.models import ReplayModel
from kumihimo.text.errors import KumihimoError

Performed = tuple[_collectives.Variant, _collectives.Parameters, float]


@dataclass(frozen=True)
class LibraryTimes:
    """`points`: lengths in bytes and seconds, the shortest first, by collective, number of ranks and of nodes."""

    points: Mapping[tuple[str, int, int], Sequence[tuple[int, float]]]

    @classmethod
    def of(cls, machine: _machine.Machine | None) -> LibraryTimes:
        points: dict[tuple[str, int, int], list[tuple[int, float]]] = {}
        for collective, ranks, nodes, size, seconds in machine.library_collectives if machine else ():
            points.setdefault((collective, ranks, nodes), []).append((size, seconds))
        return cls({key: sorted(found) for key, found in points.items()})

    def seconds(self, collective: str, ranks: int, nodes: int, size: int) -> float | None:
        """Between two lengths on a line of the logarithms; below the shortest its time, beyond the longest its rate.
        None: not measured on so many ranks and nodes."""
        known = self.points.get((collective, ranks, nodes))
        if not known:
            return None
        (least, shortest), (most, longest) = known[0], known[-1]
        if size <= least:
            return shortest
        if size >= most:
            return longest * size / max(1, most)
        (low, before), (high, after) = next((a, b) for a, b in pairwise(known) if size < b[0])
        share = math.log(size / max(1, low)) / math.log(high / max(1, low))
        return before * (after / before) ** share


@dataclass
class MeasuredLibraryCalls:
    """Times of a program's library calls in the model that replays it first: what-ifs keep what a call takes beyond its
    messages.
    """

    model: ReplayModel
    known: dict[Call, Performed | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.times = LibraryTimes.of(self.model.setting.machine)

    def seconds(self, call: Call) -> float | None:
        """As measured, of all ranks of the job; None: nobody has."""
        is_of_job = call.of_all and self.model.job is not None and not call.irregular
        if not is_of_job or not self.times.points:
            return None
        return self.times.seconds(call.collective, call.ranks, self.model.nodes_used(call.ranks), call.bytes)

    def performed(self, call: Call, usual: _collectives.Variant, ground: Ground) -> Performed | None:
        """None: by the usual algorithm alone."""
        if call not in self.known:
            measured = self.seconds(call)
            self.known[call] = None if measured is None else self._nearest(call, measured, usual, ground)
        return self.known[call]

    def _nearest(self, call: Call, measured: float, usual: _collectives.Variant, ground: Ground) -> Performed:
        parameters = ground.parameters(call.bytes)
        alone = self._alone(call, usual, parameters)
        if alone <= measured:
            return usual, parameters, measured - alone
        others = {each.name: (self._alone(call, each, parameters), each) for each in alternatives(call, ground)}
        below = [found for found in others.values() if found[0] <= measured]
        seconds, variant = max(below or [min(others.values(), key=lambda each: each[0])], key=lambda each: each[0])
        return variant, parameters, max(0.0, measured - seconds)

    def _alone(self, call: Call, variant: _collectives.Variant, parameters: _collectives.Parameters) -> float:
        setting = replace(self.model.setting, deaths=(), noise=None)
        try:
            return setting.predict(_predict.CollectiveCase(collective_of(call), variant, parameters)).seconds
        except KumihimoError:  # the model does not have it
            return math.inf
