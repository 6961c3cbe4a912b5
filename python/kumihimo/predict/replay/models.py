"""The model that a program is replayed in: a setting for its predictions, and the changes that could be tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kumihimo import _goal, _loggp, _machine, _placement, _predict, _replay
from kumihimo.network.placement import Placed
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.predict.replay.choices import Ground
from kumihimo.text.errors import KumihimoError

TRIED_ORDERS = ("block", "round-robin", "snake")  # of ranks on nodes
TITLES = {"loggp": "LogGOPS"}
NOT_ABOUT = frozenset(  # members of a prediction that a replay tells in its own way
    ("model", "seconds", "limiting", "accuracy", "last_rank", "operations", "messages", "faults", "wall_seconds")
)


@dataclass(frozen=True)
class ReplayModel:
    """`machine`: what to call it. `may_place`: whether another order of ranks may be tried, which hosts that a
    scheduler has given exclude."""

    setting: Setting
    machine: str
    may_place: bool = True

    @property
    def name(self) -> str:
        return self.setting.model

    @property
    def title(self) -> str:
        return TITLES.get(self.name, self.name)

    @property
    def job(self) -> _machine.Job | None:
        return self.setting.job

    def nodes_used(self, ranks: int) -> int:
        """Number of nodes that the first `ranks` ranks of the job use."""
        return len(set(nodes_of(self.setting.placement or self.in_order("block", ranks))[:ranks]))

    @property
    def rates(self) -> _goal.WorkRates:
        return _predict.rates(self.name, self.setting.place, self.setting.native_options)

    @property
    def ground(self) -> Ground:
        if self.job is None:
            return Ground()
        placement = self.setting.placement or self.in_order("block", self.job.slots.size)
        return Ground(self.setting.ranks, self.setting.machine, node_of_rank=nodes_of(placement))

    @property
    def parameters(self) -> _loggp.Parameters | None:
        """Parameters of LogGOPS; None: the model is another one."""
        if self.name != "loggp":
            return None
        return _predict.loggops(self.setting.place, self.setting.native_options).parameters

    @property
    def takes_turns(self) -> bool:
        """Whether ranks that share a processor compute one after another."""
        parameters = self.parameters
        return parameters is not None and bool(parameters.processors)

    def predict(self, program: _replay.Program, *intervals: float) -> Prediction:
        """`intervals`: how many at most, of every so many ranks, and the least one in seconds."""
        most, every, least = (*intervals, *(0, 1, 0.0)[len(intervals) :])
        return self.telling(intervals=(most, every, least)).predict(program)

    def ideal(self, program: _replay.Program) -> _replay.Times:
        """On an ideal network, whose ranks do not die."""
        return replace(self.telling(ideal_network=True), deaths=()).predict(program).native.times

    def telling(self, **options: object) -> Setting:
        return replace(self.setting, options={**self.setting.options, **options})

    def about(self, found: Prediction) -> dict:
        """Members of the result."""
        placed = {"placement": self.setting.placed.name} if self.setting.placed else {}
        return {**placed, **{name: value for name, value in found.members.items() if name not in NOT_ABOUT}}

    @property
    def undisturbed(self) -> ReplayModel:
        """The same without deaths."""
        return replace(self, setting=replace(self.setting, deaths=()))

    @property
    def makes_operations(self) -> bool:
        """As it comes to them: it needs no graphs of the whole program, which those of ranks that die do."""
        return self.name == "loggp" and not self.setting.deaths

    def changes(self) -> Iterator[tuple[str, ReplayModel]]:
        """The same with one thing changed."""
        return self.other_parameters() if self.name == "loggp" else self.other_networks()

    def other_parameters(self) -> Iterator[tuple[str, ReplayModel]]:
        yield "half the latency (L)", self.with_half("L")
        yield "half the overhead of a message (o)", self.with_half("o")
        if self.parameters.O:  # processors copy messages: one without the other changes little
            yield "twice the bandwidth (G and O)", self.with_half("GO")
        else:
            yield "twice the bandwidth (G)", self.with_half("G")

    def with_half(self, letters: str) -> ReplayModel:
        of = self.parameters
        digits = {letter: 6 if letter in "GO" else 3 for letter in letters}
        halves = [f"{letter}={getattr(of, letter) / 2 * 10.0**-n:.{n}f}" for letter, n in digits.items()]
        given = (self.setting.options.get("loggops") or "").split(",")
        kept = [word for word in given if word.strip() and word.strip()[0] not in letters]
        return replace(self, setting=self.telling(loggops=",".join([*kept, *halves])))

    def other_networks(self) -> Iterator[tuple[str, ReplayModel]]:
        for name, factor in (
            ("half the latency of a hop", {"latency": 0.5}),
            ("half the cost of a message", {"cost": 0.5}),
            ("twice the bandwidth", {"bandwidth": 2.0}),
        ):
            yield name, replace(self, setting=self.telling(factors=_replay.NetworkFactors(**factor)))
        yield from self.other_orders() if self.may_place else ()

    def other_orders(self) -> Iterator[tuple[str, ReplayModel]]:
        """Models with orders that put ranks on other nodes."""
        placement = self.setting.placement
        ranks = placement.ranks if placement else self.job.slots.size
        known = [nodes_of(placement or self.in_order("block", ranks))]
        for name in TRIED_ORDERS:
            try:
                tried = self.in_order(name, ranks)
            except KumihimoError:  # these nodes have no axes
                continue
            nodes = nodes_of(tried)
            if nodes not in known:
                known.append(nodes)
                yield (
                    f"ranks placed by {name}",
                    replace(self, setting=replace(self.setting, placed=Placed(name, tried))),
                )

    def in_order(self, name: str, ranks: int) -> _placement.Placement:
        return _placement.Placement.in_order(name, self.job.slots, self.job.machine.shape, None, ranks)


def nodes_of(placement: _placement.Placement) -> list[int]:
    return list(placement.node_of_rank)
