"""Wisdom for a machine that nobody has at hand: the fastest by the simulator. There is no library to compare with, so
the figures are predictions of ours alone, and the file says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from kumihimo import _collectives, _machine
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.predict import chances, simulation
from kumihimo.predict.prediction import Setting
from kumihimo.predict.prediction_errors import PredictedCase
from kumihimo.text.errors import KumihimoError, NotApplicable, OutOfTime, not_applicable
from kumihimo.text.json_types import JsonObject
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

Predict = Callable[[simulation.CollectiveQuestion, int], JsonObject]


def predict(asked: simulation.CollectiveQuestion, size: int) -> JsonObject:
    variant = simulation.variants(asked.arguments.collective, asked.algorithm)[0]
    return simulation.predict(asked, simulation.Case(variant, size))


def named_segments(collective: str, choice: Choice, segment_bytes: int) -> JsonObject:
    """The parameters, with the segment size of the machine where the algorithm was predicted with it by default: real
    ranks have another default."""
    name, parameters = choice[0], dict(choice[1])
    by_default = {p.name for p in _collectives.find(collective, name).parameters if p.default_value == "the machine's"}
    if "segment_bytes" in by_default and not parameters.keys() & {"segment_bytes", "segments"}:
        parameters["segment_bytes"] = segment_bytes
    return parameters


@dataclass(frozen=True)
class Predicted:
    """The choice for a length. `low`, `high`: nine of ten measured times are expected between them, and `chance` is the
    probability that no other algorithm is faster; None: the machine has no errors of predictions."""

    choice: Choice
    seconds: float
    low: float | None = None
    high: float | None = None
    chance: float | None = None

    def row(self, size: int) -> JsonObject:
        """As wisdom has it."""
        members = {"low_seconds": self.low, "high_seconds": self.high, "fastest_probability": self.chance}
        known = {name: value for name, value in members.items() if value is not None}
        return rounded({"bytes": size, "seconds": self.seconds, **known})


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

    def tune(self, collective: str, sizes: Sequence[int]) -> tuple[list[JsonObject], list[int]]:
        """Choices as wisdom has them, and the sizes that there was no time for."""
        sizes = sizes_of(collective, sizes)
        found: dict[int, Predicted] = {}
        wanted = search.coarse(sizes)
        try:
            while wanted:
                for size in wanted:
                    self.step(f"{collective}, {size} bytes")
                    found[size] = self.fastest(collective, size)
                    self.reached = True
                wanted = list(search.between(sizes, {size: each.choice for size, each in found.items()}))
        except OutOfTime:
            pass
        left = [size for size in search.coarse(sizes) if size not in found]
        winners = {size: each.choice for size, each in found.items()}
        known = [size for size in sizes if size not in left and min(found, default=0) <= size <= max(found, default=0)]
        points = list(search.spread(winners, known).items())
        chosen = [each for each in ranges(points, LIBRARY) if each.chosen != LIBRARY]
        return [self.row(collective, each, found) for each in chosen], left

    def fastest(self, collective: str, size: int) -> Predicted:
        """All algorithms; the best of them with other segments; and the best of these with other windows and trees."""
        of_a_node, ranks = max(self.node_sizes), self.asked.space.ranks
        names = [variant.name for variant in simulation.variants(collective)]
        every = [(name, variations.start(collective, name, of_a_node, ranks)) for name in names]
        name, parameters, told = self.best(collective, size, every)
        chance = self.chance(collective, size, name, every)
        on = variations.NodeFill(ranks, of_a_node)
        for vary in (variations.segments, variations.others):
            given = dict(parameters)
            tried = [(name, with_more) for with_more in vary(collective, name, size, on, given)]
            name, parameters, told = self.best(collective, size, tried)
        return Predicted((name, tuple(parameters.items())), told["seconds"], told.get("low"), told.get("high"), chance)

    def best(
        self, collective: str, size: int, tried: Sequence[tuple[str, JsonObject]]
    ) -> tuple[str, JsonObject, JsonObject]:
        times = []
        for name, parameters in tried:
            told = self.told(collective, size, name, parameters)
            if told["seconds"] is not None:
                times.append((told, name, parameters))
        if not times:
            raise not_applicable(f"no algorithm of {collective} fits these ranks")
        told, name, parameters = min(times, key=lambda time: time[0]["seconds"])
        return name, parameters, told

    def chance(self, collective: str, size: int, chosen: str, tried: Sequence[tuple[str, JsonObject]]) -> float | None:
        """Probability, before parameters vary, that no other algorithm is faster: intervals are those of classes."""
        errors, ranks = self.asked.setting.errors, self.asked.space.ranks
        times = {name: self.told(collective, size, name, parameters)["seconds"] for name, parameters in tried}
        cases = [
            PredictedCase(collective, name, size, ranks, seconds)
            for name, seconds in times.items()
            if seconds is not None
        ]
        found = None if errors is None or len(cases) < 2 else chances.of_cases(errors, cases)
        return found[[case.algorithm for case in cases].index(chosen)] if found else None

    def told(self, collective: str, size: int, name: str, parameters: JsonObject) -> JsonObject:
        """`seconds`, None where the algorithm does not fit, and `low` and `high` where there is an interval."""
        key = {"collective": collective, "bytes": size, "algorithm": name, "parameters": parameters}
        key |= {"ranks": self.asked.space.ranks, "node_sizes": self.node_sizes}
        known = self.journal.recall(self.asked.setting.model, key)
        if known is None:
            if self.clock.left <= 0 and self.reached:
                raise OutOfTime("no time for a prediction")
            wanted = replace(self.asked.arguments, collective=collective)
            asked = replace(self.asked, arguments=wanted, algorithm=name, parameters=parameters)
            try:
                found = self.predict(asked, size)
                interval = found.get("interval", {})
                ends = {end: interval[f"{end}_seconds"] for end in ("low", "high") if interval}
                known = {"seconds": found["seconds"], **ends}
            except NotApplicable as reason:
                known = {"seconds": None, "reason": str(reason)}
            self.journal.keep(self.asked.setting.model, [(key, known)])
        return known

    def row(self, collective: str, each, found: dict[int, Predicted]) -> JsonObject:
        space = self.asked.space
        ranks = space.ranks
        measured = [found[size].row(size) for size in each.sizes if size in found]
        return {
            "collective": collective,
            "ranks": ranks,
            "nodes": len(self.node_sizes) if len(self.node_sizes) > 1 else ranks // space.ranks_per_node,
            "ranks_per_node": space.ranks_per_node,
            "determinism": ANY,
            "algorithm": each.chosen[0],
            "parameters": named_segments(
                collective, each.chosen, self.asked.setting.known_job.machine.segment_bytes_of(max(each.sizes))
            ),
            "from_bytes": each.from_bytes,
            "to_bytes": each.to_bytes,
            "simulated": True,
            "measured": measured,
        }


def asked_of(job: _machine.Job, model: str = "flow") -> simulation.CollectiveQuestion:
    return simulation.CollectiveQuestion(Setting(model, job), CollectiveArguments("allreduce"), "", {})


def seconds_on(machine: _machine.Machine) -> PredictSeconds:
    """Predicted seconds of cases on the machine, on all slots of its nodes in order. None for ranks that do not fill
    them.
    """

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
            return predict(question, case.bytes or 0)["seconds"]
        except NotApplicable:
            return None

    return seconds
