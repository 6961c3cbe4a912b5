"""The models that a program is replayed in: LogGOPS, and fluids or packets on a machine's network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from kumihimo import (
    _fluid,
    _goal,
    _loggp,
    _machine,
    _packet,
    _placement,
    _replay,
    faults,
    fluid,
    loggp,
    packet,
    simulation,
)
from kumihimo.errors import KumihimoError
from kumihimo.noise import Noise, model_of
from kumihimo.placement import Placed
from kumihimo.replay.choices import Ground

NO_NETWORK = "L=0,o=0,g=0,G=0,O=0,R=0,S=70368744177664"
TRIED_ORDERS = ("block", "round-robin", "snake")  # of ranks on nodes


class Model(Protocol):
    name: str  # as --model has it
    title: str
    machine: str  # what to call it
    job: _machine.Job | None  # None: no machine is described

    @property
    def rates(self) -> _goal.WorkRates: ...
    @property
    def ground(self) -> Ground: ...

    def times(self, program: _replay.Program, *intervals: object) -> _replay.Times: ...
    def ideal(self, program: _replay.Program) -> _replay.Times:
        """On an ideal network."""

    def about(self, times: _replay.Times) -> dict:
        """Members of the result."""

    def faults(self, program: Callable[[], _replay.Program], ranks: int, seconds: float) -> dict | None:
        """What becomes of a program that takes `seconds` without faults, if nodes die; none: none does."""

    @property
    def takes_turns(self) -> bool:
        """Whether ranks that share a processor compute one after another."""

    @property
    def makes_operations(self) -> bool:
        """As it comes to them: it needs no graphs of the whole program."""

    def changes(self) -> Iterator[tuple[str, Model]]:
        """The same with one thing changed."""


@dataclass
class LogGops:
    settings: loggp.Settings
    machine: str
    job: _machine.Job | None = None
    placed: Placed | None = None
    name = "loggp"
    title = "LogGOPS"
    makes_operations = True

    @property
    def rates(self) -> _goal.WorkRates:
        return self.settings.rates

    @property
    def ground(self) -> Ground:
        return Ground(simulation.space_of(self.job, self.placed), self.job.machine) if self.job else Ground()

    @property
    def takes_turns(self) -> bool:
        return bool(self.settings.parameters.processors)

    def times(self, program: _replay.Program, *intervals: object) -> _replay.Times:
        return program.times(self.settings.parameters, model_of(self.settings.noise), *intervals)

    def ideal(self, program: _replay.Program) -> _replay.Times:
        of = self.settings.parameters
        if of.processors:  # which the ranks share there, too
            return program.times(_loggp.parse_parameters(NO_NETWORK, of), model_of(self.settings.noise))
        return program.times(None, model_of(self.settings.noise))

    def about(self, _: _replay.Times) -> dict:
        placed = {"placement": self.placed.name} if self.placed else {}
        return {"loggops": loggp.about(self.settings.parameters), **placed, **about_noise(self.settings.noise)}

    def faults(self, program: Callable[[], _replay.Program], ranks: int, seconds: float) -> dict | None:
        dying = self.settings.dying
        if dying is None:
            return None
        times = dying.times(ranks, seconds)
        deaths = dying.of_ranks(ranks, times)
        found = program().aftermath(self.settings.parameters, model_of(self.settings.noise), deaths)
        return faults.about(found, dying, times)

    def changes(self) -> Iterator[tuple[str, Model]]:
        yield "half the latency (L)", self.with_half("L")
        yield "half the overhead of a message (o)", self.with_half("o")
        if self.settings.parameters.O:  # processors copy messages: one without the other changes little
            yield "twice the bandwidth (G and O)", self.with_half("GO")
        else:
            yield "twice the bandwidth (G)", self.with_half("G")

    def with_half(self, letters: str) -> LogGops:
        of = self.settings.parameters
        digits = {letter: 6 if letter in "GO" else 3 for letter in letters}
        text = ",".join(f"{letter}={getattr(of, letter) / 2 * 10.0**-n:.{n}f}" for letter, n in digits.items())
        return replace(self, settings=replace(self.settings, parameters=_loggp.parse_parameters(text, of)))


def about_noise(noise: Noise | None) -> dict:
    return {"noise": noise.text} if noise else {}


@dataclass
class OnNetwork:
    """What models that know the network and the places of ranks share."""

    job: _machine.Job
    machine: str
    placed: Placed | None = None
    may_place: bool = True  # in another order than the hosts that a scheduler has given
    factors: _replay.NetworkFactors = field(default_factory=_replay.NetworkFactors)
    dying: faults.Dying | None = None
    noise: Noise | None = None
    makes_operations = False

    @property
    def rates(self) -> _goal.WorkRates:
        return _packet.rates_of(self.job)

    @property
    def placement(self) -> _placement.Placement | None:
        return self.placed and self.placed.placement

    @property
    def ground(self) -> Ground:
        return Ground(simulation.space_of(self.job, self.placed), self.job.machine)

    @property
    def takes_turns(self) -> bool:
        return False

    def ideal(self, program: _replay.Program) -> _replay.Times:
        return program.ideal_network_times(self.job, self.placement, model_of(self.noise))

    def about(self, times: _replay.Times) -> dict:
        return {**({"placement": self.placed.name} if self.placed else {}), **about_noise(self.noise)}

    def faults(self, program: Callable[[], _replay.Program], ranks: int, seconds: float) -> dict | None:
        if self.dying is None:
            return None
        times = self.dying.times(ranks, seconds)
        return faults.about(self.aftermath(program().graphs, times), self.dying, times)

    def changes(self) -> Iterator[tuple[str, Model]]:
        factors = _replay.NetworkFactors
        yield "half the latency of a hop", replace(self, factors=factors(latency=0.5))
        yield "half the cost of a message", replace(self, factors=factors(cost=0.5))
        yield "twice the bandwidth", replace(self, factors=factors(bandwidth=2.0))
        yield from self.other_orders() if self.may_place else ()

    def other_orders(self) -> Iterator[tuple[str, Model]]:
        """That put ranks on other nodes."""
        ranks = self.placement.ranks if self.placed else self.job.slots.size
        known = [self.nodes_of(self.placement or self.in_order("block", ranks))]
        for name in TRIED_ORDERS:
            try:
                placement = self.in_order(name, ranks)
            except KumihimoError:  # these nodes have no axes
                continue
            nodes = self.nodes_of(placement)
            if nodes not in known:
                known.append(nodes)
                yield f"ranks placed by {name}", replace(self, placed=Placed(name, placement))

    def in_order(self, name: str, ranks: int) -> _placement.Placement:
        return _placement.Placement.in_order(name, self.job.slots, self.job.machine.shape, None, ranks)

    @staticmethod
    def nodes_of(placement: _placement.Placement) -> list[int]:
        return list(placement.node_of_rank)


@dataclass
class Flow(OnNetwork):
    name = "flow"
    title = "flow"

    def times(self, program: _replay.Program, *intervals: object) -> _replay.Times:
        return program.flow_times(self.job, self.placement, self.factors, model_of(self.noise), *intervals)

    def about(self, times: _replay.Times) -> dict:
        return {**super().about(times), "link_classes": fluid.use_of(times.link_classes)}

    def aftermath(self, graphs: _goal.Graphs, deaths: list[tuple[int, int]]) -> _goal.Aftermath:
        return _fluid.simulate(graphs, self.job, self.placement, deaths, model_of(self.noise)).aftermath


@dataclass
class Packets(OnNetwork):
    options: _packet.Options = field(default_factory=_packet.Options)
    name = "packet"
    title = "packet"

    def times(self, program: _replay.Program, *intervals: object) -> _replay.Times:
        options = self.options.with_noise(model_of(self.noise))
        return program.packet_times(self.job, self.placement, options, self.factors, *intervals)

    def about(self, times: _replay.Times) -> dict:
        return {**super().about(times), **packet.traffic(times.packets, self.job, self.options)}

    def aftermath(self, graphs: _goal.Graphs, deaths: list[tuple[int, int]]) -> _goal.Aftermath:
        options = self.options.with_noise(model_of(self.noise)).with_deaths(deaths)
        return _packet.simulate(graphs, self.job, self.placement, options).aftermath
