"""What a recorded program would do: its predicted times, where they go, and what would change them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kumihimo import _collectives, _loggp, _replay, faults, loggp
from kumihimo.errors import NotApplicable
from kumihimo.replay.choices import Call, Wished, alternatives
from kumihimo.replay.otf2_reading import Trace

MOST_ROWS, MOST_INTERVALS = 200, 400_000  # of a timeline
MOST_TRIED = 8  # algorithms of the collective that loses most


@dataclass
class Question:
    """A trace on a machine; `source`: the recording, or an extrapolation of it."""

    trace: Trace
    source: _replay.Source
    machine: loggp.Settings
    wished: Wished
    speed: float = 1.0
    region_speed: dict[str, float] = field(default_factory=dict)
    balanced: bool = False  # each rank computes as long as the mean
    tried: dict[Call, tuple[_collectives.Variant, _collectives.Parameters]] = field(default_factory=dict)

    def calls(self) -> list[Call]:
        return [Call(*each) for each in self.source.calls]

    def chosen(self) -> list[tuple[_collectives.Variant, _collectives.Parameters]]:
        return [self.tried.get(call) or self.wished.of(call) for call in self.calls()]

    def program(self) -> _replay.Program:
        speeds = [self.region_speed.get(name, 0.0) for name in self.trace.regions]
        return _replay.program_of(self.source, self.chosen(), self.machine.rates, self.speed, speeds, self.balanced)

    @property
    def every(self) -> int:
        """Of so many ranks a timeline shows the first."""
        return -(-self.source.ranks // MOST_ROWS)

    def seconds(self) -> float:
        return self.program().times(self.machine.parameters, self.machine.noise).total


@dataclass
class Efficiencies:
    """As the POP Centre of Excellence defines them (pop-coe.eu, Standard Metrics for Performance Analysis):

    parallel efficiency      = mean computing / time           = load balance x communication efficiency
    load balance             = mean computing / most computing of a rank
    communication efficiency = most computing of a rank / time = serialisation x transfer
    serialisation            = most computing of a rank / time on an ideal network
    transfer                 = time on an ideal network / time
    """

    parallel: float
    load_balance: float
    communication: float
    serialisation: float
    transfer: float

    @classmethod
    def of(cls, computing: Sequence[float], seconds: float, ideal_seconds: float) -> Efficiencies:
        mean, most = sum(computing) / len(computing), max(computing)
        share = ratio(mean, seconds), ratio(mean, most), ratio(most, seconds)
        return cls(*share, ratio(most, ideal_seconds), ratio(ideal_seconds, seconds))

    def largest_loss(self) -> str:
        return min(("load_balance", "serialisation", "transfer"), key=lambda name: getattr(self, name))


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 1.0


@dataclass
class Site:
    """Of a call site, in seconds of all ranks: in calls, the part of it that also an ideal network takes, since ranks
    wait for each other, and the rest."""

    name: str
    calls: int
    seconds: float
    waiting: float
    transferring: float
    slowest_rank: int
    imbalance: float  # 0: all ranks spent the same time, 1: one alone


@dataclass
class Prediction:
    question: Question
    times: _replay.Times
    ideal: _replay.Times
    sites: list[Site]
    efficiencies: Efficiencies
    graphs: int  # different ones; ranks that do the same share one

    @property
    def seconds(self) -> float:
        return self.times.total


def predict(question: Question, with_intervals: bool = False) -> Prediction:
    """`with_intervals`: what ranks do when, of at most MOST_ROWS of them, in pieces as short as there is room for."""
    program = question.program()
    machine = question.machine.parameters, question.machine.noise
    times = program.times(*machine, MOST_INTERVALS if with_intervals else 0, question.every)
    if with_intervals and not times.intervals:
        least = times.total * MOST_ROWS / MOST_INTERVALS
        times = program.times(*machine, 2 * MOST_INTERVALS, question.every, least)
    ideal = program.times(None, question.machine.noise)
    efficiencies = Efficiencies.of(times.computing, times.total, ideal.total)
    return Prediction(question, times, ideal, sites_of(question, times, ideal), efficiencies, program.different)


def sites_of(question: Question, times: _replay.Times, ideal: _replay.Times) -> list[Site]:
    ranks, sites = question.source.ranks, []
    for name, (calls, seconds, most, rank, _), (_, waiting, *_) in zip(question.trace.sites, times.sites, ideal.sites):
        if calls == 0:
            continue
        waits = min(waiting, seconds)
        spread = (most - seconds / ranks) / most * ranks / (ranks - 1) if most > 0 and ranks > 1 else 0.0
        sites.append(Site(name, calls, seconds, waits, seconds - waits, rank, spread))
    return sorted(sites, key=lambda site: -site.seconds)


def with_faults(prediction: Prediction) -> dict | None:
    """What becomes of the program if nodes die; none: none does."""
    question, machine = prediction.question, prediction.question.machine
    if machine.dying is None:
        return None
    ranks = question.source.ranks
    times = machine.dying.times(ranks, prediction.seconds)
    deaths = machine.dying.of_ranks(ranks, times)
    found = question.program().aftermath(machine.parameters, machine.noise, deaths)
    return faults.about(found, machine.dying, times)


@dataclass
class Change:
    """What one thing would change."""

    name: str
    seconds: float


def changes(prediction: Prediction) -> list[Change]:
    """The program again with one thing changed, the best first."""
    question = prediction.question
    faster = {name: 2 * speed for name, speed in question.region_speed.items()}
    tried = [
        Change("processors twice as fast", replace(question, speed=2 * question.speed, region_speed=faster).seconds()),
        Change("the same computing on all ranks", replace(question, balanced=True).seconds()),
        Change("half the latency (L)", with_less(question, "L")),
        Change("half the overhead of a message (o)", with_less(question, "o")),
        Change("twice the bandwidth (G)", with_less(question, "G")),
        Change("an ideal network", prediction.ideal.total),
    ]
    return sorted([*tried, *other_algorithms(question)], key=lambda change: change.seconds)


def with_less(question: Question, letter: str) -> float:
    """With half of a parameter."""
    of = question.machine.parameters
    digits = 6 if letter == "G" else 3
    text = f"{letter}={getattr(of, letter) / 2 * 10.0**-digits:.{digits}f}"
    machine = replace(question.machine, parameters=_loggp.parse_parameters(text, of))
    return replace(question, machine=machine).seconds()


def other_algorithms(question: Question) -> list[Change]:
    """Of the collective that takes most of the time, by its time alone."""
    calls = question.calls()
    if not calls:
        return []
    most = max(range(len(calls)), key=lambda i: cost_of(question, i))
    now = question.chosen()[most][0].name
    found = []
    for variant in alternatives(calls[most]):
        if variant.name != now:
            other = replace(question, tried={**question.tried, calls[most]: (variant, _collectives.Parameters())})
            try:
                total = other.seconds()
            except NotApplicable:
                continue
            name = calls[most].collective
            found.append(Change(f"{name} of {calls[most].bytes} B by {variant.name} instead of {now}", total))
    return sorted(found, key=lambda change: change.seconds)[:MOST_TRIED]


def cost_of(question: Question, call: int) -> int:
    """Of the messages that it sends, as many as it is called."""
    found = question.calls()[call]
    return question.source.count_of(call) * found.ranks * (1 + found.bytes // 1024)
