"""Request of a prediction: the options of `kumihimo simulate`, and the question that they make."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Optional

from kumihimo import _machine, _packet, _predict
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives import given as given_options
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.collectives.given import GivenOption
from kumihimo.network import placement as placements
from kumihimo.predict import chances, faults, models, over_time, packet, simulation, subjects
from kumihimo.predict import noise as noises
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.predict.subjects import Subject
from kumihimo.processes import allocation
from kumihimo.text.errors import NotApplicable, missing, wrong_value
from kumihimo.text.json_types import JsonObject

OF_PROGRAMS = ("machine", "software", "box", "dead", "routing", "model")  # beside what models heed
OF_MACHINE = ("software", "box", "dead", "routing", "given", "order", "placement", "no_simd")
OF_COLLECTIVES = ("sizes", "type_", "operation", "root", "counts", "neighbours")
NOT_OF_GOAL = (*OF_COLLECTIVES, "algorithm")
OF_BACKGROUND_JOBS = ("spread", "repeats", "warm_up")
ALWAYS = ("shape", "ranks", "ranks_per_node", "as_json", "collective")  # that any subject takes
FLAGS = {"sizes": "--bytes", "type_": "--type", "operation": "--op", "given": "--allocation"}


@dataclass(eq=False, repr=False)
class SimulationRequest(ABC):
    """The options of `kumihimo simulate`, in the order of its help; cli/simulate_request.py says what each means."""

    machine: Optional[str] = None
    software: Optional[str] = None
    sizes: Optional[str] = None
    shape: Optional[str] = None
    box: Optional[str] = None
    dead: Optional[list[str]] = None
    routing: Optional[str] = None
    algorithm: str = arguments.ALL
    ranks: Optional[int] = None
    ranks_per_node: Optional[str] = None
    given: Optional[str] = None
    order: Optional[str] = None
    placement: Optional[Path] = None
    model: str = "flow"
    no_simd: bool = False
    type_: str = "float64"
    operation: str = "sum"
    root: int = 0
    parameters: Optional[JsonObject] = None
    counts: Optional[str] = None
    neighbours: Optional[str] = None
    without: Optional[list[str]] = None
    explain: bool = False
    links: bool = False
    loggops: Optional[str] = None
    cpus: Optional[int] = None
    nics: Optional[int] = None
    by_rank: bool = False
    timeline: Optional[Path] = None
    packet_bytes: Optional[int] = None
    buffer_packets: Optional[int] = None
    packet_seed: int = 1
    background: Optional[list[str]] = None
    spread: Optional[str] = None
    repeats: Optional[int] = None
    warm_up: Optional[float] = None
    page: Optional[Path] = None
    noise: Optional[str] = None
    dies: Optional[list[str]] = None
    slow: Optional[list[str]] = None

    @abstractmethod
    def loaded_machine(self) -> _machine.Machine:
        """The machine that `machine` names."""

    def explicit(self) -> Iterator[GivenOption]:
        """Options that differ from their defaults."""
        for each in fields(SimulationRequest):
            value = getattr(self, each.name)
            if value != each.default and each.name != "parameters":
                flag = FLAGS.get(each.name, f"--{each.name.replace('_', '-')}")
                shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
                yield GivenOption(each.name, flag, None if value is True else shown)
        for name, value in (self.parameters or {}).items():
            yield GivenOption(name, f"--{name.replace('_', '-')}", None if value is True else value)

    def refuse(self, reason: str, *refused: str) -> None:
        given_options.refuse(self.explicit(), f"{reason} takes", refused)

    def check(self, kind: str) -> None:
        """Refuses options that mean nothing to the subject, to the model, or without a machine or background jobs."""
        models.refuse(self.model, kind, self.explicit())
        if not self.background:
            self.refuse("simulate without --background", *OF_BACKGROUND_JOBS)
        if self.model != "loggp" and self.machine is None:
            raise missing("--machine", "see kumihimo simulate --help")
        if kind == "goal":
            self.refuse("a GOAL file", *NOT_OF_GOAL, *(self.parameters or {}))
        elif kind == "recording":
            self.refuse("a workload", *OF_COLLECTIVES, *(self.parameters or {}))
        elif kind == "programs":
            given_options.refuse_beside_programs(
                self.explicit(), (*ALWAYS, *OF_PROGRAMS, *models.understood("programs"))
            )
        if self.machine is None:
            self.refuse("the model loggp without --machine", *OF_MACHINE)
        if self.model == "bound" and self.algorithm == arguments.ALL and self.parameters:
            first = f"--{next(iter(self.parameters)).replace('_', '-')}"
            raise wrong_value("the bound has no parameters", first, "leave it out, or name an --algorithm")

    def subject(self, name: str) -> Subject:
        kind = subjects.kind_of(name)
        if kind == "goal":
            return subjects.read_goal(name)
        if kind == "programs":
            return subjects.ProgramSets(program_sets.named(name))
        given_options.refuse_beside_collective(self.explicit(), name)
        asked = CollectiveArguments(
            name,
            type=self.type_,
            operation=self.operation,
            root=self.root,
            counts=self.counts,
            neighbours=arguments.neighbours_named(self.neighbours),
        )
        return subjects.CollectiveSubject.of(asked, self.algorithm, self.parameters or {}, self.sizes)

    @property
    def routing_of_packets(self) -> str | None:
        """A way that only packets are routed by; another --routing is one of the machine's."""
        return self.routing if self.model == "packet" and self.routing in packet.ROUTINGS else None

    @property
    def part(self) -> simulation.PartOfMachine:
        routing = None if self.routing_of_packets else self.routing
        return simulation.PartOfMachine(self.box, self.dead or [], routing, self.slow or [])

    @property
    def asked_ranks(self) -> Ranks:
        return Ranks(self.shape, self.ranks, arguments.ranks_per_node_named(self.ranks_per_node))

    def question(self, name: str) -> tuple[Subject, Setting]:
        """The subject and where it runs, what disturbs it, and what is to be told."""
        noise = noises.named(self.noise)
        part, wanted = self.part, placements.wanted(self.order, self.placement)
        hosts = None if self.given is None else allocation.read(self.given, os.environ)
        told = self.told(noise)
        if self.machine is None:  # before a long file is read
            nowhere = Setting(self.model, options=told)
            _predict.loggops(nowhere.place, nowhere.native_options)
        subject = self.subject(name)
        asked = self.asked_ranks if hosts else subject.ranks(self.asked_ranks)
        of = None if self.machine is None else self.loaded_machine()
        job = None if of is None else simulation.with_places(of, asked, part, hosts, wanted)
        subject.check(job)
        ranks = None if subject.kind == "goal" and self.model == "loggp" else self.ranks
        placed = None if job is None else simulation.placed(job, wanted, hosts, ranks)
        deaths = faults.deaths(self.dies, None if job is None else job.machine)
        slow = bool(part.slow)
        setting = Setting(self.model, job, placed, not self.no_simd, noise, deaths, has_slow_parts=slow, options=told)
        return subject, setting if job else self.alone(setting, subject, asked)

    def alone(self, setting: Setting, subject: Subject, asked: Ranks) -> Setting:
        """Ranks without a machine."""
        asked = subjects.alone(asked)
        each = asked.ranks_per_node
        if setting.deaths and not isinstance(each, int):
            rule = "--dies without --machine needs as many ranks on each node"
            raise wrong_value(rule, ",".join(map(str, each or ())), "give --ranks-per-node one number")
        space = None if subject.kind == "goal" else arguments.rank_space(asked)
        return replace(setting, space=space, ranks_per_node=each if isinstance(each, int) else 1)

    def told(self, noise: noises.NamedNoise | None) -> dict[str, object]:
        """Members of _predict.Options."""
        if self.model == "loggp" and self.page is not None and noise is None:
            raise missing("--noise", "--page shows how noise spreads; add --noise periodic:10us/1ms")
        return {
            "link_bytes": self.links,
            "without": self.without or [],
            "explain": self.explain,
            "by_rank": self.by_rank,
            "timeline": self.timeline is not None,
            "over_time": self.page is not None,
            "map_rows": over_time.MOST_ROWS,
            "map_bins": over_time.BINS,
            "packets": self.packets,
            "loggops": self.loggops,
            "cpus": self.cpus,
            "nics": self.nics,
        }

    @property
    def packets(self) -> _packet.Options:
        return packet.options(self.routing_of_packets, self.packet_bytes, self.buffer_packets, self.packet_seed)


@dataclass
class SimulationOutcome:
    """Prediction and JSON result of each case, or the reason why there is none."""

    predictions: list[Prediction]
    results: list[JsonObject]
    passed_over: list[JsonObject]


def predict_all(
    subject: Subject, setting: Setting, cases: list, advance: Callable[[str], object] = lambda what: None
) -> SimulationOutcome:
    """`cases`: those of the subject. `advance`: called with the algorithm's name after each. Raises NotApplicable where
    one algorithm was asked for that does not fit, or none fits."""
    found = SimulationOutcome([], [], [])
    for case in cases:
        try:
            prediction, result = subject.predict(setting, case)
            found.predictions.append(prediction)
            found.results.append(result)
        except NotApplicable as reason:
            if not subject.may_not_fit:
                raise
            found.passed_over.append({"algorithm": case.variant.name, "bytes": case.bytes, "reason": str(reason)})
        advance(case.variant.name if case and case.variant else "")
    if not found.results:
        raise simulation.none_fits(found.passed_over)
    chances.add_to(found.results, setting.errors)
    return found
