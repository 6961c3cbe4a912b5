"""`kumihimo simulate app lu`: a factorisation by HPL's rules on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from kumihimo.app import catalogue, lu_prediction
from kumihimo.app.lu_prediction import LuQuestion, LuRates
from kumihimo.cli import output, progress
from kumihimo.cli.simulate_measured import LIMIT_SECONDS, MeasuredRequest
from kumihimo.text.quantities import seconds_text, share_text

COLUMNS = ("ranks>", "grid>", "time>", "GFLOPS>", "of updates>", "computing>", "uneven>", "waiting>")


def run(request: MeasuredRequest, as_json: bool) -> None:
    model, speed = request.checked_model(), request.speed_of_core()
    asked = lu_prediction.question(request.size, catalogue.settings_of(list(request.settings)))
    jobs = request.jobs(alone=asked.grid is not None)
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
