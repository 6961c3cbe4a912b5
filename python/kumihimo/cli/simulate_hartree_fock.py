"""`kumihimo simulate app hartree-fock`: a build of J and K on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.app import hartree_fock_prediction, prediction
from kumihimo.app.hartree_fock_prediction import Units
from kumihimo.cli import app, machines, output, progress
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation
from kumihimo.text.errors import wrong_value
from kumihimo.text.quantities import counted, seconds_text, share_text

LIMIT_SECONDS = 3600.0  # of the measurement
COLUMNS = ("ranks>", "build>", "computing>", "uneven>", "messages, sum>", "speed-up>", "efficiency>")


@dataclass(frozen=True)
class BuildRequest:
    """The options that this application takes."""

    machine: str
    ranks: Ranks
    size: str | None
    variant: str | None
    settings: Sequence[str]
    speed: str | None
    algorithm: str
    model: str | None
    software: str | None


def run(asked: BuildRequest, as_json: bool) -> None:
    model = asked.model or "flow"
    models.check(model, "hartree_fock")
    speed = 1.0 if asked.speed is None else app.positive(asked.speed, "--speed")
    if not 1e-3 <= speed <= 1e3:
        raise wrong_value("--speed must be from 0.001 to 1000", asked.speed)
    arguments.variants("allreduce", asked.algorithm)
    loaded = machines.load(asked.machine, asked.software)
    whole = simulation.on(loaded, asked.ranks)
    hartree_fock_prediction.check_ranks(whole)
    jobs = [whole] if asked.ranks.ranks is not None else list(prediction.smaller_jobs(loaded, asked.ranks)) or [whole]
    units = hartree_fock_prediction.measure(
        asked.size, asked.variant or hartree_fock_prediction.VARIANT, list(asked.settings), LIMIT_SECONDS
    )

    def work() -> list[dict]:
        return [hartree_fock_prediction.predicted(units, job, asked.algorithm, model, speed) for job in jobs]

    show(units, whole, progress.run_interruptible(work), speed, as_json)


def show(units: Units, job: _machine.Job, results: list[dict], speed: float, as_json: bool) -> None:
    measured, assumed = units.measured(), hartree_fock_prediction.assumed(units, job.machine.name, speed)
    if as_json:
        about = {"size": units.subject, "basis": units.basis, "variant": units.variant, "functions": units.functions}
        return output.print_json(
            {**about, "results": results, "measured": measured, "assumed": assumed, **output.own_cost()}
        )
    last = results[-1]
    place = f"{last['machine']} {last['shape']}".strip()
    what = f"{units.subject}, {units.basis}, {units.functions} functions"
    output.print_line(f"One build of J and K of {what}, variant {units.variant}, on {place}, model {last['model']}")
    output.print_line(f"static_share {100 * units.static_share:.0f} %, sum by {last['algorithm']}")
    print()
    output.print_table("", COLUMNS, [row(each) for each in results])
    print()
    title = f"Measured here: {counted(measured['units'], 'unit')} of work on one thread of {measured['processor']}"
    rows = [
        (
            each["name"],
            str(each["units"]),
            seconds_text(each["seconds"]),
            share_text(each["seconds"] / measured["seconds"]),
        )
        for each in measured["classes"]
    ]
    output.print_table(
        f"{title}, least of {counted(units.rounds, 'build')}", ("class", "units>", "time>", "share>"), rows
    )
    output.print_list("Assumed:", assumed)
    return None


def row(result: dict) -> list[str]:
    names = ("seconds", "computing_seconds", "uneven_seconds", "communication_seconds")
    times = [seconds_text(result[name]) for name in names]
    return [str(result["ranks"]), *times, f"{result['speedup']:.2f}", share_text(result["efficiency"])]
