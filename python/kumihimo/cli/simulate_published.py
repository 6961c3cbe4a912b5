"""`kumihimo simulate app NAME --case CASE`: published workloads, with the predicted figure beside the published one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kumihimo import _machine
from kumihimo.app import catalogue, fft_prediction, global_fft, hybrid_machine, lu_prediction, published
from kumihimo.app.core_speed import CoreSpeed, peak_here
from kumihimo.app.published import PublishedCase
from kumihimo.cli import machines, output, progress
from kumihimo.cli.simulate_lu import measured_text
from kumihimo.cli.simulate_measured import LIMIT_SECONDS, MeasuredRequest
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.predict.workloads import npb_ft
from kumihimo.text.errors import not_applicable, wrong_value
from kumihimo.text.quantities import seconds_text, share_text

FT_SHAPE = "4x4x4"  # of the case's own machine


@dataclass(frozen=True)
class CaseRequest:
    """A case, and what the user puts in place of its own options."""

    case: PublishedCase
    request: MeasuredRequest
    out: Path | None  # --write

    @property
    def settings(self) -> dict[str, str]:
        return {**catalogue.settings_of(list(self.case.settings)), **catalogue.settings_of(list(self.request.settings))}

    @property
    def figure(self) -> float | None:
        """The published one, if the prediction is of what was published."""
        asked = self.request
        changed = asked.machine or asked.software or asked.settings or asked.ranks != Ranks(None, None, None)
        return None if changed else self.case.figure

    def refuse_settings(self, *known: str) -> None:
        for name in self.settings:
            if name not in known:
                what = ", ".join(f"--set {each}=..." for each in known)
                raise wrong_value(f"the case {self.case.name} takes {what}", f"'{name}'", "leave it out")

    def machine(self) -> _machine.Machine:
        return machines.load(self.request.machine or self.case.machine, self.request.software)

    def job(self) -> _machine.Job:
        asked = self.request.ranks
        own = (asked.shape, asked.ranks, asked.ranks_per_node) == (None, None, None) and not self.request.machine
        return simulation.on(self.machine(), replace(asked, shape=self.case.shape) if own else asked)


def named(name: str, request: MeasuredRequest, out: Path | None) -> CaseRequest:
    case = published.find(name, request.application)
    if out is not None and not case.name.startswith("npb-ft"):
        raise not_applicable(f"--case {name} writes no file", None, "leave --write out")
    if request.size is not None:
        raise wrong_value(f"--case {name} has a size of its own", f"--size {request.size}", "leave it out")
    if request.speed is not None:
        raise wrong_value("cases take kernels' shares of the peak", f"--speed {request.speed}", "leave it out")
    return CaseRequest(case, request, out)


def run(asked: CaseRequest, as_json: bool) -> None:
    name = asked.case.name
    if name.startswith("hybrid"):
        return hybrid(asked, as_json)
    if name.startswith("npb-ft"):
        return ft(asked, as_json)
    return (hpl if asked.case.application == lu_prediction.LU else fft)(asked, as_json)


def hpl(asked: CaseRequest, as_json: bool) -> None:
    case, model = asked.case, asked.request.checked_model()
    question = lu_prediction.question(case.size, asked.settings)
    job = asked.job()
    is_own = not asked.request.machine and asked.request.ranks == Ranks(None, None, None)
    ranks = case.ranks if is_own else None
    lu_prediction.check(question, ranks or job.rank_space.ranks)
    speed = CoreSpeed.by_peak(job)
    rates = lu_prediction.measure(question, LIMIT_SECONDS)
    result = progress.run_interruptible(
        lambda: lu_prediction.predicted(question, rates, job, model, [speed.speed], ranks)
    )
    result["share_of_peak"] = result["gflops"] * 1e9 / ((speed.peak_there or 0) * result["ranks"])
    measured = {**rates.measured(), **speed.measured()}
    rows = [
        ("rows", str(result["rows"])),
        ("blocks of", str(result["block"])),
        ("grid", "x".join(map(str, result["grid"]))),
        ("time", seconds_text(result["seconds"])),
        ("share of peak", share_text(result["share_of_peak"])),
    ]
    assumed = [*case.notes, *lu_prediction.assumed(question, speed.text(job.machine.name), result["panels"])]
    show(asked, [result], rows, measured_text(measured), measured, assumed, as_json)


def fft(asked: CaseRequest, as_json: bool) -> None:
    case, model = asked.case, asked.request.checked_model()
    asked.refuse_settings("exchange")
    job = asked.job()
    speed = CoreSpeed.by_peak(job)
    rate = fft_prediction.measure_long_lines(LIMIT_SECONDS)
    points, exchange = published.points_of(case), asked.settings["exchange"]
    result = progress.run_interruptible(
        lambda: global_fft.predicted(points, exchange, rate.flops * speed.speed, job, model)
    )
    measured = {**rate.measured(), "size": fft_prediction.MOST_POINTS, **speed.measured()}
    rows = [
        ("points", f"2^{published.K_POINTS_LOG2}"),
        ("time", seconds_text(result["seconds"])),
        ("lines", seconds_text(result["computing_seconds"])),
        (
            f"each of {global_fft.TRANSPOSITIONS} transpositions, {exchange}",
            seconds_text(result["transposition_seconds"]),
        ),
        ("packing and unpacking for each", seconds_text(result["copying_seconds"])),
    ]
    said = lines_text(measured, rate.library)
    show(
        asked,
        [result],
        rows,
        said,
        measured,
        [*case.notes, *global_fft.assumed(speed.text(job.machine.name))],
        as_json,
    )


def lines_text(measured: dict, library: str) -> str:
    share = share_text(measured["line_gflops"] / measured["peak_gflops"])
    return (
        f"Measured here on one thread of {measured['processor']}: lines {measured['line_gflops']:.3g} GFLOPS "
        f"({share} of the peak); {library}{fft_prediction.busy_text(measured)}"
    )


def ft(asked: CaseRequest, as_json: bool) -> None:
    """The pattern of NPB FT: a GOAL file that is simulated, and written if it is asked for."""
    from kumihimo import _goal
    from kumihimo.predict.prediction import Setting

    case = asked.case
    model = asked.request.model or "loggp"
    if model not in ("loggp", "flow"):
        raise wrong_value("--model of this case must be flow or loggp", f"'{model}'")
    asked.refuse_settings("iterations")
    iterations = asked.settings["iterations"]
    if not iterations.isdigit() or not 1 <= int(iterations) <= 10_000:
        raise wrong_value("iterations must be a number from 1 to 10000", f"'{iterations}'")
    ranks = asked.request.ranks
    has_own = (ranks.shape, ranks.ranks) == (None, None) and not asked.request.machine
    job = simulation.on(asked.machine(), replace(ranks, shape=FT_SHAPE) if has_own else ranks)
    nx, ny, nz = map(int, case.size.split("x"))
    pattern = npb_ft.FtPattern((nx, ny, nz), job.rank_space.ranks, int(iterations))
    pattern.check()
    speed = CoreSpeed.by_peak(job)
    rate = fft_prediction.measure(LIMIT_SECONDS)
    flops = rate.flops * speed.speed

    def work() -> dict:
        text = "\n".join(pattern.goal(flops)) + "\n"
        ran = Setting(model, job).predict(_goal.read(text.encode(), case.name)).members
        if asked.out is not None:
            output.write(asked.out, text if asked.out.suffix == ".goal" else "\n".join(pattern.traffic()) + "\n")
        return {
            "application": "fft3d",
            "ranks": pattern.ranks,
            "grid": list(pattern.grid),
            "points": list(pattern.points),
            "iterations": pattern.iterations,
            "seconds": ran["seconds"],
            "seconds_of_an_iteration": ran["seconds"] / pattern.iterations,
            "computing_seconds": pattern.flops / flops * pattern.iterations,
            "messages": ran["messages"],
            "machine": job.machine.name,
            "shape": simulation.shape_of(job.machine),
            "model": model,
        }

    result = progress.run_interruptible(work)
    measured = {**rate.measured(), **speed.measured()}
    rows = [
        ("grid", "x".join(map(str, pattern.grid))),
        ("iterations", str(pattern.iterations)),
        ("time", seconds_text(result["seconds"])),
        ("lines", seconds_text(result["computing_seconds"])),
        ("messages", str(result["messages"])),
    ]
    assumed = [
        "the checksum of each iteration, 16 bytes, is left out",
        *fft_prediction.assumed(speed.text(job.machine.name)),
    ]
    show(asked, [result], rows, lines_text(measured, rate.library), measured, assumed, as_json)


def hybrid(asked: CaseRequest, as_json: bool) -> None:
    case = asked.case
    asked.request.checked_model()
    asked.refuse_settings("nodes")
    if asked.request.ranks != Ranks(None, None, None):
        raise wrong_value(f"--case {case.name} takes --set nodes=16+64", "--shape or --ranks", "leave it out")
    all_nodes = hybrid_machine.nodes_of(asked.settings["nodes"])
    machine = asked.machine()
    question = lu_prediction.LuQuestion(1, hybrid_machine.BLOCK, None)
    here = peak_here()
    rates = lu_prediction.measure(question, LIMIT_SECONDS)

    def work() -> list[dict]:
        of = hybrid_machine.HybridMachine(machine, rates)
        return [of.result(nodes, int(case.size) if case.size else None) for nodes in all_nodes]

    results = progress.run_interruptible(work)
    measured = {**rates.measured(), "peak_gflops": here * 1e-9}
    assumed = [
        "updates of either kind of node are as fast as 16 and 64 of them alone reached, by the same recurrence",
        "panels cost beside updates what they cost here; the network and the memory are assumed (machine file)",
        "all processes have equal parts, so those of the slower kind set the pace",
        hybrid_machine.PEAK_EXCEEDED,
    ]
    if as_json:
        return as_members(asked, results, measured, assumed)
    output.print_line(f"{case.name}: {case.summary}, on {machine.name}")
    output.print_line(results[0]["processes"])
    print()
    columns = ("nodes", "ranks>", "grid>", "rows>", "GFLOPS>", "with GPUs>", "without>", "hybrid / sum>")
    output.print_table("", columns, [hybrid_row(each) for each in results])
    if asked.figure is not None and len(results) == 1:
        share = asked.figure / (hybrid_machine.GPU_ALONE + hybrid_machine.CPU_ALONE)
        apart = results[0]["efficiency"] - share
        print()
        output.print_line(f"Published: {share_text(share)} ({case.source}); predicted {100 * apart:+.1f} points")
    print()
    output.print_line(measured_text(measured))
    output.print_list("Assumed:", assumed)
    return None


def hybrid_row(result: dict) -> list[str]:
    return [
        f"{result['gpu_nodes']} + {result['cpu_nodes']}",
        str(result["ranks"]),
        "x".join(map(str, result["grid"])),
        str(result["rows"]),
        *(f"{result[name]:.0f}" for name in ("gflops", "gpu_gflops", "cpu_gflops")),
        share_text(result["efficiency"]),
    ]


def as_members(asked: CaseRequest, results: list[dict], measured: dict, assumed: list[str]) -> None:
    case = asked.case
    about = {"case": case.name, "published_gflops": case.figure, "published_source": case.source}
    if asked.figure is not None and len(results) == 1:
        about["predicted_over_published"] = results[0]["gflops"] / asked.figure
    output.print_json({**about, "results": results, "measured": measured, "assumed": assumed, **output.own_cost()})


def show(
    asked: CaseRequest,
    results: list[dict],
    rows: list[tuple[str, str]],
    said: str,
    measured: dict,
    assumed: list[str],
    as_json: bool,
) -> None:
    case, result = asked.case, results[0]
    if as_json:
        return as_members(asked, results, measured, assumed)
    place = f"{result['machine']} {result['shape']}".strip()
    summary = "with changes" if case.figure is not None and asked.figure is None else case.summary
    output.print_line(f"{case.name}: {summary}; {result['ranks']} ranks of {place}, model {result['model']}")
    print()
    output.print_table("", ("", ">"), rows)
    print()
    if asked.figure is not None:
        output.print_line(
            f"Predicted {result['gflops'] * 1e-3:.0f} TFLOPS, published {asked.figure * 1e-3:.0f} TFLOPS: "
            f"{100 * (result['gflops'] / asked.figure - 1):+.1f} % ({case.source})"
        )
    elif case.figure is not None:
        output.print_line(f"Predicted {result['gflops'] * 1e-3:.4g} TFLOPS; the published figure is of another job")
    else:
        output.print_line(f"Source: {case.source}")
    if asked.out is not None:
        output.print_line(f"written: {asked.out}")
    output.print_line(said)
    output.print_list("Assumed:", assumed)
    return None


def described() -> str:
    """Text of --help."""
    return ", ".join(each.name for each in published.CASES)
