"""`kumihimo simulate app fft3d`: a transform on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from kumihimo.app import catalogue, fft_prediction
from kumihimo.app.core_speed import CoreSpeed
from kumihimo.app.fft_prediction import FftQuestion, LineRate
from kumihimo.cli import output, progress
from kumihimo.cli.simulate_measured import LIMIT_SECONDS, MeasuredRequest
from kumihimo.text.quantities import seconds_text

COLUMNS = ("ranks>", "rows x columns>", "time>", "GFLOPS>", "computing>", "exchanges>")


def run(request: MeasuredRequest, as_json: bool) -> None:
    model = request.checked_model()
    asked = fft_prediction.question(request.size, catalogue.settings_of(list(request.settings)))
    jobs = request.jobs(alone="x" in asked.decomposition)
    for job in jobs:
        fft_prediction.check(asked, job.rank_space.ranks)
    speed = request.speed_of_core(jobs)
    rate = fft_prediction.measure(LIMIT_SECONDS)

    def work() -> list[dict]:
        return [fft_prediction.predicted(asked, rate, job, model, speed.speed) for job in jobs]

    show(asked, rate, progress.run_interruptible(work), speed, as_json)


def show(asked: FftQuestion, rate: LineRate, results: list[dict], speed: CoreSpeed, as_json: bool) -> None:
    measured = {**rate.measured(), **speed.measured()}
    assumed = fft_prediction.assumed(speed.text(results[-1]["machine"]))
    if as_json:
        return output.print_json({"results": results, "measured": measured, "assumed": assumed, **output.own_cost()})
    last = results[-1]
    place = f"{last['machine']} {last['shape']}".strip()
    points = "x".join(map(str, asked.points))
    numbers = "reals" if asked.kind == "real" else "points"
    bands = f", {asked.at_once} bands at once" if asked.at_once > 1 else ""
    output.print_line(f"Transform of {points} {numbers} on {place}, {asked.exchange}{bands}, model {last['model']}")
    print()
    output.print_table("", COLUMNS, [row(each) for each in results])
    print()
    output.print_line(
        f"Measured here on one thread of {measured['processor']}: lines {measured['line_gflops']:.3g} GFLOPS; "
        f"{rate.library}"
    )
    output.print_list("Assumed:", assumed)
    return None


def row(result: dict) -> list[str]:
    return [
        str(result["ranks"]),
        "x".join(map(str, result["grid"])),
        seconds_text(result["seconds"]),
        f"{result['gflops']:.4g}",
        seconds_text(result["computing_seconds"]),
        seconds_text(sum(result["exchange_seconds"])),
    ]
