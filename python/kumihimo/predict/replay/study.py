"""Study of a recorded program: its predicted times, their parts, and changes that would alter them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kumihimo import _collectives, _replay
from kumihimo.predict import prediction_errors
from kumihimo.predict.prediction import Prediction
from kumihimo.predict.prediction_errors import PredictedCase
from kumihimo.predict.replay.choices import Call, Ground, Wished, alternatives, calls_of, usual, wished_or_none
from kumihimo.predict.replay.library_calls import MeasuredLibraryCalls, Performed
from kumihimo.predict.replay.models import ReplayModel
from kumihimo.predict.replay.trace import Trace
from kumihimo.text.errors import NotApplicable

MOST_ROWS, MOST_INTERVALS = 200, 400_000  # of a timeline
MOST_OF_GRAPHS = 1 << 21  # operations: 130 MB
MOST_TRIED = 8  # algorithms of the collective that loses most


@dataclass
class ReplayQuestion:
    """A trace in a model; `source`: the recording, or an extrapolation of it. None: the trace is a GOAL file."""

    trace: Trace
    source: _replay.Source | None
    model: ReplayModel
    wished: Wished
    speed: float = 1.0
    region_speed: dict[str, float] = field(default_factory=dict)
    balanced: bool = False  # each rank computes as long as the mean
    tried: dict[Call, tuple[_collectives.Variant, _collectives.Parameters]] = field(default_factory=dict)
    library: MeasuredLibraryCalls | None = None  # None: those of the model

    def __post_init__(self) -> None:
        self.library = self.library or MeasuredLibraryCalls(self.model)

    @property
    def ranks(self) -> int:
        return self.trace.graphs.ranks if self.source is None else self.source.ranks

    def calls(self) -> list[Call]:
        return [] if self.source is None else [Call(*each) for each in self.source.calls]

    @property
    def ground(self) -> Ground:
        return replace(self.model.ground, mpi=self.trace.mpi)

    def chosen(self) -> list[Performed]:
        """Algorithm and parameters of each call, and the time of each rank beyond it."""
        ground = self.ground
        return [self._performed(call, ground) for call in self._calls_on(ground)]

    def _calls_on(self, ground: Ground) -> list[Call]:
        return [] if self.source is None else calls_of(self.source, ground)

    def notes(self) -> list[str]:
        """Calls for which the file of tune has no choice, or one that nobody can check."""
        ground = self.ground
        counts = [(call, self.source.count_of(number)) for number, call in enumerate(self._calls_on(ground))]
        return self.wished.notes(counts, ground)

    def _performed(self, call: Call, ground: Ground) -> Performed:
        asked = self.tried.get(call) or wished_or_none(self.wished, call, ground)
        own = usual(call, ground)
        performed = self.library.performed(call, own, ground) or (own, ground.parameters(call.bytes), 0.0)
        # Messages alone of another algorithm would always seem faster than a whole call of the library.
        return (*asked, performed[2]) if asked else performed

    def program(self, has_graphs: bool = True) -> _replay.Program:
        """Without graphs where it is too large for them, if the model needs none."""
        if self.source is None:
            return _replay.program_of_goal(self.trace.graphs, self.speed, self.balanced)
        limit = None if has_graphs or not self.model.makes_operations else MOST_OF_GRAPHS
        speeds = [self.region_speed.get(name, 0.0) for name in self.trace.regions]
        rates, space = self.model.rates, self.model.ground.space
        return _replay.program_of(self.source, self.chosen(), rates, self.speed, speeds, self.balanced, space, limit)

    @property
    def every(self) -> int:
        """Distance between the ranks that a timeline shows."""
        return -(-self.ranks // MOST_ROWS)

    def seconds(self) -> float:
        return self.model.predict(self.program(has_graphs=False)).seconds


@dataclass(frozen=True)
class Efficiencies:
    """As the POP Centre of Excellence defines them (pop-coe.eu, Standard Metrics for Performance Analysis)."""

    parallel: float  # mean computing / time = load balance x communication
    load_balance: float  # mean computing / most computing of a rank
    communication: float  # most computing of a rank / time = serialisation x transfer
    serialisation: float  # most computing of a rank / time on an ideal network
    transfer: float  # time on an ideal network / time

    @classmethod
    def of(cls, computing: Sequence[float], seconds: float, ideal_seconds: float) -> Efficiencies:
        mean, most = sum(computing) / len(computing), max(computing)
        share = ratio(mean, seconds), ratio(mean, most), ratio(most, seconds)
        return cls(*share, ratio(most, ideal_seconds), ratio(ideal_seconds, seconds))

    def largest_loss(self) -> str:
        return min(("load_balance", "serialisation", "transfer"), key=lambda name: getattr(self, name))


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 1.0


@dataclass(frozen=True)
class Site:
    """Totals of a call site; times are seconds of all ranks together."""

    name: str  # of the call and where it is
    calls: int  # of all ranks
    seconds: float  # in these calls
    waiting: float  # the part that also an ideal network takes, since ranks wait for each other
    transferring: float  # the rest
    slowest_rank: int  # that spent most time there
    imbalance: float  # 0: all ranks spent the same time, 1: one alone


@dataclass
class Replay:
    """`prediction`: what the model says, with the faults of the program if nodes die."""

    question: ReplayQuestion
    prediction: Prediction
    ideal: _replay.Times
    sites: list[Site]
    efficiencies: Efficiencies
    graphs: int  # different ones; ranks that do the same share one

    @property
    def times(self) -> _replay.Times:
        return self.prediction.native.times

    @property
    def seconds(self) -> float:
        return self.times.total

    @property
    def interval(self) -> dict | None:
        """Between which times nine of ten measured ones are expected; None: the machine has no errors of such
        predictions."""
        question, setting = self.question, self.question.model.setting
        if setting.errors is None:
            return None
        cases = [
            PredictedCase(call.collective, variant.name, call.bytes, call.ranks, 0.0)
            for call, (variant, *_) in zip(question.calls(), question.chosen())
        ]
        return prediction_errors.interval_of_program(
            setting.errors, cases, self.seconds, self.ideal.total, setting.nodes
        )


def predict(question: ReplayQuestion, with_intervals: bool = False) -> Replay:
    """`with_intervals`: what ranks do when, of at most MOST_ROWS of them, in pieces as short as there is room for."""
    program, model = question.program(has_graphs=False), question.model
    found = model.predict(program, MOST_INTERVALS if with_intervals else 0, question.every)
    if with_intervals and not found.native.times.intervals:
        least = found.seconds * MOST_ROWS / MOST_INTERVALS
        found = model.predict(program, 2 * MOST_INTERVALS, question.every, least)
    ideal, times = model.ideal(program), found.native.times
    efficiencies = Efficiencies.of(times.computing, times.total, ideal.total)
    return Replay(question, found, ideal, sites_of(question, times, ideal), efficiencies, program.different)


def sites_of(question: ReplayQuestion, times: _replay.Times, ideal: _replay.Times) -> list[Site]:
    ranks, sites = question.ranks, []
    for name, (calls, seconds, most, rank, _), (_, waiting, *_) in zip(question.trace.sites, times.sites, ideal.sites):
        if calls == 0:
            continue
        waits = min(waiting, seconds)
        spread = (most - seconds / ranks) / most * ranks / (ranks - 1) if most > 0 and ranks > 1 else 0.0
        sites.append(Site(name, calls, seconds, waits, seconds - waits, rank, spread))
    return sorted(sites, key=lambda site: -site.seconds)


def with_faults(replayed: Replay) -> dict | None:
    """Outcome of the program if nodes die; None: no node dies."""
    question = replayed.question
    found = replayed.prediction.members.get("faults")
    if found is None or question.source is None:
        return found
    program, sites = question.program(), question.trace.sites

    def named(text: str, at: dict) -> str:
        call, wait = (of(at["rank"], at["operation"]) for of in (program.site_of, program.site_of_wait))
        if call is None:
            return text
        if wait is None or wait == call:
            return f"{text}, in {sites[call]},"
        return f"{text}, begun in {sites[call]}, in {sites[wait]},"

    return {**found, "chain": list(map(named, found["chain"], found["chain_at"]))}


@dataclass(frozen=True)
class Change:
    """Effect of one change."""

    name: str  # the thing, in words
    seconds: float  # of the program with it


def changes(replayed: Replay) -> list[Change]:
    """The program again with one thing changed, the best first."""
    question = replace(replayed.question, model=replayed.question.model.undisturbed)
    faster = {name: 2 * speed for name, speed in question.region_speed.items()}
    tried = [
        Change("processors twice as fast", replace(question, speed=2 * question.speed, region_speed=faster).seconds()),
        Change("the same computing on all ranks", replace(question, balanced=True).seconds()),
        *(Change(name, replace(question, model=model).seconds()) for name, model in question.model.changes()),
        Change("an ideal network", replayed.ideal.total),
    ]
    if question.wished.is_given() and question.calls():
        usual = replace(question, wished=Wished({}, []), tried={})
        library = "Open MPI" if question.trace.mpi.startswith("Open MPI") else "MPICH"
        tried.append(Change(f"the usual algorithms of {library}", usual.seconds()))
    return sorted([*tried, *other_algorithms(question)], key=lambda change: change.seconds)


def other_algorithms(question: ReplayQuestion) -> list[Change]:
    """Changes of the algorithm of the collective that takes most time, judged by its time alone."""
    calls = question.calls()
    if not calls:
        return []
    most = max(range(len(calls)), key=lambda i: cost_of(question, calls, i))
    now, ground = question.chosen()[most][0].name, question.ground
    found = []
    for variant in alternatives(calls[most], ground):
        if variant.name != now:
            by = (variant, ground.parameters(calls[most].bytes))
            other = replace(question, tried={**question.tried, calls[most]: by})
            try:
                total = other.seconds()
            except NotApplicable:
                continue
            name = calls[most].collective
            found.append(Change(f"{name} of {calls[most].bytes} B by {variant.name} instead of {now}", total))
    return sorted(found, key=lambda change: change.seconds)[:MOST_TRIED]


def cost_of(question: ReplayQuestion, calls: Sequence[Call], call: int) -> int:
    """Cost to replay a call: the messages of all its calls."""
    found = calls[call]
    return question.source.count_of(call) * found.ranks * (1 + found.bytes // 1024)
