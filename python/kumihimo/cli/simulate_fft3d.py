"""`kumihimo simulate app fft3d`: a transform on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from kumihimo.app import catalogue, fft_prediction
from kumihimo.app.core_speed import CoreSpeed
from kumihimo.app.fft_prediction import LineRate
from kumihimo.app.fft_question import FftQuestion, question
from kumihimo.cli import output, progress
from kumihimo.cli.simulate_measured import LIMIT_SECONDS, MeasuredRequest
from kumihimo.text.quantities import bytes_text, seconds_text

COLUMNS = ("ranks>", "rows x columns>", "time>", "GFLOPS>", "computing>", "exchanges>", "messages>")


def run(request: MeasuredRequest, as_json: bool) -> None:
    model = request.checked_model()
    asked = question(request.size, catalogue.settings_of(list(request.settings)), request.variant)
    jobs = request.jobs(alone="x" in asked.decomposition)
    for job in jobs:
        fft_prediction.check(asked, job)
    speed = request.speed_of_core(jobs)
    rate = fft_prediction.measure(LIMIT_SECONDS, asked)

    def work() -> list[dict]:
        return [fft_prediction.predicted(asked, rate, job, model, speed.speed) for job in jobs]

    show(asked, rate, progress.run_interruptible(work), speed, as_json)


def show(asked: FftQuestion, rate: LineRate, results: list[dict], speed: CoreSpeed, as_json: bool) -> None:
    measured = {**rate.measured(), **speed.measured()}
    assumed = fft_prediction.assumed(speed.text(results[-1]["machine"]), asked)
    if as_json:
        return output.print_json({"results": results, "measured": measured, "assumed": assumed, **output.own_cost()})
    last = results[-1]
    place = f"{last['machine']} {last['shape']}".strip()
    bands = f", {asked.at_once} of {asked.bands} bands at once" if asked.bands > 1 else ""
    output.print_line(
        f"Transform of {what(asked)} on {place}, {asked.variant}, {asked.exchange}{bands}, model {last['model']}"
    )
    print()
    hides = asked.variant == "overlapped"
    output.print_table("", (*COLUMNS, *(["hidden>"] if hides else [])), [row(each, hides) for each in results])
    print()
    packing = f"; packing {rate.packing * 1e9:.3g} ns a point" if rate.packing else ""
    output.print_line(
        f"Measured here on one thread of {measured['processor']}: lines {measured['line_gflops']:.3g} GFLOPS"
        f"{packing}; {rate.library}{fft_prediction.busy_text(measured)}"
    )
    if asked.sphere:
        share = asked.sphere.columns / (asked.points[0] * asked.points[1])
        output.print_line(f"The sphere has {asked.sphere.columns} columns, {share:.3f} of all: no others are sent.")
    output.print_list("Assumed:", assumed)
    return None


def what(asked: FftQuestion) -> str:
    points = "x".join(map(str, asked.points))
    if asked.sphere:
        return f"a sphere of radius {asked.sphere.radius:g} in {points} points"
    return f"{points} {'reals' if asked.kind == 'real' else 'points'}"


def row(result: dict, hides: bool) -> list[str]:
    return [
        str(result["ranks"]),
        "x".join(map(str, result["grid"])),
        seconds_text(result["seconds"]),
        "-" if result["gflops"] is None else f"{result['gflops']:.4g}",
        seconds_text(result["computing_seconds"]),
        seconds_text(sum(result["exchange_seconds"])),
        bytes_text(result["bytes_sent"]),
        *([seconds_text(result["hidden_seconds"])] if hides else []),
    ]
