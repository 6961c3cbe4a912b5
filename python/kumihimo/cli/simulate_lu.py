"""`kumihimo simulate app lu`: a factorisation by HPL's rules on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo.app import catalogue, lu_prediction, prediction
from kumihimo.app.lu_prediction import LU, LuQuestion, LuRates
from kumihimo.cli import app, machines, output, progress
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import models, simulation
from kumihimo.text.errors import not_applicable, wrong_value
from kumihimo.text.quantities import seconds_text, share_text

LIMIT_SECONDS = 3600.0  # of the measurement
COLUMNS = ("ranks>", "grid>", "time>", "GFLOPS>", "of updates>", "computing>", "uneven>", "waiting>")


@dataclass(frozen=True)
class LuPredictionRequest:
    """The options that this application takes."""

    machine: str
    ranks: Ranks
    size: str | None
    settings: Sequence[str]
    speed: str | None
    model: str | None


def refuse(given: dict[str, object]) -> None:
    """Options of other applications."""
    for name, value in given.items():
        if value:
            raise not_applicable(f"{LU} takes no {name} here", None, "leave it out")


def run(request: LuPredictionRequest, as_json: bool) -> None:
    model = request.model or "flow"
    models.check(model, LU)
    speed = 1.0 if request.speed is None else app.positive(request.speed, "--speed")
    if not 1e-3 <= speed <= 1e3:
        raise wrong_value("--speed must be from 0.001 to 1000", request.speed)
    asked = lu_prediction.question(request.size, catalogue.settings_of(list(request.settings)))
    loaded = machines.load(request.machine)
    whole = simulation.on(loaded, request.ranks)
    alone = request.ranks.ranks is not None or asked.grid is not None
    jobs = [whole] if alone else list(prediction.smaller_jobs(loaded, request.ranks)) or [whole]
    for job in jobs:
        lu_prediction.check(asked, job.rank_space.ranks)
    rates = lu_prediction.measure(asked, LIMIT_SECONDS)

    def work() -> list[dict]:
        return [lu_prediction.predicted(asked, rates, job, model, speed) for job in jobs]

    show(asked, rates, progress.run_interruptible(work), speed, as_json)


def show(asked: LuQuestion, rates: LuRates, results: list[dict], speed: float, as_json: bool) -> None:
    measured, assumed = rates.measured(), lu_prediction.assumed(results[-1]["machine"], speed)
    if as_json:
        return output.print_json({"results": results, "measured": measured, "assumed": assumed, **output.own_cost()})
    last = results[-1]
    place = f"{last['machine']} {last['shape']}".strip()
    output.print_line(f"LU of {asked.rows} rows in blocks of {asked.block} on {place}, model {last['model']}")
    print()
    output.print_table("", COLUMNS, [row(each) for each in results])
    print()
    output.print_line(
        f"Measured here on one thread of {measured['processor']}: updates {measured['update_gflops']:.3g} GFLOPS, "
        f"panels {measured['panel_gflops']:.3g} GFLOPS; {measured['blas']}"
    )
    output.print_list("Assumed:", assumed)
    return None


def row(result: dict) -> list[str]:
    times = [seconds_text(result[name]) for name in ("computing_seconds", "uneven_seconds", "waiting_seconds")]
    return [
        str(result["ranks"]),
        "x".join(map(str, result["grid"])),
        seconds_text(result["seconds"]),
        f"{result['gflops']:.4g}",
        share_text(result["share_of_updates"]),
        *times,
    ]
