"""Wisdom for a machine that nobody has at hand: the fastest by the simulator. There is no library to compare with, so
the figures are predictions of ours alone, and the file says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kumihimo import _collectives, _machine
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import KumihimoError, NotApplicable, OutOfTime, not_applicable
from kumihimo.text.ranges import ranges
from kumihimo.tune import search
from kumihimo.tune.bench import variations
from kumihimo.tune.bench.cases import BenchCase, sizes_of
from kumihimo.tune.bench.tuned import Choice
from kumihimo.tune.foresight import PredictSeconds
from kumihimo.tune.journal import Journal
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.targets import ANY
from kumihimo.tune.wisdom import LIBRARY, rounded

Predict = Callable[[simulation.CollectiveQuestion, int], dict]


def predict(asked: simulation.CollectiveQuestion, size: int) -> dict:
    variant = simulation.variants(asked.arguments.collective, asked.algorithm)[0]
    return simulation.predict(asked, simulation.Case(variant, size))


def named_segments(collective: str, choice: Choice, segment_bytes: int) -> dict:
    """The parameters, with the segment size of the machine where the algorithm was predicted with it by default: real
    ranks have another default."""
    name, parameters = choice[0], dict(choice[1])
    by_default = {p.name for p in _collectives.find(collective, name).parameters if p.default_value == "the machine's"}
    if "segment_bytes" in by_default and not parameters.keys() & {"segment_bytes", "segments"}:
        parameters["segment_bytes"] = segment_bytes
    return parameters


@dataclass
class Simulated:
    """`asked` says the machine, the ranks and the model."""

    asked: simulation.CollectiveQuestion
    journal: Journal
    clock: BudgetClock
    predict: Predict = predict
    step: Callable[[str], None] = lambda what: None
    reached: bool = False  # whether a size has its choice: a budget always allows one

    @property
    def node_sizes(self) -> list[int]:
        """The ranks of each node; of nodes alike only one."""
        return self.asked.space.node_sizes or [self.asked.space.ranks_per_node]

    def tune(self, collective: str, sizes: Sequence[int]) -> tuple[list[dict], list[int]]:
        """Choices as wisdom has them, and the sizes that there was no time for."""
        sizes = sizes_of(collective, sizes)
        found: dict[int, tuple[Choice, float]] = {}
        wanted = search.coarse(sizes)
        try:
            while wanted:
                for size in wanted:
                    self.step(f"{collective}, {size} bytes")
                    found[size] = self.fastest(collective, size)
                    self.reached = True
                wanted = list(search.between(sizes, {size: choice for size, (choice, _) in found.items()}))
        except OutOfTime:
            pass
        left = [size for size in search.coarse(sizes) if size not in found]
        winners = {size: choice for size, (choice, _) in found.items()}
        known = [size for size in sizes if size not in left and min(found, default=0) <= size <= max(found, default=0)]
        points = list(search.spread(winners, known).items())
        chosen = [each for each in ranges(points, LIBRARY) if each.chosen != LIBRARY]
        return [self.row(collective, each, found) for each in chosen], left

    def fastest(self, collective: str, size: int) -> tuple[Choice, float]:
        """All algorithms; the best of them with other segments; and the best of these with other windows and trees."""
        of_a_node, ranks = max(self.node_sizes), self.asked.space.ranks
        names = [variant.name for variant in simulation.variants(collective)]
        every = [(name, variations.start(collective, name, of_a_node, ranks)) for name in names]
        name, parameters, seconds = self.best(collective, size, every)
        on = variations.NodeFill(ranks, of_a_node)
        for vary in (variations.segments, variations.others):
            given = dict(parameters)
            tried = [(name, with_more) for with_more in vary(collective, name, size, on, given)]
            name, parameters, seconds = self.best(collective, size, tried)
        return (name, tuple(parameters.items())), seconds

    def best(self, collective: str, size: int, tried: Sequence[tuple[str, dict]]) -> tuple[str, dict, float]:
        times = []
        for name, parameters in tried:
            seconds = self.seconds(collective, size, name, parameters)
            if seconds is not None:
                times.append((seconds, name, parameters))
        if not times:
            raise not_applicable(f"no algorithm of {collective} fits these ranks")
        seconds, name, parameters = min(times, key=lambda time: time[0])
        return name, parameters, seconds

    def seconds(self, collective: str, size: int, name: str, parameters: dict) -> float | None:
        """None where the algorithm does not fit."""
        key = {"collective": collective, "bytes": size, "algorithm": name, "parameters": parameters}
        key |= {"ranks": self.asked.space.ranks, "node_sizes": self.node_sizes}
        known = self.journal.recall(self.asked.setting.model, key)
        if known is None:
            if self.clock.left <= 0 and self.reached:
                raise OutOfTime("no time for a prediction")
            wanted = replace(self.asked.arguments, collective=collective)
            asked = replace(self.asked, arguments=wanted, algorithm=name, parameters=parameters)
            try:
                known = {"seconds": self.predict(asked, size)["seconds"]}
            except NotApplicable as reason:
                known = {"seconds": None, "reason": str(reason)}
            self.journal.keep(self.asked.setting.model, [(key, known)])
        return known["seconds"]

    def row(self, collective: str, each, found: dict) -> dict:
        space = self.asked.space
        ranks = space.ranks
        measured = [rounded({"bytes": size, "seconds": found[size][1]}) for size in each.sizes if size in found]
        return {
            "collective": collective,
            "ranks": ranks,
            "nodes": len(self.node_sizes) if len(self.node_sizes) > 1 else ranks // space.ranks_per_node,
            "ranks_per_node": space.ranks_per_node,
            "determinism": ANY,
            "algorithm": each.chosen[0],
            "parameters": named_segments(
                collective, each.chosen, self.asked.job.machine.segment_bytes_of(max(each.sizes))
            ),
            "from_bytes": each.from_bytes,
            "to_bytes": each.to_bytes,
            "simulated": True,
            "measured": measured,
        }


def asked_of(job: _machine.Job, model: str = "flow") -> simulation.CollectiveQuestion:
    return simulation.CollectiveQuestion(Setting(model, job), CollectiveArguments("allreduce"), "", {})


def seconds_on(machine: _machine.Machine) -> PredictSeconds:
    """Of cases on the machine, on all slots of its nodes in order. None for ranks that do not fill them."""

    @cache
    def of_ranks(ranks: int) -> simulation.CollectiveQuestion | None:
        try:
            return asked_of(simulation.on(machine, Ranks(None, ranks, None)))
        except KumihimoError:
            return None

    def seconds(case: BenchCase, ranks: int) -> float | None:
        asked = of_ranks(ranks)
        if asked is None or case.counts is not None or case.neighbours is not None:
            return None
        question = replace(asked, arguments=case.arguments, algorithm=case.algorithm, parameters=case.parameters)
        try:
            return predict(question, case.bytes)["seconds"]
        except NotApplicable:
            return None

    return seconds
