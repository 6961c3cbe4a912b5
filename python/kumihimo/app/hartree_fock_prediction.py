"""Predictions of a build of J and K on the ranks of a described machine. The units of work are timed here; they are
dealt as the application deals them, and a simulator times the messages and the sum over ranks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from kumihimo import _goal, _machine, _predict
from kumihimo.app import catalogue, launches
from kumihimo.app.dealing import Deal
from kumihimo.app.prediction import HARTREE_FOCK
from kumihimo.collectives import arguments
from kumihimo.kernel import identity
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject

VARIANT = "shells"
ROUNDS = "3"  # builds in which each unit is timed
ITERATIONS = 2  # of the SCF before: the first density is of atoms, and screening leaves out more of it
MOST_RANKS = 2**14


@dataclass(frozen=True)
class Units:
    """Units of work in the order in which they are dealt, as timed here."""

    subject: str
    basis: str
    variant: str
    functions: int
    sum_bytes: int  # of the allreduce
    static_share: float
    rounds: int
    classes: list[str]
    of_class: list[int]
    costs: list[float]
    seconds: list[float]

    def by_class(self) -> list[JsonObject]:
        number, seconds = Counter(self.of_class), defaultdict[int, float](float)
        for which, each in zip(self.of_class, self.seconds):
            seconds[which] += each
        return [{"name": name, "units": number[i], "seconds": seconds[i]} for i, name in enumerate(self.classes)]

    def measured(self) -> JsonObject:
        """The measurements, for people and programs."""
        return {
            "processor": identity.this_machine()["processor"],
            "threads": 1,
            "rounds": self.rounds,
            "units": len(self.seconds),
            "seconds": sum(self.seconds),
            "classes": self.by_class(),
        }


def measure(size: str | None, variant: str, settings: list[str], seconds: float) -> Units:
    """Runs the application on one thread. Raises what it says."""
    application = catalogue.find(HARTREE_FOCK)
    given = catalogue.settings_of(settings)
    if variant in (catalogue.ALL, catalogue.AUTO) or "," in variant:
        raise wrong_value("--variant must name one variant", f"'{variant}'", f"use --variant {VARIANT}")
    (candidate,) = catalogue.candidates(application, variant, given)
    share = dict(candidate.parameters).get("static_share")
    if share is None:
        raise not_applicable(f"the variant {variant} deals no units to ranks", None, f"use --variant {VARIANT}")
    defaults = {row["name"]: row["default"] for row in application.options}
    options = catalogue.options_in(application, {"units": ROUNDS, **given})
    if options["units"] == "0":
        raise wrong_value("units must be 1 build or more", 0, f"write --set units={ROUNDS}")
    problem = launches.AppProblem(application, size or application.default_size, options, "")
    if problem.file and size is not None:
        raise wrong_value("--size has no effect beside a file", size, "leave one of them out")
    alone = launches.Resources(1, 1, None, seconds=seconds)
    (result,) = launches.run(problem, [candidate], alone, sample=ITERATIONS, check=False).results
    words = 2 if options.get("reproducible") == "yes" else 1  # of a number
    return Units(
        subject=problem.subject,
        basis=options.get("basis", defaults["basis"]),
        variant=variant,
        functions=result["functions"],
        sum_bytes=8 * words * 2 * result["functions"] ** 2,
        static_share=share / 100,
        rounds=int(options["units"]),
        classes=result["units"]["classes"],
        of_class=result["units"]["class"],
        costs=result["units"]["cost"],
        seconds=result["units"]["seconds"],
    )


def check_ranks(job: _machine.Job) -> None:
    if job.rank_space.ranks > MOST_RANKS:
        rule = f"a prediction of {HARTREE_FOCK} has at most {MOST_RANKS} ranks"
        raise wrong_value(rule, job.rank_space.ranks, "take a smaller --shape")


def predicted(units: Units, job: _machine.Job, algorithm: str, model: str, speed: float) -> JsonObject:
    """A build on the ranks of a job: its time, and what the ranks computed of it. `speed`: of a core of the machine,
    relative to one here."""
    ranks = job.rank_space.ranks
    setting = Setting(model, job)
    parameters = _predict.loggops(setting.place).parameters
    under_way = (parameters.L + 2 * parameters.o) * 1e-12
    seconds = [each / speed for each in units.seconds]
    deal = Deal(units.costs, seconds, ranks, units.static_share, under_way)
    if ranks > 1:
        rates = _predict.rates(model, setting.place)
        deal.then(_goal.graphs_of(allreduce(units.sum_bytes, job, algorithm), rates).to_text())
    graphs = _goal.read(deal.goal().encode(), HARTREE_FOCK)
    ran = setting.predict(graphs).members
    each = [rank.computing_ns * 1e-9 for rank in deal.ranks]
    work, longest = sum(each), max(each)
    return {
        "application": HARTREE_FOCK,
        "ranks": ranks,
        "seconds": ran["seconds"],
        "computing_seconds": work / ranks,
        "uneven_seconds": longest - work / ranks,
        "communication_seconds": max(0.0, round(ran["seconds"] - longest, 12)),
        "speedup": work / ran["seconds"],
        "efficiency": work / ran["seconds"] / ranks,
        "chunks": sum(rank.asks for rank in deal.ranks),
        "messages": ran["messages"],
        "algorithm": algorithm,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }


def allreduce(size: int, job: _machine.Job, algorithm: str):
    collective = arguments.CollectiveArguments("allreduce", bytes=size)
    asked = simulation.CollectiveQuestion(Setting(job=job), collective, algorithm, {})
    variant = arguments.variants("allreduce", algorithm)[0]
    return simulation.schedule(asked, simulation.Case(variant, size))


def assumed(units: Units, machine: str, speed: float) -> list[str]:
    """Assumptions of the times beside measurements."""
    as_fast = "as fast as" if speed == 1 else f"{speed:g} times as fast as"
    return [
        f"a core of {machine} is {as_fast} the one here (--speed), and each rank has one thread",
        f"messages and the sum of {units.sum_bytes} bytes take what the machine file says",
        f"G of a whole density, that of iteration {ITERATIONS}: increments of later ones are less work",
        "the rest of an iteration, the same on each rank, is left out",
    ]
